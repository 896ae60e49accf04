"""The text of a web page, for people: the same letters as the core finds in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch.native.fingerprint import Source, stream
from chaffinch.read.formats.html import html_text
from chaffinch.recipe import Recipe

PAGES = [
    "<p>Hello <b>World</b></p><p>two",
    "<title>T</title><style>p {color: red}</style>a<SCRIPT>var x = '</p>';</SCRIPT >b<svg/>c<svg>d</svg>",
    "caf&eacute; na&iuml;ve &#233;t&#xE9; &amp;&nbsp;&lt;i&gt; &notit; &copy2 &#x110000; &#99999999999;",
    "a &unknown; b &; & c &#; d &#xZZ; e &#128; fl&fflig; &Ascr;&frac12;",
    "<!-- out --> in <!--> x --> y <!-- unclosed",
    "<a href=\"x>y\" title='>'>link</a><img alt='unclosed> still here",
    "1 < 2 and 3 > 2 <3 </3 > <![CDATA[x]]><?php echo ?>z<!DOCTYPE html>",
    "<script>never closed <table><tr><td>1<td>2<tr><th>3</table><pre>a\n b\r\nc</pre>",
    "<html><p title='no'>Ča&eacute;&#x65E5;本 &NotEqualTilde; x</p><b",
]


def letters(source: Source) -> list[int]:
    symbols: list[int] = stream(source, Recipe()).symbols.tolist()
    return symbols


@pytest.mark.parametrize("page", PAGES)
def test_the_text_of_a_page_has_the_letters_that_the_core_finds(page: str) -> None:
    data = page.encode()
    assert letters(Source.unicode(html_text(data).encode(), "utf-8")) == letters(Source.html(data))


_PIECES = (
    "<",
    ">",
    "!--",
    "-->",
    "&",
    "#",
    "x",
    "script",
    "</",
    "'",
    '"',
    "=",
    " ",
    "é",
    "eacute;",
    "/",
    "p",
    "4",
)


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_any_page_has_the_letters_that_the_core_finds(page: str) -> None:
    data = page.encode()
    assert letters(Source.unicode(html_text(data).encode(), "utf-8")) == letters(Source.html(data))


def test_pages_are_laid_out_for_people() -> None:
    page = b"<ul><li>one\n  two<li>three</ul><table><tr><td>a</td><td>b</td></tr></table>x<br>y<pre>p\nq</pre>"
    assert html_text(page) == "one two\nthree\na\tb\nx\ny\np\nq"
    assert html_text("<meta charset=cp1251><p>Все счастливые семьи".encode("cp1251")) == "Все счастливые семьи"
    assert html_text("<p>déjà".encode("utf-16")) == "déjà"


@pytest.mark.slow
@pytest.mark.parametrize(
    "opener",
    ["<!--", "<script>", "<a b='", '<a b="', "<", "&", "<!", "</", "<style>x", "='<a'", "<![CDATA[", "<a ="],
)
def test_unclosed_openers_cost_no_more_than_their_length(opener: str) -> None:
    for page in ((opener + " ").encode() * 300_000, opener.encode() * 300_000):
        html_text(page)
        letters(Source.html(page))
