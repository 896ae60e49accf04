"""The forms in which the name of a submission is written, folded."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from enum import Enum, auto
from itertools import permutations
from typing import NamedTuple
from unicodedata import normalize

from chaffinch.report.anonymize.folded_text import fold, is_unspaced, transliterations

_OLD = re.compile(r"(?: \(old(?: \d+)?\))+$")
_MOODLE = re.compile(r"_\d+_assignsubmission_\w*$")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_SHORTEST_NUMBER = 5
"""Digits. A shorter number identifies nobody."""
_SHORTEST_PART = 3
"""Letters. A shorter part of a name is replaced only within the full name."""
_MOST_PERMUTED = 4
"""Parts. A longer name is looked for in fewer orders."""


class Kind(Enum):
    """What a form is; it decides where the form is replaced."""

    FULL = auto()
    """All parts of a name, in some order."""
    WORD = auto()
    """A name of one word."""
    ROTATED = auto()
    """A name of one word that is a family name and a given name, the other way round."""
    TWO_PARTS = auto()
    """The first or the last part of a long name and one more."""
    ACCOUNT = auto()
    """A part and an initial."""
    PART = auto()


class Form(NamedTuple):
    """One form of the names of some submissions."""

    names: tuple[str, ...]
    kind: Kind
    parts: tuple[str, ...]


def student(submission: str) -> str:
    """Return the name of a submission without the mark of earlier work by the same student."""
    return _OLD.sub("", submission)


def _pieces(name: str) -> list[str]:
    """Return the runs of letters and of digits in a name; O'Brien is one."""
    return _PIECE.findall(re.sub("['’]", "", _MOODLE.sub("", normalize("NFC", student(name)))))


def identifies(piece: str) -> bool:
    """Tell whether a piece of a name is long enough to be taken for the name."""
    return len(piece) >= (_SHORTEST_NUMBER if piece.isdigit() else _SHORTEST_PART)


def all_forms(names: Collection[str]) -> list[Form]:
    """Return the forms of all names; a part that most of the names have, such as "submission", is none."""
    counts = Counter(part for name in names for part in {fold(piece) for piece in _pieces(name)})
    usual = {part for part, count in counts.items() if count > max(2, len(names) / 2)}
    bearers: dict[tuple[Kind, tuple[str, ...]], dict[str, None]] = defaultdict(dict)
    for name in names:
        for spelt in transliterations(name):
            for form in _forms(spelt, usual):
                bearers[form][name] = None
    return [Form(tuple(of_form), *form) for form, of_form in bearers.items()]


def _forms(name: str, usual: set[str]) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    pieces = _pieces(name)
    parts = [part for part in map(fold, pieces) if part]
    telling = [part for part in parts if part not in usual and not part.isdigit()]
    for full in {tuple(parts), tuple(telling)} if telling else {tuple(parts)}:
        joined = "".join(full)
        if len(full) > 1 and len(joined) >= _SHORTEST_PART and not joined.isdigit():
            yield from ((Kind.FULL, order) for order in _orders(full))
        elif len(full) == 1 and joined not in usual:
            yield from _one_word(joined)
    if len(telling) > 1:
        for a, b in ((telling[0], telling[-1]), (telling[-1], telling[0])):
            if len(b) >= _SHORTEST_PART and not is_unspaced(b[0]):
                yield Kind.ACCOUNT, (a[0], b)
                if a[0] != "s":  # that is the plural
                    yield Kind.ACCOUNT, (b, a[0])
    for a, b in permutations(telling, 2) if len(telling) > 2 else ():
        if {a, b} & {telling[0], telling[-1]} and len(a + b) > _SHORTEST_PART:
            yield Kind.TWO_PARTS, (a, b)
    is_cased = any(map(str.istitle, pieces))
    telling_pieces = [piece for piece in pieces if not (is_cased and piece.islower())]  # not "van der"
    for part in {fold(part) for piece in telling_pieces for part in (piece, *_CAMEL.split(piece))} - usual:
        if identifies(part):
            yield Kind.PART, (part,)


def _orders(parts: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Return all orders of a few parts; of many, family names first or last, and the reverse."""
    if len(parts) <= _MOST_PERMUTED:
        return permutations(parts)
    return (*((*parts[n:], *parts[:n]) for n in range(len(parts))), parts[::-1])


def _one_word(word: str) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    least = 1 if is_unspaced(word[0]) else 2
    if len(word) > 1 and (identifies(word) or not word.isdigit()):
        yield Kind.WORD, (word,)
    if len(word) > 2 * least and not word.isdigit():
        for n in range(least, len(word) - least + 1):
            yield Kind.ROTATED, (word[n:], word[:n])
