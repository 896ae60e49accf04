"""Letters with accents, as characters, entities or TeX commands -> the plain letters people write for them."""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

_STROKES = {
    "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ȷ": "j", "þ": "th", "æ": "ae",
    "œ": "oe", "ß": "ss", "ẞ": "ss",
}  # fmt: skip
"""Letters that no accent can be taken from."""
_WITH_E = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe"}
_DOUBLED = {"å": "aa"}
_SHORT = {"æ": "a", "ß": "s"}
_NOTHING: dict[str, str] = {}
# Whoever writes ü as u may write å as aa, so each custom is kept to or not by itself.
_CUSTOMS = [{**a, **b} for a, b in product((_NOTHING, _WITH_E), (_NOTHING, _DOUBLED))]
_CUSTOMS_OF_NAMES = [{**custom, **short} for short, custom in product((_NOTHING, _SHORT), _CUSTOMS)]

_SIGN = re.compile(r"[&\\\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff\ufb00-\ufb06]")
_ENTITY = re.compile(r"&(?:#\d{2,7}|#[xX][0-9a-fA-F]{2,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ACCENTS = dict(
    zip(
        "\"'`^~=.cvHukrbd",
        "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0327\u030c\u030b\u0306\u0328\u030a\u0331\u0323",
        strict=True,
    )
)
_LETTERS = {
    "ss": "ß", "SS": "ẞ", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø",
    "l": "ł", "L": "Ł", "dj": "đ", "DJ": "Đ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "i": "i", "j": "j",
}  # fmt: skip
_TEX = re.compile(
    r"""\\(?:(?:(?P<accent>["'`^~=.])[ ]?|(?P<command>[cvHukrbd])(?![A-Za-z])[ ]*)
        (?:\{[ ]?\\?(?P<within>[A-Za-z])[ ]?\}|\\?(?P<bare>[A-Za-z]))
      | (?P<letter>ss|SS|aa|AA|ae|AE|oe|OE|dj|DJ|dh|DH|th|TH|[oOlLij])(?![A-Za-z])(?:\{\}|[ ](?=[a-z]))?)""",
    re.X,
)
_MARKS = re.compile("[\u0300-\u036f]*")
_MARKUP = re.compile(r"[&\\\u0300-\u036f]")
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN_LETTERS = re.compile("[A-Za-z]*")
_AROUND = 48
"""Characters on both sides of a word that a name may begin or end in."""
_APART = "\n" * 4
"""More than may stand between the parts of a name."""


@cache
def _plain(char: str, custom: int) -> str:
    """A character without its accent, by one of the customs of names."""
    lower = char.lower()
    found = _CUSTOMS_OF_NAMES[custom].get(lower) or "".join(
        _STROKES.get(c, c) for c in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(c)
    )
    return found.upper() if char != lower else found


def spellings(name: str) -> set[str]:
    """A name in small letters, as it is and as it may be written without accents."""
    lower = unicodedata.normalize("NFC", name.lower())
    customs = range(len(_CUSTOMS_OF_NAMES))
    return {lower} | {"".join(_plain(c, custom) for c in lower) for custom in customs if not lower.isascii()}


class _Sign(NamedTuple):
    """Characters start to end stand for this one."""

    start: int
    end: int
    char: str


def _signs(text: str) -> Iterator[_Sign]:
    """All that is not written in plain letters, from left to right."""
    end = 0
    for found in _SIGN.finditer(text):
        start = found.start()
        if start < end:
            continue
        if (sign := _sign(text, start, end)) is not None:
            end = sign.end
            yield sign


