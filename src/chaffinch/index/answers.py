"""The result of a search: ranked hits, each with its relation to the query; as JSON or as a Report too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, overload

from chaffinch.errors import IndexTrouble
from chaffinch.index.records import DocumentRecord
from chaffinch.recipe import Recipe
from chaffinch.types import Coverage, Document, Match, Pair, Receipt, Report, Skipped, Span, Submission

if TYPE_CHECKING:
    from chaffinch.index.index import Index

# Shares of a document. An edit changes a word in a paragraph, a revision keeps most paragraphs.
_EDITED, _REVISED = 0.8, 0.4
_MUCH_LONGER = 1.5
"""How many times as long the longer document is before it is more than an edit of the other."""
_SIZES_DIFFER = 4.0
"""How many times as long the longer document is before a note warns about it."""


class Relation(StrEnum):
    """What a document is to the query."""

    IDENTICAL = "identical"
    EDITED = "edited"
    REORGANISED = "reorganised"
    """Both have nearly the same text, in another order."""
    REVISED = "revised"
    CONTAINED = "contained"
    """The document contains the query."""
    CONTAINS = "contains"
    """The query contains the document."""
    SHARES_PASSAGES = "shares passages"


@dataclass(frozen=True, slots=True)
class Containment:
    """The share of each that the other contains."""

    query: float
    document: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that shares text with the query."""

    document: DocumentRecord
    containment: Containment
    resemblance: float
    """What both share, divided by all that either has: at most the smaller containment."""
    relation: Relation
    matches: Sequence[Match]
    """With the query on the left, built when first used. Empty if the index stores nothing that shows where."""
    weight: float
    """How much is shared. Rare passages count more, repeated ones once, and documents longer than the query
    less, down to half. Hits are ranked by this."""
    note: str = ""
    """A caution about the numbers."""


class DiscountReason(StrEnum):
    """Why a passage counts less."""

    BOILERPLATE = "boilerplate"
    """It is in a document that was added as boilerplate. It does not count at all."""
    IGNORED = "ignored"
    """Too many documents of a koala index have it. It does not count at all."""
    COMMON = "common"
    """Many documents have it."""


@dataclass(frozen=True, slots=True)
class Discount:
    """A passage of the query that counts less, or not at all."""

    span: Span
    owners: int
    """How many documents have it."""
    reason: DiscountReason


