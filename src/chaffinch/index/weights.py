"""How much the fingerprints of a query weigh, and how a document's weight depends on its size."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MAX_DIVISOR = 2.0
"""The most that `divisor` returns."""
_COMMON = 0.47
"""What is less rare than this is reported as common."""

Counts = NDArray[np.integer]


def owner_weights(owners: Counts, documents: int) -> NDArray[np.float64]:
    """Return the weight of fingerprints that `owners` of all `documents` have: 1 for up to two owners, never 0.

    It falls fast: in an archive nearly every document has the same legal text, and it may be longer than what
    a relative still shares. In a small archive it falls no faster than the number of owners rises, so that
    many drafts of one document still rank before a document that shares one passage.
    """
    return np.maximum(_rarity(owners, documents) ** 4, 2 / owners.clip(2))


def is_common(owners: Counts, documents: int) -> NDArray[np.bool_]:
    """Mark fingerprints that hardly count, because many documents have them."""
    return _rarity(owners, documents) < _COMMON


def _rarity(owners: Counts, documents: int) -> NDArray[np.float64]:
    most = max(documents, 2)
    rarity: NDArray[np.float64] = np.log1p(most / owners.clip(2, most)) / np.log1p(most / 2)
    return rarity


def divisor(document: int, query: int) -> float:
    """Return what the weight of a document is divided by, given how many fingerprints it and the query have.

    A long document shares more by chance. The divisor is bounded so that a book with all of a short query
    ranks before every document with less than half of it.
    """
    return math.sqrt(min(max(document / max(query, 1), 1.0), MAX_DIVISOR**2))
