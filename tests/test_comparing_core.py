"""The core's pairs, matches and overlaps are those of the reference."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chaffinch import Fingerprints, Recipe, reference
from chaffinch.native import fingerprint as core
from chaffinch.native import pairs as core_compare
from chaffinch.native.fingerprint import Source
from chaffinch.native.pairs import Corpus, MatchTable

small = st.lists(st.integers(1, 3), max_size=60)
larger = st.lists(st.integers(1, 12), max_size=120)
periodic = st.builds(
    lambda piece, times, rest: piece * times + rest,
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.integers(1, 12),
    st.lists(st.integers(1, 3), max_size=6),
)
K = 4


def prints_of(symbols: list[int], recipe: Recipe) -> Fingerprints:
    return core.fingerprint([Source.canonical(np.array(symbols, np.uint32))], recipe)[0]


def collection(documents: list[list[int]], recipe: Recipe) -> Corpus:
    streams = [np.array(d, np.uint32) for d in documents]
    return Corpus(streams, [prints_of(d, recipe) for d in documents])


def matches_of(
    left: list[int], right: list[int], recipe: Recipe, gap: int, guarantee: int = 0
) -> list[list[tuple[int, int, int]]]:
    found = core_compare.find_matches(
        collection([left, right], recipe), np.array([[0, 1]], np.uint32), recipe.k, gap, guarantee
    )
    return unpacked(found, 0)


def unpacked(found: MatchTable, pair: int) -> list[list[tuple[int, int, int]]]:
    runs = list(zip(found.left.tolist(), found.right.tolist(), found.lengths.tolist(), strict=True))
    bounds = found.matches[:, 0].tolist()
    return [runs[bounds[m] : bounds[m + 1]] for m in range(*found.pairs[pair : pair + 2, 0].tolist())]


@settings(max_examples=500)
@example(([2] * 5, [2] * 6), 0, 2)  # the documents choose different copies of a gram in a window
@example(([2] * 5, [2] * 7), 0, 2)
@example(([1, 2] * 3, [1, 2] * 9), 0, 3)
@given(
    st.one_of(st.tuples(small, small), st.tuples(larger, larger), st.tuples(periodic, periodic)),
    st.integers(0, 9),
    st.integers(1, 5),
)
def test_every_shared_run_of_t_symbols_is_inside_a_match(
    both: tuple[list[int], list[int]], gap: int, w: int
) -> None:
    left, right = both
    t = K + w - 1
    found = matches_of(left, right, Recipe("bytes", k=K, w=w), gap, t)
    spans = [[(m[0][side], m[-1][side] + m[-1][2]) for m in found] for side in (0, 1)]
    for i, j, n in reference.runs(left, right, t):
        for at in range(n - t + 1):  # where symbols repeat, a longer run may come in two halves
            assert any(start <= i + at and i + at + t <= end for start, end in spans[0])
            assert any(start <= j + at and j + at + t <= end for start, end in spans[1])


@example(([5, 1, 2, 3, 4, 6, *range(30, 40), 7, 1, 2, 3, 4], [5, 1, 2, 3, 4, 6, 8, 7, 1, 2, 3, 4]), 0)
@given(st.one_of(st.tuples(small, small), st.tuples(larger, larger)), st.integers(0, 9))
def test_every_two_positions_of_a_run_are_inside_one_match(both: tuple[list[int], list[int]], gap: int) -> None:
    left, right = both
    found = matches_of(left, right, Recipe("bytes", k=K, w=1), gap, K)
    bounds = [(m[0][0], m[-1][0] + m[-1][2], m[0][1], m[-1][1] + m[-1][2]) for m in found]
    for i, j, n in reference.runs(left, right, K):
        assert any(a <= i and i + n <= b and c <= j and j + n <= d for a, b, c, d in bounds)


@given(st.one_of(st.tuples(small, small), st.tuples(periodic, periodic)), st.integers(0, 9))
def test_a_repeat_is_on_one_side_part_of_matches_twice_as_long(
    both: tuple[list[int], list[int]], gap: int
) -> None:
    everything = collection([*both], Recipe("bytes", k=K, w=1))
    found = core_compare.find_matches(everything, np.array([[0, 1]], np.uint32), K, gap)
    matches = unpacked(found, 0)
    sizes = [sum(n for *_, n in match) for match in matches]

    def is_part(match: list[tuple[int, int, int]], size: int, side: int) -> bool:
        longer = [run for other, n in zip(matches, sizes, strict=True) if n >= 2 * size for run in other]
        return all(
            any(of[side] <= run[side] and run[side] + run[2] <= of[side] + of[2] for of in longer)
            for run in match
        )

    repeats = found.matches[: len(matches), 2].tolist()
    assert repeats == [
        is_part(match, size, 0) or is_part(match, size, 1) for match, size in zip(matches, sizes, strict=True)
    ]


@given(st.one_of(st.tuples(small, small), st.tuples(larger, larger)), st.integers(0, 9), st.integers(1, 5))
def test_runs_are_equal_maximal_and_not_shorter_than_k(
    both: tuple[list[int], list[int]], gap: int, w: int
) -> None:
    left, right = both
    maximal = reference.runs(left, right, K)
    for match in matches_of(left, right, Recipe("bytes", k=K, w=w), gap):
        assert set(match) <= maximal
        for (i, j, n), (i2, j2, _) in pairwise(match):
            assert i < i2
            assert j < j2
            assert i2 - (i + n) <= gap
            assert j2 - (j + n) <= gap


@given(st.tuples(small, small), st.integers(0, 9), st.integers(0, 20))
def test_matches_below_the_guarantee_are_dropped_when_there_are_longer_ones(
    both: tuple[list[int], list[int]], gap: int, guarantee: int
) -> None:
    recipe = Recipe("bytes", k=K, w=1)
    everything, pairs = collection([*both], recipe), np.array([[0, 1]], np.uint32)
    found = unpacked(core_compare.find_matches(everything, pairs, K, gap), 0)
    long = [match for match in found if sum(n for *_, n in match) >= guarantee]
    kept = core_compare.find_matches(everything, pairs, K, gap, guarantee)
    assert unpacked(kept, 0) == (long or found)
    places = [
        (side, run[side] + i)
        for match in (long or found)
        for run in match
        for side in (0, 1)
        for i in range(run[2])
    ]
    covered = Counter(side for side, _ in set(places))
    assert kept.pairs[0, 1:].tolist() == [covered[0], covered[1]]


@given(st.lists(small, min_size=2, max_size=6), st.data())
def test_a_match_has_the_median_number_of_owners(documents: list[list[int]], data: st.DataObject) -> None:
    recipe = Recipe("bytes", k=K, w=2)
    prints = [prints_of(d, recipe) for d in documents]
    hashes = [np.unique(p.hashes) for p in prints]
    owners = [np.array([data.draw(st.integers(1, 9)) for _ in own], np.uint32) for own in hashes]
    everything = Corpus([np.array(d, np.uint32) for d in documents], prints, owners)
    pairs = np.array(list(combinations(range(len(documents)), 2)), np.uint32)
    found = core_compare.find_matches(everything, pairs, K, 5)
    for number, (left, _) in enumerate(pairs.tolist()):
        of = dict(zip(hashes[left].tolist(), owners[left].tolist(), strict=True))
        begins = sorted(
            zip(prints[left].positions.tolist(), map(of.get, prints[left].hashes.tolist()), strict=True)
        )

        def owners_at(position: int, begins: list[tuple[int, int | None]] = begins) -> int:
            return next((n for at, n in reversed(begins) if at <= position), begins[0][1]) or 0

        medians = found.matches[slice(*found.pairs[number : number + 2, 0].tolist()), 1].tolist()
        for match, middle in zip(unpacked(found, number), medians, strict=True):
            everywhere = sorted(owners_at(i + at) for i, _, n in match for at in range(n))
            assert middle == max(2, everywhere[len(everywhere) // 2])


@given(st.lists(small, min_size=1, max_size=6), st.integers(1, 3))
def test_results_do_not_depend_on_threads(documents: list[list[int]], threads: int) -> None:
    recipe = Recipe("bytes", k=K, w=2)
    pairs = np.array(list(combinations(range(len(documents)), 2)), np.uint32).reshape(-1, 2)
    everything = collection(documents, recipe)
    one, many = (core_compare.find_matches(everything, pairs, K, 5, threads=n) for n in (1, threads))
    assert [a.tolist() for a in one] == [b.tolist() for b in many]


@given(st.lists(small, max_size=7), st.data())
def test_pairs_are_those_with_a_hash_in_common(documents: list[list[int]], data: st.DataObject) -> None:
    recipe = Recipe("bytes", k=K, w=2)
    hashes = [np.unique(prints_of(d, recipe).hashes) for d in documents]
    old = np.array([data.draw(st.booleans()) for _ in documents], np.uint8)
    rarity = np.linspace(1, 0.5, len(documents) + 1).astype(np.float32)
    found = core_compare.candidate_pairs(hashes, old, rarity)
    sets = [set(h.tolist()) for h in hashes]
    counts = Counter(h for s in sets for h in s)
    expected = {
        (i, j): len(both)
        for i, j in combinations(range(len(documents)), 2)
        if (both := sets[i] & sets[j]) and not (old[i] and old[j])
    }
    assert list(zip(map(tuple, found.pairs.tolist()), found.shared.tolist(), strict=True)) == sorted(
        expected.items()
    )
    assert found.histogram.sum() == len(expected)
    for i, background in enumerate(found.background.tolist()):
        others = [j for j in range(len(documents)) if j != i and not (old[i] and old[j])]
        amounts = sorted(expected.get((min(i, j), max(i, j)), 0) for j in others)
        middle = amounts[(len(others) - 2) // 2] if len(others) > 1 else 0
        assert background <= middle <= background * 9 / 8
    assert found.owners.tolist() == [counts[h] for own in hashes for h in own.tolist()]


@given(st.lists(small, max_size=7), st.floats(0.05, 1), st.integers(1, 3))
def test_pairs_that_share_too_little_by_weight_are_counted_but_not_listed(
    documents: list[list[int]], least: float, threads: int
) -> None:
    hashes = [np.unique(prints_of(d, Recipe("bytes", k=K, w=2)).hashes) for d in documents]
    rarity = np.linspace(1, 0.5, len(documents) + 1).astype(np.float32)
    old = np.zeros(len(documents), np.uint8)
    everything = core_compare.candidate_pairs(hashes, old, rarity)
    found = core_compare.candidate_pairs(hashes, old, rarity, min_share=least, threads=threads)
    counts = Counter(h for own in hashes for h in own.tolist())
    listed = set(map(tuple, found.pairs.tolist()))
    for i, j in everything.pairs.tolist():
        own = [sum(float(rarity[counts[h]]) for h in hashes[d].tolist()) for d in (i, j)]
        both = sum(float(rarity[counts[h]]) for h in np.intersect1d(hashes[i], hashes[j]).tolist())
        if abs(both - least * min(own)) > 1e-3:  # otherwise rounding decides
            assert ((i, j) in listed) == (both > least * min(own))
    assert found.histogram.tolist() == everything.histogram.tolist()
    assert found.background.tolist() == everything.background.tolist()


@given(st.lists(st.integers(0, 9000), min_size=4, max_size=9))
def test_the_background_is_the_median_to_within_an_eighth(sizes: list[int]) -> None:
    hashes = [np.arange(n, dtype=np.uint64) for n in (sizes[0], *sizes)]
    found = core_compare.candidate_pairs(
        hashes, np.zeros(len(hashes), np.uint8), np.ones(len(hashes) + 1, np.float32)
    )
    for i, background in enumerate(found.background.tolist()):
        amounts = sorted(min(len(own), len(hashes[i])) for j, own in enumerate(hashes) if j != i)
        middle = amounts[(len(amounts) - 2) // 2]
        assert background <= middle
        assert middle <= background * 9 / 8 or background == 3840  # the last bin


@given(st.lists(small, min_size=2, max_size=5), st.integers(1, 5))
def test_overlaps_are_those_of_the_reference(documents: list[list[int]], n: int) -> None:
    rarity = np.linspace(1, 0.5, len(documents) + 1).astype(np.float32)
    grams = [{tuple(d[i : i + n]) for i in range(len(d) - n + 1)} for d in documents]
    counts = Counter(gram for own in grams for gram in own)
    weights = {gram: float(rarity[times]) for gram, times in counts.items()}
    pairs = np.array(list(combinations(range(len(documents)), 2)), np.uint32)
    everything = collection(documents, Recipe("bytes", k=K, w=2))
    found = core_compare.GramCounts(everything, n, rarity)
    for i, one in enumerate(documents):
        others = [reference.share(one, other, n, weights) for j, other in enumerate(documents) if j != i]
        assert abs(found.share_sums[i] - sum(others)) < 1e-4
    left, right = found.shares(pairs)
    for (i, j), a, b in zip(pairs.tolist(), left.tolist(), right.tolist(), strict=True):
        assert abs(a - reference.share(documents[i], documents[j], n, weights)) < 1e-5
        assert abs(b - reference.share(documents[j], documents[i], n, weights)) < 1e-5
        if documents[i] == documents[j] and len(documents[i]) >= n:
            assert (a, b) == (1.0, 1.0)


def test_a_passage_that_stands_very_often_in_both_costs_little() -> None:
    period = [1, 2, 3, 4, 5, 6, 7]
    left, right = period * 3000, [9, *period * 2000]
    found = matches_of(left, right, Recipe("bytes", k=12, w=3), 10)
    covered = np.zeros(len(left), bool)
    for match in found:
        for i, _, n in match:
            covered[i : i + n] = True
    assert covered.mean() > 0.6  # the other document has no more of it in one piece


def test_of_a_passage_that_stands_very_often_each_surrounding_is_found() -> None:
    chance = random.Random(1)
    gram = list(range(1, 13))
    around = [
        ([chance.randrange(10**6) for _ in range(4)], [chance.randrange(10**6) for _ in range(4)])
        for _ in range(70)
    ]
    other_order = chance.sample(around, len(around))

    def stream(order: list[tuple[list[int], list[int]]]) -> list[int]:
        apart = ([chance.randrange(10**7, 10**9) for _ in range(30)] for _ in order)
        return [s for (a, b), rest in zip(order, apart, strict=True) for s in (*a, *gram, *b, *rest)]

    left, right = stream(around), stream(other_order)
    found = matches_of(left, right, Recipe("bytes", k=12, w=9), 24, 20)
    runs = {run for match in found for run in match}
    assert {run for run in reference.runs(left, right, 20) if run[2] >= 20} <= runs


def test_overlaps_of_many_grams_are_counted_part_by_part() -> None:
    numbers = np.random.default_rng(1)
    shared = numbers.integers(1, 1 << 30, 1_000_000, dtype=np.uint32)
    own = [numbers.integers(1, 1 << 30, size, dtype=np.uint32) for size in (1_500_000, 3_000_000, 1_000_000)]
    streams = [np.concatenate([own[0], shared]), np.concatenate([shared, own[1]]), own[2]]
    none = [prints_of([], Recipe("bytes"))] * 3
    found = core_compare.GramCounts(Corpus(streams, none), 4, np.ones(4, np.float32), 2)
    pairs = np.array([[0, 1], [0, 2]], np.uint32)
    left, right = found.shares(pairs)
    same = len(shared) - 3
    assert left.tolist() == [np.float32(same / (len(streams[0]) - 3)), 0]
    assert right.tolist() == [np.float32(same / (len(streams[1]) - 3)), 0]
    assert found.share_sums.tolist() == [left[0], right[0], 0]
