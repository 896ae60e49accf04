"""Every format is detected by its content, and all give the same text."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import chaffinch
from chaffinch import Document, File, Recipe, Skipped, Unreadable
from chaffinch.read.detect import detect_format
from chaffinch.read.ready import ready_documents
from tests import made
from tests.archives import zipped

PROSE = made.prose()
FILES = {extension: make(PROSE) for extension, make in made.FORMATS.items()}
KINDS = {"txt": "plain", "ps": "postscript", "md": "markdown"}
NOTEBOOK = b"""{"cells": [
 {"cell_type": "markdown", "source": ["# The answer\\n", "is below"]},
 {"cell_type": "code", "source": "def answer(x):\\n    return x * 2\\n", "outputs": []}
], "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}"""


def coverage(left: chaffinch.Stream, right: chaffinch.Stream, k: int = 25) -> float:
    """Return the share of the left's symbols in runs of k that the right has too."""
    theirs = {run.tobytes() for run in np.lib.stride_tricks.sliding_window_view(right.symbols, k)}
    covered = np.zeros(len(left), bool)
    for i in range(len(left) - k + 1):
        if left.symbols[i : i + k].tobytes() in theirs:
            covered[i : i + k] = True
    return float(covered.mean())


@cache
def stream_of(extension: str) -> chaffinch.Stream:
    return chaffinch.stream(File(f"same.{extension}", FILES[extension]))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(*pair, marks=[pytest.mark.ghostscript] if "ps" in pair else [])
        for pair in permutations(FILES, 2)
    ],
)
def test_the_same_prose_is_the_same_in_every_format(left: str, right: str) -> None:
    assert len(stream_of(left)) > 8000
    assert coverage(stream_of(left), stream_of(right)) >= 0.97


@pytest.mark.parametrize("extension", FILES)
def test_the_format_is_found_by_content_whatever_the_name(extension: str) -> None:
    kind = KINDS.get(extension, extension)
    assert detect_format(File(f"x.{extension}", FILES[extension])) == kind
    if extension != "md":  # which says nothing of itself
        for name in ("x", "x.txt", "x.pdf"):
            assert detect_format(File(name, FILES[extension])) == kind


def test_other_formats_are_found_by_content() -> None:
    mail = b"From: a@b.example\r\nTo: c@d.example\r\nSubject: hi\r\n\r\nHello\r\n"
    for data, kind in {
        NOTEBOOK: "notebook",
        mail: "mail",
        b"From a@b.example Thu Jan  1 00:00:00 1970\n" + mail: "mbox",
        b"\x7fELF" + bytes(300): "binary",
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500): "ole",
        "Some words, and more, of no kind.".encode("utf-16"): "plain",
        "Ein paar Wörter".encode("latin-1"): "plain",
        b"": "plain",
    }.items():
        assert detect_format(File("x", data)) == kind


OLD_POSTSCRIPT = b"""
%%Creator: An old program
/s { moveto show } bind def
/Helvetica findfont 10 scalefont setfont (Words of old) 72 700 s showpage
"""


PRINTER_JOB = b"\x1b%-12345X@PJL JOB\n@PJL ENTER LANGUAGE = POSTSCRIPT\n%!PS-Adobe-3.0"


