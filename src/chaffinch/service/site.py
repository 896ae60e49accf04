"""Everything that the pages, the API, the MOSS server and the workers of a service share."""

from __future__ import annotations

import time
from pathlib import Path

from chaffinch.service.blobs import Blobs
from chaffinch.service.database.database import Database
from chaffinch.service.settings import Settings

_SETTINGS_SECONDS = 2
"""How long changed settings may take to reach all processes."""


class Site:
    """The database, the blobs and the settings of a service."""

    def __init__(self, data: Path, database: str | None = None) -> None:
        """`data` is a folder. With the address of a PostgreSQL database, it only holds what can be lost."""
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.data = data
        self.database = Database(database or data)
        self.database.upgrade()
        self.blobs = Blobs(data, in_database=self.database.is_shared)
        self._settings = Settings()
        self._loaded = 0.0

    @property
    def settings(self) -> Settings:
        if time.monotonic() - self._loaded > _SETTINGS_SECONDS:
            with self.database.reading() as session:
                self._settings = Settings.load(session)
            self._loaded = time.monotonic()
        return self._settings

    def close(self) -> None:
        self.database.close()
