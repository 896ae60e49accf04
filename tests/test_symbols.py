"""Symbols: what each stands for, with and without names, and which none ever is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chaffinch.languages import language
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import RESERVED, RESERVED_COUNT, Source
from chaffinch.read.formats.program import lexer
from chaffinch.recipe import Recipe
from chaffinch.types import Stream

COLUMNS = ("hashes", "positions", "starts", "ends")
TEXTS = st.binary(max_size=200) | st.text(max_size=200).map(str.encode)


def sources(data: bytes) -> list[Source]:
    """The bytes as every front end that takes bytes reads them."""
    anything = np.arange(2**32 - 256, 2**32, dtype=np.uint32)
    encodings = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
    return [
        Source(data),
        *(Source.unicode(data, encoding) for encoding in encodings),
        Source.single_byte(data, anything),
        Source.html(data),
        Source.html(data, anything),
    ]


def is_reserved(symbols: NDArray[np.uint32]) -> bool:
    return bool(((symbols >= RESERVED) & (symbols < RESERVED + RESERVED_COUNT)).any())


@given(TEXTS)
def test_no_text_has_a_reserved_symbol(data: bytes) -> None:
    for front in ("text", "consonants"):
        for one in core.streams(sources(data), Recipe(front), with_names=True):
            assert not is_reserved(one.symbols)
            assert one.named is None


@pytest.mark.parametrize("front", ["text", "consonants"])
def test_no_code_point_folds_to_a_reserved_symbol(front: str) -> None:
    numbers = np.append(np.arange(0x11_0000), np.arange(0x11_0000, 2**32, 0xF_FFFF)).astype("<u4")
    (one,) = core.streams([Source.unicode(numbers.tobytes(), "utf-32-le")], Recipe(front))
    assert len(one.symbols)
    assert not is_reserved(one.symbols)


@pytest.mark.parametrize("name", language.languages())
@given(data=TEXTS)
def test_no_program_has_a_reserved_symbol(name: str, data: bytes) -> None:
    (one,) = core.streams([Source.code(data, lexer(name))], Recipe(name), with_names=True)
    assert one.named is not None
    assert not is_reserved(one.symbols)
    assert not is_reserved(one.named)


def test_the_reserved_symbols_are_a_quarter_of_all() -> None:
    assert (RESERVED, RESERVED_COUNT) == (1 << 30, 1 << 30)


@pytest.mark.parametrize("name", language.languages())
@given(data=TEXTS)
def test_one_pass_gives_the_symbols_with_and_without_names(name: str, data: bytes) -> None:
    (both,) = core.streams([Source.code(data, lexer(name))], Recipe(name), with_names=True)
    (plain,) = core.streams([Source.code(data, lexer(name))], Recipe(name))
    (named,) = core.streams([Source.code(data, lexer(name + "+names"))], Recipe(name + "+names"))
    assert both.symbols.tolist() == plain.symbols.tolist()
    assert both.named is not None
    assert both.named.tolist() == named.symbols.tolist()
    for column in ("starts", "ends"):
        spans = [getattr(one, column).tolist() for one in (both, plain, named)]
        assert spans[0] == spans[1] == spans[2]
    assert plain.named is None


def many_programs() -> list[Source]:
    """Some of them larger than what a thread takes at a time, some empty."""
    text = b'int f(int n) { return n < 2 ? n : f(n - 1) + 0x%x; } /* no */ char *s = "%d";\n'
    sizes = [0, 1, 30, 10_000, 0, 400, 5000, 1, 9000, 9000, 0]
    return [Source.code(b"".join(text % (i, i) for i in range(n)), lexer("c")) for n in sizes]


def as_lists(streams: list[Stream]) -> list[list[list[int]]]:
    columns = ("symbols", "starts", "ends", "named")
    return [[getattr(one, column).tolist() for column in columns] for one in streams]


def test_streams_are_the_same_whatever_the_number_of_threads() -> None:
    programs, recipe = many_programs(), Recipe("c")
    alone = [core.streams([one], recipe, with_names=True)[0] for one in programs]
    for threads in (1, 2, 5):
        together = core.streams(programs, recipe, with_names=True, threads=threads)
        assert as_lists(together) == as_lists(alone)


@pytest.mark.parametrize("scheme", ["open-closed", "winnow", "all", "every", "safe-mod-p", "smallest", "rare"])
def test_a_stream_has_the_fingerprints_of_its_document(scheme: str) -> None:
    programs, recipe = many_programs(), Recipe("c", scheme=scheme)
    documents = core.fingerprint(programs, recipe)
    streams = core.fingerprint([Source.stream(s) for s in core.streams(programs, recipe)], recipe, threads=2)
    for column in (*COLUMNS, "offsets", "symbols"):
        assert getattr(documents, column).tolist() == getattr(streams, column).tolist()
