"""A report for other programs: JSON with everything, CSV with a line for each pair."""

from __future__ import annotations

import csv
import io
from typing import Any

from chaffinch.report.figures import number
from chaffinch.report.report_texts import ReportTexts
from chaffinch.report.verdicts import digest
from chaffinch.types import Match, Pair, Passage, Report, Span

_COLUMNS = (
    "left",
    "right",
    "score",
    "coverage left",
    "coverage right",
    "surprise",
    "longest",
    "matches",
    "symbols",
    "repeats",
    "fingerprints",
    "weight",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def to_json(report: Report) -> dict[str, Any]:
    """Return all results as lists, dictionaries, strings and numbers; the same for the same report."""
    texts = ReportTexts(report)
    return {
        "pairs": [_pair(texts, pair) for pair in report.pairs],
        "documents": [
            {
                "name": d.name,
                "submission": s.name,
                "format": d.format,
                "language": d.language,
                "bytes": len(d.data),
                "sha256": digest(d),
            }
            | ({"file_sha256": d.file_sha256} if d.file_sha256 else {})
            for s in (*report.submissions, *report.old)
            for d in s.documents
        ],
        "clusters": [{"submissions": list(c.submissions), "score": number(c.score)} for c in report.clusters],
        "skipped": [{"name": s.name, "reason": s.reason, "detail": s.detail} for s in report.skipped],
        "common": [_passage(texts, p) for p in report.common],
        "common_files": [
            {"name": c.name, "owners": c.owners, "only": list(c.only)} for c in report.common_files
        ],
        "nothing_to_compare": list(report.nothing_to_compare),
        "notes": [{"detail": note.detail, "names": list(note.names)} for note in report.notes],
        "background": list(report.background),
        "receipt": report.receipt.to_dict(),
    } | ({"dates": dict(report.dates)} if report.dates else {})


def _pair(texts: ReportTexts, pair: Pair) -> dict[str, Any]:
    return {
        "left": pair.left,
        "right": pair.right,
        "score": number(pair.score),
        "coverage": {"left": number(pair.coverage.left), "right": number(pair.coverage.right)},
        "surprise": number(pair.surprise),
        "weight": number(pair.weight),
        "longest": pair.longest,
        "symbols": pair.symbols,
        "fingerprints": pair.fingerprints,
        "matches": [_match(texts, pair, match) for match in pair.matches],
        "repeats": [_match(texts, pair, match) for match in pair.repeats],
    }


def _match(texts: ReportTexts, pair: Pair, match: Match) -> dict[str, Any]:
    return {
        "left": _span(texts, pair.left, match.left),
        "right": _span(texts, pair.right, match.right),
        "symbols": match.symbols,
        "longest": match.longest,
        "owners": match.owners,
    }


def _passage(texts: ReportTexts, passage: Passage) -> dict[str, Any]:
    span = _span(texts, texts.owner.get(passage.span.document, ""), passage.span)
    return {**span, "symbols": passage.symbols, "owners": passage.owners}


def _span(texts: ReportTexts, submission: str, span: Span) -> dict[str, Any]:
    shown = texts.span(submission, span)
    lines = list(shown[0].line_range(*shown[1:])) if shown else None
    document = texts.documents.get(submission, {}).get(span.document)
    place = {"place": document.place(span.start)} if document and document.sections else {}
    return {"file": span.document, "start": span.start, "end": span.end, "lines": lines, **place}


def to_csv(report: Report) -> str:
    """Return a line for each pair; a spreadsheet takes no name for a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for pair in report.pairs:
        figures = (pair.score, pair.coverage.left, pair.coverage.right, pair.surprise)
        rounded = ("" if (value := number(figure)) is None else value for figure in figures)
        writer.writerow(
            [
                _cell(pair.left),
                _cell(pair.right),
                *rounded,
                pair.longest,
                len(pair.matches),
                pair.symbols,
                len(pair.repeats),
                "" if pair.fingerprints is None else pair.fingerprints,
                number(pair.weight),
            ]
        )
    return out.getvalue()


def _cell(text: str) -> str:
    return "'" + text if text.startswith(_FORMULA) else text
