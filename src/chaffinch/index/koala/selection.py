"""Chooses which fingerprints of a document are stored: a secret few of the many that can find it.

A search looks up all fingerprints of its query. Which ones of a document are stored depends on a secret and on
the generation of the index when they were chosen, a number that only grows. So nobody can edit just those
passages away, and a new choice changes nothing for searches. Documents of one generation choose alike: they
store the same of a passage that they share, so that a search sees how many have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import BadRecipe
from chaffinch.index.records import Settings
from chaffinch.recipe import FIXED_SIZE, MAX_K, MAX_SKIP, MAX_W, Recipe

SEARCHED, STORED, SKIPPED = 1000, 100, 100
FREQUENT, IGNORED = 4, 10
K = 20
"""Consonants of a gram: about 30 to 45 characters."""
SCHEME = "smallest"
"""Heintze's "rare" recognises less of edited copies, and prefers legal text and other boilerplate."""
_MIN_COMMON = 10
"""Fingerprints in common. With fewer, no share is estimated: ten give it to within a third."""
_MAX_COUNT = 2**31 - 1


def settings(seed: int, content: str, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a koala index. Those that are missing or None have their default."""

    def within(name: str, default: int, low: int, high: int, reason: str = "") -> int:
        number = given.get(name)
        if number is None:
            return default
        if type(number) is not int or not low <= number <= high:
            raise BadRecipe(f"{name} is {number!r}; give {low} to {high}{reason}")
        return number

    scheme = SCHEME if given.get("scheme") is None else given["scheme"]
    if scheme not in FIXED_SIZE:
        raise BadRecipe(f"scheme is {scheme!r}; with the recipe koala, choose {' or '.join(FIXED_SIZE)}")
    searched, skip = within("searched", SEARCHED, 2, MAX_W), within("skip", SKIPPED, 0, MAX_SKIP)
    if given.get("stored") is None and searched <= STORED:
        raise BadRecipe(f"searched is {searched}; give more than the {STORED} stored, or give stored as well")
    stored = within("stored", STORED, 1, searched - 1, ", fewer than are searched with")
    frequent, ignored = within("frequent", FREQUENT, 2, _MAX_COUNT), within("ignored", IGNORED, 0, _MAX_COUNT)
    k = within("k", K, 1, MAX_K)
    recipe = Recipe("consonants", k=k, w=searched, scheme=scheme, skip=skip, seed=seed)
    return Settings(recipe, content, stored, frequent, ignored)


def choose(hashes: NDArray[np.uint64], settings: Settings, generation: int) -> NDArray[np.int64]:
    """Return the indices of the hashes that are stored."""
    if settings.stored is None:
        return np.arange(len(hashes))
    secret = settings.recipe.seed.to_bytes(8, "little") + generation.to_bytes(8, "little")
    key = np.frombuffer(blake2b(secret, digest_size=8).digest(), np.uint64)
    # Never all of several: the smallest documents would show what is stored of them.
    count = min(settings.stored, len(hashes) - 1) if len(hashes) > 1 else len(hashes)
    chosen: NDArray[np.int64] = np.sort(np.argsort(mix(hashes ^ key), kind="stable")[:count])
    return chosen


def shares(ratio: float, common: float, sizes: tuple[int, int], recipe: Recipe) -> tuple[float, float]:
    """Estimate how much of a query and of a document is in the other.

    `ratio` is the share of the document's stored fingerprints that the query has. The longer of the two has
    fewer fingerprints for its length, so a shared passage has only as many in common as the longer one selects
    from it. The estimate makes up for that, unless too few are in common.
    """
    grams = [_selectable(symbols, recipe) for symbols in sizes]
    selected = [min(recipe.w, n) for n in grams]
    if common < _MIN_COMMON:
        return ratio * min(1.0, selected[1] / selected[0]), ratio
    of_document = ratio * max(1.0, (selected[1] * grams[0]) / (selected[0] * grams[1]))
    return min(of_document * grams[1] / grams[0], 1.0), min(of_document, 1.0)


def _selectable(symbols: int, recipe: Recipe) -> int:
    """Count the grams that fingerprints are selected from, in a document of this many symbols."""
    grams = max(symbols - recipe.k + 1, 1)
    return max(grams - min(recipe.skip, symbols // 10), 1)


def mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers so that every bit of the result depends on every bit of the number."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


def ignored(owners: NDArray[np.int64], settings: Settings) -> NDArray[np.bool_]:
    """Mark the hashes that a query ignores: a few of the commonest, by how many documents have each."""
    is_ignored = np.zeros(len(owners), bool)
    if settings.stored is not None:
        frequent = np.flatnonzero(owners >= settings.frequent)
        is_ignored[frequent[np.argsort(-owners[frequent], kind="stable")][: settings.ignored]] = True
    return is_ignored
