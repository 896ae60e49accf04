"""Names of students -> labels, in names of files and in the text of documents."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from chaffinch.report.texts import Edit, contents
from chaffinch.types import Report

_PIECE = re.compile(r"[^\W\d_]+|\d+")
_MAIL = re.compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}")
_MAIL_LABEL = "(e-mail)"
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
# A short part must stand alone, for "lee" is in "sleep" and "stan" in "instance"; "leeSort" has it alone.
_BEFORE = r"(?:(?<![^\W\d_])|(?<=[a-z])(?=[A-Z]))"
_AFTER = r"(?:(?i:s)?(?![^\W\d_])|(?<=[a-z])(?=[A-Z]))"
_LONG = 5
_JOIN = r"[\W_]{0,3}"
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "å": "aa", "ø": "oe", "æ": "ae"})


def pieces(name: str) -> list[str]:
    """The runs of letters and of digits in a name."""
    return _PIECE.findall(unicodedata.normalize("NFC", name))


def _spellings(piece: str) -> set[str]:
    """A piece as people write it: with accents as one character or two, or without."""
    lower = piece.lower()
    apart = unicodedata.normalize("NFKD", lower)
    plain = "".join(c for c in apart if not unicodedata.combining(c))
    return {lower, apart, plain, lower.translate(_UMLAUTS)} - {""}


def _tells(piece: str) -> bool:
    """Whether a piece of a name can be taken for the name."""
    return len(piece) >= (_LONG if piece.isdigit() else 3)


@dataclass(frozen=True)
class Names:
    """Which label each name gets, and which names each submission's text is searched for by their parts."""

    labels: Mapping[str, str]
    near: Mapping[str, Sequence[str]]

    @cached_property
    def _usual(self) -> set[str]:
        """Parts that most names have, such as "submission", tell nobody apart."""
        counts = Counter(part for name in self.labels for part in {p.lower() for p in self._all_parts(name)})
        return {part for part, count in counts.items() if count > max(2, len(self.labels) / 2)}

    @staticmethod
    def _all_parts(name: str) -> set[str]:
        whole = pieces(name)
        return {p for p in (*whole, *(c for w in whole for c in _CAMEL.split(w))) if _tells(p)}

    def _patterns(self, name: str) -> list[str]:
        """Regular expressions for a name and its parts, and their texts to look for first."""
        found: list[str] = []
        whole = pieces(name)
        if sum(len(p) for p in whole) >= 3 and not "".join(whole).isdigit():
            for order in (whole, whole[::-1]):
                spelt = (f"(?:{'|'.join(map(re.escape, sorted(_spellings(p), key=_longest)))})" for p in order)
                joined = _JOIN.join(spelt)
                short = sum(len(p) for p in whole) < _LONG
                found.append(f"{_BEFORE}(?i:{joined}){_AFTER}" if short else f"(?i:{joined})")
        for part in sorted(self._all_parts(name), key=_longest):
            if part.lower() not in self._usual:
                for spelling in sorted(_spellings(part), key=_longest):
                    alone = len(part) < _LONG
                    exact = f"(?i:{re.escape(spelling)})"
                    found.append(f"{_BEFORE}{exact}{_AFTER}" if alone else exact)
        return found

    @cached_property
    def _by_name(self) -> dict[str, tuple[set[str], str]]:
        """For every name the texts of which one must occur, and its pattern."""
        found = {}
        for name in self.labels:
            patterns = list(dict.fromkeys(self._patterns(name)))
            hints = {s for p in pieces(name) for c in (p, *_CAMEL.split(p)) for s in _spellings(c)}
            if patterns:
                one = "|".join(patterns)
                found[name] = (hints, f"(?:{one})(?:{_JOIN}(?:{one}))*")
        return found

    @cached_property
    def _far(self) -> dict[str, list[tuple[set[str], str]]]:
        """For names of others: by the first piece all pieces that must occur, and the pattern of the whole name."""
        found: dict[str, list[tuple[set[str], str]]] = defaultdict(list)
        for name in self.labels:
            lower = [p.lower() for p in pieces(name)]
            if lower and _tells("".join(lower)) and "".join(lower) not in self._usual:
                for order in (lower, lower[::-1]):
                    whole = _JOIN.join(map(re.escape, order))
                    pattern = f"{_BEFORE}(?i:{whole}){_AFTER}"
                    found[order[0]].append((set(order), name + "\0" + pattern))
                    found["".join(order)].append(({"".join(order)}, name + "\0" + pattern))
        return found

    def edits(self, owner: str, text: str) -> list[Edit]:
        """What to replace in a text of this submission, from left to right."""
        lower = text.lower()
        known: list[tuple[str, str]] = []
        for name in self.near.get(owner, ()):
            hints, pattern = self._by_name.get(name, (set(), ""))
            if any(hint in lower for hint in hints):
                known.append((name, pattern))
        words = set(_PIECE.findall(lower))
        near = set(self.near.get(owner, ()))
        for word in sorted(words & self._far.keys()):
            for needed, entry in self._far[word]:
                name, pattern = entry.split("\0")
                if name not in near and needed <= words:
                    known.append((name, pattern))
        spans = [(m.start(), m.end(), _MAIL_LABEL) for m in _MAIL.finditer(text)]
        if known:
            search = re.compile("|".join(f"(?P<n{i}>{pattern})" for i, (_, pattern) in enumerate(known)))
            for m in search.finditer(text):
                spans.append((m.start(), m.end(), self.labels[known[int((m.lastgroup or "n0")[1:])][0]]))
        return _apart(spans)

    def text(self, text: str, owner: str = "") -> str:
        """A text about this submission, or about nobody, without names."""
        for start, end, new in reversed(self.edits(owner, text)):
            text = text[:start] + new + text[end:]
        return text

    def file(self, owner: str, name: str) -> str:
        """A file's name without names of students, also where one is too short to be replaced elsewhere."""
        steps = name.replace("\\", "/").split("/")
        return self.text("/".join(self._step(step) for step in steps), owner)

    def _step(self, step: str) -> str:
        stem, suffix = PurePosixPath(step).stem if step else "", PurePosixPath(step).suffix
        for known, rest in ((step, ""), (stem, suffix)):
            if known in self.labels:
                return self.labels[known] + rest
        return step

    def values(self, value: Any) -> Any:
        """The same lists and dictionaries with every text in them redacted."""
        if isinstance(value, str):
            return self.labels.get(value) or self.text(value)
        if isinstance(value, Mapping):
            return {self.values(str(key)): self.values(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [
                self.values(inner) for inner in (sorted(value) if isinstance(value, set | frozenset) else value)
            ]
        return value


def _longest(text: str) -> tuple[int, str]:
    """The order in which regular expressions must try."""
    return -len(text), text


def _apart(spans: Iterable[Edit]) -> list[Edit]:
    """In order, those that lie within or across an earlier one joined to it."""
    found: list[Edit] = []
    for start, end, new in sorted(spans, key=lambda span: (span[0], -span[1])):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]), found[-1][2])
        else:
            found.append((start, end, new))
    return found


def everybody(report: Report) -> Names:
    """All submissions as Student 1, 2 and so on, in an order that says nothing about their names."""
    # The order of the contents' hashes, for that of the names would tell where in the alphabet one is.
    ordered = sorted((*report.submissions, *report.old), key=lambda s: (contents(s), s.name))
    labels: dict[str, str] = {}
    for submission in ordered:
        labels.setdefault(submission.name, f"Student {len(labels) + 1}")
    near: dict[str, dict[str, None]] = {name: {name: None} for name in labels}
    for pair in report.pairs:
        near.setdefault(pair.left, {})[pair.right] = None
        near.setdefault(pair.right, {})[pair.left] = None
    return Names(labels, {name: tuple(others) for name, others in near.items()})


def only(report: Report, left: str, right: str) -> Names:
    """The two of a pair as Student A and Student B, everybody else as another student."""
    others = {s.name: "another student" for s in (*report.submissions, *report.old)}
    both = (left, right)
    labels = {**others, right: "Student B", left: "Student A"}
    return Names(labels, {"": both, left: both, right: (right, left)})
