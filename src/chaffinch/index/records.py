"""What an index keeps, gives and tells: frozen values, the same for every store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from chaffinch.errors import IndexTrouble
from chaffinch.native.segment import Postings
from chaffinch.recipe import Recipe

FORMAT = 2
CONTENTS = ("text", "search-set", "none")


@dataclass(frozen=True, slots=True)
class Settings:
    """What an index was created with, for good."""

    recipe: Recipe
    content: str = "text"
    """What is kept of a document besides its fingerprints: "text", the "search-set" they were chosen from,
    or "none"."""
    stored: int | None = None
    """So many fingerprints of each document are kept, chosen by the secret; None for all."""
    frequent: int = 4
    """With `stored`: what so many documents have is ignored ..."""
    ignored: int = 10
    """... but at most so much of it in one search, lest copies hide a document."""

    @property
    def hash_bits(self) -> int:
        """So many bits of a hash are kept: of 100 million postings a search of 1,000 meets .006 by chance."""
        return 64 if self.stored is None else 44

    @property
    def has_positions(self) -> bool:
        """Whether a posting says where in the document it stands."""
        return self.stored is None

    def to_dict(self) -> dict[str, Any]:
        """For JSON; with the secret."""
        return asdict(self) | {"recipe": self.recipe.to_dict(), "format": FORMAT}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str) -> Settings:
        fields = dict(data)
        if (found := fields.pop("format", None)) != FORMAT:
            raise IndexTrouble(
                f"{where}: in format {found}, and this version of Chaffinch reads format {FORMAT}; use the one "
                "that made it, or add the documents anew"
            )
        return cls(Recipe.from_dict(fields.pop("recipe")), **fields)


@dataclass(frozen=True, slots=True)
class About:
    """What somebody says about a document."""

    url: str | None = None
    contact: str | None = None
    date: str | None = None


class Stored(NamedTuple):
    """A document in an index."""

    name: str
    digest: bytes
    """Of its bytes."""
    size: int
    """In bytes."""
    symbols: int
    postings: int
    about: About = About()
    generation: int = 0
    """How often its stored fingerprints were chosen anew."""
    boilerplate: bool = False
    """What it has is never a match."""


class Batch(NamedTuple):
    """Documents that are added together, and those they take the place of."""

    documents: list[Stored]
    postings: Postings
    """With the place in `documents` as document."""
    contents: Iterable[bytes | None]
    """Looked at once, for they may still be packed."""
    gone: list[int]


@dataclass(frozen=True, slots=True)
class Info:
    """How large an index is."""

    documents: int
    postings: int
    """Those of removed documents are counted until they are merged away."""
    segments: int
    bytes: int
    removed: int
    """Documents whose postings wait for a merge."""
    damaged: tuple[str, ...]


class Probed(NamedTuple):
    """A document that many different queries came close to."""

    name: str
    queries: int
