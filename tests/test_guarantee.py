"""Every shared run of t symbols is found; nothing shorter than k matches."""

from __future__ import annotations

import random
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chaffinch
from chaffinch import Fingerprints, Recipe, fingerprint, fingerprint_all
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source
from chaffinch.recipe import TIES, WINDOWED
from tests import made
from tests.strategies import alphabets, guaranteed, streams


def fingerprints(symbols: list[int], recipe: Recipe) -> Fingerprints:
    return core.fingerprint([Source.canonical(np.array(symbols, np.uint32))], recipe)[0]


def inside(prints: Fingerprints, start: int, end: int, k: int) -> set[int]:
    """Return the hashes of the grams that lie within a part of the stream."""
    return {
        h
        for h, p in zip(prints.hashes.tolist(), prints.positions.tolist(), strict=True)
        if start <= p and p + k <= end
    }


@given(streams(), guaranteed)
def test_every_window_holds_a_fingerprint(level: str, symbols: list[int], recipe: Recipe) -> None:
    w = recipe.w if recipe.scheme != "all" else 1
    positions = fingerprints(symbols, recipe).positions.tolist()
    grams = len(symbols) - recipe.k + 1
    edges = [-1, *positions, grams]
    gaps = [b - a for a, b in pairwise(edges)]
    assert max(gaps) <= w or grams < w


@st.composite
def planted(draw: st.DrawFn) -> tuple[list[int], list[int], int, int, int, Recipe]:
    """Draw two streams that share a run of exactly t symbols at known places, often among near copies of it."""
    recipe = draw(guaranteed)
    t = recipe.guarantee
    assert t is not None
    size = draw(alphabets)
    core_run = draw(st.lists(st.integers(0, size - 1), min_size=t, max_size=t))
    period = draw(st.sampled_from((0, 0, 1, 2, 3, 5)))
    if period:
        core_run = [core_run[i % period] for i in range(t)]
    around = st.one_of(
        st.lists(st.integers(0, size - 1), max_size=2 * t),
        st.integers(0, t).map(lambda n: core_run[:n]),
        st.integers(0, t).map(lambda n: core_run[n:]),
    )
    before, after, before_2, after_2 = (draw(around) for _ in range(4))
    left = [*before, *core_run, *after]
    right = [*before_2, *core_run, *after_2]
    return left, right, len(before), len(before_2), t, recipe


@given(planted())
def test_a_shared_run_of_t_symbols_is_found(
    level: str, case: tuple[list[int], list[int], int, int, int, Recipe]
) -> None:
    left, right, at, at_2, t, recipe = case
    mine = inside(fingerprints(left, recipe), at, at + t, recipe.k)
    theirs = inside(fingerprints(right, recipe), at_2, at_2 + t, recipe.k)
    assert mine & theirs


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("scheme", WINDOWED)
@pytest.mark.parametrize("alphabet", [2, 4, 256])
def test_a_shared_run_is_found_at_every_offset(level: str, scheme: str, ties: str, alphabet: int) -> None:
    recipe = Recipe("bytes", k=7, w=10, scheme=scheme, ties=ties)
    t = 16
    rng = np.random.default_rng(alphabet)
    run = rng.integers(0, alphabet, t).tolist()
    host = rng.integers(0, alphabet, 2200).tolist()
    other = [*host[100:130], *run, *host[200:230]]
    theirs = inside(fingerprints(other, recipe), 30, 30 + t, 7)
    for offset in [*range(40), *range(2000, 2080)]:
        symbols = host.copy()
        symbols[offset : offset + t] = run
        assert inside(fingerprints(symbols, recipe), offset, offset + t, 7) & theirs


