"""An address of an index may hold a password, and no password is ever shown."""

from __future__ import annotations

import traceback
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import chaffinch
from chaffinch import Document, Index, Unreadable
from chaffinch.cli import main
from chaffinch.errors import IndexTrouble
from chaffinch.index.address import is_database, is_index, without_password
from tests.indexed import text
from tests.postgres_server import PASSWORD, new_name

SECRETS = (PASSWORD, quote(PASSWORD))


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:secret@host:5432/db#essays", "postgresql://ann@host:5432/db#essays"),
        ("postgres://ann:sec%20ret%40@host/db", "postgres://ann@host/db"),
        ("postgresql://:secret@host/db", "postgresql://@host/db"),
        ("postgresql://ann:sec@re/t?#@host/db", "postgresql://ann@host/db"),
        ("postgresql://ann:secret@[::1]:5432/db", "postgresql://ann@[::1]:5432/db"),
        ("postgresql://host/db?user=ann&password=secret", "postgresql://host/db?user=ann"),
        ("postgresql://host/db?password=secret#essays", "postgresql://host/db#essays"),
        ("postgresql://host/db?p%61ssword=secret&sslpassword=secret", "postgresql://host/db"),
        ("postgresql://ann:secret@host/db?password=secret", "postgresql://ann@host/db"),
        ("postgresql:/ann:secret@host/db", "postgresql:/ann@host/db"),
        ("postgresql://host:5432/db?password=sec@ret&user=ann", "postgresql://host:5432/db?user=ann"),
        (
            "postgresql://host/db?user=ann&password=sec ret&sslmode=require",
            "postgresql://host/db?user=ann&sslmode=require",
        ),
        ("PostgreSQL+psycopg://ann:secret@host/db", "PostgreSQL+psycopg://ann@host/db"),
        ("host=host user=ann password=secret", "host=host user=ann password=***"),
        (r"host=host PassWord = 'sec \' ret' user=ann", "host=host PassWord = *** user=ann"),
        ("/home/ann/what?password=this", "/home/ann/what"),
        (
            "chaffinch: a: mysql:///ann:secret@host/db: not found",
            "chaffinch: a: mysql:///ann@host/db: not found",
        ),
        ("password=secret: no such file; use another", "password=***: no such file; use another"),
    ],
)
def test_a_password_is_left_out_of_an_address(address: str, shown: str) -> None:
    assert without_password(address) == shown


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://ann@host:5432/db?connect_timeout=3#essays",
        "postgresql:///db",
        "postgresql://[::1]:5432/db",
        "essays.index",
        "https://host/a.html: has the same content as https://host/b.html",
        r"C:\essays: the last@home",
    ],
)
def test_what_has_no_password_is_shown_as_it_is(where: str) -> None:
    assert without_password(where) == where


@given(st.text(), st.sampled_from(["", "?connect_timeout=3", "#essays"]))
def test_no_password_is_shown_whatever_characters_it_has(password: str, rest: str) -> None:
    assert without_password(f"postgresql://ann:{password}@host/db{rest}") == f"postgresql://ann@host/db{rest}"


@pytest.mark.parametrize("where", ["postgre://ann:secret@host/db", Path("postgresql://ann:secret@host/db")])
def test_an_address_that_is_none_is_refused_without_its_password(where: str | Path) -> None:
    for use in (Index.open, Index.create):
        with pytest.raises(IndexTrouble, match="not an address; write postgresql://") as refused:
            use(where)
        assert "secret" not in str(refused.value)


def test_an_index_is_a_database_or_a_folder_with_a_catalogue(tmp_path: Path) -> None:
    assert is_database("postgresql://host/db")
    assert not is_database(Path("postgresql://host/db"))
    assert not is_index(tmp_path)
    (tmp_path / "catalogue.db").touch()
    assert is_index(tmp_path)
    assert is_index("postgres://host/db")


def outputs(folder: Path, *options: str) -> str:
    """Return all that comparing writes and prints."""
    folder.mkdir()
    done = CliRunner().invoke(
        main, ["compare", *options, "-o", str(folder / "r"), "--csv", str(folder / "x.csv")]
    )
    written = [path.read_text("utf-8") for path in sorted(folder.rglob("*")) if path.is_file()]
    return "".join([done.output, *written])


