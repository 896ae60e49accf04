"""What several documents share counts less the more of them have it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ASSUMED_OTHERS = 10
"""Members. As many that share nothing are assumed besides: a few real ones do not show what is usual."""


def rarity(owners: NDArray[np.integer], documents: int) -> NDArray[np.float64]:
    """Return the weight of things that `owners` of all `documents` have: 1 for up to two owners, never 0."""
    most = max(documents, 2)
    weights: NDArray[np.float64] = (1 + np.log(most / owners.clip(2, most))) / (1 + np.log(most / 2))
    return weights


def scarcity(owners: NDArray[np.integer], members: int) -> NDArray[np.float64]:
    """Return the same for things that say nothing if everybody has them: near 0 in a large class."""
    most = members + ASSUMED_OTHERS
    weights: NDArray[np.float64] = np.log(most / owners.clip(2, most)) / np.log(most / 2)
    return weights
