"""The indexes of the archives: where they are, and one that is open for each archive and process.

Beside a data folder they are folders, and in PostgreSQL schemas of the same database. Workers write to them;
the web processes only search.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from chaffinch.errors import IndexTrouble, TryAgain
from chaffinch.index.index import Index
from chaffinch.service.refusals import ArchiveUnavailable

_MAX_OPEN = 8
"""Indexes that stay open. In PostgreSQL each has up to eight connections, and a server has a hundred."""
_DELETED = ".deleted"
_log = logging.getLogger(__name__)

T = TypeVar("T")


class Indexes:
    """Opens and deletes the indexes of archives."""

    def __init__(self, data: Path, database: str | None) -> None:
        """With the address of a database they are in it, and otherwise in the data folder."""
        self._folder = data / "archives"
        self._database = database
        self._open: dict[str, Index] = {}
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        if database is None:
            self._folder.mkdir(exist_ok=True, mode=0o700)

    def where(self, archive_id: str) -> str | Path:
        """Return the path or the address of an archive's index."""
        if self._database is None:
            return self._folder / archive_id
        server, prefix = _server_and_prefix(self._database)
        return f"{server}#{prefix}{archive_id}"

    def ask(self, archive_id: str, question: Callable[[Index], T]) -> T:
        """Ask the open index of an archive. It is opened again if it was closed or replaced meanwhile."""
        try:
            try:
                return question(self._opened(archive_id))
            except TryAgain:
                raise
            except IndexTrouble:
                self.forget(archive_id)
                return question(self._opened(archive_id))
        except IndexTrouble as error:
            _log.error("archive %s: %s", archive_id, error)
            raise ArchiveUnavailable(
                "this archive cannot be read now; try again, or ask the operator"
            ) from None

    def _opened(self, archive_id: str) -> Index:
        with self._lock:
            index = self._open.get(archive_id)
        if index is not None:
            return index
        with self._opening:  # one thread opens it, and the others wait for that one
            with self._lock:
                if archive_id in self._open:
                    return self._open[archive_id]
            index = Index.open(self.where(archive_id))
            with self._lock:
                self._open[archive_id] = index
                oldest = next(iter(self._open)) if len(self._open) > _MAX_OPEN else None
        if oldest is not None:
            self.forget(oldest)
        return index

    def forget(self, archive_id: str) -> None:
        """Close an index. Searches that are running end as usual."""
        with self._lock:
            index = self._open.pop(archive_id, None)
        if index is not None:
            with suppress(IndexTrouble):
                index.close()

    def delete(self, archive_id: str) -> None:
        """Delete an index with everything in it. It is no error if there is none."""
        self.forget(archive_id)
        if self._database is None:
            self._delete_folder(archive_id)
        else:
            self._drop_schema(str(self.where(archive_id)))

    def _delete_folder(self, name: str) -> None:
        path = self._folder / name
        if not name.endswith(_DELETED):
            # Under its new name no writer finds it, so nothing is added while it is being deleted.
            gone = path.with_name(name + _DELETED)
            with suppress(FileNotFoundError):
                path.rename(gone)
            path = gone
        shutil.rmtree(path, ignore_errors=True)

    def _drop_schema(self, where: str) -> None:
        from psycopg.sql import SQL, Identifier

        from chaffinch.index.postgres.connection import Address, connect, wrap_errors

        address = Address.parse(where)
        with closing(connect(address)) as connection, wrap_errors(address):
            connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(address.schema)))

    def present(self) -> list[str]:
        """Return the ids of all archives that have an index, and names of folders that are half deleted."""
        if self._database is None:
            return [path.name for path in self._folder.iterdir()]
        from chaffinch.index.postgres.connection import Address, connect, wrap_errors

        address, (_, prefix) = Address.parse(self._database), _server_and_prefix(self._database)
        statement = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)"
        with closing(connect(address)) as connection, wrap_errors(address):
            return [name.removeprefix(prefix) for (name,) in connection.execute(statement, [prefix])]

    def close(self) -> None:
        for archive_id in list(self._open):
            self.forget(archive_id)


def _server_and_prefix(database: str) -> tuple[str, str]:
    """Return the address without the name after the #, and what the names of all indexes begin with."""
    from chaffinch.index.postgres.connection import Address

    server, mark, name = database.rpartition("#")
    if not mark or "@" in name or "/" in name:
        server = database
    return server, f"{Address.parse(database).schema}_archive_"
