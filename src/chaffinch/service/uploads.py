"""What was uploaded for one run, packed into one ZIP: files as they came, with their names and roles."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from chaffinch.read.detect import ARCHIVES, detect_format
from chaffinch.service.refusals import TooLarge
from chaffinch.types import File

SUBMISSION, BASE, EARLIER = "submission", "base", "earlier"
DOCUMENT = "document"
"""The role of a file for an archive."""
_MANIFEST = "manifest.json"


class Uploaded(NamedTuple):
    """A file that was uploaded."""

    role: str
    name: str
    data: bytes
    language: str | None = None


class UploadWriter:
    """Packs files into a ZIP. Their names are data, not entries: they may be anything."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1)
        self._manifest: list[dict[str, str | None]] = []
        self._left = self._limit = max_bytes

    def __len__(self) -> int:
        return len(self._manifest)

    def add(self, role: str, name: str, source: BinaryIO, language: str | None = None) -> None:
        """Add a file. Raise once the upload is too large."""
        with self._zip.open(str(len(self._manifest)), "w") as entry:
            while part := source.read(1 << 20):
                self._left -= len(part)
                if self._left < 0:
                    raise TooLarge(f"the upload is larger than {self._limit >> 20} MB")
                entry.write(part)
        self._manifest.append({"role": role, "name": name, "language": language})

    def close(self) -> None:
        if self._zip.fp is None:
            return
        self._zip.writestr(_MANIFEST, json.dumps(self._manifest))
        self._zip.close()


def read_upload(path: Path) -> list[Uploaded]:
    return list(uploaded_files(path))


def uploaded_files(path: Path) -> Iterator[Uploaded]:
    """Yield the files of an upload one after the other."""
    with ZipFile(path) as packed:
        manifest = json.loads(packed.read(_MANIFEST))
        for number, entry in enumerate(manifest):
            yield Uploaded(entry["role"], entry["name"], packed.read(str(number)), entry["language"])


def as_class(files: list[Uploaded], name: str) -> File:
    """Return files as one archive with the class in it. If there is only one archive, it is the class."""
    if len(files) == 1:
        only = File(files[0].name, files[0].data)
        if detect_format(only) in ARCHIVES:
            return only
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_STORED) as archive:
        for file in files:
            with archive.open(file.name.replace("\\", "/").lstrip("/"), "w") as entry:
                shutil.copyfileobj(BytesIO(file.data), entry)
    return File(f"{name}.zip", packed.getvalue())
