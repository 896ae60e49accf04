"""Koala's way: of the many fingerprints that find a document a few are stored, and nobody knows which.

A search asks for all of a query's; which of a document's are stored depends on a secret and on how often it was
chosen anew, so that nobody can edit just those away, and a new choice needs no change in those who search.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from chaffinch.index.records import Settings
from chaffinch.recipe import Recipe

SEARCHED, STORED, SKIPPED = 1000, 100, 100


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
