"""A case file: one pair for a committee, as a page that needs no scripts, prints well and stays under 1 MB."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from chaffinch.report.anonymize.anonymous_report import everybody, nameless, only
from chaffinch.report.document_text import Text, Texts, digest, pair_keys
from chaffinch.report.page import encoded, escaped, fill, static, write
from chaffinch.report.view import VERDICTS, WORDS, plain, shown_date, surprise, verdicts_of, worded
from chaffinch.types import Document, Match, Pair, Report, Span

_LIMIT = 960_000
"""Bytes, with room for the frame of the page."""
_LIST_LIMIT = 120_000
"""Bytes for the list of documents, and as many for the receipt and for the note."""
_CONTEXT = 3
_LINE = 3000
"""Characters of a line at most; around the match, if it is longer."""
_COLOURS = 8
_ROWS = '<table class="code"><colgroup><col class="n"><col><col class="n"><col></colgroup>\n'


@dataclass(frozen=True)
class _Side:
    """One side of a match: its text, the characters of the match, and those of its runs, in order."""

    text: Text
    start: int
    end: int
    runs: tuple[tuple[int, int], ...]

    @property
    def lines(self) -> tuple[int, int]:
        return self.text.line_range(self.start, self.end)

    def cell(self, line: int | None, colour: int) -> str:
        """A line as two cells: its number, and what it says with the match marked."""
        if line is None:
            return '<td class="n"></td><td class="none"></td>'
        first, last = self.text.lines[line - 1], len(self.text.text)
        if line < len(self.text.lines):
            last = self.text.lines[line] - 1
        cut = max(first, min(max(self.start, first) - 200, last)) if last - first > _LINE else first
        end = min(last, cut + _LINE)
        marked = "".join(self._pieces(cut, end, colour))
        more = f"<i>… {last - end:,} characters …</i>" if end < last else ""
        less = f"<i>… {cut - first:,} characters …</i>" if cut > first else ""
        return f'<td class="n">{line}</td><td>{less}{marked}{more}</td>'

    def _pieces(self, first: int, last: int, colour: int) -> Iterator[str]:
        start, end = max(first, self.start), min(last, self.end)
        if start >= end:
            yield _shown(self.text.text[first:last])
            return
        yield _shown(self.text.text[first:start])
        yield f'<mark class="c{colour}">'
        at = start
        for run_start, run_end in self.runs[bisect_right(self.runs, at, key=lambda run: run[1]) :]:
            if run_start >= end:
                break
            if run_end > at:
                yield _shown(self.text.text[at : max(at, run_start)])
                at = min(end, run_end)
                yield f"<b>{_shown(self.text.text[max(start, run_start) : at])}</b>"
        yield _shown(self.text.text[at:end]) + "</mark>" + _shown(self.text.text[end:last])


# Characters that would hide or turn around what is beside them are shown.
_HIDDEN = {n: 0x2400 + n for n in range(32)} | dict.fromkeys(
    (0x200B, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xA4
)
_SHOWN = _HIDDEN | {9: 9, 10: 10, 13: None}


def _shown(text: str) -> str:
    return escaped(text.translate(_SHOWN))


def case_file(
    report: Report, pair: Pair, path: Path, *, redact: bool = False, verdicts: Mapping[str, Any] | None = None
) -> None:
    """One pair with all that is needed to judge it, as one page; `redact` leaves no name in it."""
    alone = replace(report, pairs=(pair,), clusters=(), common=(), ignored={})
    names = only(report, pair.left, pair.right) if redact else None
    both = frozenset((pair.left, pair.right))
    known = key = pair_keys(alone)[both]
    if redact:
        key = pair_keys(alone, everybody(report).labels)[both]
    report = nameless(alone, names) if names else alone
    pair = report.pairs[0]
    texts = Texts(report, names.edits_of if names else None, aligned=True)
    verdict = verdicts_of(verdicts).get(known, {"verdict": "", "note": ""})
    note = names.text(verdict["note"]) if names else verdict["note"]
    values = {
        "style": static("matches.css") + static("case.css"),
        "script": static("case.js"),
        "title": escaped(f"{pair.left} and {pair.right}: case file"),
        "left": escaped(pair.left),
        "right": escaped(pair.right),
        "figures": _figures(report, pair),
        "words": "".join(f"<dt>{escaped(k.capitalize())}</dt><dd>{escaped(v)}</dd>" for k, v in WORDS.items()),
        "verdicts": _choices(verdict["verdict"]),
        "note": escaped(note[: _LIST_LIMIT // 8]),
        "documents": _documents(texts, pair),
        "receipt": _limited([_tree(worded(plain(report.receipt)))]),
        "dates": _older(report, pair) + _dates(report, pair),
        "key": key,
    }
    values["matches"] = ""
    room = _LIMIT - len(encoded(fill(static("case.html"), values)))
    values["matches"] = _matches(texts, pair, room)
    write(path, encoded(fill(static("case.html"), values)))


def _figures(report: Report, pair: Pair) -> str:
    unusual = surprise(report, pair)
    figures = {
        "score": f"{pair.score:.0%}",
        "of the left in matches": f"{pair.coverage.left:.0%}",
        "of the right in matches": f"{pair.coverage.right:.0%}",
        "surprise": "–" if unusual is None else f"{unusual:.1f}",
        "symbols in the longest run": f"{pair.longest:,}",
        "matches": f"{len(pair.places):,}",
    }
    return "".join(f"<div><b>{escaped(v)}</b><span>{escaped(k)}</span></div>" for k, v in figures.items())


def _older(report: Report, pair: Pair) -> str:
    """Which of them is earlier work."""
    new = {s.name for s in report.submissions}
    sides = [side for side, name in (("left", pair.left), ("right", pair.right)) if name not in new]
    return f"<p>The {sides[0]} is older work, with which the other was compared.</p>" if len(sides) == 1 else ""


def _dates(report: Report, pair: Pair) -> str:
    """When they were handed in, of those for whom it is known."""
    known = {side: report.dates.get(name) for side, name in (("left", pair.left), ("right", pair.right))}
    told = "; ".join(f"the {side} {escaped(shown_date(date))}" for side, date in known.items() if date)
    return f"<p>Handed in: {told}. Who was first is no proof of who copied.</p>" if told else ""


def _choices(chosen: str) -> str:
    return "".join(
        f'<label><input type="radio" name="verdict" value="{escaped(verdict)}"'
        f"{' checked' if verdict == chosen else ''}> {escaped(verdict or 'not decided')}</label>\n"
        for verdict in VERDICTS
    )


def _documents(texts: Texts, pair: Pair) -> str:
    rows = []
    for submission in (pair.left, pair.right):
        for d in texts.submissions[submission].documents:
            name = texts.short(d.name)
            rows.append(
                f"<tr><td>{escaped(submission)}</td><td>{escaped(name)}</td><td class=num>{len(d.data):,}</td>"
                f"<td><code>{digest(d)}</code>{_of_file(d)}</td></tr>\n"
            )
    return _limited(rows, '<tr><td colspan="4">… {} more documents …</td></tr>')


def _of_file(document: Document) -> str:
    return f"<br>of the file: <code>{document.file_sha256}</code>" if document.file_sha256 else ""


def _limited(rows: list[str], rest: str = "… too long to show …") -> str:
    """As many as there is room for, then what is left in words."""
    shown: list[str] = []
    size = 0
    for row in rows:
        size += len(encoded(row))
        if size > _LIST_LIMIT:
            return "".join(shown) + rest.format(len(rows) - len(shown))
        shown.append(row)
    return "".join(shown)


def _tree(value: Any) -> str:
    """A value of the receipt as nested lists."""
    if isinstance(value, dict):
        entries = (f"<dt>{escaped(k.replace('_', ' '))}</dt><dd>{_tree(v)}</dd>" for k, v in value.items())
        return f"<dl>{''.join(entries)}</dl>"
    if isinstance(value, list):
        if all(not isinstance(inner, dict | list) for inner in value):
            return ", ".join(map(_tree, value)) or "none"
        return f"<ul>{''.join(f'<li>{_tree(inner)}</li>' for inner in value)}</ul>"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return escaped(value)


def _matches(texts: Texts, pair: Pair, room: int) -> str:
    """The largest matches that there is room for, in the order of the left side."""
    places = pair.places
    order = sorted(range(len(places)), key=lambda n: _place(texts, pair, places[n]))
    numbers = {n: count for count, n in enumerate(order, 1)}
    shown: dict[int, str] = {}
    for n in sorted(order, key=lambda n: (-places[n].symbols, numbers[n])):
        section = _match(texts, pair, places[n], numbers[n], room)
        if len(encoded(section)) > room:
            break
        shown[n] = section
        room -= len(encoded(section))
    left_out = len(order) - len(shown)
    told = f"<p>… {left_out:,} smaller matches are left out, to keep this file small. …</p>" if left_out else ""
    return "".join(shown[n] for n in order if n in shown) + told


def _place(texts: Texts, pair: Pair, match: Match) -> tuple[int, int, int]:
    """As the report's pages order them."""
    names = [d.name for d in texts.submissions[pair.left].documents]
    file = names.index(match.left.document) if match.left.document in names else -1
    return file, match.left.start, match.right.start


