"""A fixed number of grams of a document, as Koala keeps them: as the reference says, and what is promised."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import BadRecipe, Recipe, RecipeMismatch, fingerprint, fingerprint_all, reference
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source
from chaffinch.recipe import FIXED_SIZE
from tests.strategies import recipes, streams

KOALA = Recipe("consonants", k=20, w=1000, scheme="rare")


def selected(symbols: list[int], recipe: Recipe) -> list[tuple[int, int]]:
    found = core.fingerprint([Source.canonical(np.array(symbols, np.uint32))], recipe)[0]
    return list(zip(found.hashes.tolist(), found.positions.tolist(), strict=True))


def words(n: int, seed: int) -> list[str]:
    """Words of no meaning, a few of them often and most of them seldom."""
    chance = random.Random(seed)
    letters = "eeeetttaaooiinnsshhrrddllcumwfgypbvk"
    known = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(3000)]
    return [known[min(int(chance.paretovariate(0.7)), 3000) - 1] for _ in range(n)]


def hashes(text: str, recipe: Recipe = KOALA) -> set[int]:
    return set(fingerprint(text, recipe).hashes.tolist())


@given(streams(), recipes(FIXED_SIZE))
def test_core_equals_reference(symbols: list[int], recipe: Recipe) -> None:
    assert selected(symbols, recipe) == reference.select(symbols, recipe)


@pytest.mark.parametrize("k", [1, 4, 5, 6, 20])
@pytest.mark.parametrize("w", [1, 3, 1000])
@pytest.mark.parametrize("skip", [0, 1, 2, 3, 2**32 - 1])
@pytest.mark.parametrize("scheme", FIXED_SIZE)
def test_lengths_around_every_boundary(k: int, w: int, skip: int, scheme: str) -> None:
    recipe = Recipe("bytes", k=k, w=w, scheme=scheme, skip=skip)
    rng = random.Random(k * w)
    for length in sorted({0, 1, k - 1, k, k + 1, 9, 10, 11, 19, 20, 29, 30, 31, 200}):
        for alphabet in (1, 2, 3):
            symbols = [rng.randrange(alphabet) for _ in range(length)]
            assert selected(symbols, recipe) == reference.select(symbols, recipe), (length, alphabet)


# A chunk holds 8,192 symbols and k more, or three times k if that is more; it doubles until all is in it.
@pytest.mark.parametrize("alphabet", [2, 4, 21, 2**32])
@pytest.mark.parametrize("length", [8191, 8198, 8199, 16_395, 16_397, 33_000])
@pytest.mark.parametrize("scheme", FIXED_SIZE)
def test_the_whole_document_counts_however_long(level: str, alphabet: int, length: int, scheme: str) -> None:
    recipe = Recipe("bytes", k=6, w=40, scheme=scheme, skip=700)
    rng = random.Random(length)
    symbols = [rng.randrange(alphabet) for _ in range(length)]
    symbols[length // 2 : length // 2 + 3000] = symbols[:3000]
    assert selected(symbols, recipe) == reference.select(symbols, recipe)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "latin-1"])
def test_spans_are_right_in_long_documents(encoding: str) -> None:
    text = " ".join(words(4000, 1)).replace("a", "é").replace("k", "ç")
    recipe = replace(KOALA, w=60, skip=500)
    data = text.encode(encoding)
    latin = Source.single_byte(data, np.arange(256, dtype=np.uint32))
    source = latin if encoding == "latin-1" else Source.unicode(data, encoding)
    found = core.fingerprint([source], recipe)[0]
    columns = (found.hashes, found.positions, found.starts, found.ends)
    expected = reference.fingerprint(data, recipe, encoding)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected


@pytest.mark.parametrize("scheme", FIXED_SIZE)
def test_documents_of_every_size_one_after_another_on_any_number_of_threads(scheme: str) -> None:
    """What a long document leaves behind in the working memory does not show in the next."""
    recipe = replace(KOALA, scheme=scheme)
    texts = [" ".join(words(n, n)) for n in (30_000, 5, 900, 0, 60_000, 40, 2500, 1, 30_000)] * 3
    alone = [hashes(text, recipe) for text in texts]
    for threads in (1, 2, 5):
        together = fingerprint_all(texts, recipe, threads=threads)
        assert [set(prints.hashes.tolist()) for prints in together] == alone


@given(
    st.lists(st.integers(0, 3), max_size=300),
    st.integers(1, 8),
    st.integers(1, 30),
    st.integers(0, 40),
    st.sampled_from(FIXED_SIZE),
)
def test_a_smaller_number_keeps_a_subset(symbols: list[int], k: int, w: int, more: int, scheme: str) -> None:
    """Few are stored and many are sought: the stored ones are among them."""
    few = selected(symbols, Recipe("bytes", k=k, w=w, scheme=scheme))
    many = selected(symbols, Recipe("bytes", k=k, w=w + more, scheme=scheme))
    assert set(few) <= set(many)


def test_as_many_as_asked_for_in_order_and_each_once() -> None:
    found = fingerprint(" ".join(words(6000, 2)), KOALA)
    assert len(found) == 1000
    assert len(set(found.hashes.tolist())) == 1000
    positions = found.positions.tolist()
    assert positions == sorted(positions)
    text = "to be or not to be that is the question " * 50
    every = fingerprint(text, Recipe("consonants", k=20, scheme="all"))
    assert hashes(text) == set(every.hashes.tolist())
    assert len(fingerprint(text, KOALA)) == len(set(every.hashes.tolist()))


def test_what_is_said_once_is_kept_before_what_is_said_again_and_again() -> None:
    often = "the committee thanks the chair for the report and the annex " * 200
    once = "zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich"
    text = often + once + often
    found = fingerprint(text, replace(KOALA, w=10))
    at = len(often.encode())
    for start in found.starts.tolist():
        assert at - 60 <= start <= at + len(once.encode())


def test_identical_documents_have_identical_fingerprints() -> None:
    text = " ".join(words(4000, 3))
    assert hashes(text) == hashes(text.upper().replace(" ", "\n  "))
    assert hashes(text) == hashes(text.replace(" ", ", 17 "))


@pytest.mark.parametrize("seed", range(4))
def test_a_document_with_one_word_in_twenty_changed_keeps_most(seed: int) -> None:
    before = words(4000, seed)
    others = words(4000, seed + 100)
    chance = random.Random(seed)
    after = [others[i] if chance.random() < 0.05 else word for i, word in enumerate(before)]
    common = hashes(" ".join(before)) & hashes(" ".join(after))
    assert (
        len(common) > 500
    )  # of all grams, which reach over some seven words, two in three stay what they were
    stored = hashes(" ".join(before), replace(KOALA, w=100))
    assert len(stored & hashes(" ".join(after))) > 50
    unrelated = hashes(" ".join(before)) & hashes(" ".join(others))
    assert len(unrelated) < 20


def test_another_seed_chooses_other_grams() -> None:
    text = " ".join(words(20_000, 4))
    plain = fingerprint(text, KOALA)
    secret = fingerprint(text, replace(KOALA, seed=4711))
    assert not set(plain.hashes.tolist()) & set(secret.hashes.tolist())
    assert len(set(plain.positions.tolist()) & set(secret.positions.tolist())) < 700


@pytest.mark.parametrize("scheme", FIXED_SIZE)
def test_the_start_is_passed_over_but_no_more_than_a_tenth(scheme: str) -> None:
    text = "bcdfghjklm" * 3 + " ".join(words(3000, 5))
    symbols = fingerprint(text, KOALA).symbols
    for skip, first in ((0, 0), (30, 30), (10**9, symbols // 10)):
        recipe = replace(KOALA, w=65536, scheme=scheme, skip=skip)
        assert fingerprint(text, recipe).positions.tolist()[0] == first
    one = replace(KOALA, scheme=scheme, skip=1000)
    assert fingerprint("bcdfghjklmnpqrstvwxz", one).positions.tolist() == [0]


def test_other_schemes_pass_nothing_over() -> None:
    with pytest.raises(BadRecipe, match="leave out skip, or choose smallest or rare"):
        Recipe(skip=5)
    recipe = replace(KOALA, skip=300)
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    assert recipe.receipt()["skip"] == 300
    assert str(recipe) == "consonants/1 k=20 w=1000 rare skip=300"
    assert "skip" not in str(KOALA)
    with pytest.raises(RecipeMismatch, match="make it again"):
        recipe.check(KOALA, "archive")
    with pytest.raises(BadRecipe, match="no window to widen"):
        fingerprint("abc", recipe, window=2000)


def test_recipes_from_before_skip_are_still_read() -> None:
    old = Recipe().to_dict()
    del old["skip"]
    assert Recipe.from_dict(old) == Recipe()
