"""The values that flow along the line: frozen, with arrays rather than lists of objects."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chaffinch.errors import ChaffinchError, Damaged, SkipReason, Unreadable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Section(NamedTuple):
    """A page, a paragraph or a cell: where it begins in the document's bytes, and what a person calls it."""

    start: int
    label: str


@dataclass(frozen=True, slots=True)
class File:
    """A name and the bytes under it, as they came.

    Encoding, format and language are detected when the file is read, unless you give them.
    """

    name: str
    data: bytes
    encoding: str | None = None
    format: str | None = None
    language: str | None = None

    def sha256(self) -> str:
        from hashlib import sha256  # slow to import, and most commands need none

        return sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Document:
    """A text or a program that is ready to be compared: encoding, format and language are known.

    The bytes of a format that is not text (PDF, DOCX) are the text taken out of it, in UTF-8, and the sections
    tell the page or paragraph of each byte. `Document(name, data)` reads the bytes as a file of that name; use
    `File` for one that may hold several documents, such as an archive or a notebook.
    """

    name: str
    data: bytes
    encoding: str = ""
    format: str = ""
    language: str = ""
    """The programming language, or "text"."""
    sections: tuple[Section, ...] = ()
    file_sha256: str = ""
    """Hash of the file, if `data` is not what the file holds: extracted text, or text in another encoding."""

    def __post_init__(self) -> None:
        if self.language and self.language != "text":
            known = import_module("chaffinch.languages.language").checked(self.language)
            if known != self.language:
                object.__setattr__(self, "language", known)
        if not (self.encoding and self.format and self.language):
            file = File(self.name, self.data, self.encoding or None, self.format or None, self.language or None)
            # By name, since reading comes after this module.
            only = import_module("chaffinch.read.ready").only_document(file)
            for field_ in fields(self):
                object.__setattr__(self, field_.name, getattr(only, field_.name))

    def place(self, offset: int) -> str:
        """Return where a person would look for the byte at `offset`: "page 3, line 7"."""
        number = bisect_right(self.sections, offset, key=lambda section: section.start) - 1
        start, label = self.sections[number] if number >= 0 else (0, "")
        before, beyond = (self.data[start:end].decode(self.encoding, "replace") for end in (offset, offset + 4))
        # A line ends with a line feed, a carriage return, or both; `offset` may be between the two.
        ends = before.count("\n") + before.count("\r") - before.count("\r\n")
        line = 1 + ends - (before.endswith("\r") and beyond.startswith(before + "\n"))
        return f"{label}, line {line}" if number >= 0 else f"line {line}"


Readable = str | bytes | Path | File | Document
"""What can be fingerprinted: a `str` is text and a `Path` is a file. Offsets in a `str` count its UTF-8."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, folder or entry that is not part of the result, and why."""

    name: str
    reason: SkipReason
    detail: str

    @classmethod
    def because(cls, error: ChaffinchError, name: str = "") -> Skipped:
        """Return the entry for a document that raised this error."""
        if isinstance(error, Unreadable):
            return cls(name or error.name, error.reason, error.detail)
        return cls(name, SkipReason.DAMAGED, error.detail if isinstance(error, Damaged) else str(error))


@dataclass(frozen=True, slots=True)
class Submission:
    """Everything one student handed in, all attempts together."""

    name: str
    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...] = ()
    """What was skipped, if there is no document."""


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The canonical form of a document, with the half-open byte range of each symbol in the document."""

    symbols: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    named: NDArray[np.uint32] | None = None
    """The same tokens, with names, numbers and strings by what they say; programs only."""

    def __len__(self) -> int:
        return len(self.symbols)


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """The selected grams of a document: hash, position in the stream, byte range in the document."""

    hashes: NDArray[np.uint64]
    positions: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    symbols: int
    """Length of the document's stream."""

    def __len__(self) -> int:
        return len(self.hashes)


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes of a document from start up to, but not including, end."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """Two spans that share runs of equal symbols, with short gaps between the runs.

    Runs are in order on both sides. Only where documents repeat themselves so much that they would have
    hundreds of matches, these are merged: then runs are in order on the left, and may overlap.
    """

    left: Span
    right: Span
    symbols: int
    """Symbols in its runs, on the side where these are fewer."""
    longest: int
    """Symbols in its longest run."""
    runs: tuple[tuple[Span, Span], ...]
    owners: int
    """How many submissions have most of it, including these two."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of each side's symbols that lies in matches; base code does not count."""

    left: float
    right: float


SURPRISE_POWER = 0.25
"""The power of the surprise in the weight of a pair."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions with something in common."""

    left: str
    right: str
    score: float
    """0 to 1. Identical works score 1, less if they are very short or if many have the very same content."""
    coverage: Coverage
    surprise: float | None
    """How far their overlap is above what is usual between these two and all others, in standard deviations.
    None where there are too few others to show what is usual."""
    longest: int
    """Symbols in the longest run."""
    symbols: int
    """Symbols in matches, on the side where these are fewer: a passage that occurs once there counts once."""
    fingerprints: int | None
    """Distinct fingerprints that both have, without base code. None after a search, which counts none."""
    matches: Sequence[Match]
    repeats: Sequence[Match] = ()
    """In prose, further occurrences of a passage that is part of a match at least twice as long."""

    @property
    def weight(self) -> float:
        """Return what pairs are ranked by: the score, and a little of the surprise."""
        return float(self.score * (1 + max(self.surprise or 0.0, 0.0)) ** SURPRISE_POWER)

    @property
    def places(self) -> tuple[Match, ...]:
        """Return everything both have: matches, then repeats."""
        return *self.matches, *self.repeats


