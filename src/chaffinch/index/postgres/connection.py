"""A PostgreSQL server: parse its address, reconnect when a connection is lost, explain its errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

import psycopg
from psycopg import conninfo, errors
from psycopg.sql import SQL

from chaffinch.errors import IndexTrouble, NoIndex, TryAgain
from chaffinch.index.address import without_password
from chaffinch.index.store import CLOSED, NO_INDEX, close_on_error
from chaffinch.native.turns import side_by_side

_NAME = "chaffinch"
_MAX_NAME = 63
"""Bytes. The server would cut a longer name, and might find another index."""
_INDEX_NAME = re.compile(r"\w[\w.-]*")
_TAKEN = re.compile(r"pg_|(?:public|information_schema|citus\w*|columnar\w*)\Z", re.I)
"""Schemas of the server and of Citus. Others keep their tables in public, which is on every search path."""
_NAME_RULE = (
    f"use letters, digits, -, . and _, at most {_MAX_NAME} bytes, a letter or digit first, and no name of the "
    "server's own, such as public"
)
_CONNECT_TIMEOUT = "10"
"""Seconds, unless the address has another value."""
_TRY_AGAIN = "the change was made completely or not at all; try again"
_NO_CONNECTION_LEFT = "the server has no connection left; try again later"
_NOT_RUNNING = "check that the server is running and that the address is right"
_ADVICE = (
    (errors.InsufficientPrivilege, "ask for this permission, or name another user"),
    (errors.ReadOnlySqlTransaction, "this server is read-only; write to the server it replicates"),
    (errors.DiskFull, "make room on the server and try again; what was in the index is still there"),
    (psycopg.OperationalError, _TRY_AGAIN),
    (psycopg.Error, "what was in the index is still there"),
)
_ADVICE_ON_CONNECTING = (  # libpq gives no codes for these errors
    (r"password|authentication", "check the user, and give the password in PGPASSWORD or ~/.pgpass"),
    (r"database .* does not exist", "create the database with createdb, or name another"),
    (r"role .* does not exist", "name another user, or create this one with createuser"),
    (r"too many|slots", _NO_CONNECTION_LEFT),
    (r"", _NOT_RUNNING),
)

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an index in a database."""

    connect: dict[str, Any] = field(repr=False)
    """Parameters of libpq. They may include a password."""
    schema: str
    """Each index has its own."""
    shown: str
    """The address without a password."""

    @classmethod
    def parse(cls, where: str) -> Address:
        """Parse postgresql://user@host:port/database#name, with anything that libpq knows before the #."""
        parts = re.fullmatch(r"(.*?)(?:#([^#@/]*))?", where, re.S)
        server, name = (parts[1], parts[2]) if parts else (where, None)
        try:
            connect = conninfo.conninfo_to_dict(server)
        except psycopg.ProgrammingError:  # its message may quote the password
            connect = {}
        place = [str(connect.get(key, "")) for key in ("host", "port", "dbname")]
        if not connect or any("@" in text for text in place) or not re.fullmatch(r"[\d,]*", place[1]):
            raise IndexTrouble(
                "the address cannot be understood; write postgresql://user@host:port/database#name, and escape "
                "characters other than letters and digits in a password, for example @ as %40"
            )
        schema = _NAME if name is None else unquote(name)
        if "#" in place[2] and "%23" not in server:  # the name has a character that ends it
            schema = place[2].partition("#")[2] + ("" if name is None else f"#{name}")
        if not _INDEX_NAME.fullmatch(schema) or len(schema.encode()) > _MAX_NAME or _TAKEN.match(schema):
            raise IndexTrouble(f"#{without_password(schema)}: cannot be the name of an index; {_NAME_RULE}")
        connect.setdefault("connect_timeout", _CONNECT_TIMEOUT)
        connect.setdefault("application_name", _NAME)
        user, host, port, database = (connect.get(key, "") for key in ("user", "host", "port", "dbname"))
        shown = f"{f'{user}@' if user else ''}{host}{f':{port}' if port else ''}/{database}"
        return cls(connect, schema, f"postgresql://{shown}#{schema}")


