"""Web pages: what a reader sees is compared, and every symbol points at its bytes in the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import File, Recipe, fingerprint, reference, stream
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source


def text(page: bytes) -> str:
    return "".join(map(chr, stream(File("x.html", page)).symbols.tolist()))


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b"<p>Hello <b>World</b></p>", "helloworld"),
        (b"<title>T</title><style>p {color: red}</style>a<SCRIPT>var x = '</p>';</SCRIPT >b", "tab"),
        (b"caf&eacute; na&iuml;ve &#233;t&#xE9; &amp;&nbsp;&lt;i&gt;", "cafenaiveetei"),
        (b"a &unknown; b &; & c &#; d &#xZZ; e", "aunknownbcdxzze"),
        (b"fl&fflig; &Ascr;&frac12;", "flffa12"),
        (b"<!-- out --> in <!-- unclosed", "inunclosed"),
        (b"<a href=\"x>y\" title='>'>link</a>", "link"),
        (b"<img alt='unclosed> still here", "stillhere"),
        (b"1 < 2 and 3 > 2 <3", "12and323"),
        (b"<![CDATA[x]]><?php echo ?>z<!DOCTYPE html>", "z"),
        (b"<script>never closed, so shown", "neverclosedsoshown"),
        (b"<p", "p"),
        (b"<", ""),
        (b"&", ""),
        (b"", ""),
    ],
)
def test_what_a_reader_sees(page: bytes, expected: str) -> None:
    assert text(page) == expected


def test_symbols_point_at_their_bytes(level: str) -> None:
    page = "<html><p title='no'>Ča&eacute;&#x65E5;本 &NotEqualTilde; x</p>".encode()
    found = stream(page)
    parts = [page[a:b].decode() for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]
    assert parts == ["Č", "a", "&eacute;", "&#x65E5;", "本", "x"]


PROSE = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune wants a wife. "
)


def test_a_page_matches_its_text(level: str) -> None:
    page = f"<!doctype html><html><body><p>{PROSE.replace('truth', '<i>truth</i>')}</p></body></html>"
    assert fingerprint(page.encode()).hashes.tolist() == fingerprint(PROSE).hashes.tolist()


def test_a_str_is_text_even_if_it_looks_like_a_page() -> None:
    assert stream("<html>x").symbols.tolist() == list(b"htmlx")
    assert stream(b"<html>x").symbols.tolist() == list(b"x")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1251", "utf-16", "shift_jis", "utf-8-sig"])
def test_pages_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    words = {"cp1251": "Все счастливые семьи похожи", "shift_jis": "吾輩は猫である"}.get(
        encoding, "déjà vu à Paris"
    )
    page = f"<html><head><meta charset='{encoding}'></head><body>{words} &eacute;</body></html>"
    path = tmp_path / "page.html"
    path.write_bytes(page.encode(encoding))
    assert stream(path).symbols.tolist() == stream(words + " é").symbols.tolist()


@given(
    st.lists(
        st.sampled_from(
            (
                b"<",
                b">",
                b"!--",
                b"-->",
                b"&",
                b"#",
                b"x",
                b"script",
                b"</",
                b"'",
                b'"',
                b"=",
                b" ",
                b"\xc3",
                b"\xa9",
                b"eacute;",
                b"/",
            )
        ),
        max_size=40,
    ).map(b"".join)
)
def test_any_bytes_are_read_and_nothing_is_found_twice(level: str, page: bytes) -> None:
    found = core.stream(Source.html(page), Recipe())
    starts, ends = found.starts.tolist(), found.ends.tolist()
    assert all(a < b <= len(page) for a, b in zip(starts, ends, strict=True))
    assert starts == sorted(starts)
    table = reference.folding("text")
    for symbol, start, end in zip(found.symbols.tolist(), starts, ends, strict=True):
        if page[start : start + 1] != b"&":
            assert symbol in table[ord(page[start:end].decode())]


@pytest.mark.parametrize("opener", ["<!--", "<script>", "<a b='", '<a b="', "<", "&", "<!", "</", "<style>x"])
def test_unclosed_openers_cost_no_more_than_their_length(opener: str) -> None:
    stream(File("x.html", (opener + " ").encode() * 300_000))