def _match(texts: Texts, pair: Pair, match: Match, count: int, room: int) -> str:
    sides = [
        _side(texts, pair.left, match.left, [left for left, _ in match.runs]),
        _side(texts, pair.right, match.right, [right for _, right in match.runs]),
    ]
    colour = (count - 1) % _COLOURS
    heads = []
    for submission, span, side in zip((pair.left, pair.right), (match.left, match.right), sides, strict=True):
        file = texts.short(span.document)
        first, last = side.lines
        document = texts.documents[submission][span.document]
        place = f" ({document.place(span.start)})"
        lines = f"line {first}" if first == last else f"lines {first}–{last}"
        heads.append(
            f'<th colspan="2">{escaped(file)}<br>{lines}{escaped(place) if document.sections else ""}</th>'
        )
    others = match.owners - 2
    also = f"; also in {others} other submission{'s' * (others != 1)}" if others > 0 else ""
    runs = f"{max(1, len(match.runs))} run{'s' * (len(match.runs) > 1)}"
    again = "; part of a longer match, here again" if match in pair.repeats else ""
    why = f"{match.symbols:,} symbols in {runs}, longest {match.longest:,}{also}{again}"
    top = (
        f'<section><h3><span class="tag c{colour}">{count}</span> {why}</h3>\n'
        f"{_ROWS}<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n"
    )
    rows, size = [], len(encoded(top)) + 200
    pairs = list(_aligned(sides[0], sides[1], texts.steps(pair, match)))
    for done, (a, b) in enumerate(pairs):
        row = f"<tr>{sides[0].cell(a, colour)}{sides[1].cell(b, colour)}</tr>\n"
        size += len(encoded(row))
        if size > room:
            rows.append(f'<tr><td colspan="4" class="more">… {len(pairs) - done:,} more lines …</td></tr>\n')
            break
        rows.append(row)
    return f"{top}{''.join(rows)}</tbody></table></section>\n"


