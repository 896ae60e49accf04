"""Answers -> JSON, and a Report that shows the query next to what it shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import nan
from os.path import commonprefix
from typing import Any

from chaffinch.errors import IndexTrouble
from chaffinch.index.hits import Answer, Hit, SearchReceipt
from chaffinch.index.index import Index
from chaffinch.types import Coverage, Match, Pair, Receipt, Report, Skipped, Span, Submission


def to_json(answers: Sequence[Answer], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """Return the hits of all queries in one list, and the details of each query."""
    return {
        "hits": [_hit(answer.query.name, hit) for answer in answers for hit in answer],
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


def _hit(query: str, hit: Hit) -> dict[str, Any]:
    return {
        "query": query,
        "document": hit.document.name,
        **asdict(hit.document.metadata),
        "containment": asdict(hit.containment),
        "resemblance": hit.resemblance,
        "relation": hit.relation,
        "weight": hit.weight,
        "note": hit.note,
        "matches": [_match(match) for match in hit.matches],
    }


def _match(match: Match) -> dict[str, Any]:
    return {
        "query": _span(match.left),
        "document": _span(match.right),
        "symbols": match.symbols,
        "owners": match.owners,
    }


def _span(span: Span) -> dict[str, Any]:
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
    # A search has no class, so nothing is surprising.
    return Pair(left, right, max(shares.query, shares.document), coverage, nan, longest, hit.matches)
