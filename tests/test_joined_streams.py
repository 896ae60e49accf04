"""Separators and masks are symbols that no document contains, so no run goes from one document into another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chaffinch
from chaffinch import Document, Recipe
from chaffinch.errors import ChaffinchError
from chaffinch.matching import joined_stream
from chaffinch.matching.base_code import find_base_code, mask_symbols, symbol_kinds
from chaffinch.matching.joined_stream import JoinedStream, join_streams
from chaffinch.matching.matches import GAP, PairMatches
from chaffinch.native.fingerprint import RESERVED, RESERVED_COUNT
from chaffinch.native.pairs import Corpus, find_matches
from chaffinch.recipe import recipe_for
from chaffinch.types import Stream
from tests.programs import WRITERS, Style, functions

RECIPE = Recipe("python", k=4, w=3)
PREVIOUS_SEPARATORS = range(0xFFFFFFFF, 0xFFFFFFFF - 8, -1)
"""Keywords and named tokens may have these symbols."""

symbols = st.sampled_from([*range(6), RESERVED - 1, RESERVED + RESERVED_COUNT, *PREVIOUS_SEPARATORS])
submissions = st.lists(st.lists(st.lists(symbols, max_size=20), min_size=1, max_size=3), min_size=2, max_size=4)


def joined(documents: list[list[list[int]]]) -> list[JoinedStream]:
    """Join documents that have these symbols, a byte each."""
    all_symbols = [np.array(own, np.uint32) for submission in documents for own in submission]
    positions = [np.arange(len(own) + 1, dtype=np.uint32) for own in all_symbols]
    made = [Stream(own, at[:-1], at[1:]) for own, at in zip(all_symbols, positions, strict=True)]
    works = [
        [Document(f"{i}/{j}.py", b"", "utf-8", "plain", "python") for j in range(len(of))]
        for i, of in enumerate(documents)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined_stream, "streams", lambda *_, **__: made)
        return join_streams(works, RECIPE)


def matches(left: JoinedStream, right: JoinedStream) -> PairMatches:
    corpus = Corpus([left.symbols, right.symbols], [left.prints, right.prints])
    table = find_matches(corpus, np.array([[0, 1]], np.uint32), RECIPE.k, GAP)
    return PairMatches(left, right, table, 0, False)


def test_a_symbol_that_was_a_separator_joins_no_documents() -> None:
    first, second = [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]
    for symbol in (*PREVIOUS_SEPARATORS, RESERVED - 1):
        whole, parts = joined([[[*first, symbol, *second]], [first, second]])
        shared, _ = matches(whole, parts).matches_and_repeats()
        assert sorted((m.right.document, m.symbols) for m in shared) == [("1/0.py", 6), ("1/1.py", 6)]


@given(submissions)
def test_separators_differ_from_every_symbol_and_from_each_other(documents: list[list[list[int]]]) -> None:
    streams = joined(documents)
    separators = [symbol for s in streams for symbol in s.symbols[s.separators].tolist()]
    contained = {symbol for submission in documents for own in submission for symbol in own}
    assert len(set(separators)) == len(separators) == sum(map(len, documents))
    assert contained.isdisjoint(separators)
    for submission, stream in zip(documents, streams, strict=True):
        assert stream.size == sum(map(len, submission))
        bounds = [*stream.starts.tolist(), len(stream.symbols)]
        assert [stream.symbols[a : b - 1].tolist() for a, b in pairwise(bounds)] == submission
        grams = [stream.symbols[p : p + RECIPE.k] for p in stream.prints.positions.tolist()]
        assert all(len(gram) == RECIPE.k and gram.max() in contained for gram in grams)


@given(submissions)
@settings(max_examples=60)
def test_runs_are_equal_symbols_of_one_document_on_each_side(documents: list[list[list[int]]]) -> None:
    left, right, *_ = joined(documents)
    shared, _ = matches(left, right).matches_and_repeats()
    for a, b in (run for match in shared for run in match.runs):
        sides = [documents[int(s.document[0])][int(s.document[2])][s.start : s.end] for s in (a, b)]
        assert sides[0] == sides[1] != []


@given(submissions)
@settings(max_examples=60)
def test_masked_symbols_are_like_nothing_but_the_same_base_code(documents: list[list[list[int]]]) -> None:
    *streams, base = joined(documents)
    masks, positions = find_base_code(streams, base, RECIPE.k)
    contained = {symbol for submission in documents for own in submission for symbol in own}
    alone = mask_symbols(streams, masks)
    masked = [symbol for own, mask in zip(alone, masks, strict=True) for symbol in own[mask].tolist()]
    separators = {symbol for s in streams for symbol in s.symbols[s.separators].tolist()}
    assert len(set(masked)) == len(masked)
    assert (contained | separators).isdisjoint(masked)
    if not positions:
        return
    places: dict[int, int] = {}
    for own, mask, at in zip(mask_symbols(streams, masks, positions), masks, positions, strict=True):
        for symbol, place in zip(own[mask].tolist(), at[mask].tolist(), strict=True):
            assert RESERVED <= symbol < RESERVED + RESERVED_COUNT
            assert place < 0 or places.setdefault(symbol, place) == place
    for stream, kinds in zip(streams, symbol_kinds(streams, masks), strict=True):
        assert (kinds[stream.separators] == 2).all()


def test_too_many_masked_symbols_are_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [WRITERS["py"](functions(seed, 4), Style()) for seed in range(3)]
    works = [Document(f"{i}.py", (texts[0] + text).encode()) for i, text in enumerate(texts)]
    base = Document("given.py", texts[0].encode())
    assert chaffinch.compare(works, base=base).receipt.base_symbols["python"] > 100
    monkeypatch.setattr(joined_stream, "RESERVED_COUNT", 100)
    with pytest.raises(ChaffinchError, match=r"more than 100 symbols .* compare fewer submissions"):
        chaffinch.compare(works, base=base)


@pytest.mark.parametrize("front", ["text", "consonants", "python", "c", "bytes"])
def test_fingerprints_of_a_joined_stream_are_those_of_its_documents(front: str) -> None:
    recipe, language = recipe_for(front), "text" if front == "consonants" else front
    documents = [
        Document(str(i), (WRITERS["c"](functions(i), Style()) + "ﬁ é ½").encode(), "utf-8", "plain", language)
        for i in range(3)
    ]
    (stream,) = join_streams([documents], recipe)
    hashes, positions = stream.prints.hashes.tolist(), stream.prints.positions.tolist()
    expected = [chaffinch.fingerprint(document, recipe) for document in documents]
    assert hashes == [h for prints in expected for h in prints.hashes.tolist()]
    starts = stream.starts.tolist()
    assert positions == [
        start + p for start, prints in zip(starts, expected, strict=True) for p in prints.positions.tolist()
    ]