@pytest.mark.parametrize(
    "start", [b"%!", b"%! ", b"%!Adobe", b"\x04%!", b"^D%!", b"\x04\r\n%!PS-Adobe-1.0", PRINTER_JOB]
)
@pytest.mark.ghostscript
def test_postscript_of_old_programs_and_printers_is_postscript(start: bytes) -> None:
    for name in ("x.ps", "x.txt", "x"):
        for data in (start + OLD_POSTSCRIPT, start + OLD_POSTSCRIPT.replace(b"%%Creator", b"% by")):
            assert detect_format(File(name, data)) == "postscript"
            assert detect_format(File(name, data.replace(b"\n", b"\r\n"))) == "postscript"
    assert chaffinch.Document("x", start + OLD_POSTSCRIPT).data.strip() == b"Words of old"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.tex", b"%!TEX root = main.tex\n\\section{One}\nWe moveto the next page."),
        ("x", b"%! TeX program = lualatex\n\\documentclass{article}\n\\begin{document}Words"),
        ("x.m", b"%! Plots a figure\nnewpath = 1; moveto = 2; lineto = 3; findfont = 4;\n"),
        ("x", b"%!test\n%! assert (f (1), 2)\nfunction y = f (x)\n  y = 2 * x;\nend\n"),
        ("x.txt", b"%! is how a PostScript file begins, and showpage is how a page ends.\n"),
        ("x.txt", b"See %!PS\n%%Creator: nobody\n"),
    ],
)
def test_other_texts_that_begin_with_a_percent_and_an_exclamation_mark(name: str, data: bytes) -> None:
    assert detect_format(File(name, data)) in ("plain", "tex")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("M.java", b"// %PDF-1.4\n"),
        ("essay.txt", b"// %PDF-1.4\n"),
        ("essay.txt", b"%PDF-1.4\n"),
        ("essay", b"Words first.\n%PDF-1.4\n1 0 obj\n"),
        ("f.m", b"%PDF-1.4\n"),
        ("M.java", b"\x01 // %PDF-1.4\n1 0 obj\n"),
        ("main.py", b"BZh = 1\n"),
    ],
)
def test_work_that_only_quotes_the_mark_of_a_format_is_text(name: str, start: bytes) -> None:
    assert detect_format(File(name, start + made.txt(made.prose(3)))) == "plain"


@pytest.mark.parametrize("before", [b"", b"\r\n", b"\0\0junk\n", b"HTTP/1.1 200 OK\r\nServer: a\r\n\r\n"])
def test_a_pdf_is_found_behind_junk(before: bytes) -> None:
    pdf = made.pdf(made.prose(3))
    for name in ("x", "x.txt"):
        assert detect_format(File(name, before + pdf)) == "pdf"
        assert detect_format(File(name, before + pdf.replace(b"\n", b"\r\n%\xe2\xe3\xcf\xd3\r\n", 1))) == "pdf"
    assert detect_format(File("x.pdf", b"Words before. " + pdf)) == "pdf"


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_is_found_even_without_its_mark(kind: int) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        member = tarfile.TarInfo("essay.txt")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"words"))
    assert detect_format(File("x", out.getvalue())) == "tar"
    header = bytearray(out.getvalue())
    header[257:265] = bytes(8)  # as before there were marks
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + 8 * 32 + sum(header[156:512]))
    assert detect_format(File("x", bytes(header))) == "tar"


def test_a_program_that_holds_a_page_is_a_program() -> None:
    page = b'<!DOCTYPE html>\n<html><?php echo "x"; ?>\n\\documentclass{article}\n'
    (found,) = ready_documents(File("x.php", page))
    assert isinstance(found, Document)
    assert (found.format, found.language) == ("plain", "php")


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.m", "x = 1;", "matlab"),
        ("a.m", "#import <Foundation/Foundation.h>", "objective-c"),
        ("a.pl", "use strict;\nmy $x = 1;", "perl"),
        ("a.pl", "parent(tom, bob).\ngrand(X) :- parent(X, _).", "prolog"),
        ("a.h", "int f(void);", "c"),
        ("a.h", "class A {\npublic:\n", "cc"),
        ("a.asm", "li $t0, 1", "mips"),
        ("a.asm", "mov ax, 1", "a8086"),
        ("a.sql", "select 1", "sql"),
        ("a.sql", "CREATE OR REPLACE PROCEDURE x IS", "plsql"),
        ("script", "#!/usr/bin/env python3", "python"),
        ("a.txt", "int main", "text"),
    ],
)
def test_the_language_is_that_of_the_file(name: str, head: str, expected: str) -> None:
    (found,) = ready_documents(File(name, head.encode()))
    assert isinstance(found, Document)
    assert found.language == expected


def test_a_notebook_is_code_and_prose_with_cells(tmp_path: Path) -> None:
    path = tmp_path / "hw.ipynb"
    path.write_bytes(NOTEBOOK)
    code, prose = chaffinch.documents([path])
    assert isinstance(code, Document)
    assert isinstance(prose, Document)
    assert (code.language, prose.language) == ("python", "text")
    assert code.place(code.data.index(b"return")) == "cell 2, line 2"
    assert prose.place(prose.data.index(b"below")) == "cell 1, line 2"
    recipe = Recipe("python", k=3, w=3)
    assert chaffinch.stream(path, recipe).symbols.tolist() == chaffinch.stream(code, recipe).symbols.tolist()
    assert len(chaffinch.stream(path, Recipe())) == len("theanswerisbelow")


