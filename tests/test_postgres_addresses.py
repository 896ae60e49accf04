"""The address of a real PostgreSQL server: what its errors say, and that its password is never shown."""

from __future__ import annotations

import socket
import traceback
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psycopg
import pytest
from click.testing import CliRunner

from chaffinch.cli import main
from chaffinch.errors import IndexTrouble, NoIndex, RecipeMismatch
from chaffinch.index.address import without_password
from chaffinch.index.index import Index
from chaffinch.index.postgres.connection import Address
from chaffinch.index.postgres.postgres_store import PostgresStore
from chaffinch.index.records import Settings
from chaffinch.recipe import Recipe
from tests.indexed import text
from tests.postgres_server import with_account

SECRET = "hunter2"


def refused(address: str, message: str) -> str:
    """Check that the address cannot be opened or created, and return everything that the errors say."""
    said = []
    for call in (PostgresStore, lambda where: PostgresStore.create(where, Settings(Recipe("text")))):
        with pytest.raises(IndexTrouble, match=f"(?s){message}") as caught:
            call(address)
        assert not isinstance(caught.value, NoIndex)
        said += traceback.format_exception(caught.value)
    return unquote("".join(said))


def test_messages_do_not_contain_the_password() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = closed.getsockname()[1]
    addresses = {
        f"postgresql://ann:{SECRET}@127.0.0.1:{nobody}/postgres": "refused.*the server is running",
        f"postgresql://ann:{SECRET}@no.such.host.invalid/x": "cannot be reached",
        f"postgresql://ann:{SECRET}%@127.0.0.1/x": "address cannot be understood",
        f"postgresql://ann:1@{SECRET}@127.0.0.1/x": "address cannot be understood",
        f"postgresql://ann:{SECRET}/1@127.0.0.1/x": "address cannot be understood",
        f"postgresql://ann:{SECRET}#1@127.0.0.1:{nobody}/x": "refused",
        f"postgresql://ann@127.0.0.1:{nobody}/x?password={SECRET}": "refused",
    }
    for address, message in addresses.items():
        assert SECRET not in refused(address, message)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "-a", "public", "Public", "pg_temp", "PG_a", "information_schema", "citus",
     "columnar_internal", "a b", "a%00", "a'b", 'a"b', "a%22b", "a;b", "a/b", "a#b", "a#", "n" * 64,
     "%C3%A9" * 32],
)  # fmt: skip
def test_a_name_that_is_not_safe_is_refused_before_connecting(name: str) -> None:
    message = "#.*: cannot be the name of an index; use letters, digits"
    refused(f"postgresql://ann@no.such.host.invalid/db#{name}", message)


@pytest.mark.parametrize(
    "name", ["a", "a.b-c_d", "0", "_", "publications", "citus-", "n" * 63, "%C3%A9t%C3%A9"]
)
def test_other_names_are_taken(name: str) -> None:
    assert Address.parse(f"postgresql://ann@host/db#{name}").schema == unquote(name)
    assert Address.parse("postgresql://ann@host/a%23b").connect["dbname"] == "a#b"


def test_a_password_behind_the_name_is_not_shown() -> None:
    assert SECRET not in refused(f"postgresql://ann@host/db#a?password={SECRET}", "cannot be the name")


def test_a_missing_database_is_named_but_not_the_password(postgres: str) -> None:
    elsewhere = urlsplit(postgres)._replace(path="/no-such-database").geturl()
    said = refused(elsewhere, r'database "no-such-database" does not exist.*createdb')
    assert unquote(urlsplit(postgres).password or SECRET) not in said


def test_a_wrong_password_is_not_shown(postgres: str) -> None:
    wrong = with_account(postgres, unquote(urlsplit(postgres).username or "nobody"), SECRET)
    with suppress(psycopg.OperationalError):
        psycopg.connect(wrong).close()
        pytest.skip("this server asks for no password")
    assert SECRET not in refused(wrong, "password authentication failed.*PGPASSWORD")


def test_a_password_is_in_no_output(postgres: str, address: str, tmp_path: Path) -> None:
    password = urlsplit(postgres).password
    if not password:
        pytest.skip("the address of this server has no password")
    (tmp_path / "d.txt").write_text(text(100, "d"))
    (tmp_path / "query.txt").write_text(text(100, "d"))
    shown = []
    for command in (
        ["index", "create", address, "--json"],
        ["index", "create", address],
        ["index", "create", f"{address}-too"],
        ["index", "info", f"{address}-not"],
        ["index", "add", address, tmp_path / "d.txt", "--json"],
        ["index", "info", address, "--documents", "--json"],
        ["search", address, tmp_path / "query.txt", "--json", "-o", tmp_path / "report.html"],
        ["search", address, tmp_path / "query.txt"],
        ["index", "rotate", address],
        ["index", "merge", address, "--json"],
        ["index", "verify", address],
        ["index", "export", address, tmp_path / "all.jsonl"],
        ["index", "import", f"{address}-too", tmp_path / "all.jsonl"],
    ):
        shown.append(CliRunner().invoke(main, [str(word) for word in command]).output)
    shown += [(tmp_path / name).read_text() for name in ("report.html", "all.jsonl")]
    with pytest.raises(RecipeMismatch) as refused:
        Index.open(address, Recipe("text", k=9, w=9))
    shown.append("".join(traceback.format_exception(refused.value)))
    with Index.open(address) as index:
        answer = index.search(text(100, "d"))
        shown += [
            repr(x) for x in (index, index.store, index.info(), answer, answer.receipt, Address.parse(address))
        ]
        shown.append(str(answer.receipt.to_dict()))
    with pytest.raises(IndexTrouble) as closed:
        len(index)
    shown.append("".join(traceback.format_exception(closed.value)))
    assert [line for line in shown if password in line or unquote(password) in line] == []
    host = urlsplit(postgres).hostname or ""
    assert len([line for line in shown if host in line]) >= 5, "the rest of the address is shown"


def test_where_has_no_password(postgres: str, address: str, store: PostgresStore) -> None:
    server = without_password(postgres).partition("?")[0]
    assert store.where == f"{server}#{address.partition('#')[2]}"
