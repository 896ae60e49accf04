"""The promises of the 2003 paper, each as a sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from chaffinch import Recipe, fingerprint, reference
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source
from chaffinch.recipe import TIES, WINDOWED
from tests.strategies import streams, windowed

FIGURE_2 = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]


def test_figure_2_to_the_letter() -> None:
    """17 at 3, 17 at 6, 8 at 8, 39 at 11, 17 at 15."""
    positions = core.winnow(np.array(FIGURE_2, np.uint64), 4).tolist()
    expected = [(17, 3), (17, 6), (8, 8), (39, 11), (17, 15)]
    assert [(FIGURE_2[p], p) for p in positions] == expected
    assert reference.winnow(FIGURE_2, 4) == positions


def test_figure_2_text_and_grams() -> None:
    stream = reference.stream(b"A do run run run, a do run run", "text")
    assert "".join(chr(symbol) for symbol, _, _ in stream) == "adorunrunrunadorunrun"
    prints = fingerprint("A do run run run, a do run run", Recipe("text", k=5, w=1, scheme="all"))
    assert len(prints) == len(FIGURE_2)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=50), st.integers(1, 9))
def test_definition_1_rightmost_minimum_of_each_window(hashes: list[int], w: int) -> None:
    w = min(w, len(hashes))
    expected = set()
    for start in range(len(hashes) - w + 1):
        window = hashes[start : start + w]
        expected.add(start + max(i for i, h in enumerate(window) if h == min(window)))
    assert core.winnow(np.array(hashes, np.uint64), w).tolist() == sorted(expected)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=50), st.integers(1, 9))
def test_definition_3_keeps_the_previous_choice_if_it_can(hashes: list[int], w: int) -> None:
    w = min(w, len(hashes))
    chosen = core.winnow(np.array(hashes, np.uint64), w, "robust").tolist()
    current = None
    expected = []
    for start in range(len(hashes) - w + 1):
        window = hashes[start : start + w]
        if current is not None and current >= start and hashes[current] == min(window):
            continue
        current = start + max(i for i, h in enumerate(window) if h == min(window))
        expected.append(current)
    assert chosen == expected


def random_bytes(n: int) -> NDArray[np.uint8]:
    return np.random.default_rng(7).integers(0, 256, n, dtype=np.uint8)


def density(recipe: Recipe, n: int = 4_000_000) -> float:
    found = core.fingerprint([Source(random_bytes(n).tobytes())], recipe)[0]
    return len(found) / (n - recipe.k + 1)


def ideal_open_closed(k: int, w: int, n: int = 2_000_000) -> float:
    """Open-closed has no closed formula: its definition, with random numbers in place of hashes."""
    r = max(3, k - 2 * w + 1)
    width = k - r + 1
    rng = np.random.default_rng(11)
    inner = rng.random(n + width - 1)
    where = sliding_window_view(inner, width).argmin(axis=1)
    class_ = np.where(where == (k - r) // 2, 0, np.where((where == 0) | (where == width - 1), 1, 2))
    key = class_ + np.where(class_ == 0, inner[np.arange(n) + where], rng.random(n))
    chosen = np.unique(np.arange(n - w + 1) + sliding_window_view(key, w).argmin(axis=1))
    return len(chosen) / n


THEORY = {
    ("winnow", 50, 100): lambda: 2 / 101,
    ("winnow", 12, 9): lambda: 2 / 10,
    ("open-closed", 50, 100): lambda: ideal_open_closed(50, 100),
    ("open-closed", 25, 26): lambda: ideal_open_closed(25, 26),
    ("open-closed", 12, 9): lambda: ideal_open_closed(12, 9),
    ("all", 10, 1): lambda: 1.0,
    ("every", 10, 7): lambda: 1 / 7,
    ("mod-p", 10, 50): lambda: 1 / 50,
    ("safe-mod-p", 10, 100): lambda: 1 / 22 + (1 - 1 / 22) ** 100,
}


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("scheme", "k", "w"), list(THEORY))
def test_density_on_random_data_is_within_one_percent_of_theory(scheme: str, k: int, w: int, ties: str) -> None:
    found = density(Recipe("bytes", k=k, w=w, scheme=scheme, ties=ties))
    assert found == pytest.approx(THEORY[scheme, k, w](), rel=0.01)


@pytest.mark.parametrize(("k", "w"), [(23, 17), (50, 20), (100, 9)])
def test_density_of_the_mod_minimizer(k: int, w: int) -> None:
    """(2 + floor((l-t)/w)) / (l-t+2), where t is the inner gram and l the length of a window in symbols."""
    recipe = Recipe("bytes", k=k, w=w, scheme="mod")
    free = k + w - 1 - recipe.inner
    assert density(recipe) == pytest.approx((2 + free // w) / (free + 2), rel=0.01)


def test_safe_mod_p_is_near_its_least_density() -> None:
    w = 100
    assert density(Recipe("bytes", k=10, w=w, scheme="safe-mod-p")) == pytest.approx(
        (1 + math.log(w)) / w, rel=0.02
    )


def test_smallest_keeps_exactly_so_many() -> None:
    recipe = Recipe("bytes", k=10, w=100, scheme="smallest")
    found = core.fingerprint([Source(random_bytes(50_000).tobytes())], recipe)[0]
    everything = core.fingerprint(
        [Source(random_bytes(50_000).tobytes())], Recipe("bytes", k=10, scheme="all")
    )[0]
    assert sorted(found.hashes.tolist()) == sorted(everything.hashes.tolist())[:100]


def test_mod_p_at_the_density_of_winnowing_misses_one_shared_run_in_seven() -> None:
    """About 13.5% of windows hold no fingerprint; winnowing leaves none empty."""
    w = 99
    n = 1_000_000
    empty = {}
    for scheme, number in (("mod-p", (w + 1) // 2), ("winnow", w)):
        found = core.fingerprint(
            [Source(random_bytes(n).tobytes())], Recipe("bytes", k=10, w=number, scheme=scheme)
        )[0]
        edges = np.concatenate([[-1], found.positions.astype(np.int64), [n - 9]])
        gaps = np.diff(edges) - 1
        empty[scheme] = int(np.maximum(gaps - w + 1, 0).sum()) / (n - 9 - w + 1)
    assert empty["mod-p"] == pytest.approx(0.135, abs=0.01)
    assert empty["winnow"] == 0


@pytest.mark.parametrize("scheme", WINDOWED)
def test_constant_input_costs_one_in_w_with_robust_ties(level: str, scheme: str) -> None:
    n, k, w = 10_000, 12, 9
    for ties, expected in (("rightmost", n - k + 1 - w + 1), ("robust", math.ceil((n - k + 1) / w))):
        found = core.fingerprint([Source(b"0" * n)], Recipe("bytes", k=k, w=w, scheme=scheme, ties=ties))[0]
        assert abs(len(found) - expected) <= 1


@given(streams(), windowed, st.integers(0, 30))
def test_wider_windows_select_a_subset(symbols: list[int], recipe: Recipe, wider: int) -> None:
    """A9: by value with either rule for ties, by position with the rightmost."""
    if len(symbols) < recipe.w + wider + recipe.k - 1:
        return  # no full window: the single minimum of a short document may be another
    source = Source.canonical(np.array(symbols, np.uint32))
    narrow = core.fingerprint([source], recipe)[0]
    wide = core.fingerprint([source], recipe, window=recipe.w + wider)[0]
    assert set(wide.hashes.tolist()) <= set(narrow.hashes.tolist())
    if recipe.ties == "rightmost":
        assert set(wide.positions.tolist()) <= set(narrow.positions.tolist())


@given(st.randoms(use_true_random=False), st.sampled_from(WINDOWED))
def test_permuting_paragraphs_leaves_the_other_fingerprints_alone(rng: object, scheme: str) -> None:
    """A13: what lies well inside a paragraph is chosen wherever the paragraph stands."""
    recipe = Recipe("bytes", k=6, w=8, scheme=scheme, ties="rightmost")
    t = recipe.w + recipe.k - 1
    paragraphs = [bytes(rng.randrange(256) for _ in range(60)) for _ in range(5)]  # type: ignore[attr-defined]

    def inside(order: list[int]) -> list[set[int]]:
        found = core.fingerprint([Source(b"".join(paragraphs[i] for i in order))], recipe)[0]
        sets: dict[int, set[int]] = {i: set() for i in order}
        for name, position in zip(found.hashes.tolist(), found.positions.tolist(), strict=True):
            place, offset = divmod(position, 60)
            if t <= offset <= 60 - t:
                sets[order[place]].add(name)
        return [sets[i] for i in range(5)]

    order = list(range(5))
    rng.shuffle(order)  # type: ignore[attr-defined]
    assert inside(order) == inside(list(range(5)))
