"""Score and surprise -> the weight that pairs are ranked by."""

from __future__ import annotations

from chaffinch.comparison.candidates import Floats
from chaffinch.types import SURPRISE_POWER


def weight(surprise: Floats, scores: Floats) -> Floats:
    """Return what pairs are ranked by; `Pair.weight` is the same.

    By surprise alone, long works come first, which share much that is a small part of them. By score alone,
    short ones do, which anybody may have written.
    """
    weights: Floats = scores * (1 + surprise.clip(0)) ** SURPRISE_POWER
    return weights
