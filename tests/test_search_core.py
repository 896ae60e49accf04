"""The core's part of a search: adding up postings, and finding every shared run without fingerprints."""

from __future__ import annotations

import pickle
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import Recipe, stream
from chaffinch.matching.matches import GAP, LazyMatches
from chaffinch.native.fingerprint import Source
from chaffinch.native.segment import LookupResult, OwnerCounts, extend_matches
from chaffinch.native.tally import Tally
from tests.indexed import Make, document, edited, text, words

HASHES = 6
POSTINGS = st.lists(
    st.tuples(st.integers(0, HASHES - 1), st.sampled_from([0, 1, 5, 1023, 1024, 70_000, 2**32 - 1])),
    max_size=60,
)


@given(POSTINGS, st.sets(st.sampled_from([1, 1024])), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_the_tally_is_that_of_a_loop(rows: list[tuple[int, int]], base: set[int], repeats: list[int]) -> None:
    rows = sorted(rows)
    queries, documents = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    postings = LookupResult(queries, documents, np.zeros(len(rows), np.uint32))
    tally = Tally(postings, HASHES, np.array(sorted(base), np.uint32))
    owners, is_boilerplate = tally.count_owners()
    holders = [{d for q, d in rows if q == query} for query in range(HASHES)]
    assert owners.tolist() == [len(some - base) for some in holders]
    assert is_boilerplate.tolist() == [bool(some & base) for some in holders]
    weights = np.arange(1, HASHES + 1) / 8
    expected: dict[int, list[float]] = defaultdict(lambda: [0.0, 0, 0, 0])
    for number, (query, one) in enumerate(rows):
        if one not in base:
            sums = expected[one]
            if (query, one) not in rows[:number]:
                sums[0] += weights[query]
                sums[1] += repeats[query]
            sums[2] += repeats[query] > 0
            sums[3] += repeats[query] == 0
    shared = tally.shared(weights, np.array(repeats))
    assert shared.documents.tolist() == sorted(expected)
    assert [list(row) for row in zip(*(c.tolist() for c in shared[1:]), strict=True)] == [
        expected[one] for one in sorted(expected)
    ]


@given(st.lists(st.integers(0, 3), max_size=60), st.lists(st.integers(0, 3), max_size=60))
def test_without_seeds_every_shared_gram_lies_in_a_match(left: list[int], right: list[int]) -> None:
    k = 4
    sources = [Source.canonical(np.array(symbols, np.uint32)) for symbols in (left, right)]
    nowhere = OwnerCounts(np.zeros(1, np.uint32), np.ones(1, np.uint32))
    recipe = Recipe("bytes", k=k, scheme="all")
    (common,) = extend_matches(sources[0], {7: sources[1]}, None, nowhere, None, recipe, GAP)
    inside = [set[int](), set[int]()]
    for match in common.matches():
        for a, b, c, d in match.runs:
            assert left[a:b] == right[c:d]
            inside[0] |= set(range(a, b))
            inside[1] |= set(range(c, d))
    grams = [[tuple(s[i : i + k]) for i in range(len(s) - k + 1)] for s in (left, right)]
    for mine, others, covered in zip(grams, reversed(grams), inside, strict=True):
        shared = [i for i, gram in enumerate(mine) if gram in others]
        assert covered == {p for i in shared for p in range(i, i + k)}
    assert common.covered == (len(inside[0]), len(inside[1]))


@pytest.mark.parametrize("recipe", ["text", "koala"])
def test_matches_are_built_when_looked_at_and_are_like_a_tuple(make: Make, recipe: str) -> None:
    index = make(recipe)
    original = words(500, "original")
    stored = " ".join(original).encode()
    index.add(document("d", stored.decode()))
    query = document("q", text(50, "own"), " ".join(edited(original, 0.1)))
    (hit,), (again,) = index.search(query), index.search(query)
    assert isinstance(hit.matches, LazyMatches)
    count = len(hit.matches)
    assert hit == again
    assert hit.matches == tuple(again.matches)
    assert len([*hit.matches]) == count > 0
    assert pickle.loads(pickle.dumps(hit)) == hit
    for match in hit.matches:
        for ours, theirs in match.runs:
            passages = query.data[ours.start : ours.end], stored[theirs.start : theirs.end]
            left, right = (stream(passage, index.recipe).symbols.tolist() for passage in passages)
            assert left == right