def test_nothing_that_comparing_writes_has_the_password_of_an_index(postgres: str, tmp_path: Path) -> None:
    address = f"{postgres}#{new_name()}"
    password = urlsplit(postgres).password or PASSWORD
    secrets = (password, unquote(password))
    essays = {name: "\n".join([text(90, "shared"), text(20, name)]) for name in ("ann", "ben", "old")}
    with Index.create(address) as index:
        index.add(Document("old.txt", essays["old"].encode()))
        index.add(Document("given.txt", text(90, "given").encode()), boilerplate=True)
    for name in ("ann", "ben"):
        (tmp_path / f"{name}.txt").write_text(essays[name])
    (tmp_path / "program.py").write_text("print(1)")
    given = [str(tmp_path / name) for name in ("ann.txt", "ben.txt", "program.py")]
    for number, options in enumerate((["--cases", "2"], ["--json"], ["--cases", "2", "--anonymize"])):
        everything = outputs(tmp_path / str(number), *given, "--old", address, *options)
        assert "not looked up in" in everything
        assert not any(secret in everything for secret in secrets)
    report = chaffinch.compare(given, old=address)
    assert "old.txt" in {pair.right for pair in report.pairs}
    assert list(report.receipt.old_indexes) == [without_password(address)]
    assert not any(secret in repr(report) for secret in secrets)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRETS[1]}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?user=ann&password={SECRETS[1]}",
        f"postgresql://ann:{SECRETS[1]}@127.0.0.1:port/db",
    ],
)
def test_no_error_has_the_password_of_an_index(address: str, tmp_path: Path) -> None:
    (tmp_path / "ann.txt").write_text(text(90, "shared"))
    given = str(tmp_path / "ann.txt")
    with pytest.raises(IndexTrouble) as trouble:
        chaffinch.compare(given, old=address)
    messages = [
        "".join(traceback.format_exception(trouble.value)),
        outputs(tmp_path / "old", given, "--old", address),
        outputs(tmp_path / "base", given, "--base", address),
        outputs(tmp_path / "new", given, address),
    ]
    for message in messages:
        assert not any(secret in message for secret in SECRETS), message


def test_an_index_is_earlier_work_and_nothing_else() -> None:
    with pytest.raises(Unreadable, match="postgresql://ann@host/db: an index can only be earlier work"):
        chaffinch.compare(["a.txt", "postgresql://ann:secret@host/db"])


SPELLINGS = [
    "postgresql://ann:s3cr3t@127.0.0.1:1/db",
    "PostgreSQL://ann:s3cr3t@h/db",
    "postgresql+psycopg://ann:s3cr3t@h/db",
    " postgresql://ann:s3cr3t@h/db",
    "postgresql:/ann:s3cr3t@h/db",
    "postgresql:ann:s3cr3t@h/db",
    "postgre://ann:s3cr3t@h/db",
    "mysql:/ann:s3cr3t@h/db",
    "host=h user=ann password=s3cr3t",
    "host=h user=ann password='s3cr3t 2'",
]
COMMANDS = [
    "compare class --old ADDRESS -o report.html",
    "compare class --base ADDRESS -o report.html",
    "compare class ADDRESS -o report.html --csv pairs.csv",
    "compare class --metadata ADDRESS -o report.html",
    "compare class --verdicts ADDRESS -o report.html",
    "compare class -o ADDRESS",
    "compare class --csv ADDRESS",
    "compare class --old ADDRESS --json",
    "compare class --top ADDRESS",
    "submissions ADDRESS",
    "submissions ADDRESS --json",
    "fingerprint ADDRESS",
    "fingerprint ADDRESS --json",
    "explain ADDRESS",
    "index info ADDRESS",
    "index info archive.index ADDRESS",
    "index add archive.index ADDRESS",
    "index import new.index ADDRESS",
    "index export archive.index ADDRESS",
    "index ADDRESS",
    "search archive.index ADDRESS",
    "search archive.index class/ann.txt -o ADDRESS",
    "search ADDRESS class/ann.txt",
    "demo ADDRESS",
    "ADDRESS",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_shows_or_writes_the_password_of_a_misspelt_address(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("class").mkdir()
    for name in ("ann", "ben"):
        Path("class", f"{name}.txt").write_text(text(90, name))
    Index.create("archive.index").close()
    for address in SPELLINGS:
        arguments = [address if word == "ADDRESS" else word for word in command.split()]
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 2, (address, done.output)
        assert "s3cr3t" not in done.output, address
        assert "defect" not in done.output, address
    for path in Path().rglob("*"):
        assert "s3cr3t" not in str(path)
        assert path.is_dir() or b"s3cr3t" not in path.read_bytes()


@pytest.mark.parametrize("address", SPELLINGS)
@pytest.mark.parametrize("argument", ["paths", "base", "old"])
def test_comparing_refuses_an_address_without_its_password(argument: str, address: str, tmp_path: Path) -> None:
    (tmp_path / "ann.txt").write_text(text(90, "shared"))
    arguments = {"paths": [tmp_path / "ann.txt"], argument: address}
    with pytest.raises((Unreadable, IndexTrouble)) as refused:
        chaffinch.compare(**arguments)  # type: ignore[arg-type]
    assert "s3cr3t" not in "".join(traceback.format_exception(refused.value))


def test_a_file_may_be_named_like_a_setting(tmp_path: Path) -> None:
    (tmp_path / "password=1.txt").write_text(text(90, "shared"))
    done = CliRunner().invoke(main, ["fingerprint", str(tmp_path / "password=1.txt")])
    assert done.exit_code == 0
