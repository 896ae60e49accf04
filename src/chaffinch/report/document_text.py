"""The documents of a report as text: bytes decoded, byte offsets turned into places in that text."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from chaffinch.report.align import Beside
from chaffinch.types import Document, Match, Pair, Report, Span, Submission

Edit = tuple[int, int, str]
"""Characters start to end become this."""

Redact = Callable[[str, str], list[Edit]]
"""From a submission's name and a text that is its own to what must go, in order."""

_LONE_RETURN = re.compile("\r(?!\n)")


@dataclass(frozen=True)
class Text:
    """A document's characters, and where in them the bytes lie that were asked for."""

    text: str
    starts: dict[int, int]
    ends: dict[int, int]

    @cached_property
    def lines(self) -> list[int]:
        """Where every line begins."""
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line(self, place: int) -> int:
        """The line of a character, counted from 1."""
        return bisect_right(self.lines, place)

    def line_range(self, start: int, end: int) -> tuple[int, int]:
        """The first and the last line of some characters."""
        return self.line(start), self.line(max(start, end - 1))

    @cached_property
    def units(self) -> list[int] | None:
        """For every character how many UTF-16 units come before it, if that is not its own number."""
        if self.text.isascii() or max(self.text) <= "\uffff":
            return None
        found = [0]
        for char in self.text:
            found.append(found[-1] + (2 if char > "\uffff" else 1))
        return found

    def unit(self, place: int) -> int:
        """The place as JavaScript counts."""
        return self.units[place] if self.units else place


class _Same(dict[int, int]):
    """Every byte is a character."""

    def __missing__(self, offset: int) -> int:
        return offset

    def __contains__(self, offset: object) -> bool:
        return True


_SAME = _Same()


def _is_plain(document: Document) -> bool:
    return document.encoding in (None, "utf-8") and document.data.isascii()


def decode(
    document: Document, offsets: Iterable[int] = (), edits: Callable[[str], list[Edit]] | None = None
) -> Text:
    """The document as text; bytes that mean nothing in its encoding become replacement characters."""
    try:
        decoder = codecs.getincrementaldecoder(document.encoding or "utf-8")("replace")
    except LookupError:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
    size = len(document.data)
    if edits is None and _is_plain(document):
        return Text(_LONE_RETURN.sub("\n", document.data.decode()), _SAME, _SAME)
    pieces: list[str] = []
    places: dict[int, int] = {}
    before = length = 0
    # Decoding piece by piece tells how many characters come before each offset, whatever the encoding.
    for cut in sorted({size, *(min(max(offset, 0), size) for offset in offsets)}):
        pieces.append(decoder.decode(document.data[before:cut], cut == size))
        length += len(pieces[-1])
        before, places[cut] = cut, length
    text = _LONE_RETURN.sub("\n", "".join(pieces))
    return edited(text, places, edits(text) if edits else [])


def edited(text: str, places: dict[int, int], edits: list[Edit]) -> Text:
    """The text after the edits; a place within one moves to its beginning, or as an end to its end."""
    if not edits:
        return Text(text, places, places)
    pieces: list[str] = []
    firsts: list[int] = []
    after: list[tuple[int, int, int]] = []
    before = length = 0
    for start, end, new in edits:
        pieces += text[before:start], new
        length += start - before
        firsts.append(start)
        after.append((end, length, length + len(new)))
        length += len(new)
        before = end
    pieces.append(text[before:])

    def moved(place: int, is_end: bool) -> int:
        at = bisect_right(firsts, place if not is_end else place - 1) - 1
        if at < 0:
            return place
        end, new_start, new_end = after[at]
        return new_end + place - end if place >= end else new_end if is_end else new_start

    starts = {offset: moved(place, False) for offset, place in places.items()}
    ends = {offset: moved(place, True) for offset, place in places.items()}
    return Text("".join(pieces), starts, ends)


