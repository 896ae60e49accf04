"""PDF and PostScript: words as they are read, each with its page."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import chaffinch
from chaffinch import Document, File, Skipped, Unreadable
from chaffinch.errors import SkipReason
from chaffinch.read import budget
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


def test_pictures_of_pages_are_reported() -> None:
    with pytest.raises(Unreadable, match=r"some.pdf: holds no text.*searchable"):
        read_pdf(made.pdf_pages([[], []]))


def test_a_password_is_reported() -> None:
    encrypted = made.pdf_pages([["secret"]]).replace(
        b"trailer\n<<",
        b"trailer\n<< /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"41" * 32
        + b"> /U <" + b"42" * 32 + b"> >>",
    )  # fmt: skip
    with pytest.raises(Unreadable, match=r"some.pdf: is protected by a password; save it without one"):
        read_pdf(encrypted)


def test_a_truncated_or_damaged_pdf_is_read_or_reported() -> None:
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
    with pytest.raises(Unreadable, match=r"some.ps: PostScript needs Ghostscript; install it"):
        next(postscript.read(File("some.ps", b"%!PS\nshowpage\n")))


@pytest.mark.ghostscript
def test_postscript_that_runs_forever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SECONDS", 1)
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
def test_broken_postscript_is_reported(program: bytes) -> None:
    with pytest.raises(Unreadable, match=r"^some.ps: "):
        next(postscript.read(File("some.ps", program)))


def nested_forms(depth: int, times: int) -> bytes:
    """Return a small PDF with a form that shows another form several times, and so on: times ** depth words."""
    font = b"/Font << /F 5 0 R >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R "
        b"/Resources << /XObject << /X 6 0 R >> %s >> >>" % font,
        b"<< /Length 5 >> stream\n/X Do\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for level in range(depth):
        last = level == depth - 1
        body = b"BT /F 9 Tf 10 10 Td (word) Tj ET" if last else b"/X Do " * times
        inner = b"" if last else b"/XObject << /X %d 0 R >>" % (7 + level)
        form = b"<< /Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources << %s %s >> /Length %d >>"
        objects.append(form % (inner, font, len(body)) + b" stream\n" + body + b"\nendstream")
    return (
        b"%PDF-1.4\n"
        + b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, o) for n, o in enumerate(objects, 1))
        + (b"trailer << /Root 1 0 R >>\n%%EOF")
    )


def test_a_page_bomb_costs_its_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(made.pdf(made.prose(2)))
    (tmp_path / "b.pdf").write_bytes(nested_forms(12, 10))
    (tmp_path / "c.pdf").write_bytes(made.pdf(made.prose(2)))
    first, bomb, last = chaffinch.documents([tmp_path])
    assert isinstance(bomb, Skipped)
    assert bomb.reason == SkipReason.TOO_LARGE
    assert isinstance(first, Document)
    assert isinstance(last, Document)
    assert first.data == last.data
    assert len(nested_forms(12, 10)) < 4000


def test_a_worker_that_is_killed_is_started_again() -> None:
    file = File("a.pdf", made.pdf(made.prose(1)))
    (before,) = pdf.read(file)
    worker = pdf._worker._process
    assert worker is not None
    worker.kill()
    worker.wait()
    (after,) = pdf.read(file)
    assert before == after


def test_the_worker_ends_with_its_parent() -> None:
    program = (
        "import sys, os, signal\n"
        "from chaffinch import File\n"
        "from chaffinch.read.formats import pdf\n"
        "list(pdf.read(File('a.pdf', sys.stdin.buffer.read())))\n"
        "print(pdf._worker._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input=made.pdf(made.prose(1)), capture_output=True)
    assert done.returncode == -signal.SIGKILL
    worker = int(done.stdout)
    for _ in range(200):
        if not Path(f"/proc/{worker}").exists() or "Z" in Path(f"/proc/{worker}/stat").read_text().split()[2]:
            return
        time.sleep(0.05)
    raise AssertionError("the worker is still running")


def test_long_words_without_a_break_are_read_in_linear_time() -> None:
    assert pdf._mend_words(["x" * 400_000 + " y"]) == ["x" * 400_000 + " y"]
