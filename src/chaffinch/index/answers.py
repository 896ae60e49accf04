"""Answers -> JSON, and a Report that shows the query beside what it shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from chaffinch.errors import IndexTrouble
from chaffinch.index.hits import Answer, Hit
from chaffinch.index.index import Index
from chaffinch.types import Coverage, Document, Match, Pair, Report, Skipped, Span, Submission


def to_json(answers: Sequence[Answer], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """One file's answer as it is; several under `searches`."""
    left_out = [asdict(s) for s in skipped]
    if len(answers) == 1:
        return _answer(answers[0]) | {"skipped": left_out}
    return {"searches": [_answer(answer) for answer in answers], "skipped": left_out}


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "query": answer.query,
        "found": answer.found,
        "hits": [_hit(hit) for hit in answer],
        "discounted": [{"span": _span(d.span), "owners": d.owners, "why": d.why} for d in answer.discounted],
        "receipt": answer.receipt,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    return {
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


def to_report(index: Index, answers: Sequence[tuple[Document, Answer]], skipped: Sequence[Skipped]) -> Report:
    """The queries as new work, the documents found as old; it needs the texts."""
    if index.store.settings.content != "text":
        raise IndexTrouble(f"{index.store.where}: keeps no texts to show; use --json, or make it with content")
    found: dict[str, Document] = {}
    pairs = []
    for query, answer in answers:
        for hit in answer:
            name = hit.document.name
            if name not in found and (document := index.content(name)) is not None:
                found[name] = document
            if name in found:
                pairs.append(_pair(query, hit))
    queries = {document.name: Submission(document.name, (document,)) for document, _ in answers}
    receipt: Mapping[str, Any] = answers[0][1].receipt if answers else {}
    return Report(
        tuple(queries.values()),
        tuple(Submission(name, (document,)) for name, document in found.items()),
        tuple(pairs),
        (),
        (),
        tuple(skipped),
        (0,) * 20,
        dict(receipt),
    )


def _pair(query: Document, hit: Hit) -> Pair:
    shares = hit.containment
    longest = max((match.longest for match in hit.matches), default=0)
    return Pair(
        query.name, hit.document.name, max(shares.query, shares.document),
        Coverage(shares.query, shares.document), hit.weight, longest, hit.matches,
    )  # fmt: skip
