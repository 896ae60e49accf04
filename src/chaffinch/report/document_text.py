"""A document's bytes -> the text that is shown, and where in it each byte stands.

A character is an index into the text; a unit is an index in UTF-16, as JavaScript counts.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chaffinch.read.encoding import NOT_DECODED, decode_with_offsets
from chaffinch.types import Document

Numbers = NDArray[np.int64]

Edit = tuple[int, int, str]
"""Replace the characters from start to end by this text."""

_LONE_RETURN = re.compile("\r(?!\n)")


class DocumentText:
    """The characters of a document, and the offset in bytes of each.

    Without `offsets` every byte is a character. With `edits`, which must be in order, an offset within one
    moves to where the new text begins, or ends if a span ends there.
    """

    def __init__(self, text: str, offsets: Numbers | None = None, edits: Sequence[Edit] = ()) -> None:
        self._original = text
        self._offsets = offsets
        self._edits = edits
        pieces, before = [], 0
        for start, end, new in edits:
            pieces += text[before:start], new
            before = end
        self.text = "".join([*pieces, text[before:]])

    def characters(self, offsets: Numbers, *, ends: bool = False) -> Numbers:
        """Return the character at each offset; `ends` says that spans end there."""
        if self._offsets is None:
            characters = np.clip(offsets, 0, len(self._original))
        else:
            characters = np.searchsorted(self._offsets[1:], offsets, "right")
        return self._edited(characters, ends) if self._edits else characters

    def spans(self, offsets: Numbers) -> Numbers:
        """Return the first character and the end of each span of bytes, a row for each."""
        starts = self.characters(offsets[:, 0])
        return np.column_stack((starts, np.maximum(starts, self.characters(offsets[:, 1], ends=True))))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the first character and the end of one span of bytes."""
        first, behind = self.spans(np.array([[start, end]]))[0].tolist()
        return first, behind

    def units(self, characters: Numbers) -> Numbers:
        """Return the unit at which each of these characters begins."""
        return characters if self._units is None else self._units[characters]

    @cached_property
    def lines(self) -> list[int]:
        """The first character of every line."""
        return [0, *(newline.end() for newline in re.finditer("\n", self.text))]

    def line(self, character: int) -> int:
        """Return the line of a character, counted from 1."""
        return bisect_right(self.lines, character)

    def line_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last line of a span of characters."""
        return self.line(start), self.line(max(start, end - 1))

    @cached_property
    def _units(self) -> Numbers | None:
        if self.text.isascii() or max(self.text) <= "\uffff":
            return None
        codes = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), "<u4")
        return np.cumsum([0, *(1 + (codes > 0xFFFF))])

    def _edited(self, characters: Numbers, ends: bool) -> Numbers:
        """Return where characters of the original text stand after the edits."""
        starts, stops = (np.array([edit[side] for edit in self._edits]) for side in (0, 1))
        new_lengths = np.array([len(new) for *_, new in self._edits])
        growth = np.cumsum([0, *(new_lengths - (stops - starts))])
        number = np.searchsorted(starts, characters - ends, "right")
        last = (number - 1).clip(0)
        inside = (number > 0) & (characters < stops[last])
        bounds = starts + growth[:-1] + (new_lengths if ends else 0)
        return np.where(inside, bounds[last], characters + growth[number])


def decode(document: Document) -> DocumentText:
    """Return the text of a document; bytes that mean nothing in its encoding become replacement characters."""
    try:
        text, offsets = _decode(document.data, document.encoding or "utf-8")
    except LookupError:  # no such encoding
        text, offsets = _decode(document.data, "utf-8")
    return DocumentText(_LONE_RETURN.sub("\n", text), offsets)


def _decode(data: bytes, encoding: str) -> tuple[str, Numbers | None]:
    """Return the characters, and the offset of each and of the end; no offsets if every byte is a character."""
    with suppress(UnicodeDecodeError):
        if encoding == "utf-8":  # most texts, and quick: every byte that continues no other begins a character
            text = data.decode()
            begins = np.frombuffer(data, np.uint8) & 0xC0 != 0x80
            return text, None if text.isascii() else np.append(np.flatnonzero(begins), len(data))
    codes, offsets = decode_with_offsets(data, codecs.lookup(encoding).name)
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return text.replace(NOT_DECODED, "\ufffd"), offsets.astype(np.int64)