class Session:
    """A connection that is opened when it is needed, and again when it was lost."""

    def __init__(self, address: Address, prepare: Callable[[Connection], None]) -> None:
        self.address = address
        self._prepare = prepare
        self._connection: Connection | None = None
        self._in_transaction = False
        self._closed = False

    @property
    def connection(self) -> Connection:
        if self._closed:
            raise IndexTrouble(f"{self.address.shown}: {CLOSED}")
        if self._connection is None or self._connection.closed:
            if self._in_transaction:
                raise TryAgain(f"{self.address.shown}: the connection was lost; {_TRY_AGAIN}")
            self._connection = connect(self.address, self._prepare)
        return self._connection

    def ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows.

        Outside a transaction, it is run again if the connection was lost, so it must be safe to run twice.
        """
        with wrap_errors(self.address):
            try:
                return self._execute(statement, values)
            except psycopg.OperationalError:
                if self._in_transaction or self._connection is None or not self._connection.closed:
                    raise
            return self._execute(statement, values)

    def _execute(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with side_by_side():  # the server works meanwhile
            if not values:  # then several statements may be sent at once
                cursor = self.connection.execute(SQL(statement))
            else:
                cursor = self.connection.execute(SQL(statement), values, binary=True)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def transaction(self, *opening: str) -> Iterator[None]:
        """Do everything inside the `with` block or nothing. `opening` are the messages that begin it."""
        is_open = False
        try:
            for statement in opening or ("BEGIN",):
                self.ask(statement)
                self._in_transaction = True  # from here on, another connection cannot continue
            is_open = True
            with wrap_errors(self.address):
                yield
            self.ask("COMMIT")
        except BaseException:
            self._roll_back(is_open)
            raise
        finally:
            self._in_transaction = False

    def _roll_back(self, is_open: bool) -> None:
        """Roll back, or close the connection if that fails or if it may still hold a lock of the opening."""
        connection = self._connection
        if connection is not None and not connection.closed:
            if is_open:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                    return
            connection.close()

    def close(self) -> None:
        self._closed = True
        if self._connection is not None:
            self._connection.close()


def connect(address: Address, prepare: Callable[[Connection], None] = lambda _: None) -> Connection:
    """Open and prepare a connection that sees only the schema of this index."""
    try:
        connection = psycopg.connect(**address.connect, client_encoding="utf8", autocommit=True)
    except (psycopg.Error, UnicodeError) as error:
        reason = _reason(error, address)
        advice = next(advice for pattern, advice in _ADVICE_ON_CONNECTING if re.search(pattern, reason))
        kind = TryAgain if advice in (_NO_CONNECTION_LEFT, _NOT_RUNNING) else IndexTrouble
        raise kind(f"{address.shown}: cannot be reached ({reason}); {advice}") from None
    with close_on_error(connection):
        with wrap_errors(address):
            connection.execute("SELECT set_config('search_path', %s, false)", [f'"{address.schema}"'])
        prepare(connection)
    return connection


@contextmanager
def wrap_errors(address: Address) -> Iterator[None]:
    """Raise errors of the server as IndexTrouble, with what to do."""
    try:
        yield
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName):
        raise NoIndex(f"{address.shown}: {NO_INDEX}") from None
    except psycopg.Error as error:
        advice = next(advice for kind, advice in _ADVICE if isinstance(error, kind))
        trouble = TryAgain if advice is _TRY_AGAIN else IndexTrouble
        raise trouble(f"{address.shown}: {_reason(error, address)}; {advice}") from error


def _reason(error: Exception, address: Address) -> str:
    """Return the message of the server or of libpq in one line, without a password."""
    message = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    lines = [
        line.strip() for line in message.splitlines() if line.strip() and "Multiple connection" not in line
    ]
    reason = lines[0] if lines else type(error).__name__
    reason = re.sub(r"^connection failed: |^connection is bad: ", "", reason)
    for key in ("password", "sslpassword"):
        if secret := address.connect.get(key):
            for form in (str(secret), quote(str(secret))):
                reason = reason.replace(form, "***")
    return reason
