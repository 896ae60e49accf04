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
_LONGEST_SIGNATURE = 16
"""Characters. Nothing farther away is read to find "author:" or an operator before a word."""

_EARLIER = re.compile(r"(?: \(old(?: \d+)?\))+$")
_MOODLE = re.compile(r"_\d+_assignsubmission_\w*$")
_LETTER = re.compile(r"\w")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_MAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}")
_MAIL_LABEL = "(e-mail)"
_APOSTROPHE = re.compile("['’]")
_JOINT = re.compile(r"_*|\\?[-_.'’\u2010-\u2013]?")
_GAP = re.compile(rf"{_JOINT.pattern}|\\?[\s~}}]+|,\s*")
"""Between two words of a name. A bracket or an operator is never part of a name."""
_INITIAL_GAP = re.compile(rf"\.?(?:{_GAP.pattern})")
_BETWEEN = re.compile(r"[\s_.'-]?")
_WORD_BEFORE = re.compile(r"(?<![\w@.-])([^\W\d_]+)[ \t:]+$")
_WORD_AFTER = re.compile(r"[ \t]+[^\W\d_A-Z]")
_COMMA_AFTER = re.compile(r",[ \t]+[^\W\d_A-Z]")
_END_AFTER = re.compile(r"[.,;:!?](?:\s|$)")
_ARGUMENT_BEFORE = re.compile(r"\w[(\[](?:[^()\n,]*,[ \t]*)*$")
_ARGUMENT_AFTER = re.compile(r"[ \t]*[,()\]=]")
_CODE_BEFORE = re.compile(
    r"(?:[\w)\]'\"](?:[ \t]*=[ \t]*|[ \t]+[+*%<>][ \t]+)|\b(?:class|return)[ \t]+|\b(?:self|this)\.)$"
)
_CODE_AFTER = re.compile(r"[ \t]*[-+*/%<>=!]?=[ \t]*[\w('\"{[-]|[ \t]+[+*%<>][ \t]+[\w('\"]|\[(?!at\b)|\.\w+\(")
_SIGNED = re.compile(
    r"(?:(?:(?:author|login|mail|name|owner|student|user)s?|\b(?:by|from|with))(?:[^\w\n]|_){1,6}|@)$", re.I
)
"""Before a name: after these words, even ordinary words are a name."""
_NEVER_BEFORE_NAMES = frozenset(
    ["a", "an", "the", "this", "i", "you", "he", "she", "it", "we", "they", "who", "will", "not"]
)
"""Words before an ordinary word: after them, "bill page" in lower case is not a name."""


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
        first, last = telling[0], telling[-1]
        for a, b, given in ((first, last, telling[:-1]), (last, first, telling[1:])):
            if _identifies(b) and not is_unspaced(b[0]):
                yield from ((Kind.PAIR, (a[0], b)), (Kind.PAIR, (b, a[0])))
                for initials in {a[0], "".join(part[0] for part in given)}:
                    yield Kind.ACCOUNT, (initials + b,)
                    if initials != "s":  # that is the plural
                        yield Kind.ACCOUNT, (b + initials,)
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
    is_hint: bool
    """In lower case, it ends part of a sentence or is in code: two students who do so make it ordinary."""
    is_code: bool
    """It stands in code, as names of variables do and names of accounts do not."""
    is_mention: bool
    """It has a capital, or stands after a word and before a comma: two others who write it make it ordinary."""


