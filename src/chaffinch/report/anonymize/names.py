"""Find names of students in a text and replace them by labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from itertools import accumulate, permutations
from pathlib import PurePosixPath
from typing import NamedTuple
from unicodedata import normalize

from chaffinch.report.anonymize.reading import Reading, fold, is_unspaced, readings, spellings
from chaffinch.report.document_text import Edit

_SHORTEST_PART = 3
"""Letters. A shorter part of a name, such as Li, is too often something else to be replaced by itself."""
_SHORTEST_NUMBER = 5
"""Digits. A shorter number is too often something else."""
_LONG_PART = 6
"""Letters. A part this long is also replaced at the start of a longer word, such as `schmidtsort`."""
_MOST_PERMUTED = 4
"""Parts. A longer name is looked for in the orders that only move its family names."""
_LONGEST_TOKEN = 40
"""Characters. Nothing farther away is read to tell what a word is."""

_EARLIER = re.compile(r"(?: \(old(?: \d+)?\))+$")
_MOODLE = re.compile(r"_\d+_assignsubmission_\w*$")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_MAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}")
_MAIL_LABEL = "(e-mail)"
_APOSTROPHE = re.compile("['’]")
_GAP = re.compile(r"(?:\s*[^\s]){0,3}\s*")
"""Between two words of a name: up to three marks, such as ", "."""
_JOINT = re.compile(r"[-_.'’]?")
_SENTENCE_END = re.compile(r"[.!?:;]\s")
_BETWEEN = re.compile(r"[\s_.'-]?")
_WORD_BEFORE = re.compile(r"(?<![\w@.-])([^\W\d_]+)[ \t:]+$")
_WORD_AFTER = re.compile(r"[ \t]+[^\W\d_A-Z]")
_COMMA_AFTER = re.compile(r",[ \t]+[^\W\d_A-Z]")
_END_AFTER = re.compile(r"[ \t]+[^\W\d_]|[.,;:!?](?:\s|$)")
_OPERATOR_BEFORE = re.compile(r"(?:[=+*/<>!&|(,\[][ \t]*|\breturn[ \t]+)$")
_OPERATOR_AFTER = re.compile(r"[ \t]*(?:[-+*/%<>=!]=|[+*%<>=])[ \t]*[\w('\"]")
_SIGNATURE = frozenset(
    ["author", "authors", "by", "from", "name", "names", "student", "students", "user", "with"]
)


class Kind(Enum):
    """What a form is; it decides where the form is replaced."""

    NAME = auto()
    """All parts of a name, in some order."""
    PAIR = auto()
    """Two of many parts, an initial and a part, or the two halves of a name of one word."""
    WORD = auto()
    """A name of one word."""
    ACCOUNT = auto()
    """A part and an initial, in one word."""
    PART = auto()


class Form(NamedTuple):
    """One form of the names of some submissions."""

    names: tuple[str, ...]
    kind: Kind
    parts: tuple[str, ...]
    is_accented: bool
    """It is found only where letters with accents are written."""


def student(submission: str) -> str:
    """Return the name of a submission without the mark of earlier work by the same student."""
    return _EARLIER.sub("", submission)


def _pieces(name: str) -> list[str]:
    """Return the runs of letters and of digits in a name; O'Brien is one."""
    return _PIECE.findall(_APOSTROPHE.sub("", _MOODLE.sub("", normalize("NFC", student(name)))))


def _identifies(part: str) -> bool:
    return len(part) >= (_SHORTEST_NUMBER if part.isdigit() else _SHORTEST_PART)


def _all_forms(names: Collection[str]) -> Iterator[Form]:
    """Yield the forms of all names; a part that most of the names have, such as "submission", is none."""
    counts = Counter(part for name in names for part in {fold(piece) for piece in _pieces(name)})
    usual = {part for part, count in counts.items() if count > max(2, len(names) / 2)}
    bearers: dict[tuple[Kind, tuple[str, ...]], dict[str, bool]] = defaultdict(dict)
    for name in names:
        for spelling, is_accented in spellings(name).items():
            for form in _forms(spelling, usual):
                bearers[form][name] = bearers[form].get(name, True) and is_accented
    for (kind, parts), by_name in bearers.items():
        for is_accented in set(by_name.values()):
            of_form = tuple(name for name, accented in by_name.items() if accented == is_accented)
            yield Form(of_form, kind, parts, is_accented)