def _side(texts: Texts, submission: str, span: Span, runs: list[Span]) -> _Side:
    found = texts.span(submission, span)
    pieces = (piece for run in runs for piece in texts.pieces(submission, run))
    inner = tuple(sorted((place[1], place[2]) for piece in pieces if (place := texts.span(submission, piece))))
    return _Side(*found, inner) if found else _Side(Text("", {}, {}), 0, 0, ())


def _aligned(
    left: _Side, right: _Side, steps: list[tuple[int, int]]
) -> Iterator[tuple[int | None, int | None]]:
    """Lines beside each other, with the same symbols at the same height; some lines before and after."""
    (a, a_last), (b, b_last) = left.lines, right.lines
    before = max(min(_CONTEXT, a - 1), min(_CONTEXT, b - 1))
    for n in range(before, 0, -1):
        yield (a - n if a > n else None), (b - n if b > n else None)
    for at, bt in steps:
        a_next, b_next = left.text.line(at), right.text.line(bt)
        if a < a_next <= a_last and b < b_next <= b_last:
            yield from zip_longest(range(a, a_next), range(b, b_next))
            a, b = a_next, b_next
    a_end = min(a_last + _CONTEXT, len(left.text.lines))
    b_end = min(b_last + _CONTEXT, len(right.text.lines))
    yield from zip_longest(range(a, a_end + 1), range(b, b_end + 1))