@dataclass
class Texts:
    """The documents of all submissions by name, each decoded when it is first asked for.

    If they are `aligned`, it is known what stands beside what within matches.
    """

    report: Report
    redact: Redact | None = None
    aligned: bool = False
    _decoded: dict[tuple[str, str], Text] = field(default_factory=dict)

    @cached_property
    def submissions(self) -> dict[str, Submission]:
        """All of them by name."""
        return {s.name: s for s in (*self.report.old[::-1], *self.report.submissions[::-1])}

    @cached_property
    def documents(self) -> dict[str, dict[str, Document]]:
        """By submission and name."""
        return {s.name: {d.name: d for d in s.documents[::-1]} for s in self.submissions.values()}

    @cached_property
    def owner(self) -> dict[str, str]:
        """From the name of a document to the submission it is in."""
        return {d.name: s.name for s in (*self.report.old, *self.report.submissions)[::-1] for d in s.documents}

    def short(self, document: str) -> str:
        """A document's name without the folders that all have in common."""
        return document[self._shared :]

    @cached_property
    def _shared(self) -> int:
        everyone = (*self.report.submissions, *self.report.old)
        names = [d.name for s in everyone for d in s.documents] or [""]
        first, last = min(names), max(names)  # what these two share, all between them share
        same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        return max(first.rfind("/", 0, same), first.rfind("\\", 0, same)) + 1

    @cached_property
    def _offsets(self) -> dict[tuple[str, str], set[int]]:
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        documents = ((s, d) for s, of in self.documents.items() for d in of.values())
        same = {(s, d.name) for s, d in documents if self.redact is None and _is_plain(d)}
        for pair in self.report.pairs:
            for match in pair.places:
                if {(pair.left, match.left.document), (pair.right, match.right.document)} <= same:
                    continue
                for left, right in ((match.left, match.right), *match.runs):
                    for piece in self.pieces(pair.left, left):
                        found[pair.left, left.document] |= {piece.start, piece.end}
                    for piece in self.pieces(pair.right, right):
                        found[pair.right, right.document] |= {piece.start, piece.end}
                for a, b in self._beside.steps(pair, match) if self.aligned else ():
                    found[pair.left, match.left.document].add(a)
                    found[pair.right, match.right.document].add(b)
        for name, spans in self.report.ignored.items():
            for span in spans:
                found[name, span.document] |= {span.start, span.end}
        for passage in self.report.common:
            span = passage.span
            found[self.owner.get(span.document, ""), span.document] |= {span.start, span.end}
        return found

    @cached_property
    def _beside(self) -> Beside:
        return Beside(self.documents, self.report.receipt.recipes)

    @cached_property
    def _in_runs(self) -> dict[tuple[str, str], list[Span]]:
        found: dict[tuple[str, str], list[Span]] = defaultdict(list)
        for pair in self.report.pairs:
            for match in pair.places:
                for left, right in match.runs:
                    found[pair.left, left.document].append(left)
                    found[pair.right, right.document].append(right)
        return found

    def covered(self, submission: Submission) -> float:
        """The share of it that stands in matches with any others; what was given to all does not count."""
        ignored = self.report.ignored.get(submission.name, ())
        inside = total = 0.0
        for document in submission.documents:
            name = document.name
            found, all_of_it = self._beside.amounts(submission.name, name, self._in_runs[submission.name, name])
            given, _ = self._beside.amounts(submission.name, name, [s for s in ignored if s.document == name])
            inside, total = inside + found, total + all_of_it - given
        return min(1.0, inside / total) if total > 0 else 0.0

    def pieces(self, submission: str, span: Span) -> list[Span]:
        """A span without the markup in it; the whole of it if there is none, or nobody looks at it."""
        return self._beside.pieces(submission, span) if self.aligned else [span]

    def steps(self, pair: Pair, match: Match) -> list[tuple[int, int]]:
        """Characters of both sides that stand beside each other."""
        texts = self.text(pair.left, match.left.document), self.text(pair.right, match.right.document)
        if texts[0] is None or texts[1] is None:
            return []
        return [(texts[0].starts[a], texts[1].starts[b]) for a, b in self._beside.steps(pair, match)]

    def text(self, submission: str, document: str) -> Text | None:
        """The text of a document of a submission; None if there is none such."""
        key = (submission, document)
        if key not in self._decoded:
            found = self.documents.get(submission, {}).get(document)
            if found is None:
                return None
            redact = self.redact
            edits = (lambda text: redact(submission, text)) if redact else None
            offsets = self._offsets.get(key, set()) | {part.start for part in found.sections}
            self._decoded[key] = decode(found, offsets, edits)
        return self._decoded[key]

    def span(self, submission: str, span: Span) -> tuple[Text, int, int] | None:
        """A span as characters of its text."""
        text = self.text(submission, span.document)
        if text is None:
            return None
        size = len(self.documents[submission][span.document].data)
        start, end = (min(max(offset, 0), size) for offset in (span.start, span.end))
        return text, text.starts[start], max(text.starts[start], text.ends[end])


def digest(document: Document) -> str:
    """The SHA-256 of the bytes as they were read."""
    return sha256(document.data).hexdigest()


def contents(submission: Submission) -> str:
    """A hash of all that was handed in, whatever the names and the order."""
    return sha256("".join(sorted(digest(d) for d in submission.documents)).encode()).hexdigest()


def pair_keys(report: Report, labels: Mapping[str, str] | None = None) -> dict[frozenset[str], str]:
    """What verdicts are kept under: the same for the same contents, whatever the names and whichever is left.

    Where others have the same contents, a pair is known by its names too; or, if nobody shall guess those, by
    its labels and how many there are: then a verdict may be lost when another is added, but is nobody else's.
    """
    hashes = {s.name: contents(s) for s in (*report.old, *report.submissions)}
    times = Counter(hashes.values())

    def shown(name: str) -> str:
        return f"{labels[name]} of {times[hashes[name]]}" if labels else name

    found: dict[frozenset[str], str] = {}
    for pair in report.pairs:
        names = pair.left, pair.right
        both = sorted(hashes[name] for name in names)
        others = times[both[0]] + times[both[1]] - 2 * (1 + (both[0] == both[1]))
        said = "".join([*both, *(f" {len(name)} {name}" for name in sorted(map(shown, names)) if others)])
        found[frozenset(names)] = sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return found
