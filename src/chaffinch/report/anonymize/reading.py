"""Read a text as a search for names needs it: folded like the text of a comparison, with places in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape
from itertools import product
from unicodedata import category, normalize
from urllib.parse import unquote

import numpy as np

from chaffinch.fingerprinting import stream

_TEX = (
    r"""\\(?:(?:(?:"(?=[ {\\]{0,2}[aeiouyAEIOUY])|['`^~=.])[ ]?|[cvHukrbd](?![A-Za-z])[ ]*)"""
    r"""(?:\{[ ]?\\?[A-Za-z][ ]?\}|\\?[A-Za-z])"""
    r"""|(?:ss|SS|aa|AA|ae|AE|oe|OE|dj|DJ|[oOlLij])(?![A-Za-z])(?:\{\}|[ ](?=[a-z]))?)"""
)
_ENCODED = re.compile(
    r"&(?:\#\d{2,7}|\#[xX][0-9a-fA-F]{2,6}|[A-Za-z][A-Za-z0-9]{1,31});|\\u[0-9a-fA-F]{4}|(?:%[0-9a-fA-F]{2})+"
    rf"|\{{{_TEX}\}}|{_TEX}"
)
_LIGATURES = {"ss": "ß", "SS": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ"}
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>|\\[A-Za-z]+\*?")
_ESCAPE = re.compile(r"(?<!\\)\\[abfnrtv](?=[A-Za-z])")
_FILLER = "\u034f"
"""A combining mark without looks. It fills up what is decoded, so that all readings have the same length."""
_NO_WIDTH = "\u200b"
_ACCENTED = re.compile("([äöüøåÄÖÜØÅ])")
_PLAIN = re.compile("([aou]e|aa)", re.I)
_MOST_VARIED = 4
"""Letters of a name that are spelt in every combination; the others stay as they are."""


@lru_cache(1 << 16)
def fold(text: str) -> str:
    """Return the symbols of a text."""
    return stream(text).symbols.astype("<u4").tobytes().decode("utf-32-le", "replace")


def spellings(name: str) -> dict[str, bool]:
    """Return how a name is spelt, and whether only letters with accents give this spelling.

    Müller is also Mueller. Both are found in Müller, which is folded to muller, but Baer is not found in bar.
    """
    name = normalize("NFC", name)
    plain = _varied(_ACCENTED, name, lambda letter: "aa" if letter in "åÅ" else letter + "e")
    accented = (spelling for known in plain for spelling in _varied(_PLAIN, known, lambda letters: letters[0]))
    return dict.fromkeys(accented, True) | dict.fromkeys(plain, False)


def _varied(pattern: re.Pattern[str], name: str, other: Callable[[str], str]) -> list[str]:
    """Return a name with any of the letters that match written in the other way."""
    pieces = pattern.split(name)
    choices = [
        (piece, other(piece)) if n % 2 else (piece,) for n, piece in enumerate(pieces[: 2 * _MOST_VARIED])
    ]
    return ["".join([*choice, *pieces[2 * _MOST_VARIED :]]) for choice in product(*choices)]


def is_unspaced(symbol: str) -> bool:
    """Tell whether a symbol is of a script that has no spaces between words."""
    return "\u2e80" <= symbol < "\uac00" or symbol > "\U0001ffff"


class Reading:
    """The symbols of a text, and the characters that each one comes from."""

    def __init__(self, text: str) -> None:
        self.text = text
        folded = stream(text)
        self.symbols = folded.symbols.astype("<u4").tobytes().decode("utf-32-le", "replace")
        data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
        character = np.cumsum((data & 0xC0) != 0x80) - 1
        starts, ends = character[folded.starts], character[folded.ends - 1] + 1
        self.starts: list[int] = starts.tolist()
        self.ends: list[int] = ends.tolist()
        gaps = starts[1:] > ends[:-1]
        letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")[starts]
        is_other = (letters != folded.symbols) | (letters < ord("a")) | (letters > 0xFF)
        may_begin = is_other.copy()
        may_begin[:1] = True
        may_begin[1:] |= gaps | is_other[:-1]
        self.may_begin: list[int] = may_begin.nonzero()[0].tolist()
        """Where words may begin: every symbol for which `is_break` holds, and some others."""

    def span(self, first: int, behind: int) -> tuple[int, int]:
        """Return the characters that some symbols come from, with the marks on the last one."""
        end = self.ends[behind - 1]
        while end < len(self.text) and category(self.text[end])[0] == "M":
            end += 1
        return self.starts[first], end

    def gap(self, n: int) -> str:
        """Return the characters between the nth symbol and the one before that can be seen."""
        gap = self.text[self.ends[n - 1] : self.starts[n]]
        return (
            gap if gap.isascii() else "".join(c for c in gap if category(c)[0] != "M" and category(c) != "Cf")
        )

    def is_break(self, n: int) -> bool:
        """Tell whether a word begins at the nth symbol: after a separator, in camelCase, after a digit."""
        if n in (0, len(self.symbols)) or self.gap(n):
            return True
        before, after = self.text[self.ends[n - 1] - 1], self.text[self.starts[n]]
        return (before.islower() and after.isupper()) or before.isdigit() != after.isdigit()

    def is_edge(self, n: int) -> bool:
        """Tell whether a name may begin or end here; in scripts without spaces it may anywhere."""
        return self.is_break(n) or is_unspaced(self.symbols[n - 1]) or is_unspaced(self.symbols[n])


def readings(text: str) -> Iterator[Reading]:
    """Yield the text as it is; with its entities, escapes and TeX letters decoded; and also without tags."""
    yield Reading(_ESCAPE.sub("  ", text) if "\\" in text else text)
    if re.search(r"[&\\%<]", text):
        decoded = _ENCODED.sub(_decode, text)
        untagged = _TAG.sub(lambda tag: _NO_WIDTH * len(tag[0]), decoded)
        yield from map(Reading, dict.fromkeys((decoded, untagged)).keys() - {text})


def _decode(match: re.Match[str]) -> str:
    markup = match[0]
    if markup[0] == "&":
        letter = unescape(markup)
    elif markup[0] == "%":
        letter = unquote(markup)
    elif re.fullmatch(r"\\u[0-9a-fA-F]{4}", markup):
        letter = chr(int(markup[2:], 16))
    else:
        command = re.sub(r"[\\{} ]", "", markup)
        letter = _LIGATURES.get(command, command[-1])
    return letter.ljust(len(markup), _FILLER)
