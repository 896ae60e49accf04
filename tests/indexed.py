"""Documents for the tests of an index: random words that no two documents share by chance, and passages."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from chaffinch.index.index import Index
from chaffinch.types import Document

Make = Callable[..., Index]
"""Creates an index, or opens it again."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(count: int, seed: object) -> list[str]:
    """Return random words, the same for the same seed."""
    chance = random.Random(f"{seed}")
    return ["".join(chance.choices(_LETTERS, k=chance.randint(2, 9))) for _ in range(count)]


def text(count: int, seed: object) -> str:
    return " ".join(words(count, seed))


def document(name: str, *passages: str) -> Document:
    return Document(name, "\n\n".join(passages).encode(), "utf-8", "plain", "text")


def edited(words: Sequence[str], share: float, seed: int = 1) -> list[str]:
    """Replace some of the words."""
    chance = random.Random(seed)
    return [f"other{chance.randrange(10**6)}" if chance.random() < share else word for word in words]
