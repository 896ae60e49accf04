"""Keeps uploads and results as blobs: files in the data folder, or chunks in PostgreSQL.

An upload is spooled to a local file first. It becomes a blob in the transaction that accepts it, so a crash
leaves a stray file at most, which is removed later.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from chaffinch.service.database.tables import Blob, BlobChunk, new_id

_CHUNK = 1 << 20
"""Bytes."""
_STRAY_SECONDS = 3600
"""Age after which a file without a blob is removed: it may belong to a transaction that is not over yet."""
_CACHE_BYTES = 4 << 30
"""Local copies of blobs in a database take at most this much."""


class Blobs:
    """Bytes that never change, kept durably."""

    def __init__(self, folder: Path, *, in_database: bool) -> None:
        """In a database, the folder only holds copies and can be lost."""
        self.in_database = in_database
        self.folder = folder / ("cache" if in_database else "blobs")
        self.spool = folder / "spool"
        for needed in (self.folder, self.spool):
            needed.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def spooled(self) -> Iterator[BinaryIO]:
        """Open a local file to collect bytes in. It is gone after the `with` block, unless it was kept."""
        with tempfile.NamedTemporaryFile(dir=self.spool, delete=False) as file:
            try:
                yield file  # type: ignore[misc]
            finally:
                Path(file.name).unlink(missing_ok=True)

    def keep(self, session: Session, file: BinaryIO) -> str:
        """Make a blob of a spooled file, as a part of the transaction. Return its id."""
        file.flush()
        file.seek(0)
        digest, size = sha256(), 0
        while part := file.read(_CHUNK):
            digest.update(part)
            size += len(part)
        blob = Blob(id=new_id(), size=size, sha256=digest.hexdigest())
        session.add(blob)
        session.flush()
        if self.in_database:
            file.seek(0)
            for number, part in enumerate(iter(lambda: file.read(_CHUNK), b"")):
                session.add(BlobChunk(blob_id=blob.id, number=number, data=part))
                session.flush()
        else:
            os.fsync(file.fileno())
            path = self._path(blob.id)
            path.parent.mkdir(exist_ok=True, mode=0o700)
            os.utime(file.name)  # a slow upload must not look like a stray file
            os.link(file.name, path)
            _sync_folder(path.parent)
        return blob.id

    def path(self, session: Session, blob_id: str) -> Path:
        """Return a local file with the bytes of a blob."""
        path = self._path(blob_id)
        if self.in_database and not path.exists():
            path.parent.mkdir(exist_ok=True, mode=0o700)
            with self.spooled() as file:
                number = 0
                while (part := session.scalar(_chunk(blob_id, number))) is not None:
                    file.write(part)
                    number += 1
                file.flush()
                Path(file.name).rename(path)
            self._shrink_cache()
        elif self.in_database:
            os.utime(path)
        return path

    def delete(self, session: Session, blob_ids: list[str]) -> None:
        """Delete blobs as a part of the transaction. Call `clean` after it to remove their files."""
        if blob_ids:
            session.execute(delete(Blob).where(Blob.id.in_(blob_ids)))

    def clean(self, session: Session) -> None:
        """Remove files that belong to no blob: of deleted blobs, and of uploads that were cut off."""
        known = set(session.scalars(select(Blob.id)))
        oldest = time.time() - _STRAY_SECONDS
        for path in [*self.folder.glob("*/*"), *self.spool.iterdir()]:
            with suppress(FileNotFoundError):  # another process is faster
                if path.name not in known and path.stat().st_mtime < oldest:
                    path.unlink()

    def remove_files(self, blob_ids: list[str]) -> None:
        """Remove the files of blobs whose deletion was committed."""
        for blob_id in blob_ids:
            self._path(blob_id).unlink(missing_ok=True)

    def _path(self, blob_id: str) -> Path:
        return self.folder / blob_id[:2] / blob_id

    def _shrink_cache(self) -> None:
        """Remove the copies that were not used for longest, if there are too many."""
        files = [(path.stat().st_mtime, path.stat().st_size, path) for path in self.folder.glob("*/*")]
        excess = sum(size for _, size, _ in files) - _CACHE_BYTES
        for _, size, path in sorted(files):
            if excess <= 0:
                break
            path.unlink(missing_ok=True)
            excess -= size


def _chunk(blob_id: str, number: int) -> Select[bytes]:
    return select(BlobChunk.data).where(BlobChunk.blob_id == blob_id, BlobChunk.number == number)


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