def _fitting(reading: Reading, text: str, first: int, behind: int, forms: list[Form]) -> Iterator[_Hit]:
    """Yield those forms that can stand where their symbols stand.

    "Anna Mueller" is muelleranna and "W. Grant" is Will Grant, but "has an" is not Hasan.
    """
    inside = () if is_unspaced(reading.symbols[first]) else range(first + 1, behind)
    breaks = [n for n in inside if reading.is_break(n) and not _APOSTROPHE.fullmatch(reading.gap(n))]
    gaps = [reading.gap(n) for n in breaks]
    for n, before_n, gap in zip(breaks, (first, *breaks), gaps, strict=False):
        if not (_GAP if n - before_n > 1 else _INITIAL_GAP).fullmatch(gap) or gap.count("\n") > 1:
            return
    token_end = behind
    while not reading.is_edge(token_end) and token_end - first < _LONGEST_TOKEN:
        token_end += 1
    token, rest = reading.symbols[first:token_end], reading.symbols[behind:token_end]
    is_whole = rest in ("", "s")
    if not is_whole and (behind - first < _LONG_PART or not token.isalpha()):
        return
    start, end = reading.span(first, behind)
    is_title = text[start:end].istitle()
    if len(token) < _SHORTEST_PART and not is_unspaced(token[0]) and not is_title:
        return
    window, signature = max(0, start - _LONGEST_TOKEN), max(0, start - _LONGEST_SIGNATURE)
    behind_token = reading.span(first, token_end)[1]
    is_signed = _SIGNED.search(text, signature, start) is not None
    match = _WORD_BEFORE.search(text, window, start)
    before = match[1].lower() if match and not is_signed else ""
    is_joined = all(map(_JOINT.fullmatch, gaps))
    is_alone = not _LETTER.search(text[max(0, start - 1) : start] + text[behind_token : behind_token + 1])
    is_called = is_alone and text.startswith("(", behind_token) and not text.startswith("(at)", behind_token)
    is_argument = _ARGUMENT_AFTER.match(text, behind_token) and _ARGUMENT_BEFORE.search(text, window, start)
    is_operand = _CODE_AFTER.match(text, behind_token) or _CODE_BEFORE.search(text, signature, start)
    is_used = is_alone and bool(is_argument or is_operand or (breaks and is_called))
    is_longer = bool(breaks) and not is_alone and text[start].islower()  # bill_page_count
    is_code = is_joined and not is_signed and (is_used or is_longer)
    ends = (first, breaks[-1] if breaks else first)  # not all words: Maria de la Cruz
    is_capital = not any(reading.text[reading.starts[n]].islower() for n in ends)
    is_lower = text[start:behind_token].islower()
    commas = [gap for gap in gaps if gap[:1] == ","]
    if (
        (commas and (is_argument or not is_capital))  # f(may, long)
        or (is_called and "." in gaps)  # bill.page(x)
        or (is_lower and not is_joined and before in _NEVER_BEFORE_NAMES)  # the bill page
    ):
        return
    is_listed = "," in commas or (commas and text.startswith("[", start - 1))
    is_name = is_joined or is_signed or bool(is_capital and not is_listed)
    if not breaks:
        is_name = is_title and is_signed
    is_end = is_lower and bool(before and _END_AFTER.match(text, behind_token))
    is_between = is_lower and bool(before and _WORD_AFTER.match(text, behind_token))
    is_sentence = is_between or (is_end and (len(rest) > 1 or before in _NEVER_BEFORE_NAMES))
    is_hint = is_whole and is_lower and (is_end or is_called or is_code)
    is_mention = is_title or bool(before and _COMMA_AFTER.match(text, behind_token))
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
        is_plain = form.is_accented and reading.text[start:end].isascii()
        if fits and not is_plain and (is_whole or form.kind is Kind.PART):
            whole = token if len(form.parts) == 1 or not breaks else ""
            is_word = is_sentence or (is_lower and is_code and not rest and len(form.parts) == 1)
            yield _Hit(start, end, form, whole, is_name, is_word, is_hint, is_code, is_mention)


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
                is_part = hit.form[1:3] == (Kind.PART, (hit.token,))
                is_account = hit.form.kind not in (Kind.PART, Kind.WORD)
                is_used = hit.is_word or (is_account and hit.is_code)
                if is_used and is_near != is_account:
                    ordinary.add(hit.token)
                elif (hit.form.kind is Kind.PART and hit.is_hint) or (
                    not is_near and (is_used or hit.is_mention or is_part)
                ):
                    writers[hit.token].add(owner)
        return frozenset(ordinary | {token for token, owners in writers.items() if len(owners) > 1})


@dataclass(frozen=True)
class Names:
    """The label of each name, and the names whose parts are replaced in the text of each submission.

    Full names, names of accounts and e-mail addresses are replaced everywhere. A single part of a name is
    replaced in the work of the student and of those paired with the student. A report must not falsify
    evidence, so an ordinary word stays:

    - a part of a name, or a name of one word, if these students write it in lower case between two words of a
      sentence or as a variable; a part also if two students end a sentence with it in lower case or have a
      function of this name, or if two others write it at all;
    - the name of an account, such as price for Paul Rice, if others use it in a sentence or as a variable;
    - any word in a text in which it is used like this.

    A name of one ordinary word is replaced only after "by" or "author" and with a capital. A name of several is
    replaced where it is written as a name: "Will Grant", "Grant, Will", "by will grant", and outside code
    "will_grant"; but not "I will grant". A label never takes the place of a bracket, an operator or the comma
    between two arguments.
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
    if hit.token and (hit.token in ordinary or "".join(hit.form.parts) in ordinary):
        return not (hit.is_name and hit.form.kind is Kind.WORD)
    are_ordinary = [part in ordinary for part in hit.form.parts if _identifies(part)]
    if hit.is_code and hit.form.kind in (Kind.NAME, Kind.PAIR):
        return all(are_ordinary) and any(are_ordinary)
    is_sentence = hit.form.kind is Kind.NAME and not hit.token and not hit.is_name
    return is_sentence and (any(are_ordinary) or not are_ordinary)
