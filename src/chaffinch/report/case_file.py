"""Write a case file: one pair for a committee, as a page under 1 MB that prints well and needs no scripts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from chaffinch.report.align import anchors, run_offsets
from chaffinch.report.document_text import DocumentText, Numbers, span_offsets
from chaffinch.report.figures import GLOSSARY, receipt_in_words, shown_date
from chaffinch.report.pages.page import encoded, script, styles, template, write
from chaffinch.report.report_texts import ReportTexts
from chaffinch.report.verdicts import VERDICTS, digest, pair_keys, read_verdicts
from chaffinch.types import Match, Pair, Report, Span

_PAGE_SIZE = 960_000
"""Bytes of a page, a little less than the promised 1 MB."""
_LIST_SIZE = 120_000
"""Bytes for the list of documents, and the same for the receipt."""
_NOTE_LENGTH = 15_000
"""Characters of the note."""
_MATCH_END = 200
"""Bytes of the markup after the last row of a match."""
_CONTEXT = 3
"""Lines shown before and after a match."""
_LINE_LENGTH = 3000
"""Characters shown of one line; of a longer line, those around the match."""
_BEFORE_MATCH = 200
"""Characters shown before a match in a line that is too long."""
_COLOURS = 8

# Show characters that would hide or reorder their neighbours.
_HIDING = (0x200B, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_VISIBLE = {n: 0x2400 + n for n in range(32)} | dict.fromkeys(_HIDING, 0xA4) | {9: 9, 10: 10, 13: None}


@dataclass(frozen=True)
class _Side:
    """One side of a match: its text, the characters of the match, and those of its runs, in order."""

    file: str
    section: str | None
    text: DocumentText
    start: int
    end: int
    runs: list[tuple[int, int]]

    @property
    def lines(self) -> tuple[int, int]:
        return self.text.line_range(self.start, self.end)

    def line(self, number: int | None) -> dict[str, Any] | None:
        """Return a line for the template: the text before the match, in it, and after it. None means a gap."""
        if number is None:
            return None
        first, last = self.text.lines[number - 1], len(self.text.text)
        if number < len(self.text.lines):
            last = self.text.lines[number] - 1
        is_long = last - first > _LINE_LENGTH
        begin = max(first, min(max(self.start, first) - _BEFORE_MATCH, last)) if is_long else first
        end = min(last, begin + _LINE_LENGTH)
        start, stop = max(begin, self.start), min(end, self.end)
        if start >= stop:
            start = stop = end
        return {
            "number": number,
            "before": self._visible(begin, start),
            "marked": list(self._marked(start, stop)) if start < stop else [],
            "after": self._visible(stop, end),
            "omitted_before": begin - first,
            "omitted_after": last - end,
        }

    def _marked(self, start: int, end: int) -> Iterator[tuple[str, bool]]:
        """Yield the pieces of the match between two characters, and whether each is part of a run."""
        position = start
        for run_start, run_end in self.runs[bisect_right(self.runs, start, key=lambda run: run[1]) :]:
            if run_start >= end:
                break
            if run_end > position:
                run_start, run_end = max(position, run_start), min(end, run_end)
                yield self._visible(position, run_start), False
                yield self._visible(run_start, run_end), True
                position = run_end
        if position < end:
            yield self._visible(position, end), False

    def _visible(self, start: int, end: int) -> str:
        return self.text.text[start:end].translate(_VISIBLE)


def case_file(
    report: Report, pair: Pair, path: Path, *, redact: bool = False, verdicts: Mapping[str, Any] | None = None
) -> None:
    """Write one page with everything needed to judge a pair; `redact` removes all names from it."""
    alone = replace(report, pairs=(pair,), clusters=(), common=(), ignored={})
    everyone = names = None
    if redact:
        from chaffinch.report.anonymize.anonymous_report import anonymous_report, everybody, only

        everyone = everybody(report)
        names = only(everyone, pair.left, pair.right)
    both = frozenset((pair.left, pair.right))
    verdict = read_verdicts(verdicts).get(pair_keys(alone)[both], {"verdict": "", "note": ""})
    note = names.text(verdict["note"]) if names else verdict["note"]
    report = anonymous_report(alone, names) if names else alone
    pair = report.pairs[0]
    sides = {"left": pair.left, "right": pair.right}
    new = {s.name for s in report.submissions}
    texts = ReportTexts(report, names.edits_of if names else None)
    documents = [
        _part("document", name, texts.short(d.name), len(d.data), digest(d), d.file_sha256)
        for name in sides.values()
        for d in texts.submissions[name].documents
    ]
    shown_documents = list(_fitting(documents, _LIST_SIZE))
    receipt = _part("tree", receipt_in_words(report.receipt))
    page: dict[str, Any] = {
        "style": styles("match_colours.css", "case.css"),
        "script": script("case.js"),
        "pair": pair,
        "glossary": GLOSSARY,
        "choices": VERDICTS,
        "verdict": verdict["verdict"],
        "note": note[:_NOTE_LENGTH],
        "documents": shown_documents,
        "omitted_documents": len(documents) - len(shown_documents),
        "receipt": receipt if _size(receipt) <= _LIST_SIZE else "… too long to show …",
        "earlier_sides": [side for side, name in sides.items() if name not in new],
        "dates": {side: shown_date(date) for side, name in sides.items() if (date := report.dates.get(name))},
        "key": pair_keys(alone, everyone.labels if everyone else None)[both],
        "matches": (),
    }
    room = _PAGE_SIZE - len(encoded(template("case.html").render(page)))
    page["matches"] = _matches(texts, pair, room)
    write(path, encoded(template("case.html").render(page)))


@cache
def _parts() -> dict[str, Any]:
    return vars(template("case_parts.html").module)


def _part(name: str, *values: Any) -> str:
    """Render a part of the page."""
    part: str = _parts()[name](*values)
    return part


def _size(part: str) -> int:
    """Return its bytes in the page, with the end of the line."""
    return len(encoded(part)) + 1


def _fitting(parts: Iterable[str], room: int) -> Iterator[str]:
    """Yield the parts until there is no room for the next one."""
    for part in parts:
        room -= _size(part)
        if room < 0:
            return
        yield part


def _matches(texts: ReportTexts, pair: Pair, room: int) -> list[str]:
    """Return the largest matches that there is room for, in the order of the pages of the report."""
    files = {name: n for n, name in enumerate(texts.documents[pair.left])}
    order = sorted(pair.places, key=lambda m: (files.get(m.left.document, -1), m.left.start, m.right.start))
    shown: dict[int, str] = {}
    for number, match in sorted(enumerate(order, 1), key=lambda one: (-one[1].symbols, one[0])):
        section = _match(texts, pair, match, number, room)
        if _size(section) > room:
            break
        shown[number] = section
        room -= _size(section)
    return [section for _, section in sorted(shown.items())]


def _match(texts: ReportTexts, pair: Pair, match: Match, number: int, room: int) -> str:
    """Render a match with the rows that there is room for."""
    left = _side(texts, pair.left, match.left, [run for run, _ in match.runs])
    right = _side(texts, pair.right, match.right, [run for _, run in match.runs])
    colour = (number - 1) % _COLOURS
    frame = number, colour, match, match in pair.repeats, (left, right)
    symbols = texts.symbols(pair.left, match.left.document), texts.symbols(pair.right, match.right.document)
    offsets, _ = anchors(*symbols, run_offsets([match]))
    lines = list(_aligned(left, right, offsets))
    rows = (_part("row", left.line(a), right.line(b), colour) for a, b in lines)
    shown = list(_fitting(rows, room - _size(_part("match", *frame, (), 0)) - _MATCH_END))
    return _part("match", *frame, shown, len(lines) - len(shown))


def _side(texts: ReportTexts, submission: str, span: Span, runs: list[Span]) -> _Side:
    document = texts.documents[submission].get(span.document)
    section = document.place(span.start) if document and document.sections else None
    text, start, end = texts.span(submission, span) or (DocumentText(""), 0, 0)
    pieces, _ = texts.symbols(submission, span.document).without_markup(span_offsets(runs))
    marked = sorted((run_start, run_end) for run_start, run_end in text.spans(pieces).tolist())
    return _Side(texts.short(span.document), section, text, start, end, marked)


def _aligned(left: _Side, right: _Side, beside: Numbers) -> Iterator[tuple[int | None, int | None]]:
    """Yield the lines of both sides, equal symbols in one row, with some lines before and after.

    `beside` has the offsets that stand beside each other, left and right.
    """
    (a, a_last), (b, b_last) = left.lines, right.lines
    for n in range(max(min(_CONTEXT, a - 1), min(_CONTEXT, b - 1)), 0, -1):
        yield (a - n if a > n else None), (b - n if b > n else None)
    left_lines = map(left.text.line, left.text.characters(beside[:, 0]))
    right_lines = map(right.text.line, right.text.characters(beside[:, 1]))
    for a_next, b_next in zip(left_lines, right_lines, strict=True):
        if a < a_next <= a_last and b < b_next <= b_last:
            yield from zip_longest(range(a, a_next), range(b, b_next))
            a, b = a_next, b_next
    a_end = min(a_last + _CONTEXT, len(left.text.lines))
    b_end = min(b_last + _CONTEXT, len(right.text.lines))
    yield from zip_longest(range(a, a_end + 1), range(b, b_end + 1))
