"""Word documents from before 2007 are read by another program, or a message says which one is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import chaffinch
from chaffinch import Document, File, Skipped, Unreadable
from chaffinch.errors import SkipReason
from chaffinch.read import budget
from chaffinch.read.detect import detect_format
from chaffinch.read.formats.office import word97
from chaffinch.read.ready import ready_documents
from tests import made
from tests.hostile import damaged, message_if_unreadable
from tests.word97_file import doc

PROGRAMS = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in word97.PROGRAMS]


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Hide all programs for Word but one."""
    which = shutil.which
    hidden = word97.PROGRAMS.keys() - {request.param}
    monkeypatch.setattr(shutil, "which", lambda name: None if name in hidden else which(name))


@pytest.mark.parametrize("only", PROGRAMS, indirect=True)
@pytest.mark.usefixtures("only")
def test_a_document_of_word_97_is_read_by_paragraphs() -> None:
    paragraphs = [*made.prose(12), "caf\xe9 \u2014 na\xefve \u65e5\u672c"]
    (found,) = ready_documents(File("essay", doc(paragraphs)))
    assert isinstance(found, Document)
    assert (found.format, found.language, found.encoding) == ("doc", "text", "utf-8")
    assert found.data.decode().split() == " ".join(paragraphs).split()
    assert found.place(len(found.data) - 4) == "paragraph 13, line 1"
    plain = chaffinch.stream("\n".join(paragraphs))
    assert chaffinch.stream(found).symbols.tolist() == plain.symbols.tolist()


def test_the_format_is_found_by_content() -> None:
    assert detect_format(File("x.txt", doc(["words"]))) == "doc"
    sheet = doc(["words"]).replace("WordDocument".encode("utf-16-le"), "Workbook\0\0\0\0".encode("utf-16-le"))
    assert detect_format(File("x.doc", sheet)) == "ole"


def test_without_a_program_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    (skipped,) = ready_documents(File("essay.doc", doc(["words"])))
    assert isinstance(skipped, Skipped)
    assert skipped.reason == SkipReason.NEEDS_PROGRAM
    assert "antiword or catdoc; install" in skipped.detail


@pytest.mark.antiword
@pytest.mark.catdoc
def test_damaged_and_protected_documents_are_read_or_reported() -> None:
    with pytest.raises(Unreadable, match="no text in it, or a password"):
        next(word97.read(File("essay", doc([], is_encrypted=True))))
    for bad in damaged(doc(made.prose(4)), 40):
        with message_if_unreadable():
            list(word97.read(File("essay", bad)))


def test_a_program_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SECONDS", 1)
    program = tmp_path / "antiword"
    program.write_text("#!/bin/sh\nwhile :; do :; done\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(Unreadable, match="antiword was not done after 1 s; save it as DOCX"):
        next(word97.read(File("essay", doc(["words"]))))