@dataclass(frozen=True, slots=True)
class SearchReceipt:
    """How a search was done."""

    recipe: Recipe
    effort: float
    window: int
    fingerprints: int
    """Different fingerprints of the query."""
    looked_up: int
    """Fingerprints that were looked up."""
    documents: int
    """Documents in the index."""
    content: str
    stored: int | None
    damaged: tuple[str, ...]
    """What could not be read, and so was not searched."""

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt for JSON, without the secret of a koala index."""
        return asdict(self) | {"recipe": self.recipe.receipt(), "damaged": list(self.damaged)}


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """The hits of one search, the strongest first."""

    query: Document
    """The spans of matches point into its bytes."""
    hits: tuple[Hit, ...]
    found: int
    """Documents that share anything with the query, whether or not they are among the hits."""
    discounted: tuple[Discount, ...]
    receipt: SearchReceipt

    @overload
    def __getitem__(self, i: int) -> Hit: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, i: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[i]

    def __len__(self) -> int:
        return len(self.hits)


def relation(query: float, document: float, sizes: tuple[int, int]) -> Relation:
    """Name the relation, given the share of each that is in the other and their sizes in symbols."""
    if query == document == 1.0 and sizes[0] == sizes[1]:
        return Relation.IDENTICAL
    less, more = sorted((query, document))
    sizes_differ = max(sizes) > _MUCH_LONGER * max(min(sizes), 1)
    if less >= _EDITED:
        if not sizes_differ:
            return Relation.EDITED
        # The longer one repeats what the other has.
        return Relation.CONTAINS if sizes[0] > sizes[1] else Relation.CONTAINED
    if more >= _EDITED and (sizes_differ or more > _MUCH_LONGER * less):
        return Relation.CONTAINS if document > query else Relation.CONTAINED
    return Relation.REVISED if less >= _REVISED else Relation.SHARES_PASSAGES


def caution(ratio: float, sizes: tuple[int, int]) -> str:
    """Return a note where the sizes differ so much that few fingerprints can be shared."""
    times = max(sizes) / max(min(sizes), 1)
    if times > _SIZES_DIFFER and ratio < _REVISED:
        return (
            f"one is {times:.0f} times as long as the other, so few fingerprints can be shared; "
            "compare the two for exact shares"
        )
    return ""


def to_json(answers: Sequence[Answer], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """Return the hits of all queries in one list, and the details of each query."""
    return {
        "hits": [{"query": answer.query.name, **_hit(hit)} for answer in answers for hit in answer],
        "queries": [_query(answer) for answer in answers],
        "skipped": [asdict(s) for s in skipped],
    }


def _query(answer: Answer) -> dict[str, Any]:
    return {
        "query": answer.query.name,
        "found": answer.found,
        "discounted": [{"span": _span(d.span), "owners": d.owners, "why": d.reason} for d in answer.discounted],
        "receipt": answer.receipt.to_dict(),
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "document": hit.document.name,
        **asdict(hit.document.metadata),
        "registered": hit.document.registered.isoformat(),
        "containment": asdict(hit.containment),
        "resemblance": hit.resemblance,
        "relation": hit.relation,
        "weight": hit.weight,
        "note": hit.note,
        "matches": [
            {"query": _span(m.left), "document": _span(m.right), "symbols": m.symbols, "owners": m.owners}
            for m in hit.matches
        ],
    }


def _span(span: Span) -> dict[str, int]:
    return {"start": span.start, "end": span.end}


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReceiptOfSearch(Receipt):
    """The receipt of a report that shows the answers of searches."""

    search: SearchReceipt | None

    def to_dict(self) -> dict[str, Any]:
        return self.search.to_dict() if self.search else {}


def to_report(index: Index, answers: Sequence[Answer], skipped: Sequence[Skipped]) -> Report:
    """Return a report with the queries as new work and the hits as earlier work. The index must store texts."""
    if index.store.settings.content != "text":
        raise IndexTrouble(
            f"{index.store.where}: stores no texts to show; use --json, or create an index that stores texts"
        )
    names = dict.fromkeys(hit.document.name for answer in answers for hit in answer)
    texts = {name: document for name in names if (document := index.content(name)) is not None}
    short_queries, short_names = _without_folder(a.query.name for a in answers), _without_folder(texts)
    return Report(
        tuple(Submission(short_queries[answer.query.name], (answer.query,)) for answer in answers),
        tuple(Submission(short_names[name], (document,)) for name, document in texts.items()),
        tuple(
            _pair(short_queries[answer.query.name], short_names[hit.document.name], hit)
            for answer in answers
            for hit in answer
            if hit.document.name in texts
        ),
        (),
        (),
        tuple(skipped),
        (0,) * 20,
        _ReceiptOfSearch(search=answers[0].receipt if answers else None),
    )


def _without_folder(names: Iterable[str]) -> dict[str, str]:
    """Return the names without the folder that all of them share."""
    all_names = list(names)
    folder = commonprefix([name.rpartition("/")[0] + "/" for name in all_names])  # noqa: RUF071
    return {name: name[folder.rfind("/") + 1 :] for name in all_names}


def _pair(left: str, right: str, hit: Hit) -> Pair:
    shares = hit.containment
    longest = max((match.longest for match in hit.matches), default=0)
    coverage = Coverage(shares.query, shares.document)
    score, symbols = max(shares.query, shares.document), sum(match.symbols for match in hit.matches)
    # A search has no class, so nothing is surprising.
    return Pair(left, right, score, coverage, None, longest, symbols, None, hit.matches)
