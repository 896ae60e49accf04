"""An address of an index may hold a password, and no password is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.index.address import is_database, is_index, without_password


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
        "/home/ann/what?password=this",
        r"C:\essays: the last@home",
    ],
)
def test_what_has_no_password_is_shown_as_it_is(where: str) -> None:
    assert without_password(where) == where


@given(st.text(), st.sampled_from(["", "?connect_timeout=3", "#essays"]))
def test_no_password_is_shown_whatever_characters_it_has(password: str, rest: str) -> None:
    assert without_password(f"postgresql://ann:{password}@host/db{rest}") == f"postgresql://ann@host/db{rest}"


def test_an_index_is_a_database_or_a_folder_with_a_catalogue(tmp_path: Path) -> None:
    assert is_database("postgresql://host/db")
    assert not is_database(Path("postgresql://host/db"))
    assert not is_index(tmp_path)
    (tmp_path / "catalogue.db").touch()
    assert is_index(tmp_path)
    assert is_index("postgres://host/db")
