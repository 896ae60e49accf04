"""Answers -> JSON, and a Report that shows the query beside what it shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from os.path import commonprefix
from typing import Any

from chaffinch.errors import IndexTrouble
from chaffinch.index.hits import Answer, Hit
from chaffinch.index.index import Index
from chaffinch.types import Coverage, Match, Pair, Receipt, Report, Skipped, Span, Submission


def to_json(answers: Sequence[Answer], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """The hits of all queries in one list, and what is to be said of each query."""
    return {
        "hits": [_hit(answer.query.name, hit) for answer in answers for hit in answer],
        "queries": [_query(answer) for answer in answers],
        "skipped": [asdict(s) for s in skipped],
    }


def _query(answer: Answer) -> dict[str, Any]:
    return {
        "query": answer.query.name,
        "found": answer.found,
        "discounted": [{"span": _span(d.span), "owners": d.owners, "why": d.why} for d in answer.discounted],
        "receipt": answer.receipt,
    }


def _hit(query: str, hit: Hit) -> dict[str, Any]:
    return {
        "query": query,
        "document": hit.document.name,
        **asdict(hit.document.about),
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
class SearchReceipt(Receipt):
    """How a search was made, for a report that shows its answers."""

    search: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return dict(self.search)


def to_report(index: Index, answers: Sequence[Answer], skipped: Sequence[Skipped]) -> Report:
    """The queries as new work, the documents found as old; it needs the texts."""
    if index.store.settings.content != "text":
        raise IndexTrouble(f"{index.store.where}: keeps no texts to show; use --json, or make it with content")
    names = dict.fromkeys(hit.document.name for answer in answers for hit in answer)
    found = {name: document for name in names if (document := index.content(name)) is not None}
    here, there = _short(answer.query.name for answer in answers), _short(found)
    return Report(
        tuple(Submission(here[answer.query.name], (answer.query,)) for answer in answers),
        tuple(Submission(there[name], (document,)) for name, document in found.items()),
        tuple(
            _pair(here[answer.query.name], there[hit.document.name], hit)
            for answer in answers
            for hit in answer
            if hit.document.name in found
        ),
        (),
        (),
        tuple(skipped),
        (0,) * 20,
        SearchReceipt(search=answers[0].receipt if answers else {}),
    )


def _short(names: Iterable[str]) -> dict[str, str]:
    """Names without the folder that all lie in."""
    everything = list(names)
    folder = commonprefix([name.rpartition("/")[0] + "/" for name in everything])  # noqa: RUF071 - cut at a slash
    return {name: name[folder.rfind("/") + 1 :] for name in everything}


def _pair(left: str, right: str, hit: Hit) -> Pair:
    shares = hit.containment
    longest = max((match.longest for match in hit.matches), default=0)
    coverage = Coverage(shares.query, shares.document)
    # There is no class to be surprising in.
    return Pair(left, right, max(shares.query, shares.document), coverage, nan, longest, hit.matches)
