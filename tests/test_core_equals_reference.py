"""The native core gives what the reference gives, bit for bit, on every instruction level."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import reference
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source
from chaffinch.recipe import SCHEMES, TIES, WINDOWED, Recipe
from tests.strategies import recipes, streams, windowed


def selected(symbols: list[int], recipe: Recipe, window: int | None = None) -> list[tuple[int, int]]:
    source = Source.canonical(np.array(symbols, np.uint32))
    found = core.fingerprint([source], recipe, window=window)[0]
    return list(zip(found.hashes.tolist(), found.positions.tolist(), strict=True))


@given(streams(), recipes())
def test_core_equals_reference(level: str, symbols: list[int], recipe: Recipe) -> None:
    assert selected(symbols, recipe) == reference.select(symbols, recipe)


@given(streams(), windowed, st.integers(0, 40))
def test_core_equals_reference_with_wider_windows(
    level: str, symbols: list[int], recipe: Recipe, wider: int
) -> None:
    window = recipe.w + wider
    assert selected(symbols, recipe, window) == reference.select(symbols, recipe, window)


@given(st.lists(st.text("abc é漢ﬃ½", max_size=200), max_size=5), recipes(), st.integers(1, 2))
def test_where_only_starts_are_asked_for_the_rest_is_the_same(
    texts: list[str], recipe: Recipe, threads: int
) -> None:
    sources = [Source.unicode(text.encode(), "utf-8") for text in texts]
    recipe = replace(recipe, front="text")
    whole = core.fingerprint(sources, recipe)
    brief = core.fingerprint(sources, recipe, threads=threads, only_starts=True)
    for column in ("hashes", "starts", "offsets", "symbols"):
        assert getattr(brief, column).tolist() == getattr(whole, column).tolist()
    assert not len(brief.positions)
    assert not len(brief.ends)
    assert [len(prints) for prints in brief] == [len(prints) for prints in whole]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("k", "w"), [(1, 1), (3, 4), (5, 3), (12, 9), (20, 3)])
def test_lengths_around_every_boundary(level: str, scheme: str, k: int, w: int) -> None:
    recipe = Recipe("bytes", k=k, w=w, scheme=scheme)
    t = k + w - 1
    rng = random.Random(k * 1000 + w)
    for length in sorted({0, 1, k - 1, k, k + 1, t - 1, t, t + 1, t + 15, t + 16, t + 17}):
        symbols = [rng.randrange(3) for _ in range(length)]
        assert selected(symbols, recipe) == reference.select(symbols, recipe), length


# A frame of the vector paths is 2,048 symbols, a selection step 8,192.
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("scheme", [*WINDOWED, "safe-mod-p", "all"])
@pytest.mark.parametrize("length", [2047, 2048, 2049, 8191, 8205, 16_400])
def test_block_boundaries_leave_no_trace(level: str, scheme: str, ties: str, length: int) -> None:
    recipe = Recipe("bytes", k=6, w=11, scheme=scheme, ties=ties)
    rng = random.Random(length)
    symbols = [rng.randrange(2) for _ in range(length)]
    symbols[length // 2 : length // 2 + 300] = [1] * 300
    assert selected(symbols, recipe) == reference.select(symbols, recipe)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", WINDOWED)
@pytest.mark.parametrize(("k", "w"), [(3, 1100), (700, 500), (40, 3000)])
def test_windows_longer_than_a_frame(level: str, scheme: str, k: int, w: int) -> None:
    """Wide windows take the path of wide lanes: its keys and choices are those of the narrow one."""
    recipe = Recipe("bytes", k=k, w=w, scheme=scheme)
    rng = np.random.default_rng(w)
    symbols = rng.integers(0, 4, 9000).astype(np.uint32)
    grams = [symbols[i : i + k].tobytes() for i in range(len(symbols) - k + 1)]
    keys = core.order_keys(symbols, recipe).tolist()
    some = rng.integers(0, len(grams), 3).tolist()
    for i in some:
        assert keys[i] == reference.order_key(tuple(symbols[i : i + k].tolist()), recipe)
    assert [p for _, p in selected(symbols.tolist(), recipe)] == reference.robust_winnow(keys, w, grams)


@given(streams(60), windowed)
def test_order_keys_equal(level: str, symbols: list[int], recipe: Recipe) -> None:
    k = recipe.k
    expected = [reference.order_key(tuple(symbols[i : i + k]), recipe) for i in range(len(symbols) - k + 1)]
    assert core.order_keys(np.array(symbols, np.uint32), recipe).tolist() == expected


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(1, 12))
def test_winnowing_of_given_hashes_equals(hashes: list[int], w: int) -> None:
    array = np.array(hashes, np.uint64)
    assert core.winnow(array, w).tolist() == reference.winnow(hashes, w)
    assert core.winnow(array, w, "robust").tolist() == reference.robust_winnow(hashes, w)


@given(st.binary(max_size=300), recipes(), st.sampled_from(("text", "consonants", "bytes")))
def test_any_bytes_fingerprint_as_the_reference_says(
    level: str, data: bytes, recipe: Recipe, front: str
) -> None:
    recipe = replace(recipe, front=front)
    source = Source(data) if front == "bytes" else Source.unicode(data, "utf-8")
    found = core.fingerprint([source], recipe)[0]
    columns = (found.hashes, found.positions, found.starts, found.ends)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == reference.fingerprint(data, recipe)


def test_identity_depends_on_every_symbol_and_on_the_seed() -> None:
    gram = list(range(40))
    names = {reference.identity(gram, 0), reference.identity(gram, 1)}
    for i in range(len(gram)):
        other = gram.copy()
        other[i] ^= 1
        names.add(reference.identity(other, 0))
    assert len(names) == len(gram) + 2


def test_every_symbol_can_change_every_bit_of_the_hash() -> None:
    rng = random.Random(5)
    for position in range(12):
        changed = 0
        for _ in range(60):
            gram = [rng.randrange(256) for _ in range(12)]
            other = gram.copy()
            other[position] = (other[position] + 1 + rng.randrange(255)) % 256
            changed |= reference.identity(gram, 0) ^ reference.identity(other, 0)
        assert changed == 2**64 - 1