@dataclass(frozen=True, slots=True)
class Cluster:
    """Submissions linked by pairs well above the background."""

    submissions: tuple[str, ...]
    score: float
    """The score of the strongest pair."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Common code: a passage that so large a part of the class shares that it counts little."""

    span: Span
    """Where it stands in one of the submissions."""
    symbols: int
    owners: int


@dataclass(frozen=True, slots=True)
class CommonFile:
    """A file that at least half of the class have. It is taken as base code."""

    name: str
    owners: int
    """How many submissions have it."""
    only: tuple[str, ...] = ()
    """The submissions that have nothing besides such files."""


class Note(NamedTuple):
    """Something to know about documents that were compared."""

    detail: str
    names: tuple[str, ...]
    is_one_file: bool = False
    """Whether all of them are the same file, in several submissions."""


class AlsoListed(NamedTuple):
    """A pair below the line is listed too if it reaches this score, or both this surprise and this run."""

    score: float
    surprise: float
    run: int
    """Symbols of the longest run that few others have."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """How a comparison was made: everything needed to repeat and to understand it."""

    chaffinch: str = ""
    """The version of Chaffinch."""
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For each language, how its documents were read and fingerprinted, and what is guaranteed."""
    submissions: int = 0
    old: int = 0
    pairs_with_anything_in_common: Mapping[str, int] = field(default_factory=dict)
    """For each language."""
    threshold: float | None = None
    """The lowest score listed. None if the lines decide what is listed."""
    lines: Mapping[str, float | None] = field(default_factory=dict)
    """For each language, the lowest weight that chance does not explain; None if it may explain all weights."""
    also_listed: AlsoListed | None = None
    top: int | None = None
    """How many pairs are listed at most."""
    sort: str | None = None
    """What the list is sorted by; None for the report's own order."""
    gap: int = 0
    """Symbols. Runs of one match are at most this far apart."""
    base: Mapping[str, str] = field(default_factory=dict)
    """The files of base code, with the SHA-256 of each."""
    base_symbols: Mapping[str, int] = field(default_factory=dict)
    """For each language, how many symbols of all submissions are base code."""
    max_owners: int | None = None
    symbols_with_more_owners: Mapping[str, int] = field(default_factory=dict)
    """For each language, how many symbols of all submissions were ignored because of `max_owners`."""
    old_indexes: Mapping[str, int | None] = field(default_factory=dict)
    """For each index of earlier work, the length in symbols from which shared runs are found, if any."""
    candidate_pairs: int = 0
    """Pairs that share enough to be scored."""
    scored_pairs: int = 0
    """How many of them were scored. If these are not all, the background of the report is an estimate."""

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt for JSON, without what does not apply."""
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        scored, candidates = values.pop("scored_pairs"), values.pop("candidate_pairs")
        if self.sort is None:
            del values["sort"]
        values["also_listed"] = self.also_listed and self.also_listed._asdict()
        if indexes := values.pop("old_indexes"):
            values["old_indexes"] = {
                where: f"documents that share a run of {run} symbols are found" if run else "no promise"
                for where, run in indexes.items()
            }
        if scored < candidates:
            values["background"] = f"estimated from {scored} of {candidates} scores"
        return values


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a comparison, ranked, with everything needed to judge it."""

    submissions: tuple[Submission, ...]
    old: tuple[Submission, ...]
    pairs: tuple[Pair, ...]
    clusters: tuple[Cluster, ...]
    common: tuple[Passage, ...]
    skipped: tuple[Skipped, ...]
    background: tuple[int, ...]
    """How many of all pairs score 0 to 0.05, 0.05 to 0.1, and so on: twenty numbers. With more than two million
    candidate pairs it is an estimate, and the receipt says so."""
    receipt: Receipt
    ignored: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """For each submission, what was not compared: base code, and code with more than `max_owners` owners."""
    common_files: tuple[CommonFile, ...] = ()
    """Files that most submissions have, which were taken as base code."""
    notes: tuple[Note, ...] = ()
    """Which documents were read in a language that their names do not show, and which are the same in several
    submissions, but in too few to be base code."""
    nothing_to_compare: tuple[str, ...] = ()
    """New submissions without anything to compare: all of it is skipped, empty, or too short."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """For each submission whose date is known, when it was handed in, in ISO 8601."""

    streams: Mapping[tuple[str, str], Stream] = field(default_factory=dict, compare=False, repr=False)
    """By submission and document: the streams of listed pairs, so that nothing has to lex them again."""

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write pages: one file if the path ends in .html, else a folder. `anonymize=True` hides names."""
        # Imported by name: this module is the start of the line, the report its end.
        import_module("chaffinch.report").save(self, Path(path), **options)
