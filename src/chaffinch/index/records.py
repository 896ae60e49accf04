"""The values that an index stores and returns. They are frozen and the same for every store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from chaffinch.errors import IndexTrouble
from chaffinch.native.segment import Postings
from chaffinch.recipe import Recipe

FORMAT = 3
CONTENTS = ("text", "search-set", "none")


@dataclass(frozen=True, slots=True)
class Settings:
    """How an index was created. This never changes."""

    recipe: Recipe
    content: str = "text"
    """What is stored besides the fingerprints: "text", "search-set" (what they were chosen from) or "none"."""
    stored: int | None = None
    """Fingerprints stored of each document, chosen by the secret. None stores all."""
    frequent: int = 4
    """With `stored`: fingerprints that this many documents have are ignored, the commonest first."""
    ignored: int = 10
    """With `stored`: fingerprints ignored in one search, at most. Otherwise copies could hide a document."""

    @property
    def hash_bits(self) -> int:
        """Bits stored of a hash. With 44, 1,000 hashes meet .006 of 100 million postings by chance."""
        return 64 if self.stored is None else 44

    @property
    def has_positions(self) -> bool:
        """Whether a posting knows its offset in the document."""
        return self.stored is None

    def to_dict(self) -> dict[str, Any]:
        """Return the settings for JSON. They include the secret."""
        return asdict(self) | {"recipe": self.recipe.to_dict(), "format": FORMAT}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], where: str) -> Settings:
        fields = dict(data)
        if (version := fields.pop("format", None)) != FORMAT:
            raise IndexTrouble(
                f"{where}: has format {version}, and this version of Chaffinch reads format {FORMAT}; use the "
                "version that made it, or add the documents again"
            )
        return cls(Recipe.from_dict(fields.pop("recipe")), **fields)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the user knows about a document. Where a document is replaced, None keeps what is known."""

    url: str | None = None
    contact: str | None = None
    date: str | None = None


_NO_DAY = date(1970, 1, 1)


def today() -> date:
    """Return the day in UTC, so that an index is the same wherever it is used."""
    return datetime.now(UTC).date()


class DocumentRecord(NamedTuple):
    """A document in an index."""

    name: str
    digest: bytes
    """Hash of its bytes."""
    size: int
    """Bytes."""
    symbols: int
    postings: int
    metadata: Metadata = Metadata()
    boilerplate: bool = False
    """Passages of this document are never part of a match."""
    not_language: bool = False
    """Its text is not language: a bad scan, or fonts without a map to letters."""
    registered: date = _NO_DAY
    """When this content was added."""
    chosen: date = _NO_DAY
    """When its stored fingerprints were chosen: on the day it was registered, or later."""
    stream: bytes = b""
    """Hashes of its symbols (see `stream_digest`). Empty if the index stores texts, which show more."""


class Batch(NamedTuple):
    """Documents that are added together, and the documents they replace."""

    documents: list[DocumentRecord]
    postings: Postings
    """The document of a posting is its index in `documents`."""
    contents: Iterable[bytes | None]
    """Read once, because they may still be compressed in the background."""
    replaced: list[int]


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The size and state of an index."""

    documents: int
    postings: int
    """Includes those of removed documents until a merge drops them."""
    segments: int
    bytes: int
    removed: int
    """Removed documents whose postings wait for a merge."""
    not_language: int
    """Documents whose text is not language, such as bad scans."""
    damaged: tuple[str, ...]


class ProbedDocument(NamedTuple):
    """A document whose stored fingerprints somebody may be finding out."""

    name: str
    searches: int
    """Different searches since the choice that touched some of them; not all are counted beyond a hundred."""
    separated: int
    """Groups that these searches have separated them into."""
    stored: int
