"""Markdown: what a reader of the rendered page sees is compared, and every symbol points at its bytes."""

from __future__ import annotations

import html.entities
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import File, Recipe, stream
from chaffinch.native import fingerprint as core
from chaffinch.native.formats import markdown_page
from chaffinch.read.formats import markdown
from chaffinch.read.ready import text_document
from chaffinch.types import Stream


def read(data: bytes, encoding: str = "utf-8") -> Stream:
    file = File("x.md", data, encoding)
    return core.stream(markdown.source(text_document(file, "markdown")), Recipe())


def text(written: str) -> str:
    return "".join(map(chr, read(written.encode()).symbols.tolist()))


def folded(shown: str) -> str:
    return "".join(map(chr, stream(shown).symbols.tolist()))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("# Heading\n\nSome *emphasis*, __strong__ and ~~struck~~.", "Heading Some emphasis strong and struck"),
        ("Heading\n=======\n\n* a\n* b\n\n> quoted\n\n***\n", "Heading a b quoted"),
        ("---\ntitle: gone\nx: [y]\n---\nkept", "kept"),
        ("\ufeff---\r\ntitle: gone\r\n---\r\nkept", "kept"),
        ("+++\ntitle = 'gone'\n+++\nkept", "kept"),
        ("---\nwords\n---\nkept", "words kept"),
        ("---\n\na rule, not\n\n---\nfront matter", "a rule not front matter"),
        # Links.
        ('[text](http://gone.org/a_(b) "gone") after', "text after"),
        ("![alt](<gone by.png> 'gone')[ ![in](gone) out ](gone)", "alt in out"),
        (
            "[text][Some  Ref] and [ref][] and a[i][j]\n\n[some ref]: http://gone.org 'gone'",
            "text and ref and aij",
        ),
        ("[a]: <http://gone.org>\n[b]:\n  gone.org\n  (gone)\n\nkept [x]: kept", "kept x kept"),
        ("<https://kept.org/x> <me@kept.org> http://kept.org", "https kept org x me kept org http kept org"),
        ("note[^1] and[^long-name].\n\n[^1]: The note.", "note and The note"),
        # HTML.
        ("a <b class='x>y'>bold</b><br/> <!-- gone\n\ngone --> b <!-- kept", "a bold b kept"),
        ("<script>\ngone();\n</script ><STYLE>gone</style>kept<?gone?><!DOCTYPE gone>", "kept"),
        ("1 < 2 and 3 > 2, a<b, <3 and <unclosed", "12and32ab3andunclosed"),
        ("caf&eacute; &#233; &#x3b1; &amp; &unknown; &; R&D; &nGt;", "café é α unknown RD"),
        (r"\<b> \[text\](kept) \&eacute; \`<i>\`", "b text kept eacute "),
        # Code is text.
        ("`<b> [x](y) &eacute;` and ``a ` b`` and `open", "b x y eacute and a b and open"),
        ("`no\n\ncode <b>here` x", "no code here x"),
        ("```python title='gone'\n<b>[x](y)\n```\n*after* <b>", "b x y after"),
        ("~~~~gone\n~~~\n```\n<b>\n~~~~\n<i>after", "b after"),
        ("> ```gone\n> <b>\n> ```\n<i>after", "b after"),
        ("2. ```gone\n  <b>\n  ```\n<i>after", "b after"),
        ("```gone\nnever closed <b>", "never closed b"),
        ("```inline <b>``` after", "inline b after"),
        # Lists and tables.
        ("1. one\n2. two\n   10) ten\n3. three", "one two ten three"),
        ("It was in\n1986. Then\n\n1986. An item\n1. too", "It was in 1986 Then An item too"),
        ("- [x] done\n- [ ] open\n- [x](gone) link", "done open x link"),
        ("| a | b |\n|:--|--:|\n| 1 | 2 |", "a b 1 2"),
        ("# Title {#gone .gone}\n\n{: .gone}\n{kept}", "Title kept"),
        ("$\\alpha_1 + x$", "alpha 1 x"),
    ],
)
def test_what_a_reader_sees(written: str, shown: str) -> None:
    assert text(written) == folded(shown)
    assert text(written.replace("\r\n", "\n").replace("\n", "\r\n")) == folded(shown)


def test_symbols_point_at_their_bytes(level: str) -> None:
    data = "---\nno: no\n---\nČ[a](no)<b>&eacute;</b>\n\n1. 日`本`".encode()
    found = read(data)
    parts = [data[a:b].decode() for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]
    assert parts == ["Č", "a", "&e", "日", "本"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "shift_jis", "utf-8-sig"])
def test_any_encoding(encoding: str) -> None:
    words = "吾輩は猫である" if encoding == "shift_jis" else "déjà vu"
    data = f"# {words} [x](gone) &eacute;".encode(encoding)
    assert read(data, encoding).symbols.tolist() == stream(words + " x é").symbols.tolist()


def test_every_entity_is_its_character() -> None:
    for name, shown in html.entities.html5.items():
        if name.endswith(";"):
            assert text(f"&{name}") == folded(shown), name


MARKS = [
    b"[", b"]", b"(", b")", b"!", b"^", b":", b"`", b"```", b"~~~", b"<", b">", b"<!--", b"-->", b"<a ",
    b"<script>", b"</script>", b"'", b'"', b"&", b"#", b"eacute;", b"\n", b"\r\n", b" ", b"\t", b"1.", b"2)",
    b"- ", b"\\", b"a", b"---", b"+++", b"x: y", b"{#", b"}", b"\xc3", b"\xa9", b"&#0;", b"&#xD800;",
]  # fmt: skip


@given(st.lists(st.sampled_from(MARKS), max_size=40).map(b"".join))
def test_any_bytes_are_read_and_none_is_moved(data: bytes) -> None:
    left = markdown_page(data)
    assert len(left) == len(data)
    written = "é\ufffd".encode()
    assert all(b in (a, 0x20) or b in written for a, b in zip(data, left, strict=True))


HOSTILE = r"""
from chaffinch.native.formats import markdown_page as blank
units = [
    b"[", b"![", b"]", b"](", b"][", b"][x", b"`", b"` ", b"`` `", b"<", b"<!--", b"<a ", b"<a '", b'<a "',
    b"<a '\"", b"<script>", b"&", b"&#", b"\n[a]: b '", b"\n[a]:", b"\n[", b"\n```", b"\n```\n", b"\n~~~~",
    b"\n1.", b"\n2. a\n\n", b"\n2. a", b"](a \"", b"](a (", b"[^", b"{#", b"\\", b"---\n", b"---\na: b\n",
    b"\n> > ", b" ", b"\n", b"\n- [x] ", b"a `b\n\n", b"](<", b"<?", b"<!a", b"\n[a\\", b"\n",
]
for unit in units:
    data = unit * (400_000 // len(unit))
    assert len(blank(data)) == len(data)
blank(b" ".join(b"`" * n for n in range(2000)))
blank(b"1. x" + b"y" * 1_000_000 + b"\n\nz" + b"\n5. z" * 100_000)
"""


@pytest.mark.slow
def test_hostile_files_cost_no_more_than_their_length() -> None:
    subprocess.run([sys.executable, "-c", HOSTILE], check=True, timeout=300)