def test_spans_of_text_formats_point_into_the_original() -> None:
    for extension in ("html", "tex", "md"):
        found = File(f"x.{extension}", FILES[extension])
        prints = chaffinch.fingerprint(found)
        middle = len(prints) // 2
        quoted = found.data[int(prints.starts[middle]) : int(prints.ends[middle])]
        again = chaffinch.stream(replace(found, data=quoted, format=detect_format(found)))
        assert len(again) == 25


@pytest.mark.parametrize("extension", ["pdf", "docx", "odt", "epub", "rtf", made.POSTSCRIPT])
def test_spans_of_other_formats_point_into_the_extracted_text(extension: str) -> None:
    original = File(f"x.{extension}", FILES[extension])
    (found,) = ready_documents(original)
    assert isinstance(found, Document)
    prints, same = chaffinch.fingerprint(found), chaffinch.fingerprint(original)
    assert prints.hashes.tolist() == same.hashes.tolist()
    middle = len(prints) // 2
    start, end = int(prints.starts[middle]), int(prints.ends[middle])
    assert len(chaffinch.stream(found.data[start:end].decode())) == 25
    assert found.place(start).split()[0] in ("page", "paragraph", "chapter")


def test_files_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    old_word = File("essay.doc", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(500))
    (skipped,) = ready_documents(old_word)
    assert isinstance(skipped, Skipped)
    assert "save it as DOCX" in skipped.detail
    with pytest.raises(Unreadable, match=r"essay.doc: .*save it as DOCX"):
        chaffinch.fingerprint(old_word)
    with pytest.raises(Unreadable, match=r"x.zip: an archive.*chaffinch.documents"):
        chaffinch.fingerprint(File("x.zip", made.zipped({"a.txt": "a"})))


@pytest.mark.parametrize("kind", ["plain", "html", "tex", "markdown"])
def test_an_encoding_that_does_not_exist_is_reported(kind: str) -> None:
    with pytest.raises(Unreadable, match="essay: there is no encoding 'klingon'; leave it out"):
        chaffinch.stream(File("essay", b"words", "klingon", kind, "text"))


def test_archives_are_read_through_whatever_is_in_them() -> None:
    inner = made.zipped({"essay.pdf": FILES["pdf"], "deep/a.c": b"int main(void) { return 0; }"})
    outer = File("class.zip", made.zipped({"alice.zip": inner, "bob/essay.docx": FILES["docx"]}))
    found = [d for d in ready_documents(outer) if isinstance(d, Document)]
    assert [(d.name, d.language) for d in found] == [
        ("class.zip/alice.zip/deep/a.c", "c"),
        ("class.zip/alice.zip/essay.pdf", "text"),
        ("class.zip/bob/essay.docx", "text"),
    ]
    assert coverage(chaffinch.stream(found[1]), chaffinch.stream(found[2])) > 0.97


def test_a_reader_that_fails_in_an_unknown_way_costs_only_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(document: Document) -> None:
        raise KeyError("what nobody thought of")

    monkeypatch.setattr("chaffinch.read.formats.rtf.read", fail)
    archive = File("x.zip", made.zipped({"a.rtf": FILES["rtf"], "b.txt": "words"}))
    skipped, read = ready_documents(archive)
    assert isinstance(skipped, Skipped)
    assert "what nobody thought of" in skipped.detail
    assert isinstance(read, Document)


def test_a_document_made_of_a_name_and_bytes_is_read_at_once() -> None:
    program = Document("a.py", b"x = 1\ry = 2\r")
    assert (program.data, program.language, program.encoding) == (b"x = 1\ny = 2\n", "python", "utf-8")
    assert program.file_sha256
    assert Document("essay", "Größe".encode("utf-16")).encoding == "utf-16-le"
    with pytest.raises(Unreadable, match="binary, not text"):
        Document("x", bytes(range(256)))
    with pytest.raises(Unreadable, match=r"holds 2 documents; give it as a chaffinch\.File"):
        Document("both.zip", zipped({"a.txt": b"one", "b.txt": b"two"}))
