"""Read a text as the comparison does: folded symbols without case, accents and markup, with their positions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape
from itertools import product
from unicodedata import category, normalize
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from chaffinch.fingerprinting import stream

_ALWAYS = {"þ": "th", "ð": "d"}
_WITH_E = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe"}
_DOUBLED = {"å": "aa"}
_SHORTENED = {"æ": "a", "ß": "s"}
_LETTERS = {"ss": "ß", "aa": "å", "ae": "æ", "oe": "œ", "o": "ø", "l": "l", "dj": "d", "dh": "d", "th": "þ"}
"""TeX commands for letters."""
_ACCENTS = {'"': "\u0308", "r": "\u030a"}
"""The TeX accents that change how a letter is transliterated; folding removes the others."""

_TEX = (
    r"""\\(?:(?:(?:"(?=[ {\\]{0,2}[aeiouyAEIOUY])|['`^~=.])[ ]?|[cvHukrbd](?![A-Za-z])[ ]*)"""
    r"""(?:\{[ ]?\\?[A-Za-z][ ]?\}|\\?[A-Za-z])"""
    r"""|(?:ss|SS|aa|AA|ae|AE|oe|OE|dj|DJ|dh|DH|th|TH|[oOlLij])(?![A-Za-z])(?:\{\}|[ ](?=[a-z]))?)"""
)
_MARK = "[\u0300-\u036f]"
_LETTER = "[äöüøåþðÄÖÜØÅÞÐ]"
_SIGN = re.compile(rf"[&\\%<]|{_LETTER}|{_MARK}")
_ENCODED = (
    r"&(?:\#\d{2,7}|\#[xX][0-9a-fA-F]{2,6}|[A-Za-z][A-Za-z0-9]{1,31});|\\u[0-9a-fA-F]{4}|(?:%[0-9a-fA-F]{2})+"
    rf"|\{{{_TEX}\}}|{_TEX}|{_LETTER}"
)
_TAG = r"(?P<tag></?[A-Za-z][^<>]{0,300}>|\\[A-Za-z]+\*?)"
_ESCAPE = re.compile(r"(?<!\\)\\[abfnrtv]$")


def _customs(*optional: dict[str, str]) -> list[dict[int, str]]:
    """Return every way to transliterate: each custom is kept or not, whatever the others."""
    choices = product(*(({}, custom) for custom in optional))
    tables = ({k: v for custom in (_ALWAYS, *choice) for k, v in custom.items()} for choice in choices)
    return [
        str.maketrans(table | {k.upper(): v.upper() for k, v in table.items() if k != "ß"}) for table in tables
    ]


_CUSTOMS = _customs(_WITH_E, _DOUBLED)
_CUSTOMS_OF_NAMES = _customs(_WITH_E, _DOUBLED, _SHORTENED)


@lru_cache(1 << 16)
def fold(text: str) -> str:
    """Return the symbols of a text."""
    if text.isascii() and text.isalnum():
        return text.lower()
    return stream(text).symbols.astype("<u4").tobytes().decode("utf-32-le", "replace")


def transliterations(name: str) -> list[str]:
    """Return a name as people write it in plain letters: Müller, Muller, Mueller."""
    name = normalize("NFC", name)
    return (
        [name] if name.isascii() else list(dict.fromkeys(name.translate(table) for table in _CUSTOMS_OF_NAMES))
    )


def _decode(markup: str) -> str:
    """Return the character that an entity, an escape, a letter with accents or a TeX command stands for."""
    if markup[0] == "&":
        return unescape(markup)
    if markup[0] == "%":
        return unquote(markup)
    if re.fullmatch(r"\\u[0-9a-fA-F]{4}", markup):
        return chr(int(markup[2:], 16))
    if markup[0] in "\\{":
        command = re.sub(r"[\\{} ]", "", markup)
        letter = _LETTERS.get(command.lower(), command[-1])
        if command.lower() in _LETTERS:
            return letter.upper() if command[0].isupper() and letter != "ß" else letter
        markup = letter + _ACCENTS.get(command[0], "")
    return normalize("NFC", markup)


class FoldedText:
    """One reading of a text: its symbols, and the characters of the text that each one comes from."""

    def __init__(self, text: str, edits: Sequence[tuple[int, int, str]] = ()) -> None:
        """Read a text after some edits."""
        pieces: list[str] = []
        self._edits: list[tuple[int, int, int, int]] = []
        before = length = 0
        for start, end, new in edits:
            pieces += text[before:start], new
            length += start - before
            self._edits.append((length, length + len(new), start, end))
            length += len(new)
            before = end
        self.text = text = "".join([*pieces, text[before:]])
        folded = stream(text)
        self.codes = folded.symbols
        self.symbols = folded.symbols.astype("<u4").tobytes().decode("utf-32-le", "replace")
        self._starts, self._ends = folded.starts, folded.ends
        if not text.isascii():
            data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
            character = (np.cumsum((data & 0xC0) != 0x80) - 1).astype(np.uint32)
            self._starts, self._ends = character[folded.starts], character[folded.ends - 1] + 1
        self.starts: list[int] = self._starts.tolist()
        self.ends: list[int] = self._ends.tolist()

    def may_begin(self) -> NDArray[np.bool_]:
        """Tell at which symbols a name may begin; some more than there are, because this is fast."""
        gaps = self._starts[1:] > self._ends[:-1]
        characters = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), "<u4")[self._starts]
        is_other = (characters != self.codes) | (self.codes < ord("a")) | (self.codes > 0xFF)
        may_begin: NDArray[np.bool_] = is_other.copy()
        may_begin[:2] = True
        may_begin[1:] |= gaps | is_other[:-1]
        may_begin[2:] |= gaps[:-1]  # after an escape such as \n
        return may_begin

    def span(self, first: int, behind: int) -> tuple[int, int]:
        """Return the characters of the original text that some symbols come from."""
        return self._origin(self.starts[first])[0], self._origin(self.ends[behind - 1] - 1)[1]

    def _origin(self, n: int) -> tuple[int, int]:
        """Return the characters of the original text that the nth character stands for."""
        last = bisect_right(self._edits, n, key=lambda edit: edit[0]) - 1
        if last < 0:
            return n, n + 1
        _, new_end, start, end = self._edits[last]
        return (start, end) if n < new_end else (end + n - new_end, end + n - new_end + 1)

    def gap(self, n: int) -> str:
        """Return the characters between the nth symbol and the one before."""
        return self.text[self.ends[n - 1] : self.starts[n]]

    def first(self, n: int) -> str:
        """Return the character of the nth symbol."""
        return self.text[self.starts[n]]

    def is_break(self, n: int) -> bool:
        """Tell whether a word begins at the nth symbol: after a separator, in camelCase, after a digit."""
        if n in (0, len(self.symbols)):
            return True
        end, start = self.ends[n - 1], self.starts[n]
        if start < end:  # one character, such as a ligature, gives several symbols
            return False
        if end < start and not all(category(char)[0] == "M" or category(char) == "Cf" for char in self.gap(n)):
            return True
        before, after = self.text[end - 1], self.text[start]
        return (
            (before.islower() and after.isupper())
            or before.isdigit() != after.isdigit()
            or (before in "abfnrtv" and _ESCAPE.search(self.text, max(0, end - 3), end) is not None)
        )

    def is_edge(self, n: int) -> bool:
        """Tell whether a name may begin or end here; in scripts without spaces it may anywhere."""
        return self.is_break(n) or is_unspaced(self.symbols[n - 1]) or is_unspaced(self.symbols[n])


def is_unspaced(symbol: str) -> bool:
    """Tell whether a symbol is of a script that has no spaces between words."""
    return "\u2e80" <= symbol < "\uac00" or symbol > "\U0001ffff"


def readings(text: str) -> Iterator[FoldedText]:
    """Yield the text as it is; decoded; without tags and commands; and with ä as ae, å as aa, and so on."""
    yield FoldedText(text)
    if not _SIGN.search(text):
        return
    different = {text}
    # Letters with marks only if there are any: without them, a search skips from sign to sign.
    parts = [rf"[A-Za-z]{_MARK}+", _ENCODED] if re.search(_MARK, text) else [_ENCODED]
    for pattern in (parts, [*parts, _TAG]):
        matches = list(re.finditer("|".join(pattern), text))
        plain = ["" if match.lastgroup else _decode(match[0]) for match in matches]
        for new in dict.fromkeys(tuple(char.translate(table) for char in plain) for table in _CUSTOMS):
            if not any(match[0] != char for match, char in zip(matches, new, strict=True)):
                continue
            reading = FoldedText(
                text, [(*match.span(), char) for match, char in zip(matches, new, strict=True)]
            )
            if reading.text not in different:
                different.add(reading.text)
                yield reading
