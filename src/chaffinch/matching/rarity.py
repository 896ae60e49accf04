"""What several documents share counts less the more of them have it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def rarity(owners: NDArray[np.integer], documents: int) -> NDArray[np.float64]:
    """Return the weight of things that `owners` of all `documents` have: 1 for up to two owners, never 0."""
    most = max(documents, 2)
    weights: NDArray[np.float64] = (1 + np.log(most / owners.clip(2, most))) / (1 + np.log(most / 2))
    return weights
