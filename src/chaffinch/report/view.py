"""What the pages show, as plain data: an index of everything, and a chunk for each submission and each pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from chaffinch.languages import language
from chaffinch.report import cluster_layout as layout
from chaffinch.report.anonymize.anonymous_report import everybody, nameless
from chaffinch.report.document_text import Text, Texts, digest, pair_keys
from chaffinch.types import Document, Match, Pair, Passage, Report, Span, Submission

_CLASS = 5
"""So many submissions tell what is usual among them."""
_EXCERPT = 1500
_EXCERPTS = 200
"""Passages in common of which the text is shown; the others are only named."""

VERDICTS = ("", "copied", "common source", "no")


WORDS = {
    "score": "the share of the smaller work that the other has too, whatever the order, beyond what is usual "
    "in the class, and 100% if they are identical; what everybody was given does not count. It is counted in "
    "pieces of a few letters or tokens, so more may go into it than stands in matches.",
    "coverage": "the share of one side that stands in matches; if one is high and the other low, "
    "the smaller work may lie whole within the larger.",
    "surprise": "how far their overlap lies above what is usual between these two and all others, "
    "in standard deviations; near 0 is like any two of the class, and of a few submissions it is not known. "
    "Pairs stand in the order of this times the score.",
}


class View:
    """A report as the pages see it: submissions by number, names as they may be shown."""

    def __init__(self, report: Report, *, anonymize: bool, verdicts: Mapping[str, Any] | None) -> None:
        self.names = everybody(report) if anonymize else None
        self.verdicts = verdicts_of(verdicts)
        self.keys = pair_keys(report)
        if self.names:
            labels = self.names.labels
            for both, key in pair_keys(report, labels).items():
                named = self.keys.pop(both)
                self.keys[frozenset(labels[name] for name in both)] = key
                if named in self.verdicts:
                    self.verdicts[key] = self.verdicts[named]
        self.report = report = nameless(report, self.names) if self.names else report
        self.texts = Texts(report, self.names.edits_of if self.names else None, aligned=True)
        by_name = self.texts.submissions
        self.submissions = [by_name[name] for name in {s.name: 0 for s in (*report.submissions, *report.old)}]
        self.number = {s.name: n for n, s in enumerate(self.submissions)}
        self.paired = {name for pair in report.pairs for name in (pair.left, pair.right)}

    def receipt(self) -> Any:
        """What was done, as it may be shown."""
        return worded(plain(self.report.receipt.to_dict()))

    def index(self) -> dict[str, Any]:
        """All that the overview needs."""
        report = self.report
        old = {s.name for s in report.old} - {s.name for s in report.submissions}
        return {
            "submissions": [self._submission(s, s.name in old) for s in self.submissions],
            "pairs": [self._pair(pair) for pair in report.pairs],
            "clusters": [
                {
                    "members": sorted(self.number[n] for n in c.submissions if n in self.number),
                    "score": number(c.score),
                }
                for c in report.clusters
            ],
            "graph": self._graph(),
            "common": [self._passage(p, n < _EXCERPTS) for n, p in enumerate(report.common)],
            "skipped": [{"name": s.name, "reason": s.reason, "detail": s.detail} for s in report.skipped],
            "background": list(report.background),
            "ignored": len(report.ignored),
            "receipt": self.receipt(),
            "verdicts": self._known_verdicts(),
            "languages": self._languages(),
            "words": WORDS,
            **self._dates(),
        }

    def chunks(self) -> Iterator[tuple[str, Any]]:
        """What is loaded when a pair is opened: s3 has the texts of submission 3, p3 the matches of pair 3."""
        for n, submission in enumerate(self.submissions):
            if submission.name in self.paired:
                yield f"s{n}", [self._text(submission.name, d) for d in submission.documents]
        for n, pair in enumerate(self.report.pairs):
            yield f"p{n}", [*self._matches(pair, pair.matches, 0), *self._matches(pair, pair.repeats, 1)]

    def _submission(self, submission: Submission, is_old: bool) -> dict[str, Any]:
        files = [self._file(d) for d in submission.documents]
        told = {"name": submission.name, "old": is_old, "files": files}
        is_paired = submission.name in self.paired
        return told | ({"covered": number(self.texts.covered(submission))} if is_paired else {})

    def _file(self, document: Document) -> dict[str, Any]:
        return {
            "name": self.texts.short(document.name),
            "format": document.format,
            "language": _language(document),
            "bytes": len(document.data),
            "isText": bool(document.file_sha256),
            "sha256": document.file_sha256 or digest(document),
        }

    def _text(self, submission: str, document: Document) -> dict[str, Any]:
        """What a document says, at which lines its pages or cells begin, and what of it was not compared."""
        text = self.texts.text(submission, document.name)
        if text is None:
            return {"text": "", "parts": [], "ignored": []}
        parts = [
            [text.line(text.starts[p.start]), p.label] for p in document.sections if p.start in text.starts
        ]
        ignored = [
            [text.unit(text.starts[span.start]), text.unit(text.ends[span.end])]
            for span in self.report.ignored.get(submission, ())
            if span.document == document.name
        ]
        return {"text": text.text, "parts": parts, "ignored": ignored}

    def _pair(self, pair: Pair) -> dict[str, Any]:
        return {
            "left": self.number[pair.left],
            "right": self.number[pair.right],
            "score": number(pair.score),
            "coverage": [number(pair.coverage.left), number(pair.coverage.right)],
            "surprise": surprise(self.report, pair),
            "longest": pair.longest,
            "matches": len(pair.places),
            "symbols": sum(match.symbols for match in pair.matches),
            "key": self.keys[frozenset((pair.left, pair.right))],
        }

    def _matches(self, pair: Pair, matches: Sequence[Match], is_repeat: int) -> Iterator[list[Any]]:
        for match in matches:
            if (found := self._match(pair, match)) is not None:
                yield [*found, is_repeat]

    def _match(self, pair: Pair, match: Match) -> list[Any] | None:
        """[file, start, end, file, start, end, symbols, longest, owners, number of runs, left, right, steps].

        Places are as JavaScript counts; left and right are what is in runs: start, end, start, end and so on.
        Steps are places beside each other, left and right in turn, each less the one before on its side.
        """
        sides: list[int] = []
        both_texts: list[Text] = []
        for submission, span in ((pair.left, match.left), (pair.right, match.right)):
            found = self.texts.span(submission, span)
            if found is None:
                return None
            names = [d.name for d in self.texts.submissions[submission].documents]
            text, start, end = found
            both_texts.append(text)
            sides += names.index(span.document), text.unit(start), text.unit(end)
        in_runs = [self._places(pair.left, (left for left, _ in match.runs))]
        in_runs.append(self._places(pair.right, (right for _, right in match.runs)))
        left, right = both_texts
        steps: list[int] = []
        before = (0, 0)
        for a, b in self.texts.steps(pair, match):
            now = left.unit(a), right.unit(b)
            steps += now[0] - before[0], now[1] - before[1]
            before = now
        return [*sides, match.symbols, match.longest, match.owners, len(match.runs), *in_runs, steps]

    def _places(self, submission: str, runs: Iterable[Span]) -> list[int]:
        """From and to of what is text in each, as JavaScript counts."""
        pieces = (piece for run in runs for piece in self.texts.pieces(submission, run))
        places = (place for piece in pieces if (place := self.texts.span(submission, piece)))
        return [text.unit(at) for text, *ends in places for at in ends]

    def _graph(self) -> dict[str, Any]:
        clusters = [[n for n in c.submissions if n in self.number] for c in self.report.clusters]
        clusters = [members for members in clusters if members]
        scores = {(pair.left, pair.right): pair.score for pair in self.report.pairs}
        shapes = []
        for members in clusters:
            place = {name: n for n, name in enumerate(members)}
            inside = {(place[a], place[b]): s for (a, b), s in scores.items() if a in place and b in place}
            shapes.append((len(members), inside))
        drawing = layout.draw(shapes)
        nodes = [
            [self.number[name], *place]
            for members, places in zip(clusters, drawing.places, strict=True)
            for name, place in zip(members, places, strict=True)
        ]
        return {"width": drawing.width, "height": drawing.height, "nodes": nodes}

    def _passage(self, passage: Passage, with_text: bool) -> dict[str, Any]:
        span = passage.span
        is_known = span.document in self.texts.owner
        found = self.texts.span(self.texts.owner.get(span.document, ""), span)
        lines = found[0].line_range(*found[1:]) if found else None
        return {
            "file": self.texts.short(span.document) if is_known else span.document,
            "lines": lines,
            "symbols": passage.symbols,
            "owners": passage.owners,
            "text": found[0].text[found[1] : found[2]][:_EXCERPT] if found and with_text else "",
        }

    def _languages(self) -> dict[str, Any]:
        """How each language that occurs is written, for the syntax colours."""
        used = {_language(d) for s in self.submissions for d in s.documents}
        return {
            name: [list(r) for r in language.records(name)] for name in sorted(used & set(language.languages()))
        }

    def _dates(self) -> dict[str, Any]:
        """By submission when it was handed in, as it is shown and in seconds; nothing if none is known."""
        known = {self.number[name]: date for name, date in self.report.dates.items() if name in self.number}
        found = {n: [shown_date(date), _seconds(date)] for n, date in sorted(known.items())}
        return {"dates": found} if found else {}

    def _known_verdicts(self) -> dict[str, Any]:
        """Also those of pairs that are not listed now, to be kept; if names are to go, without them."""
        if self.names is None:
            return dict(sorted(self.verdicts.items()))
        pairs = {self.keys[frozenset((p.left, p.right))]: p for p in self.report.pairs}
        found = {}
        for key in sorted(self.verdicts.keys() & pairs.keys()):
            left, right = (self.names.owner[label] for label in (pairs[key].left, pairs[key].right))
            note = self.names.text(self.names.text(self.verdicts[key]["note"], left), right)
            found[key] = {"verdict": self.verdicts[key]["verdict"], "note": note}
        return found


def _language(document: Document) -> str:
    """What a document is written in, "text" unless it is a program."""
    found = document.language or language.of_file(document.name, document.data[:4096]) or "text"
    return found.removesuffix(language.KEEP_NAMES)


def shown_date(date: str) -> str:
    """To the minute, with the zone if there is one."""
    zone = date[19:].replace("+00:00", "UTC")
    return f"{date[:10]} {date[11:16]} {zone}".strip()


def _seconds(date: str) -> int:
    """Since 1970; times without a zone are taken as UTC."""
    found = datetime.fromisoformat(date)
    first = datetime(1970, 1, 1, tzinfo=UTC)
    return round(((found if found.tzinfo else found.replace(tzinfo=UTC)) - first).total_seconds())


def surprise(report: Report, pair: Pair) -> float | None:
    """A pair's, if there are enough submissions for it to mean anything."""
    return number(pair.surprise) if len(report.submissions) + len(report.old) >= _CLASS else None


