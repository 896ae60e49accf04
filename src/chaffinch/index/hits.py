"""What a search answers: hits, ranked, each with its relation to the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from chaffinch.index.records import Stored
from chaffinch.types import Document, Match, Span

# Shares of a document, for the names of relations. Who edits changes a word in a paragraph; who revises keeps
# most paragraphs.
_MOST, _MUCH = 0.8, 0.4
_SIZES_DIFFER = 4.0


@dataclass(frozen=True, slots=True)
class Containment:
    """Which share of each is in the other."""

    query: float
    document: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that has something in common with the query."""

    document: Stored
    containment: Containment
    resemblance: float
    """What both have, as a share of what either has."""
    relation: str
    """"identical", "edited", "revised", "contained" (the query in it), "contains" or "shares passages"."""
    matches: tuple[Match, ...]
    """With the query on the left; none of them if nothing is kept that tells where."""
    weight: float
    """How much is shared, rare passages counting more: hits are ranked by it."""
    note: str = ""
    """What to bear in mind."""


@dataclass(frozen=True, slots=True)
class Discount:
    """A passage of the query that counts less, or not at all."""

    span: Span
    owners: int
    """In how many documents it stands."""
    why: str


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """The hits of one search, the strongest first."""

    query: Document
    """As its spans point into it."""
    hits: tuple[Hit, ...]
    found: int
    """Documents with anything in common, those counted that are not among the hits."""
    discounted: tuple[Discount, ...]
    receipt: dict[str, Any]
    """How it was searched: recipe, effort, how many fingerprints of how many, what could not be read."""

    @overload
    def __getitem__(self, i: int) -> Hit: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, i: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[i]

    def __len__(self) -> int:
        return len(self.hits)


def relation(query: float, document: float, sizes: tuple[int, int]) -> str:
    """What a document is to a query, by the share of each that is in the other and their sizes in symbols."""
    if query == document == 1.0 and sizes[0] == sizes[1]:
        return "identical"
    larger = max(sizes) > 1.5 * max(min(sizes), 1)
    if not larger and min(query, document) >= _MOST:
        return "edited"
    if query >= _MOST and query > document and larger:
        return "contained"
    if document >= _MOST and document > query and larger:
        return "contains"
    return "revised" if min(query, document) >= _MUCH else "shares passages"


def note(ratio: float, sizes: tuple[int, int]) -> str:
    """A word of caution where few fingerprints tell little: the ratio of different sizes is always low."""
    times = max(sizes) / max(min(sizes), 1)
    if times > _SIZES_DIFFER and ratio < _MUCH:
        return f"one is {times:.0f} times as long as the other: so few fingerprints tell little, compare them"
    return ""