@given(st.integers(1, 30), st.data())
def test_nothing_shorter_than_k_matches(k: int, data: st.DataObject) -> None:
    """Streams whose longest common run is k-1 symbols share no fingerprint, whatever the scheme."""
    common = data.draw(st.lists(st.integers(0, 9), min_size=k - 1, max_size=k - 1))
    left = [*range(100, 130), *common, *range(200, 230)]
    right = [*range(300, 330), *common, *range(400, 430)]
    recipe = Recipe("bytes", k=k, w=4, scheme="all")
    mine, theirs = fingerprints(left, recipe), fingerprints(right, recipe)
    assert not set(mine.hashes.tolist()) & set(theirs.hashes.tolist())


def test_the_guarantee_holds_through_files(tmp_path: Path) -> None:
    """A sentence in another case, spacing or encoding is found at its place."""
    recipe = Recipe("text", k=20, w=16)
    sentence = "It was the best of cafés, it was the worst of cafés"
    left = tmp_path / "left.txt"
    right = tmp_path / "right.txt"
    left.write_text("Nothing to see here, move along.\n" + sentence + "\nNothing more.", "utf-8")
    right.write_text("Ganz anderes davor.  " + sentence.upper().replace(" ", "\n  ") + " und danach", "utf-16")
    mine, theirs = fingerprint_all([left, right], recipe)
    shared = set(mine.hashes.tolist()) & set(theirs.hashes.tolist())
    assert shared
    raw = left.read_bytes()
    for name in shared:
        i = mine.hashes.tolist().index(name)
        assert raw[mine.starts[i] : mine.ends[i]].decode() in sentence


def test_results_do_not_depend_on_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    text = "".join(map(chr, rng.choice([*range(32, 127), 233, 1078, 20013, 65313], 300_000)))
    columns_of = {}
    for level in core.levels():
        monkeypatch.setenv("CHAFFINCH_LEVEL", level)
        prints = fingerprint(text)
        columns_of[level] = [c.tobytes() for c in (prints.hashes, prints.positions, prints.starts, prints.ends)]
    assert all(columns == columns_of["portable"] for columns in columns_of.values())


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(4)
    documents = [rng.integers(97, 123, int(n), dtype=np.uint8).tobytes() for n in rng.integers(0, 40_000, 200)]
    one = core.fingerprint([Source.unicode(d, "utf-8") for d in documents], Recipe(), threads=1)
    for threads in (2, 3, 16):
        many = core.fingerprint([Source.unicode(d, "utf-8") for d in documents], Recipe(), threads=threads)
        assert many.hashes.tobytes() == one.hashes.tobytes()
        assert many.offsets.tobytes() == one.offsets.tobytes()
    alone = [fingerprint(d) for d in documents]
    assert [p.hashes.tobytes() for p in alone] == [one[i].hashes.tobytes() for i in range(len(one))]


@pytest.mark.ghostscript
@pytest.mark.parametrize("seed", range(6))
def test_a_shared_run_is_found_through_files_and_formats(seed: int, tmp_path: Path) -> None:
    """Two documents of other words that share t symbols, in every pair of formats, in folders and archives."""
    chance = random.Random(seed)
    recipe = Recipe()
    t = recipe.guarantee
    assert t is not None
    words = " ".join(
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(20)
    )
    shared = []
    for word in words.split():
        shared.append(word)
        if sum(map(len, shared)) >= t:
            break

    def strange(n: int) -> str:
        return " ".join("".join(chance.choices("bcdfghjklm", k=7)) for _ in range(n))

    for extension, make in made.FORMATS.items():
        page = make([strange(40), f"{strange(9)} {' '.join(shared)} {strange(9)}", strange(40)])
        (tmp_path / f"{extension}.zip").write_bytes(made.zipped({f"folder/essay.{extension}": page}))
    documents = [d for d in chaffinch.documents([tmp_path]) if isinstance(d, chaffinch.Document)]
    assert len(documents) == len(made.FORMATS)
    hashes = [set(p.hashes.tolist()) for p in chaffinch.fingerprint_all(documents, recipe)]
    for left, right in combinations(range(len(documents)), 2):
        assert hashes[left] & hashes[right], f"{documents[left].name} {documents[right].name}"
