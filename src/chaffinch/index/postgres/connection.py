"""A PostgreSQL server: where an address leads, connections that come back, and its troubles in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import unquote

import psycopg
from psycopg import conninfo, errors
from psycopg.sql import SQL

from chaffinch.errors import IndexTrouble, NoIndex

_NAME = "chaffinch"
_PATIENCE = "10"
"""Seconds to wait for a server, unless the address says otherwise."""
_AGAIN = "whatever was being written is there as a whole or not at all; try again"
_ADVICE = (
    (r"password|authentication", "check the user, and give the password in PGPASSWORD or ~/.pgpass"),
    (r"database .* does not exist", "make the database with createdb, or name another"),
    (r"role .* does not exist", "name another user, or make this one with createuser"),
    (r"too many|slots", "the server has no connection left; try again later"),
)

Connection = psycopg.Connection[tuple[Any, ...]]


class Address(NamedTuple):
    """Where an index is: how to connect, the schema it has to itself, and its name without the password."""

    connect: dict[str, Any]
    schema: str
    shown: str

    @classmethod
    def parse(cls, where: str) -> Address:
        """postgresql://user@host:port/database#name; whatever else libpq understands before the #."""
        found = re.fullmatch(r"(.*?)(?:#([^#@/]*))?", where, re.S)
        server, name = (found[1], unquote(found[2] or "")) if found else (where, "")
        try:
            parts = conninfo.conninfo_to_dict(server)
        except psycopg.ProgrammingError:  # which may quote the password
            parts = {}
        said = [str(parts.get(key, "")) for key in ("host", "port", "dbname")]
        if not parts or any("@" in text for text in said) or not re.fullmatch(r"[\d,]*", said[1]):
            raise IndexTrouble(
                "the address cannot be understood; write postgresql://user@host:port/database#name, and other "
                "characters than letters and digits in a password as %40 and the like"
            )
        schema = name or _NAME
        if not re.fullmatch(r"[\w.-]+", schema) or len(schema.encode()) > 63 or schema.startswith("pg_"):
            raise IndexTrouble(
                f"#{schema}: name an index with up to 63 letters, digits, - and _, not pg_ first"
            )
        parts.setdefault("connect_timeout", _PATIENCE)
        parts.setdefault("application_name", _NAME)
        user, host, port, database = (parts.get(key, "") for key in ("user", "host", "port", "dbname"))
        place = f"{f'{user}@' if user else ''}{host}{f':{port}' if port else ''}/{database}"
        return cls(parts, schema, f"postgresql://{place}#{schema}")


class Session:
    """A connection to an index that is opened when it is needed, and once more when it turns out to be lost."""

    def __init__(self, address: Address, prepare: Callable[[Connection], None]) -> None:
        self.address = address
        self._prepare = prepare
        self._connection: Connection | None = None
        self._inside = False
        self._over = False

    @property
    def connection(self) -> Connection:
        if self._over:
            raise IndexTrouble(f"{self.address.shown}: was closed")
        if self._connection is None or self._connection.closed:
            if self._inside:
                raise IndexTrouble(f"{self.address.shown}: the connection was lost; {_AGAIN}")
            self._connection = self._opened()
        return self._connection

    def _opened(self) -> Connection:
        connection = connected(self.address)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows; alone it is asked again if the connection was lost meanwhile, so it must bear that."""
        with told(self.address):
            try:
                return self._asked(statement, values)
            except psycopg.OperationalError:
                if self._inside or self._connection is None or not self._connection.closed:
                    raise
            return self._asked(statement, values)

    def _asked(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        if not values:  # several statements may be sent at once
            cursor = self.connection.execute(SQL(statement))
        else:
            cursor = self.connection.execute(SQL(statement), values, binary=True)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def transaction(self, begin: str = "BEGIN") -> Iterator[None]:
        """All of it or nothing."""
        try:
            self.ask(begin)
            self._inside = True
            with told(self.address):
                yield
            self.ask("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._inside = False

    def _roll_back(self) -> None:
        connection = self._connection
        if connection is not None and not connection.closed:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
                return
            connection.close()

    def close(self) -> None:
        self._over = True
        if self._connection is not None:
            self._connection.close()


def connected(address: Address) -> Connection:
    """A connection that sees only this index."""
    try:
        connection = psycopg.connect(**address.connect, client_encoding="utf8", autocommit=True)
    except (psycopg.Error, UnicodeError) as error:
        reason = _reason(error, address)
        advice = next((say for sign, say in _ADVICE if re.search(sign, reason)), None)
        advice = advice or "check that the server runs, and that the address is right"
        raise IndexTrouble(f"{address.shown}: cannot be reached ({reason}); {advice}") from None
    try:
        with told(address):
            connection.execute("SELECT set_config('search_path', %s, false)", [f'"{address.schema}"'])
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def told(address: Address) -> Iterator[None]:
    """Trouble with the server, in words."""
    try:
        yield
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName):
        raise NoIndex(f"{address.shown}: no index there; make one with chaffinch index create") from None
    except psycopg.Error as error:
        reason = _reason(error, address)
        if isinstance(error, errors.InsufficientPrivilege):
            advice = "ask for that right, or name another user"
        elif isinstance(error, errors.ReadOnlySqlTransaction):
            advice = "this server can only be searched; write to the one it follows"
        elif isinstance(error, errors.DiskFull):
            advice = "make room on the server and try again, nothing is lost"
        elif isinstance(error, psycopg.OperationalError):
            advice = _AGAIN
        else:
            advice = "nothing that was there is lost"
        raise IndexTrouble(f"{address.shown}: {reason}; {advice}") from error


def _reason(error: Exception, address: Address) -> str:
    """What the server or libpq says, in a line; a password is never part of it."""
    said = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    lines = [line.strip() for line in said.splitlines() if line.strip() and "Multiple connection" not in line]
    reason = lines[0] if lines else type(error).__name__
    reason = re.sub(r"^connection failed: |^connection is bad: ", "", reason)
    for key in ("password", "sslpassword"):
        if secret := address.connect.get(key):
            reason = reason.replace(str(secret), "***")
    return reason