def _forms(name: str, usual: set[str]) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    pieces = _pieces(name)
    parts = tuple(filter(None, map(fold, pieces)))
    telling = tuple(part for part in parts if part not in usual and not part.isdigit())
    for full in {parts, telling or parts}:
        word = "".join(full)
        if len(full) > 1 and _identifies(word) and not word.isdigit():
            few = len(full) <= _MOST_PERMUTED
            turned = ((*full[n:], *full[:n]) for n in range(len(full)))
            yield from ((Kind.NAME, order) for order in (permutations(full) if few else (*turned, full[::-1])))
        elif len(full) == 1 and word not in usual and (_identifies(word) or (word[1:] and not word.isdigit())):
            yield Kind.WORD, full
            has_halves = not word.isdigit() and len(word) <= _LONGEST_TOKEN
            halves = ((word[:n], word[n:]) for n in range(2, len(word) - 1) if has_halves)
            yield from ((Kind.PAIR, pair) for a, b in halves for pair in ((a, b), (b, a)))
    if len(telling) > 1:
        for a, b in permutations((telling[0], telling[-1])):
            if _identifies(b) and not is_unspaced(b[0]):
                yield from ((Kind.ACCOUNT, (a[0] + b,)), (Kind.PAIR, (a[0], b)), (Kind.PAIR, (b, a[0])))
                if a[0] != "s":  # that is the plural
                    yield Kind.ACCOUNT, (b + a[0],)
    if len(telling) > 2:
        pairs = permutations(telling, 2)
        yield from ((Kind.PAIR, pair) for pair in pairs if {telling[0], telling[-1]} & set(pair))
    is_cased = any(map(str.istitle, pieces))
    telling_pieces = [piece for piece in pieces if not (is_cased and piece.islower())]  # not "van der"
    for part in {fold(part) for piece in telling_pieces for part in (piece, *_CAMEL.split(piece))} - usual:
        if _identifies(part):
            yield Kind.PART, (part,)


class _Hit(NamedTuple):
    """Characters of a text that are a form of a name."""

    start: int
    end: int
    form: Form
    token: str
    """The symbols of the whole word that they stand in; empty if they are several words."""
    is_name: bool
    """It is written as names are: several words with capitals or joined, or a word in a signature."""
    is_word: bool
    """It is used as an ordinary word: in lower case between words of a sentence, or in code."""
    is_operand: bool
    """It stands before an operator of a program, as names of variables do and names of accounts do not."""
    is_mention: bool
    """It has a capital, or stands after a word and before a comma: two others who write it make it ordinary."""


