"""Koala's way: of the many fingerprints that find a document a few are stored, and nobody knows which.

A search asks for all of a query's; which of a document's are stored depends on a secret and on how often it was
chosen anew, so that nobody can edit just those away, and a new choice needs no change in those who search.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import BadRecipe
from chaffinch.index.records import Settings
from chaffinch.recipe import MAX_SKIP, MAX_W, Recipe

SEARCHED, STORED, SKIPPED = 1000, 100, 100
FREQUENT, IGNORED = 4, 10
_ENOUGH = 10
"""From fewer fingerprints in common nothing is reckoned up: ten tell a share to a third of it."""
_MANY = 2**31 - 1


def settings(
    seed: int,
    content: str,
    *,
    stored: int | None = None,
    searched: int | None = None,
    skip: int | None = None,
    frequent: int | None = None,
    ignored: int | None = None,
) -> Settings:
    """Koala's own, but for what is given."""
    searched = _within("searched", searched, SEARCHED, 2, MAX_W)
    skip = _within("skip", skip, SKIPPED, 0, MAX_SKIP)
    if stored is None and searched <= STORED:
        raise BadRecipe(f"searched is {searched}; give more than the {STORED} stored, or stored as well")
    stored = _within("stored", stored, STORED, 1, searched - 1, ", fewer than are searched with")
    frequent = _within("frequent", frequent, FREQUENT, 2, _MANY)
    ignored = _within("ignored", ignored, IGNORED, 0, _MANY)
    return Settings(recipe(seed, searched, skip), content, stored, frequent, ignored)


def _within(name: str, given: int | None, usual: int, low: int, high: int, why: str = "") -> int:
    number = usual if given is None else given
    if type(number) is not int or not low <= number <= high:
        raise BadRecipe(f"{name} is {number!r}; give {low} to {high}{why}")
    return number


def recipe(seed: int, searched: int = SEARCHED, skip: int = SKIPPED) -> Recipe:
    """20 consonants, about 30 to 45 characters; the rarest in their document first."""
    return Recipe("consonants", k=20, w=searched, scheme="rare", skip=skip, seed=seed)


def chosen(hashes: NDArray[np.uint64], settings: Settings, generation: int) -> NDArray[np.int64]:
    """Which of the hashes that find a document are stored; all of them, except in Koala's way."""
    if settings.stored is None:
        return np.arange(len(hashes))
    secret = settings.recipe.seed.to_bytes(8, "little") + generation.to_bytes(8, "little")
    key = np.frombuffer(blake2b(secret, digest_size=8).digest(), np.uint64)
    # A strict subset, even of few: or the smallest documents would tell what is stored of them.
    count = min(settings.stored, len(hashes) - 1) if len(hashes) > 1 else len(hashes)
    found: NDArray[np.int64] = np.sort(np.argsort(_mixed(hashes ^ key), kind="stable")[:count])
    return found


def shares(ratio: float, common: float, sizes: tuple[int, int], recipe: Recipe) -> tuple[float, float]:
    """How much of a query and of a document is in the other, by the ratio of the stored ones the query has.

    The longer of two has fewer fingerprints for its length, so that of what both have only so many can be in
    common as the longer one keeps of it: the ratio is reckoned up by that, unless it is too few to tell.
    """
    looked_at = [_looked_at(symbols, recipe) for symbols in sizes]
    kept = [min(recipe.w, grams) for grams in looked_at]
    if common < _ENOUGH:
        return ratio * min(1.0, kept[1] / kept[0]), ratio
    of_document = ratio * max(1.0, (kept[1] * looked_at[0]) / (kept[0] * looked_at[1]))
    return min(of_document * looked_at[1] / looked_at[0], 1.0), min(of_document, 1.0)


def _looked_at(symbols: int, recipe: Recipe) -> int:
    """Grams that fingerprints are chosen from, of a document of so many symbols."""
    grams = max(symbols - recipe.k + 1, 1)
    return max(grams - min(recipe.skip, symbols // 10), 1)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of the result depends on every bit of a number."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


def ignored(owners: NDArray[np.int64], settings: Settings) -> NDArray[np.bool_]:
    """Which of a query's hashes are passed over, by how many documents have each: the commonest few."""
    common = np.zeros(len(owners), bool)
    if settings.stored is not None:
        frequent = np.flatnonzero(owners >= settings.frequent)
        common[frequent[np.argsort(-owners[frequent], kind="stable")][: settings.ignored]] = True
    return common
