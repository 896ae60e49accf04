"""Languages through Pygments: the same symbols as the native lexer's, each at its bytes."""

from __future__ import annotations

import random
import sys
from dataclasses import replace

import pytest

import chaffinch
from chaffinch import BadRecipe, ChaffinchError, Document, Recipe, Unreadable, fingerprinting, stream
from chaffinch.errors import SkipReason
from chaffinch.languages import language
from chaffinch.read.formats import lexer_worker as other
from chaffinch.read.formats import pygments_lexer
from chaffinch.types import Stream

NIM = """
## What it does.
proc wörld(x: int): string =
  # a comment
  result = "a\\n" & $(x + 0x1F)
"""
RENAMED = """
proc  other(number : int):string=
  result="something else"&$(number+7)   # why
"""


@pytest.fixture
def no_pygments(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "pygments"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygments", None)
    other._lexer.cache_clear()


def pieces(data: bytes, found: Stream) -> list[str]:
    return [data[a:b].decode() for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]


def test_comments_spacing_and_names_do_not_matter() -> None:
    one, two = (other.tokens(text.encode(), "utf-8", "nim") for text in (NIM, RENAMED))
    assert one.symbols.tolist() == two.symbols.tolist()


def test_tokens_point_at_their_bytes() -> None:
    data = NIM.encode()
    found = other.tokens(data, "utf-8", "nim")
    assert pieces(data, found) == [
        *("proc", "wörld", "(", "x", ":", "int", ")", ":", "string", "="),
        *("result", "=", '"a\\n"', "&", "$", "(", "x", "+", "0x1F", ")"),
    ]
    crlf = NIM.replace("\n", "\r\n").encode()
    assert pieces(crlf, other.tokens(crlf, "utf-8", "nim")) == pieces(data, found)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("c", "int main(void) { for (int i = 0; i < 10; i++) puts(\"a\\n\"); return x ? 1.5 : 'c'; } /* x */"),
        ("java", "public final class A { int f(String s) { return s == null ? 0 : s.length() >> 2; } }"),
        ("go", 'func f(a []int) (n int) { for _, v := range a { n += v }; defer g("x"); return }'),
    ],
)
def test_symbols_are_those_of_the_native_lexer(language: str, code: str) -> None:
    native = stream(code, Recipe(language + "+names"))
    found = other.tokens(code.encode(), "utf-8", language)
    assert found.starts.tolist() == native.starts.tolist()
    assert found.symbols.tolist() == stream(code, Recipe(language)).symbols.tolist()


def test_case_is_ignored_where_the_language_does() -> None:
    lower, upper = (other.tokens(code, "utf-8", "ada") for code in (b"begin x; end;", b"BEGIN Y; END;"))
    assert lower.symbols.tolist() == upper.symbols.tolist()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1251", "utf-16-le", "shift_jis"])
def test_any_encoding(encoding: str) -> None:
    data = NIM.replace("ö", "").encode(encoding)
    assert (
        other.tokens(data, encoding, "nim").symbols.tolist()
        == other.tokens(NIM.encode(), "utf-8", "nim").symbols.tolist()
    )


def test_bytes_that_are_not_utf8_keep_their_offsets() -> None:
    data = b'\xef\xbb\xbfvar a = "\xff\xe9" # \xc3\nvar \xe6\x97\xa5 = 1'
    found = other.tokens(data, "utf-8", "nim")
    assert [data[a:b] for a, b in zip(found.starts, found.ends, strict=True)][:4] == [
        b"var",
        b"a",
        b"=",
        b'"\xff\xe9"',
    ]
    assert data[found.starts[-1] :] == b"1"


@pytest.mark.parametrize("name", ["nim", "zig", "html+django", "apl", "console", "text", "lean", "ruby", "irc"])
def test_tokens_of_any_bytes_are_in_order(name: str) -> None:
    rng = random.Random(name)
    marks = b"\"'`/*#-{}()[]\\\n\n!;%|$@=<>rRqC \t01ex\r"
    for _ in range(20):
        data = bytes(rng.choice(marks) if rng.random() < 0.7 else rng.randrange(256) for _ in range(300))
        for encoding in ("utf-8", "latin-1"):
            found = other.tokens(data, encoding, name)
            assert (found.starts[1:] >= found.ends[:-1]).all()
            assert (found.ends > found.starts).all()
            assert not len(found) or found.ends[-1] <= len(data)
    assert len(other.tokens(b"", "utf-8", name)) == 0