def _sign(text: str, at: int, before: int) -> _Sign | None:
    char = text[at]
    if char == "&":
        entity = _ENTITY.match(text, at)
        meant = html.unescape(entity[0]) if entity else ""
        return _Sign(at, entity.end(), meant) if entity and len(meant) == 1 else None
    if char == "\\":
        tex = _TEX.match(text, at)
        if tex is None:
            return None
        accent = tex["accent"] or tex["command"]
        meant = (
            _composed((tex["within"] or tex["bare"]) + _ACCENTS[accent]) if accent else _LETTERS[tex["letter"]]
        )
        braced = at > before and text[at - 1] == "{" and text[tex.end() : tex.end() + 1] == "}"
        return _Sign(at - braced, tex.end() + braced, meant)
    marks = _MARKS.match(text, at + 1)
    end = marks.end() if marks else at + 1
    if unicodedata.combining(char):
        return _Sign(at - 1, end, _composed(text[at - 1 : end])) if at > before else None
    return _Sign(at, end, char)


def _composed(text: str) -> str:
    """A letter and its accent as one character, or the letter if there is none such."""
    whole = unicodedata.normalize("NFC", text)
    return whole if len(whole) == 1 else text[0]


class Excerpts(NamedTuple):
    """Pieces of a text in plain letters, and between which places of the text each character comes from."""

    text: str
    starts: list[int]
    ends: list[int]


def excerpts(text: str, is_sought: Callable[[str], bool]) -> Excerpts:
    """What stands around words that are sought and not written in plain letters, in each customary spelling."""
    found = Excerpts("", [], [])
    if not _SIGN.search(text):
        return found
    # Most texts have no name in them, which their words tell, unless some are written in several characters.
    if not _MARKUP.search(text):
        words = (word for word in set(_WORD.findall(text)) if not word.isascii())
        if not any(_SIGN.search(word) and is_sought(word) for word in words):
            return found
    signs = list(_signs(text))
    pieces: list[str] = []
    for start, end in _windows(text, (place for *place, word in _words(text, signs) if is_sought(word))):
        inside = signs[bisect_left(signs, (start,)) : bisect_left(signs, (end,))]
        seen: set[str] = set()
        for custom in range(len(_CUSTOMS)):
            piece = _spelt(text, start, end, inside, custom)
            if piece.text not in seen:
                seen.add(piece.text)
                pieces += piece.text, _APART
                found.starts.extend([*piece.starts, *[end] * len(_APART)])
                found.ends.extend([*piece.ends, *[end] * len(_APART)])
    return found._replace(text="".join(pieces))


def _words(text: str, signs: list[_Sign]) -> Iterator[tuple[int, int, str]]:
    """The words that have signs in them or just behind, with accents as one character."""
    n = before = 0
    while n < len(signs):
        first = signs[n].start
        start = first
        while start > before and text[start - 1].isalpha():
            start -= 1
        word, end = [text[start:first]], first
        while n < len(signs) and signs[n].start == end and signs[n].char.isalpha():
            behind = signs[n + 1].start if n + 1 < len(signs) else len(text)
            letters = _PLAIN_LETTERS.match(text, signs[n].end, behind)
            word += signs[n].char, letters[0] if letters else ""
            end = letters.end() if letters else signs[n].end
            n += 1
        if end == first:  # a sign that is no letter, such as a space
            n += 1
        before = end
        yield start, end, "".join(word)


def _windows(text: str, places: Iterable[Sequence[int]]) -> list[tuple[int, int]]:
    """The places with what is around them, from a space to a space, those that touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in places:
        reached = found[-1][1] if found else 0
        first = max(text.rfind(" ", reached, max(reached, start - _AROUND)), reached)
        behind = text.find(" ", end + _AROUND)
        last = behind if behind >= 0 else len(text)
        if found and first == reached:
            found[-1] = (found[-1][0], max(last, reached))
        else:
            found.append((first, last))
    return found


def _spelt(text: str, start: int, end: int, signs: Iterable[_Sign], custom: int) -> Excerpts:
    """A piece of a text with its signs in plain letters."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for sign in (*signs, _Sign(end, end, "")):
        if sign.end > end:
            continue
        plain = _plain(sign.char, custom)
        pieces += text[start : sign.start], plain
        starts += *range(start, sign.start), *[sign.start] * len(plain)
        ends += *range(start + 1, sign.start + 1), *[sign.end] * len(plain)
        start = sign.end
    return Excerpts("".join(pieces), starts, ends)