def _fitting(reading: Reading, text: str, first: int, behind: int, forms: list[Form]) -> Iterator[_Hit]:
    """Yield those forms that can stand where their symbols stand.

    "Anna Mueller" is muelleranna and "W. Grant" is Will Grant, but "has an" is not Hasan.
    """
    inside = () if is_unspaced(reading.symbols[first]) else range(first + 1, behind)
    breaks = [n for n in inside if reading.is_break(n) and not _APOSTROPHE.fullmatch(reading.gap(n))]
    gaps = [reading.gap(n) for n in breaks]
    if not all(_GAP.fullmatch(gap) and gap.count("\n") < 2 for gap in gaps):
        return
    token_end = behind
    while not reading.is_edge(token_end) and token_end - first < _LONGEST_TOKEN:
        token_end += 1
    token, rest = reading.symbols[first:token_end], reading.symbols[behind:token_end]
    start, end = reading.span(first, behind)
    is_title = text[start:end].istitle()
    before = _word_before(text, start)
    if len(token) < _SHORTEST_PART and not is_unspaced(token[0]) and not is_title:
        return
    ends = (first, breaks[-1] if breaks else first)  # not all words: Maria de la Cruz
    is_capital = not any(reading.text[reading.starts[n]].islower() for n in ends)
    is_joined = all(map(_JOINT.fullmatch, gaps))
    is_name = is_joined or (is_capital and not any(map(_SENTENCE_END.search, gaps)))
    if not breaks:
        is_name = is_title and before in _SIGNATURE
    behind_token = reading.span(first, token_end)[1]
    is_word = _is_word(text, start, behind_token, rest)
    is_listed = before and before not in _SIGNATURE and _COMMA_AFTER.match(text, behind_token)
    is_mention = is_title or bool(is_listed)
    is_operand = _OPERATOR_AFTER.match(text, behind_token) is not None
    for form in forms:
        cuts = [*accumulate(map(len, form.parts[:-1]), initial=first)][1:]
        if len(form.parts) == 1:
            fits = not breaks or (is_capital and not any(gaps))
        elif form.kind is Kind.NAME:
            fits = is_name or set(breaks) <= set(cuts)
        elif all(map(_identifies, form.parts)):
            fits = is_name or not breaks
        else:  # an initial, or half a name of two letters, such as Li: joined, it could be any word
            fits = is_capital and breaks == cuts
        is_start = form.kind is Kind.PART and behind - first >= _LONG_PART and token.isalpha()
        is_plain = form.is_accented and reading.text[start:end].isascii()
        if fits and not is_plain and (rest in ("", "s") or is_start):
            whole = token if len(form.parts) == 1 or not breaks else ""
            yield _Hit(start, end, form, whole, is_name, is_word, is_operand, is_mention)


def _is_word(text: str, start: int, end: int, rest: str) -> bool:
    """Tell whether some characters are an ordinary word: in lower case between two words of a sentence, but
    not after "by" or "author", or as a function that is called. A longer word may also end a sentence."""
    if not text[start:end].islower():
        return False
    before = _word_before(text, start)
    after = _WORD_AFTER if len(rest) < 2 else _END_AFTER
    if before and before not in _SIGNATURE and after.match(text, end):
        return True
    is_called = text.startswith("(", end)
    return is_called and bool(_OPERATOR_BEFORE.search(text, max(0, start - _LONGEST_TOKEN), start))


def _word_before(text: str, start: int) -> str:
    match = _WORD_BEFORE.search(text, max(0, start - _LONGEST_TOKEN), start)
    return match[1].lower() if match else ""


def _tokens(hits: list[_Hit]) -> Iterator[_Hit]:
    """Yield the hits of one word outside full names."""
    in_full_names = {n for hit in hits if not hit.token for n in range(hit.start, hit.end)}
    return (hit for hit in hits if hit.token and hit.start not in in_full_names)


class Class:
    """A class: finds the names of its students, and tells which of their parts are ordinary words."""

    def __init__(
        self, near: Mapping[str, Iterable[str]], texts: Callable[[], Iterable[tuple[str, str]]]
    ) -> None:
        self._near = near
        self._texts = texts
        self._known: dict[str, list[_Hit]] = {}
        self._forms: dict[str, list[Form]] = defaultdict(list)
        for form in _all_forms(near.keys()):
            self._forms["".join(form.parts)].append(form)
        self._shortest = min(map(len, self._forms), default=1)
        self._lengths: dict[str, set[int]] = defaultdict(set)
        for joined in self._forms:
            self._lengths[joined[: self._shortest]].add(len(joined))

    def hits(self, text: str) -> list[_Hit]:
        """Return what may be names; a name that several readings show only as the first one shows it."""
        if text not in self._known:
            hits: dict[tuple[Form, int], _Hit] = {}
            for reading in readings(text):
                for hit in self._hits(reading, text):
                    hits.setdefault((hit.form, hit.end), hit)
            self._known[text] = list(hits.values())
        return self._known[text]

    def _hits(self, reading: Reading, text: str) -> Iterator[_Hit]:
        symbols, shortest, lengths = reading.symbols, self._shortest, self._lengths
        for first in [n for n in reading.may_begin if symbols[n : n + shortest] in lengths]:
            for length in lengths[symbols[first : first + shortest]]:
                joined = symbols[first : first + length]
                if joined in self._forms and reading.is_edge(first):
                    yield from _fitting(reading, text, first, first + len(joined), self._forms[joined])

    @cached_property
    def ordinary(self) -> frozenset[str]:
        """The ordinary words among the parts of names and the accounts: `Names` has the rule."""
        ordinary: set[str] = set()
        writers: dict[str, set[str]] = defaultdict(set)
        for owner, text in self._texts():
            for hit in _tokens(self.hits(text)):
                is_near = any(owner in self._near[name] for name in hit.form.names)
                is_account = hit.form.kind not in (Kind.PART, Kind.WORD)
                is_used = hit.is_word or (is_account and hit.is_operand)
                if is_used and is_near != is_account:
                    ordinary.add(hit.token)
                elif not is_near and (is_used or hit.is_mention or hit.form[1:3] == (Kind.PART, (hit.token,))):
                    writers[hit.token].add(owner)
        return frozenset(ordinary | {token for token, owners in writers.items() if len(owners) > 1})