def test_names() -> None:
    assert language.other("Nim") == language.other("pygments:nimrod") == "pygments:nimrod"
    assert language.other("hs") == "pygments:haskell"
    assert language.other("no such language") is None
    assert language.other_version() >= 2_000_000


def test_a_recipe_names_the_language_and_the_release() -> None:
    recipe = Recipe("nim")
    assert (recipe.front, recipe.version) == ("pygments:nimrod", language.other_version())
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    with pytest.raises(BadRecipe, match="choose one of text"):
        Recipe("no such language")


def test_fingerprints_point_into_the_original() -> None:
    program = "# é\n" + "".join(f"proc f{i}(x: int): int =\n  result = x * {i} + 1  # é\n" for i in range(30))
    recipe = Recipe("nim")
    stream = chaffinch.stream(program, recipe)
    prints = chaffinch.fingerprint(program, recipe)
    assert len(prints) > 20
    for position, start, end in zip(prints.positions, prints.starts, prints.ends, strict=True):
        assert start == stream.starts[position]
        assert end == stream.ends[position + recipe.k - 1]


def test_without_pygments_it_says_what_to_install(no_pygments: None) -> None:
    assert language.other("nim") is None
    with pytest.raises(ChaffinchError, match=r"pip install 'chaffinch\[languages\]'"):
        language.other_version()
    with pytest.raises(ChaffinchError, match=r"pip install 'chaffinch\[languages\]'"):
        pygments_lexer.tokens(program(b""), "nim")


# Lexers of Pygments 2 that take quadratic time or more.
ENDLESS = {"make": b"${" * 10_000, "freefem": b"\n " * 10_000}


def program(data: bytes, name: str = "x") -> Document:
    return Document(name, data, "utf-8", "plain", "text")


@pytest.fixture
def little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pygments_lexer, "SECONDS", 1)


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.usefixtures("little_time")
def test_a_program_that_takes_forever_is_refused_and_the_next_is_read(name: str) -> None:
    with pytest.raises(Unreadable, match=f"too much time or memory to read as {name}") as refused:
        pygments_lexer.tokens(program(ENDLESS[name]), name)
    assert refused.value.reason == SkipReason.TOO_LARGE
    assert pygments_lexer.tokens(program(b"a"), name).symbols.tolist()


def test_the_process_gives_the_same_tokens() -> None:
    here = other.tokens(NIM.encode(), "utf-8", "nim")
    there = pygments_lexer.tokens(program(NIM.encode()), "nim")
    for column in ("symbols", "starts", "ends"):
        assert getattr(here, column).tolist() == getattr(there, column).tolist()


def test_what_a_lexer_cannot_read_is_an_error_with_its_reason() -> None:
    with pytest.raises(Unreadable, match=r"Pygments cannot read it as no-such-lexer \(ClassNotFound"):
        pygments_lexer.tokens(program(b"a"), "no-such-lexer")


@pytest.mark.usefixtures("little_time")
def test_an_endless_program_loses_no_other() -> None:
    rules = "".join(f"target{i}: file{i}.c\n\tcc -c file{i}.c -o target{i}\n" for i in range(30)).encode()
    contents = {"ann": rules, "bob": rules, "cid": ENDLESS["make"]}
    documents = [program(data, name) for name, data in contents.items()]
    report = chaffinch.compare([replace(d, language="pygments:makefile") for d in documents])
    assert [(pair.left, pair.right) for pair in report.pairs] == [("ann", "bob")]
    assert [entry.name for entry in report.skipped] == ["cid"]
    assert "too much time or memory" in report.skipped[0].detail
    prepared = fingerprinting.prepare(documents, Recipe("make"))
    assert [document.name for document in prepared.documents] == ["ann", "bob"]
    assert [entry.name for entry in prepared.skipped] == ["cid"]