def number(value: float) -> float | None:
    """A number for JSON, which has no infinity."""
    return round(value, 6) if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """A value of the receipt as JSON has it, sets in order."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(inner) for inner in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return number(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def worded(value: Any) -> Any:
    """A value of the receipt with what the numbers of a recipe mean in words."""
    if isinstance(value, list):
        return [worded(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    found = {key: worded(inner) for key, inner in value.items()}
    if isinstance(guarantee := value.get("guarantee"), int):
        found["guarantee"] = f"every shared run of {guarantee} symbols is found"
    elif "guarantee" in value and guarantee is None:
        found["guarantee"] = "none: shared runs of any length may be missed"
    if isinstance(k := value.get("k"), int) and "guarantee" in value:
        found["guarantee"] += f"; nothing shorter than {k} is reported"
    return found


def verdicts_of(exported: Mapping[str, Any] | None) -> dict[str, dict[str, str]]:
    """The verdicts in a file that the report's button wrote; what is not one is left out."""
    found: dict[str, dict[str, str]] = {}
    inner = (exported or {}).get("verdicts", exported or {})
    for key, value in inner.items() if isinstance(inner, Mapping) else ():
        if isinstance(value, Mapping) and value.get("verdict", "") in VERDICTS:
            found[str(key)] = {"verdict": str(value.get("verdict", "")), "note": str(value.get("note", ""))}
    return found