@dataclass(frozen=True)
class Names:
    """The label of each name, and the names whose parts are replaced in the text of each submission.

    Full names, names of accounts and e-mail addresses are replaced everywhere. A single part of a name is
    replaced in the work of the student and of those paired with the student. A report must not falsify
    evidence, so an ordinary word stays:

    - a part of a name, or a name of one word, if these students write it in lower case between two words of a
      sentence or call it as a function; a part also if two others write it at all;
    - the name of an account, such as price for Paul Rice, if others use it in a sentence or as a variable;
    - any word in a text in which it is used like this.

    A name of one ordinary word is replaced only after "by" or "author" and with a capital. A name of several is
    replaced where it is written as a name: "Will Grant" and "will_grant", but not "I will grant".
    """

    labels: Mapping[str, str]
    near: Mapping[str, Sequence[str]]
    students: Class

    def edits(self, owner: str | None, text: str) -> list[Edit]:
        """Return what to replace in a text of this submission, in order; with None, parts of all names."""
        near = {name: n for n, name in enumerate(self.labels if owner is None else self.near.get(owner, ()))}
        hits = self.students.hits(text)
        ordinary = {hit.token for hit in _tokens(hits) if hit.is_word}
        if hits:
            ordinary |= self.students.ordinary
        spans = [(m.start(), m.end(), 0, _MAIL_LABEL) for m in _MAIL.finditer(text)]
        for hit in hits:
            name = min(hit.form.names, key=lambda name: near.get(name, len(near)))
            if (hit.form.kind is not Kind.PART or name in near) and not _stays(hit, ordinary):
                spans.append((hit.start, hit.end, near.get(name, len(near)), self.labels[name]))
        edits: list[Edit] = []
        for start, end, _, new in sorted(spans, key=lambda span: (span[0], -span[1], *span[2:])):
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
        """Return a path without names, also those that are too short to be replaced in a text."""
        return "/".join(self.step(step, owner) for step in name.replace("\\", "/").split("/"))

    def step(self, step: str, owner: str | None) -> str:
        """Return a step of a path without names."""
        path = PurePosixPath(step)
        for known, rest in ((step, ""), (path.stem, path.suffix)):
            if known in self.labels:
                return self.labels[known] + rest
        return self.text(step, owner)


def _stays(hit: _Hit, ordinary: set[str]) -> bool:
    """Tell whether something that may be a name is made of ordinary words; see `Names`."""
    if hit.token:
        is_signed = hit.is_name and hit.form.kind is Kind.WORD
        return not is_signed and (hit.token in ordinary or "".join(hit.form.parts) in ordinary)
    if hit.form.kind is not Kind.NAME or hit.is_name:
        return False
    are_ordinary = [part in ordinary for part in hit.form.parts if _identifies(part)]
    return any(are_ordinary) or not are_ordinary
