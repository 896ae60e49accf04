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
from chaffinch.report.anonymize.anonymous_report import anonymous_report, everybody, only
from chaffinch.report.document_text import DocumentText, span_offsets
from chaffinch.report.figures import GLOSSARY, receipt_in_words, shown_date, shown_surprise
from chaffinch.report.page import encoded, script, styles, template, write
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
_VISIBLE = {n: 0x2400 + n for n in range(32)} | dict.fromkeys(
    (0x200B, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xA4
)
_VISIBLE |= {9: 9, 10: 10, 13: None}


@dataclass(frozen=True)
class _Line:
    """A line of one side: the text before the match, in it (and whether in a run), and after it."""

    number: int
    before: str
    marked: list[tuple[str, bool]]
    after: str
    omitted_before: int
    omitted_after: int


@dataclass(frozen=True)
class _Side:
    """One side of a match: its text, the characters of the match, and those of its runs, in order."""

    text: DocumentText
    start: int
    end: int
    runs: tuple[tuple[int, int], ...]

    @property
    def lines(self) -> tuple[int, int]:
        return self.text.line_range(self.start, self.end)

    def line(self, number: int | None) -> _Line | None:
        """Return a line with the match marked in it; None means a gap."""
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
        return _Line(
            number,
            before=self._visible(begin, start),
            marked=list(self._marked(start, stop)) if start < stop else [],
            after=self._visible(stop, end),
            omitted_before=begin - first,
            omitted_after=last - end,
        )

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
    everyone = everybody(report) if redact else None
    names = only(everyone, pair.left, pair.right) if everyone else None
    both = frozenset((pair.left, pair.right))
    verdict_key = key = pair_keys(alone)[both]
    if everyone:
        key = pair_keys(alone, everyone.labels)[both]
    report = anonymous_report(alone, names) if names else alone
    pair = report.pairs[0]
    texts = ReportTexts(report, names.edits_of if names else None)
    verdict = read_verdicts(verdicts).get(verdict_key, {"verdict": "", "note": ""})
    note = names.text(verdict["note"]) if names else verdict["note"]
    documents = list(_documents(texts, pair))
    shown_documents = list(_fitting(documents, _LIST_SIZE))
    receipt = _part("tree", receipt_in_words(report.receipt))
    page: dict[str, Any] = {
        "style": styles("match_colours.css", "case.css"),
        "script": script("case.js"),
        "pair": pair,
        "figures": _figures(report, pair),
        "glossary": GLOSSARY,
        "choices": VERDICTS,
        "verdict": verdict["verdict"],
        "note": note[:_NOTE_LENGTH],
        "documents": shown_documents,
        "omitted_documents": len(documents) - len(shown_documents),
        "receipt": receipt if _size(receipt) <= _LIST_SIZE else "… too long to show …",
        "earlier_side": _earlier_side(report, pair),
        "dates": _dates(report, pair),
        "key": key,
        "matches": [],
        "omitted_matches": len(pair.places),
    }
    room = _PAGE_SIZE - len(encoded(template("case.html").render(page)))
    page["matches"] = _matches(texts, pair, room)
    page["omitted_matches"] -= len(page["matches"])
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


def _figures(report: Report, pair: Pair) -> dict[str, str]:
    unusual = shown_surprise(report, pair)
    return {
        "score": f"{pair.score:.0%}",
        "of the left in matches": f"{pair.coverage.left:.0%}",
        "of the right in matches": f"{pair.coverage.right:.0%}",
        "surprise": "–" if unusual is None else f"{unusual:.1f}",
        "symbols in the longest run": f"{pair.longest:,}",
        "match" if len(pair.places) == 1 else "matches": f"{len(pair.places):,}",
    }


def _earlier_side(report: Report, pair: Pair) -> str:
    """Return the side that is earlier work, if only one is."""
    new = {s.name for s in report.submissions}
    sides = [side for side, name in (("left", pair.left), ("right", pair.right)) if name not in new]
    return sides[0] if len(sides) == 1 else ""


def _dates(report: Report, pair: Pair) -> dict[str, str]:
    """Return when each side was handed in, where that is known."""
    dates = {"left": report.dates.get(pair.left), "right": report.dates.get(pair.right)}
    return {side: shown_date(date) for side, date in dates.items() if date}


def _documents(texts: ReportTexts, pair: Pair) -> Iterator[str]:
    for submission in (pair.left, pair.right):
        for d in texts.submissions[submission].documents:
            yield _part("document", submission, texts.short(d.name), len(d.data), digest(d), d.file_sha256)


def _matches(texts: ReportTexts, pair: Pair, room: int) -> list[str]:
    """Return the largest matches that there is room for, in the order of the left side."""
    order = sorted(pair.places, key=lambda match: _position(texts, pair, match))
    numbered = list(enumerate(order, 1))
    shown: dict[int, str] = {}
    for number, match in sorted(numbered, key=lambda one: (-one[1].symbols, one[0])):
        section = _match(texts, pair, match, number, room)
        if _size(section) > room:
            break
        shown[number] = section
        room -= _size(section)
    return [section for _, section in sorted(shown.items())]


def _position(texts: ReportTexts, pair: Pair, match: Match) -> tuple[int, int, int]:
    """Return the sort key that the pages of the report use too."""
    names = [d.name for d in texts.submissions[pair.left].documents]
    file = names.index(match.left.document) if match.left.document in names else -1
    return file, match.left.start, match.right.start


def _match(texts: ReportTexts, pair: Pair, match: Match, number: int, room: int) -> str:
    """Render a match with the rows that there is room for."""
    left = _side(texts, pair.left, match.left, [run for run, _ in match.runs])
    right = _side(texts, pair.right, match.right, [run for _, run in match.runs])
    colour = (number - 1) % _COLOURS
    heads = _head(texts, pair.left, match.left, left), _head(texts, pair.right, match.right, right)
    frame = number, colour, _summary(pair, match), heads
    lines = list(_aligned(left, right, _lines_beside(texts, pair, match, left, right)))
    rows = (_part("row", left.line(a), right.line(b), colour) for a, b in lines)
    shown = list(_fitting(rows, room - _size(_part("match", *frame, (), 0)) - _MATCH_END))
    return _part("match", *frame, shown, len(lines) - len(shown))


def _summary(pair: Pair, match: Match) -> str:
    others = match.owners - 2
    also = f"; also in {others} other submission{'s' * (others != 1)}" if others > 0 else ""
    runs = f"{max(1, len(match.runs))} run{'s' * (len(match.runs) > 1)}"
    repeat = "; repeats part of a longer match" if match in pair.repeats else ""
    return f"{match.symbols:,} symbols in {runs}, longest {match.longest:,}{also}{repeat}"


def _head(texts: ReportTexts, submission: str, span: Span, side: _Side) -> dict[str, str]:
    first, last = side.lines
    place = f"line {first}" if first == last else f"lines {first}–{last}"
    document = texts.documents[submission][span.document]
    if document.sections:
        place += f" ({document.place(span.start)})"
    return {"file": texts.short(span.document), "place": place}


def _side(texts: ReportTexts, submission: str, span: Span, runs: list[Span]) -> _Side:
    whole = texts.span(submission, span)
    if whole is None:
        return _Side(DocumentText(""), 0, 0, ())
    pieces, _ = texts.symbols(submission, span.document).without_markup(span_offsets(runs))
    return _Side(*whole, tuple(sorted((start, end) for start, end in whole[0].spans(pieces).tolist())))


def _lines_beside(
    texts: ReportTexts, pair: Pair, match: Match, left: _Side, right: _Side
) -> Iterator[tuple[int, int]]:
    """Yield lines of the left and the right that stand beside each other."""
    symbols = texts.symbols(pair.left, match.left.document), texts.symbols(pair.right, match.right.document)
    offsets, _ = anchors(*symbols, run_offsets([match]))
    for a, b in zip(left.text.characters(offsets[:, 0]), right.text.characters(offsets[:, 1]), strict=True):
        yield left.text.line(a), right.text.line(b)


def _aligned(
    left: _Side, right: _Side, beside: Iterable[tuple[int, int]]
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the lines of both sides, equal symbols in one row, with some lines before and after."""
    (a, a_last), (b, b_last) = left.lines, right.lines
    before = max(min(_CONTEXT, a - 1), min(_CONTEXT, b - 1))
    for n in range(before, 0, -1):
        yield (a - n if a > n else None), (b - n if b > n else None)
    for a_next, b_next in beside:
        if a < a_next <= a_last and b < b_next <= b_last:
            yield from zip_longest(range(a, a_next), range(b, b_next))
            a, b = a_next, b_next
    a_end = min(a_last + _CONTEXT, len(left.text.lines))
    b_end = min(b_last + _CONTEXT, len(right.text.lines))
    yield from zip_longest(range(a, a_end + 1), range(b, b_end + 1))
