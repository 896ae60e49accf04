"""Connections to SQLite that never leave the process that opened them.

SQLite keeps its locks per process. After a fork, the child believes in locks that only its parent holds: using
an inherited connection, closing it, or opening the same file again can destroy the database. So the child
refuses all of these, and keeps what it inherited open until it ends.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import weakref
from pathlib import Path
from typing import Any

from chaffinch.errors import IndexTrouble
from chaffinch.index.store import FORKED

_OPEN: weakref.WeakSet[Connection] = weakref.WeakSet()
_inherited: set[tuple[int, int]] = set()
"""Devices and numbers of the files that were open when this process was forked."""


class Connection(sqlite3.Connection):
    """A connection for one process. Its errors are those of SQLite, even if a message quotes damaged bytes."""

    def __init__(self, database: str, *arguments: Any, **options: Any) -> None:
        super().__init__(database, *arguments, **options)
        self._process = os.getpid()
        self.path = Path()

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._refuse_forked()
        try:
            return super().execute(*arguments)
        except UnicodeDecodeError:
            raise sqlite3.DatabaseError("malformed database schema") from None

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        self._refuse_forked()
        return super().executemany(*arguments)

    def _refuse_forked(self) -> None:
        if os.getpid() != self._process:
            raise IndexTrouble(f"{self.path.parent}: {FORKED}")

    def close(self) -> None:
        if os.getpid() == self._process:
            super().close()
            _OPEN.discard(self)


def connect(path: Path, uri_options: str, *, timeout: float) -> Connection:
    """Open a database. `uri_options` are those of SQLite, such as "mode=ro"."""
    if _inherited and path.exists() and _identity(path) in _inherited:
        raise IndexTrouble(f"{path.parent}: {FORKED}")
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{uri_options}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )
    connection.path = path
    _OPEN.add(connection)
    return connection


def _identity(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_dev, stat.st_ino


def _keep_inherited() -> None:
    """Note what the parent had open. An extra reference keeps Python from closing it when this process ends."""
    for connection in list(_OPEN):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        if connection.path.exists():
            _inherited.add(_identity(connection.path))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_inherited)
