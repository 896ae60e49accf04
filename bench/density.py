"""Measure how many fingerprints the default scheme keeps, against the 2 / (w + 1) of winnowing."""

from __future__ import annotations

import chaffinch
from bench.table import Row
from bench.texts import Texts

# The largest density allowed at each (k, w), as a share of that of winnowing.
BOUNDS = {(50, 100): 0.85, (25, 26): 0.80, (12, 9): 0.83}


def rows(texts: Texts) -> list[Row]:
    return [
        Row(f"density / [2 / (w + 1)], {name}, {front}, at ({k}, {w})", _relative(text, front, k, w), most=most)
        for name, text, fronts in (
            ("English", texts.english, ("bytes", "text")),
            ("code", texts.code, ("bytes", "text", "python")),
        )
        for front in fronts
        for (k, w), most in BOUNDS.items()
    ]


def _relative(text: bytes, front: str, k: int, w: int) -> float:
    prints = chaffinch.fingerprint(text, chaffinch.Recipe(front, k=k, w=w))
    return len(prints) / (prints.symbols - k + 1) * (w + 1) / 2
