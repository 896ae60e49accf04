"""A Report -> what the MOSS pages show, as data: an index, and a file for each pair and each submission."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from chaffinch.read import collect
from chaffinch.report.report_texts import ReportTexts
from chaffinch.service.uploads import SUBMISSION, Uploaded
from chaffinch.types import File, Match, Pair, Report, Skipped, Span, Submission


def submissions(
    files: Sequence[Uploaded], language: str, is_directory: bool
) -> tuple[list[Submission], list[Skipped]]:
    """Return what each client's file, or with `is_directory` each folder, holds, and what cannot be read."""
    by_name: dict[str, list[Any]] = {}
    skipped: list[Skipped] = []
    for number, file in enumerate(file for file in files if file.role == SUBMISSION):
        name = _spaceless(file.name)
        owner = f"{PurePosixPath(name).parent}/" if is_directory else name
        documents = by_name.setdefault(
            owner if is_directory or owner not in by_name else f"{owner}_{number}", []
        )
        for item in collect.collect(File(name, file.data, language=language)):
            if isinstance(item, Skipped):
                skipped.append(item)
            else:
                documents.append(item.document)
    return [Submission(name, tuple(documents)) for name, documents in by_name.items()], skipped


def _spaceless(name: str) -> str:
    """Return a name as the pages show it: scrapers take a space as its end."""
    return "_".join(name.replace("\\", "/").split()) or "_"


def write_results(report: Report, moss: Mapping[str, Any], created: int) -> Iterator[tuple[str, bytes]]:
    """Yield the files with everything that the MOSS pages of a run show."""
    texts = ReportTexts(report)
    shown_names = sorted({name for pair in report.pairs for name in (pair.left, pair.right)})
    numbers = {name: number for number, name in enumerate(shown_names)}
    rows = []
    for number, pair in enumerate(report.pairs):
        longest_first = sorted(pair.matches, key=lambda match: -match.symbols)
        blocks = [block for match in longest_first if (block := _block(texts, pair, match))]
        sides = [
            _covered_lines([(b[side]["file"], b[side]["first"], b[side]["last"]) for b in blocks])
            for side in ("left", "right")
        ]
        rows.append({
            "left": pair.left,
            "right": pair.right,
            "percents": [_percent(pair.coverage.left), _percent(pair.coverage.right)],
            "lines": max(sides),
        })  # fmt: skip
        sources = [numbers[pair.left], numbers[pair.right]]
        yield f"moss/pair{number}.json", _json({**rows[-1], "blocks": blocks, "sources": sources})
    for name, number in numbers.items():
        documents = texts.submissions[name].documents
        shown = [{"name": d.name, "text": text.text} for d in documents if (text := texts.text(name, d.name))]
        yield f"moss/source{number}.json", _json(shown)
    errors = [f"{skipped.name}: {skipped.detail}" for skipped in report.skipped]
    yield "moss/index.json", _json({**moss, "created": created, "rows": rows, "errors": errors})


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _percent(share: float) -> int:
    return round(100 * share)


def _block(texts: ReportTexts, pair: Pair, match: Match) -> dict[str, Any] | None:
    left, right = _place(texts, pair.left, match.left), _place(texts, pair.right, match.right)
    return {"left": left, "right": right} if left and right else None


def _place(texts: ReportTexts, submission: str, span: Span) -> dict[str, Any] | None:
    """Return the file and the lines of a passage, and its share of the submission's lines in percent."""
    shown = texts.span(submission, span)
    if shown is None:
        return None
    text, start, end = shown
    first, last = text.line_range(start, end)
    documents = texts.submissions[submission].documents
    names = [document.name for document in documents]
    total = sum(len(t.lines) for name in names if (t := texts.text(submission, name)))
    return {
        "file": names.index(span.document),
        "first": first,
        "last": last,
        "percent": max(1, round(100 * (last - first + 1) / max(total, 1))),
    }


def _covered_lines(places: Sequence[tuple[int, int, int]]) -> int:
    """Count the lines that lie in any of these passages, given by file, first and last line."""
    return len({(file, line) for file, first, last in places for line in range(first, last + 1)})
