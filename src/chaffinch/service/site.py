"""Everything that the pages, the API, the MOSS server and the workers of a service share."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from chaffinch.service.blobs import Blobs
from chaffinch.service.database.database import Database
from chaffinch.service.indexes import Indexes
from chaffinch.service.limits import Limits
from chaffinch.service.settings import Settings

_SETTINGS_SECONDS = 2
"""How long changed settings may take to reach all processes."""


class Site:
    """The database, the blobs and the settings of a service."""

    def __init__(self, data: Path, database: str | None = None, **fixed: Any) -> None:
        """`data` is a folder. With the address of a PostgreSQL database, it only holds what can be lost.

        `fixed` are settings that hold for this process, whatever the stored ones are.
        """
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.data = data
        self.database = Database(database or data)
        self.database.upgrade()
        self.blobs = Blobs(data, in_database=self.database.is_shared)
        self.indexes = Indexes(data, database)
        self.limits = Limits()
        self.has_accounts = False
        """Whether an administrator was seen, of whom one always remains."""
        self._fixed = fixed
        self._settings = Settings()
        self._loaded = 0.0

    @property
    def settings(self) -> Settings:
        if time.monotonic() - self._loaded > _SETTINGS_SECONDS:
            self.reload_settings()
        return self._settings

    def reload_settings(self) -> Settings:
        with self.database.reading() as session:
            self._settings = replace(Settings.load(session), **self._fixed)
        self._loaded = time.monotonic()
        return self._settings

    def forget(self, blob_ids: list[str]) -> None:
        """Remove what a committed deletion leaves on the disk: files of blobs, and rows in SQLite's log."""
        self.blobs.remove_files(blob_ids)
        self.database.empty_log()

    def close(self) -> None:
        self.indexes.close()
        self.database.close()
