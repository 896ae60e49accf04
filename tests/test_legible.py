"""A PDF whose text is not language is noted; every real language passes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Document, Index
from chaffinch.cli import main
from chaffinch.index.index import open_for_import
from chaffinch.read.legible import NOT_LANGUAGE, is_language, is_legible
from tests import made
from tests.postgres_server import new_name
from tests.test_encodings import PARAGRAPHS

ENGLISH = " ".join(made.prose(10))


def garbled(kind: str) -> str:
    chance = random.Random(kind)
    match kind:
        case "fonts without a map":
            return "".join(
                chr(chance.choice([*range(1, 9), *range(33, 64), *range(127, 150)])) for _ in ENGLISH
            )
        case "letters moved in the font":
            return "".join(chr((ord(c) - 94) % 26 + 97) if "a" <= c <= "z" else c for c in ENGLISH)
        case "a scan in pieces":
            return " ".join(c for c in ENGLISH if c != " ")
        case _:
            return "".join(chance.choice("~`^|_.,:;'") if chance.random() < 0.6 else c for c in ENGLISH)


KINDS = ("fonts without a map", "letters moved in the font", "a scan in pieces", "a scan with dirt")


@pytest.mark.parametrize("kind", KINDS)
def test_what_fonts_and_scans_make_of_text_is_not_language(kind: str) -> None:
    assert not is_language(garbled(kind))


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_texts_in_every_language_are_language(language: str) -> None:
    assert is_language(3 * PARAGRAPHS[language][1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = y",
        "\u543e\u8f29\u306f \u732b \u3067 \u3042 \u308b " * 50,
        "1 24 3,014 22.5% 1973 " * 50,
        "Let x be in A and f ( x ) = y + z, so that f maps every point of A to the set B as above. " * 9,
        "double mean(int n) { for (int i = 0; i < n; i++) { sum += values[i] * weights[i]; } return sum / n; } "
        * 9,
    ],
)
def test_formulas_tables_programs_and_short_texts_pass(text: str) -> None:
    assert is_language(text)


def test_only_what_was_taken_out_of_pages_is_judged() -> None:
    noise = garbled(KINDS[0]).encode()
    assert is_legible(Document("a.txt", noise, "utf-8", "plain", "text"))
    assert not is_legible(Document("a.pdf", noise, "utf-8", "pdf", "text"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a class in which one PDF has fonts without a map."""
    (tmp_path / "class").mkdir()
    for name, text in (("ann", ENGLISH), ("bob", ENGLISH[::-1]), ("cid", garbled(KINDS[2]))):
        pages = [made.lines([text])]
        (tmp_path / "class" / f"{name}.pdf").write_bytes(made.pdf_pages(pages))
    return tmp_path / "class"


def test_a_report_names_them(folder: Path) -> None:
    report = chaffinch.compare(folder)
    (note,) = (note for note in report.notes if note.detail == NOT_LANGUAGE)
    assert [Path(name).name for name in note.names] == ["cid.pdf"]


def test_an_index_names_them(folder: Path, tmp_path: Path) -> None:
    where = str(tmp_path / "archive")
    with Index.create(where) as index:
        assert [Path(name).name for name in index.add(folder).not_language] == ["cid.pdf"]
        assert index.add(folder).not_language == []
    again = str(tmp_path / "again")
    CliRunner().invoke(main, ["index", "create", again])
    added = CliRunner().invoke(main, ["index", "add", again, str(folder)])
    assert f"cid.pdf: {NOT_LANGUAGE}" in added.output


@pytest.mark.parametrize("content", ["text", "none"])
@pytest.mark.parametrize("kind", ["folder", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_an_index_counts_them_without_reading_texts(
    folder: Path, tmp_path: Path, kind: str, content: str, request: pytest.FixtureRequest
) -> None:
    where = str(tmp_path / "archive")
    if kind == "postgres":
        where = f"{request.getfixturevalue(kind)}#{new_name()}"
    with Index.create(where, content=content) as index:
        index.add(folder)
        index.merge()
        assert index.info().not_language == 1
        index.export(tmp_path / "export")
    with open_for_import(tmp_path / "copy", tmp_path / "export") as copy:
        copy.import_(tmp_path / "export")
        assert [Path(d.name).name for d in copy if d.not_language] == ["cid.pdf"]
        copy.remove([d.name for d in copy if d.not_language])
        assert copy.info().not_language == 0
    shown = CliRunner().invoke(main, ["index", "info", where]).output
    assert "1 document with text that is not language" in shown
    assert "cid.pdf" not in shown
    as_json = json.loads(CliRunner().invoke(main, ["index", "info", where, "--json"]).output)
    assert as_json["not_language"] == 1
    listed = CliRunner().invoke(main, ["index", "info", where, "--documents"]).output
    assert f"cid.pdf: {NOT_LANGUAGE}" in listed
    assert "bob.pdf:" not in listed
