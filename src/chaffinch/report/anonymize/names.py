"""Find names of students in a text and replace them by labels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import PurePath, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch.report.anonymize.folded_text import FoldedText, is_unspaced, readings
from chaffinch.report.anonymize.name_forms import Form, Kind, all_forms, identifies
from chaffinch.report.document_text import Edit
from chaffinch.types import Skipped

_ROW = re.compile(r"(row \d+|date) of (.*)", re.S)
_ENDING = re.compile(r"(?<=.)\.(?:[A-Za-z][A-Za-z0-9]{0,3}|ipynb|scala|swift|xhtml)$")
_MAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}")
_MAIL_LABEL = "(e-mail)"
_GAP = 3
"""Characters other than spaces between two parts of a name, at most."""
_WIDE_GAP = 40
"""Characters between two parts of a name, at most: a line break and the indent of the next line."""
_BETWEEN = re.compile(r"[\s_.'-]?")
_JOINT = re.compile(r"[-_.'’]?")
_SENTENCE_END = re.compile(r"[.!?:;]\s")
_MARKUP = re.compile(r"[\\{}<>&]")
_PREFIX = 5
"""Symbols by which forms are looked up."""
_LONG_PART = 6
"""Letters. A part this long is also replaced at the start of a longer word."""
_LONG_WORD = 7
"""Letters. No ordinary word this long is two parts of a name, or an account, by chance."""
_LONGEST_TOKEN = 40

_WORD_BEFORE = re.compile(r"(?<![\w@.-])([^\W\d_]+)[ \t:]+$")
_WORD_AFTER = re.compile(r"[ \t]+[^\W\d_A-Z]")
_END_AFTER = re.compile(r"[ \t]+[^\W\d_]|[.,;:!?](?:\s|$)")
_OPERATOR_BEFORE = re.compile(r"(?:[=+*/<>!&|(,\[][ \t]*|\breturn[ \t]+)$")
_SIGNATURE = frozenset(
    ["author", "authors", "by", "from", "name", "names", "student", "students", "user", "with"]
)


class _Hit(NamedTuple):
    """Characters of a text that are a form of a name."""

    start: int
    end: int
    token: str
    """The symbols of the whole word that they stand in, or of all words."""
    form: Form
    is_token: bool
    """It is a single word."""
    is_name: bool
    """It is written as names are: several words with capitals or joined, or a word in a signature."""
    is_word: bool
    """It is used as an ordinary word: in lower case between words of a sentence, or as a function."""


class Finder:
    """Finds the forms of many names in a text at once."""

    def __init__(self, names: Iterable[str]) -> None:
        self._forms: dict[str, dict[str, list[Form]]] = defaultdict(lambda: defaultdict(list))
        for form in all_forms(list(names)):
            joined = "".join(form.parts)
            self._forms[joined[:_PREFIX]][joined].append(form)
        self._known: dict[str, list[_Hit]] = {}
        self._tables: dict[int, NDArray[np.bool_]] = {}
        for size in sorted({len(prefix) for prefix in self._forms}):
            codes = [[ord(char) for char in prefix] for prefix in self._forms if len(prefix) == size]
            self._tables[size] = np.zeros(1 << 16, np.bool_)
            self._tables[size][_keys(np.array(codes, np.uint32).T)] = True

    def hits(self, text: str) -> list[_Hit]:
        """Return what may be names; in any reading of the text, each only once."""
        if text in self._known:
            return self._known[text]
        hits: list[_Hit] = self._known.setdefault(text, [])
        ends: set[tuple[Form, int]] = set()
        for reading in readings(text):
            new = [hit for hit in self._hits(reading, text) if (hit.form, hit.end) not in ends]
            ends |= {(hit.form, hit.end) for hit in new}
            hits += new
        return hits

    def _hits(self, folded: FoldedText, text: str) -> Iterator[_Hit]:
        may_begin = folded.may_begin()
        for size, table in self._tables.items():
            count = max(0, len(folded.codes) - size + 1)
            is_prefix = table[_keys([folded.codes[n : n + count] for n in range(size)])]
            for first in (is_prefix & may_begin[:count]).nonzero()[0].tolist():
                forms = self._forms.get(folded.symbols[first : first + size])
                if not forms or not folded.is_edge(first):
                    continue
                for joined, of_joined in forms.items():
                    if folded.symbols.startswith(joined, first):
                        yield from _fitting(folded, text, first, first + len(joined), of_joined)


def _keys(columns: Any) -> NDArray[np.uint32]:
    """Return 16 bits of a hash of symbols, one column for each of their positions."""
    keys = np.zeros(len(columns[0]), np.uint32)
    for column in columns:
        keys = keys * np.uint32(31) + column
    return keys & np.uint32(0xFFFF)


def _fitting(folded: FoldedText, text: str, first: int, behind: int, forms: list[Form]) -> Iterator[_Hit]:
    """Yield those forms that can stand where their symbols stand."""
    breaks = [n for n in range(first + 1, behind) if folded.is_break(n)]
    gaps = [folded.gap(n) for n in breaks]
    if any(len(gap) > _WIDE_GAP or gap.count("\n") > 1 or len("".join(gap.split())) > _GAP for gap in gaps):
        return
    token_end = behind
    while not folded.is_edge(token_end) and token_end - first < _LONGEST_TOKEN:
        token_end += 1
    rest = folded.symbols[behind:token_end]
    token = folded.symbols[first:token_end]
    is_whole = all(map(folded.is_break, (first, behind)))
    capitals = [not folded.first(n).islower() for n in (first, *breaks)]
    start, end = folded.span(first, behind)
    if breaks:
        is_joined = all(map(_JOINT.fullmatch, gaps))
        is_name = is_joined or (all(capitals) and not any(map(_SENTENCE_END.search, gaps)))
    else:
        is_name = text[start:end].istitle() and _word_before(text, start) in _SIGNATURE
    is_word = _is_word(text, start, folded.span(first, token_end)[1], rest)
    for form in forms:
        if rest not in ("", "s") and (
            form.kind is not Kind.PART or behind - first < _LONG_PART or not token.isalpha()
        ):
            continue
        if len(token) < 3 and not (is_whole and (is_unspaced(token[0]) or text[start:end].istitle())):
            continue
        if _is_split_well(form, folded, first, breaks, behind):
            yield _Hit(start, end, token, form, not breaks, is_name, is_word)


def _is_split_well(form: Form, folded: FoldedText, first: int, breaks: list[int], behind: int) -> bool:
    """Tell whether words that begin at these symbols can be a form of a name.

    "Free Man" may be Freeman and "Anna Mueller" muelleranna, but "has an" is not Hasan.
    """
    words = [first, *breaks]
    are_capitals = [not folded.first(n).islower() for n in words]
    cut = first + len(form.parts[0])
    if form.kind is Kind.TWO_PARTS or (form.kind is Kind.ACCOUNT and breaks):
        return breaks == [cut] and all(are_capitals)
    if form.kind is Kind.ROTATED and cut not in breaks:
        return not breaks and behind - first >= _LONG_WORD
    ends = set(accumulate(map(len, form.parts), initial=first)) if form.kind is Kind.FULL else set()
    inside = [n for n in breaks if n not in ends and folded.gap(n) not in ("'", "’")]
    if not inside or is_unspaced(folded.symbols[first]):
        return True
    if any(map(_MARKUP.search, map(folded.gap, inside))):
        return False
    is_long = form.kind in (Kind.WORD, Kind.ROTATED) and min(b - a for a, b in pairwise([*words, behind])) > 2
    return is_long or sum(are_capitals) > 1


def _is_word(text: str, start: int, end: int, rest: str) -> bool:
    """Tell whether some characters are an ordinary word: in lower case between two words of a sentence, but
    not after "by" or "author", or as a function that is called. A longer word may also end a sentence."""
    if not text[start:end].islower():
        return False
    before = _word_before(text, start)
    after = _WORD_AFTER if len(rest) < 2 else _END_AFTER
    if before and before not in _SIGNATURE and after.match(text, end):
        return True
    return (
        text.startswith("(", end)
        and _OPERATOR_BEFORE.search(text, max(0, start - _LONGEST_TOKEN), start) is not None
    )


def _word_before(text: str, start: int) -> str:
    match = _WORD_BEFORE.search(text, max(0, start - _LONGEST_TOKEN), start)
    return match[1].lower() if match else ""


def _tokens(hits: list[_Hit]) -> Iterator[_Hit]:
    """Yield the hits of one word outside full names."""
    in_full_names = {n for hit in hits if not hit.is_token for n in range(hit.start, hit.end)}
    return (hit for hit in hits if hit.is_token and hit.start not in in_full_names)


class Class:
    """A class: finds the names of its students, and tells which of their parts are ordinary words."""

    def __init__(
        self, near: Mapping[str, Iterable[str]], texts: Callable[[], Iterable[tuple[str, str]]]
    ) -> None:
        self._near = near
        self._texts = texts
        self.finder = Finder(near)

    @cached_property
    def ordinary(self) -> frozenset[str]:
        """The ordinary words among the parts of names: `Names` has the rule."""
        related: dict[str, set[str]] = defaultdict(set)
        writers: dict[str, set[str]] = defaultdict(set)
        users: dict[str, set[str]] = defaultdict(set)
        for owner, text in self._texts():
            for hit in _tokens(self.finder.hits(text)):
                related[hit.token].update(*map(self._near.__getitem__, hit.form.names))
                is_account = (
                    hit.form.kind not in (Kind.PART, Kind.WORD) or len(hit.token) == len(hit.form.parts[0]) + 1
                )
                if not is_account or len(hit.token) < _LONG_WORD:
                    writers[hit.token].add(owner)
                if hit.is_word:
                    users[hit.token].add(owner)
        return frozenset(t for t in related if users[t] & related[t] or len(writers[t] - related[t]) > 1)


@dataclass(frozen=True)
class Names:
    """The label of each name, and the names whose parts are replaced in the text of each submission.

    Full names, names of accounts and e-mail addresses are replaced everywhere. A single part of a name is
    replaced in the work of the student and of those paired with the student. A single word stays if it is an
    ordinary one, because a report must not falsify evidence: if these students write it in lower case between
    two words of a sentence or call it as a function, or if two others write it at all. A name of one such word
    is replaced only after "by" or "author". A name of several is replaced where it is written as a name:
    "Will Grant" and "will_grant", but not "I will grant".
    """

    labels: Mapping[str, str]
    near: Mapping[str, Sequence[str]]
    students: Class

    def edits(self, owner: str | None, text: str) -> list[Edit]:
        """Return what to replace in a text of this submission, in order; with None, parts of all names."""
        near = {name: n for n, name in enumerate(self.labels if owner is None else self.near.get(owner, ()))}
        hits = self.students.finder.hits(text)
        ordinary = {hit.token for hit in _tokens(hits) if hit.is_word}
        if hits:
            ordinary |= self.students.ordinary
        spans = [(m.start(), m.end(), 0, _MAIL_LABEL) for m in _MAIL.finditer(text)]
        for hit in hits:
            name = min(hit.form.names, key=lambda name: near.get(name, len(near)))
            if (hit.form.kind is not Kind.PART or name in near) and not _stays(hit, ordinary):
                spans.append((hit.start, hit.end, near.get(name, len(near)), self.labels[name]))
        edits: list[Edit] = []
        for start, end, _, new in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
            if edits:
                first, last, label = edits[-1]
                if new == label and start < last:
                    continue  # in "Max Planck, max" the last word is decided by itself
                if start < last or (new == label and _BETWEEN.fullmatch(text, last, start)):
                    edits[-1] = (first, max(end, last), label)
                    continue
            edits.append((start, end, new))
        return edits

    def edits_of(self, label: str, text: str) -> list[Edit]:
        """Return what to replace in a text of the submission that has this label."""
        return self.edits(self.owner.get(label, ""), text)

    @cached_property
    def owner(self) -> dict[str, str]:
        """The names by their labels."""
        return {label: name for name, label in self.labels.items()}

    def text(self, text: str, owner: str | None = "") -> str:
        """Return a text of this submission, or about nobody, without names."""
        for start, end, new in reversed(self.edits(owner, text)):
            text = text[:start] + new + text[end:]
        return text

    def file(self, owner: str | None, name: str) -> str:
        """Return a path without names of students."""
        return "/".join(self.step(step, owner) for step in name.replace("\\", "/").split("/"))

    def step(self, step: str, owner: str | None) -> str:
        """Return a step of a path without names, also those that are too short to be replaced elsewhere."""
        path = PurePosixPath(step)
        for known, rest in ((step, ""), (path.stem, path.suffix)):
            if known in self.labels:
                return self.labels[known] + rest
        return self.text(step, owner)

    def skipped(self, n: int, skipped: Skipped) -> Skipped:
        """Return the nth skipped file without its name; it may be of a student of whom nothing is known."""
        if row := _ROW.fullmatch(skipped.name):  # of dates, not a file
            where = "a date" if row[1] == "date" else f"{row[1]} of {self.text(PurePath(row[2]).name)}"
            return Skipped(where, skipped.reason, skipped.detail)
        name = PurePosixPath(skipped.name)
        suffix = ending(name.name)
        shown = f"file {n}{suffix if self.text(suffix) == suffix else ''}"
        detail = skipped.detail.replace(skipped.name, shown).replace(name.name or "\0", shown)
        return Skipped(shown, skipped.reason, self.text(detail))


def ending(file: str) -> str:
    """Return the ending of a file's name, with its dot, if it looks like one that names a kind of file."""
    match = _ENDING.search(file)
    return match[0] if match else ""


def _stays(hit: _Hit, ordinary: set[str]) -> bool:
    """Tell whether something that may be a name is made of ordinary words; see `Names`."""
    if hit.is_token:
        return not (hit.is_name and hit.form.kind is Kind.WORD) and (
            hit.token in ordinary or "".join(hit.form.parts) in ordinary
        )
    if hit.form.kind is not Kind.FULL or hit.is_name:
        return False
    are_ordinary = [part in ordinary for part in hit.form.parts if identifies(part)]
    if hit.is_word:
        return any(are_ordinary) or not are_ordinary
    return bool(are_ordinary) and all(are_ordinary)
