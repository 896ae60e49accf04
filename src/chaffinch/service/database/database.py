"""Connects to the database of the service, brings its tables up to date, and gives transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep, time
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from chaffinch.errors import ChaffinchError
from chaffinch.index.address import is_database

FILE = "service.db"
_BUSY_SECONDS = 60
_MIGRATIONS = Path(__file__).with_name("migrations")
_UPGRADE_LOCK = 0x63686166
"""Any number that no other program locks in this database."""
_PAUSES = (0.1, 0.3, 1, 3, 5, 5, 5, 5, 5)
"""Seconds between attempts while the database is away: long enough for a restart."""

T = TypeVar("T")


class DatabaseTrouble(ChaffinchError):
    """The database of the service cannot be used."""


class Database:
    """The database of the service. Every thread takes its own transaction."""

    def __init__(self, where: str | Path) -> None:
        """`where` is the address of a PostgreSQL database, or the data folder, which holds an SQLite file."""
        self.is_shared = is_database(where)
        """Whether other machines may use it too."""
        if self.is_shared:
            self.engine, self.shown, self.schema = _postgres(str(where))
        else:
            self.engine, self.shown, self.schema = _sqlite(Path(where) / FILE), str(where), ""
        self._writer = self.engine.execution_options(writes=True)

    def upgrade(self) -> None:
        """Create the tables, or bring those of an earlier version up to date."""
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS))
        with self._writer.begin() as connection:
            if self.is_shared:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
                connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"'))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Read from one state of the database."""
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Change all or nothing. It is durable when the `with` block ends."""
        with Session(self._writer, expire_on_commit=False) as session, session.begin():
            yield session

    def write(self, change: Callable[[Session], T]) -> T:
        """Make a change, and again if the database was away. The change must be safe to repeat."""
        for pause in _PAUSES:
            try:
                with self.writing() as session:
                    return change(session)
            except DBAPIError as error:
                if not is_lost(error):
                    raise
            sleep(pause)
        with self.writing() as session:
            return change(session)

    def check(self) -> None:
        """Raise if the database does not answer."""
        with self.reading() as session:
            session.execute(text("SELECT 1"))

    def empty_log(self) -> None:
        """Empty SQLite's write-ahead log, where deleted rows still are. Readers may prevent it this time."""
        if not self.is_shared:
            with self.engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                assert raw is not None
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        self.engine.dispose()


def clock(session: Session) -> float:
    """Return the seconds since 1970 by the database's clock: the machines that share it may disagree."""
    if session.get_bind().dialect.name == "postgresql":
        return float(session.scalar(text("SELECT extract(epoch FROM clock_timestamp())")))
    return time()


def is_lost(error: DBAPIError) -> bool:
    """Return whether the connection was lost or refused, so that a later attempt may succeed."""
    return error.connection_invalidated or isinstance(error, OperationalError)


def _sqlite(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver would begin transactions too late
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # what was accepted survives a power failure
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted does not stay in the file

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and then writes could fail in the middle: another one wrote meanwhile.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgres(where: str) -> tuple[Engine, str, str]:
    import psycopg

    from chaffinch.index.postgres.connection import Address

    address = Address.parse(where)
    options = f"{address.connect.get('options', '')} -c search_path={address.schema}".strip()

    def connect() -> Any:
        return psycopg.connect(**address.connect | {"options": options})

    engine = create_engine("postgresql+psycopg://", creator=connect, pool_pre_ping=True, max_overflow=20)
    return engine, address.shown, address.schema
