"""RTF: exactly the text that a reader sees, with sections; bad files give a message."""

from __future__ import annotations

import pytest

from chaffinch.errors import Unreadable
from chaffinch.read.formats import rtf
from chaffinch.types import Document, File
from tests.hostile import damaged, message_if_unreadable, read_limited


def read(body: str | bytes, head: str = "\\ansi\\ansicpg1252") -> Document:
    data = body if isinstance(body, bytes) else body.encode("latin-1")
    (document,) = rtf.read(File("essay", b"{\\rtf1" + head.encode() + b" " + data + b"}"))
    return document


FONTS = (
    r"{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fcharset204{\*\falt x}Arial Cyr;}{\f2\fcharset128 Mincho;}"
    r"{\f3\fnil Other;}}"
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"Hello \b world\b0 .\par Two", "Hello world.\nTwo\n"),
        ("Lines\r\n are not\n paragraphs\\\nbut this", "Lines are not paragraphs\nbut this\n"),
        (FONTS + r"caf\'e9 {\f1 \'c2\'f1\'e5} \'e9\f2 \'82\'a0\'83A\f3\'e9", "café Все éあアé\n"),
        (
            r"\u1042?\u1089\'f1\u1077 ? e {\uc0\u26085\u26412} \uc2\u-10179??\u-8704\'3f\'3f.",
            "Все e 日本 😀.\n",
        ),
        (r"\uc1\u8220{\'93}x\u8221\ldblquote y", "““x”y\n"),
        (r"a\emdash b\~c\_d\-e\tab\{f\}\\ \lquote g\rquote\line h", "a—b\u00a0c-de\t{f}\\ ‘g’\nh\n"),
        (r"{\field{\*\fldinst HYPERLINK \"http://x.y\"}{\fldrslt the link}} end", "the link end\n"),
        (r"{\field{\fldinst {PAGE}}{\fldrslt {3}}}", "3\n"),
        (
            r"{\info{\title T}}{\stylesheet{\s0 Normal;}}{\colortbl;\red0;}{\header head\par}x{\footerf y}",
            "x\n",
        ),
        (r"{\*\generator G;}{\*\unknown{\deep x\par}}{\pict\pngblip 89504e47}{\*\bkmkstart b}kept", "kept\n"),
        (r"{\v hidden\par}shown {\deleted gone}\v no\v0  yes\v no\plain  still", "shown  yes still\n"),
        (r"{\pntext 1.\tab}item{\listtext\'b7\tab}", "item\n"),
        (
            r"\trowd\cellx1\cellx2 a\cell b\cell\row\trowd c\par d\cell\cell\row after\par",
            "a\tb\nc\nd\nafter\n",
        ),
        (r"{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt Box\par}}{\shprslt Box\par}}Text", "Box\nText\n"),
        (r"{\object{\*\objdata 0102}{\result {shown}}}", "shown\n"),
        (r"\upr \nosuchword5 x\'zz \ansicpg99999 y", "xzz y\n"),
    ],
)
def test_rtf(body: str, expected: str) -> None:
    assert read(body).data.decode() == expected


@pytest.mark.parametrize(
    ("head", "text", "encoding"),
    [
        (r"\ansi\ansicpg1251", "Все счастливые", "cp1251"),
        (r"\mac", "déjà", "mac_roman"),
        (r"\pc", "déjà", "cp437"),
        (r"\pca", "déjà", "cp850"),
        (r"\ansi\ansicpg936", "你好世界", "gbk"),
        (r"\ansi\ansicpg65001", "Все 日本", "utf-8"),
    ],
)
def test_code_pages(head: str, text: str, encoding: str) -> None:
    assert read(text.encode(encoding), head).data.decode() == text + "\n"
    escaped = "".join(f"\\'{byte:02x}" for byte in text.encode(encoding))
    assert read(escaped, head).data.decode() == text + "\n"


def test_binary_data_is_passed_over() -> None:
    assert read(b"a{\\pict\\bin5 }}\\{{}\\bin3 }}}b").data == b"ab\n"


def test_paragraphs_and_notes_have_places() -> None:
    document = read(
        r"One{\super\chftn{\footnote \chftn  Note.\par More.}} goes on.\par\par Two\line lines"
        r"{\*\footnote{ Second.}}\par"
    )
    assert document.data.decode() == "One goes on.\nTwo\nlines\nNote.\nMore.\nSecond.\n"
    assert [part.label for part in document.sections] == [
        "paragraph 1",
        "paragraph 2",
        "footnote 1",
        "footnote 2",
    ]
    assert document.place(document.data.index(b"lines")) == "paragraph 2, line 2"
    assert document.place(document.data.index(b"More")) == "footnote 1, line 2"


def test_a_file_that_is_not_rtf_or_is_empty_is_refused() -> None:
    with pytest.raises(Unreadable, match="essay: does not begin like RTF; save it again"):
        list(rtf.read(File("essay", b"plain")))
    with pytest.raises(Unreadable, match="essay: holds no text"):
        read(r"\par{\pict 00}")


def test_damaged_files_are_read_as_far_as_they_go() -> None:
    body = FONTS + r"caf\'e9 {\f1 \'c2}\u1042?\par{\footnote note}\trowd a\cell b\row {\*\x y}" * 5
    for data in damaged(b"{\\rtf1\\ansi " + body.encode() + b"}", 1000):
        with message_if_unreadable():
            (document,) = rtf.read(File("essay", data))
            document.data.decode()
    assert read(r"kept {\b also").data == b"kept also\n"
    assert read(r"kept}} trailing").data == b"kept\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "{" * 200 + "x" + "}" * 200,
        "{" * 100_000 + "x",
        "{\\footnote " * 100_000 + "x",
        "{\\fonttbl" * 100_000 + "}" * 100_000 + "x",
        "x\\bin9999999999 y",
        "\\uc9999999999\\u65 " * 100_000 + "x",
        "\\'" * 1_000_000 + "x",
        "\\" * 999_999 + "x",
        "\\*" * 500_000 + "x",
        "\\trowd\\cell" * 300_000 + "x",
    ],
)
def test_hostile_files_cost_no_more_than_their_length(body: str) -> None:
    assert read_limited("rtf", "rtf", b"{\\rtf1 " + body.encode())
