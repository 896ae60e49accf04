"""PDF and PostScript: words as they are read, each with its page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chaffinch import Document, File, Unreadable
from chaffinch.read.formats import pdf, postscript
from tests import made
from tests.hostile import message_if_unreadable


def read_pdf(data: bytes) -> Document:
    (found,) = pdf.read(File("some.pdf", data, format="pdf"))
    return found


def test_the_text_is_the_text_and_has_pages() -> None:
    found = read_pdf(
        made.pdf_pages([["First page, line one.", "Line two (with) brackets\\."], ["Page two: café."]])
    )
    assert found.data.decode() == "First page, line one.\nLine two (with) brackets\\.\nPage two: café.\n"
    assert [part.label for part in found.sections] == ["page 1", "page 2"]
    assert found.place(found.data.index(b"brackets")) == "page 1, line 2"
    assert found.place(found.data.index(b"two: ")) == "page 2, line 1"
    assert (found.language, found.encoding) == ("text", "utf-8")


def test_words_broken_at_a_line_end_are_mended_and_lines_keep_their_numbers() -> None:
    lines = [
        "All this was very diffi-",
        "cult to read, and the X-",
        "Ray too; the end was here-",
        "",
        "another",
    ]
    found = read_pdf(made.pdf_pages([lines]))
    text = found.data.decode()
    assert "very difficult\nto read" in text
    assert "here" in text
    assert found.place(found.data.index(b"to read")) == "page 1, line 2"
    assert found.place(found.data.index(b"too;")) == "page 1, line 3"


def test_a_hyphen_at_a_line_end_stays_if_the_word_has_it_elsewhere() -> None:
    found = read_pdf(made.pdf_pages([["A well-known fact is well-", "known to be well-", "nigh true."]]))
    assert found.data.decode() == "A well-known fact is well-known\nto be wellnigh\ntrue.\n"


def test_ligatures_are_letters() -> None:
    named = read_pdf(made.pdf_pages([["\x01nal o\x03ce \x02oor"]], "1 /fi /fl /ffi"))
    assert named.data.decode() == "final office floor\n"


def test_running_heads_and_page_numbers_are_left_out() -> None:
    pages = [[f"A Long Story {n}", f"What happens on day {'abcdef'[n]} is told.", str(n)] for n in range(6)]
    found = read_pdf(made.pdf_pages(pages))
    assert b"Long Story" not in found.data
    assert found.data.split() == b" ".join(b"What happens on day %c is told." % c for c in b"abcdef").split()
    assert found.place(found.data.index(b"day c")) == "page 3, line 2"


def test_two_pages_are_too_few_for_running_heads() -> None:
    assert read_pdf(made.pdf_pages([["Same", "one"], ["Same", "two"]])).data == b"Same\none\nSame\ntwo\n"


def test_pictures_of_pages_are_told() -> None:
    with pytest.raises(Unreadable, match=r"some.pdf: holds no text.*searchable"):
        read_pdf(made.pdf_pages([[], []]))


def test_a_password_is_told() -> None:
    encrypted = made.pdf_pages([["secret"]]).replace(
        b"trailer\n<<",
        b"trailer\n<< /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"41" * 32
        + b"> /U <" + b"42" * 32 + b"> >>",
    )  # fmt: skip
    with pytest.raises(Unreadable, match=r"some.pdf: is protected by a password; save it without one"):
        read_pdf(encrypted)


def test_a_truncated_or_damaged_pdf_is_read_or_told() -> None:
    whole = made.pdf(made.prose(30))
    read = 0
    for cut in range(0, len(whole), len(whole) // 24):
        for data in (whole[:cut], whole[:cut] + bytes(200) + whole[cut + 200 :]):
            with message_if_unreadable("some.pdf"):
                read += bool(read_pdf(data).data)
    assert read > 5


def test_a_page_tree_that_promises_millions_of_pages_costs_nothing() -> None:
    found = read_pdf(made.pdf_pages([["only one"]]).replace(b"/Count 1", b"/Count 2000000000"))
    assert found.data.startswith(b"only one")


@pytest.mark.ghostscript
def test_postscript_is_read_page_by_page() -> None:
    program = made.ps(made.prose(30))
    (found,) = postscript.read(File("some.ps", program, format="postscript"))
    assert len(found.sections) > 1
    assert found.data.split()[:3] == made.prose(30)[0].encode().split()[:3]


def test_without_ghostscript_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Unreadable, match=r"some.ps: PostScript is read by Ghostscript.*install it"):
        next(postscript.read(File("some.ps", b"%!PS\nshowpage\n")))


@pytest.mark.ghostscript
def test_postscript_that_runs_forever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postscript, "SECONDS", 1)
    with pytest.raises(Unreadable, match="not done after 1 s"):
        next(postscript.read(File("some.ps", b"%!PS\n{} loop\n")))


@pytest.mark.ghostscript
def test_postscript_reaches_no_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret words")
    target = tmp_path / "made.txt"
    font = b"/Helvetica findfont 10 scalefont setfont 50 700 moveto "
    reading = b"%%!PS\n%s (%s) (r) file 100 string readstring pop show showpage\n" % (font, bytes(secret))
    writing = b"%%!PS\n(%s) (w) file (x) writestring showpage\n" % bytes(target)
    for program in (reading, writing):
        with pytest.raises(Unreadable):
            next(postscript.read(File("some.ps", program)))
    assert not target.exists()


@pytest.mark.ghostscript
@pytest.mark.parametrize(
    "program", [b"%!PS\n(((((", b"%!PS\n", b"%!PS\n" + bytes(range(256)) * 50, b"%!PS\n100000 dict {"]
)
def test_broken_postscript_is_told(program: bytes) -> None:
    with pytest.raises(Unreadable, match=r"^some.ps: "):
        next(postscript.read(File("some.ps", program)))
