"""Tesseract reads pages that are pictures, and those whose text is not language."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Document, File, Index, Skipped, Unreadable
from chaffinch.cli import main
from chaffinch.errors import SkipReason
from chaffinch.read.formats import ocr, pdf
from tests import made

LINES = ["The first line of a page that was scanned.", "Another line of words follows it here."]
OTHER = ["Nothing of the kind is written on this page,", "which is about rivers and their bridges."]


def scanned(lines: list[str], hidden: str = "") -> bytes:
    """Return a PDF with a picture of a page, and perhaps a hidden layer of text as from a bad scan."""
    picture = pdf._worker.picture(File("x", made.pdf_pages([lines])), 0)
    head, _, pixels = picture.partition(b"\n")
    _, width, height, _ = head.split()
    packed = zlib.compress(pixels)
    words = "".join(f"({line}) Tj 0 -9 Td " for line in made.lines([hidden])) if hidden else ""
    content = f"q 612 0 0 792 0 0 cm /I Do Q BT 3 Tr /F 9 Tf 9 780 Td {words} ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /XObject << /I 5 0 R >> /Font << /F 6 0 R >> >> >>",
        b"<< /Length %d >> stream\n%s\nendstream" % (len(content), content),
        b"<< /Type /XObject /Subtype /Image /Width %s /Height %s /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Filter /FlateDecode /Length %d >> stream\n%s\nendstream" % (width, height, len(packed), packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    numbered = b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, o) for n, o in enumerate(objects, 1))
    return b"%PDF-1.4\n" + numbered + b"trailer << /Root 1 0 R >>\n%%EOF"


def words(document: object) -> list[str]:
    assert isinstance(document, Document)
    return document.data.decode().split()


@pytest.mark.tesseract
@pytest.mark.parametrize("hidden", ["", "t h e f i r s t l i n e " * 20], ids=["scan", "bad scan"])
def test_pictures_of_pages_are_read(tmp_path: Path, hidden: str) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned(LINES, hidden))
    (found,) = chaffinch.documents(path, ocr=True)
    assert words(found) == " ".join(LINES).split()
    assert isinstance(found, Document)
    assert found.place(found.data.index(b"Another")) == "page 1, line 2"
    (without,) = chaffinch.documents(path)
    assert isinstance(without, Document) == bool(hidden)
    if isinstance(without, Skipped):
        assert "use --ocr" in without.detail


@pytest.mark.tesseract
def test_pages_with_text_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "page_text", lambda picture: "not this")
    data = made.pdf_pages([made.lines(made.prose(3)), []])
    (found,) = pdf.read(File("x.pdf", data, format="pdf"), use_ocr=True)
    (before,) = pdf.read(File("x.pdf", data, format="pdf"))
    assert found.data == before.data.rstrip() + b"\nnot this\n"


@pytest.mark.tesseract
def test_compare_and_index_read_scans(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    for name, lines in (("ann", LINES), ("bob", LINES), ("cid", OTHER)):
        (folder / f"{name}.pdf").write_bytes(scanned(lines))
    report = chaffinch.compare(folder, ocr=True)
    assert (report.pairs[0].left, report.pairs[0].right) == ("ann", "bob")
    where = str(tmp_path / "archive")
    Index.create(where).close()
    added = CliRunner().invoke(main, ["index", "add", where, str(folder), "--ocr"])
    assert "3 added" in added.output


def test_without_tesseract_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Unreadable, match=r"--ocr needs the program tesseract .*; install it") as error:
        list(chaffinch.documents(tmp_path, ocr=True))
    assert error.value.reason == SkipReason.NEEDS_PROGRAM
    done = CliRunner().invoke(main, ["compare", str(tmp_path), "--ocr"])
    assert done.exit_code == 2
    assert "install it" in done.output


@pytest.mark.tesseract
def test_a_page_that_cannot_be_recognized_has_no_text() -> None:
    assert ocr.page_text(b"") == ""
    assert ocr.page_text(b"P5 1000000 1000000 255\n") == ""
