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
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from chaffinch.read.encoding import NOT_DECODED, decode_with_offsets
from chaffinch.types import Document, Span

Numbers = NDArray[np.int64]

Edit = tuple[int, int, str]
"""Replace the characters from start to end by this text."""

_LONE_RETURN = re.compile("\r(?!\n)")


class DocumentText:
    """The characters of a document, and where in its bytes they are.

    `offsets` are those of every character and of the end; without them, every byte is a character.
    """

    def __init__(self, text: str, offsets: Numbers | None = None) -> None:
        self.text = text
        self._size = len(text)
        self._offsets = offsets
        self._edits: _Edits | None = None

    def edited(self, edits: Sequence[Edit]) -> DocumentText:
        """Return the text after the edits, which must be in order.

        A span that begins within an edit then begins with the new text, and one that ends there ends with it.
        """
        if not edits:
            return self
        pieces: list[str] = []
        before = 0
        for start, end, new in edits:
            pieces += self.text[before:start], new
            before = end
        after = DocumentText("".join([*pieces, self.text[before:]]), self._offsets)
        after._size, after._edits = self._size, _Edits(edits)
        return after

    def characters(self, offsets: Numbers, *, ends: bool = False) -> Numbers:
        """Return the character at each offset, or with `ends` the end of the spans that end there."""
        if self._offsets is None:
            characters = np.minimum(np.maximum(offsets, 0), self._size)
        else:
            characters = np.searchsorted(self._offsets[1:], offsets, "right")
        return self._edits.moved(characters, ends) if self._edits else characters

    def spans(self, offsets: Numbers) -> Numbers:
        """Return the first character and the end of each span of bytes, a row for each."""
        starts = self.characters(offsets[:, 0])
        return np.column_stack((starts, np.maximum(starts, self.characters(offsets[:, 1], ends=True))))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the first character and the end of one span of bytes."""
        if self._offsets is None and self._edits is None:  # most texts, and many times as fast
            first = min(max(start, 0), self._size)
            return first, max(first, min(end, self._size))
        first, after = self.spans(np.array([[start, end]]))[0].tolist()
        return first, after

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
        """The unit of each character and of the end; None if every character is one unit."""
        if self.text.isascii():
            return None
        is_wide = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), "<u4") > 0xFFFF
        units = np.arange(len(is_wide) + 1)
        units[1:] += np.cumsum(is_wide)
        return units if is_wide.any() else None


class _Edits:
    """Edits as columns, to move many characters at once."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self.starts, self.ends = (np.array([edit[side] for edit in edits]) for side in (0, 1))
        lengths = np.array([len(new) for *_, new in edits])
        # How much longer the text is after none of the edits, after the first, and so on.
        self.growth = np.cumsum([0, *(lengths - (self.ends - self.starts))])
        self.new_starts = self.starts + self.growth[:-1]
        self.new_ends = self.new_starts + lengths

    def moved(self, characters: Numbers, ends: bool) -> Numbers:
        """Return where characters, or ends of spans, stand after the edits."""
        number = np.searchsorted(self.starts, characters - ends, "right")
        last = (number - 1).clip(0)
        is_inside = (number > 0) & (characters < self.ends[last])
        bounds = self.new_ends if ends else self.new_starts
        moved: Numbers = np.where(is_inside, bounds[last], characters + self.growth[number])
        return moved


def span_offsets(spans: Sequence[Span]) -> Numbers:
    """Return the start and end of each span, a row for each."""
    offsets = chain.from_iterable((span.start, span.end) for span in spans)
    return np.fromiter(offsets, np.int64, 2 * len(spans)).reshape(-1, 2)


def decode(document: Document) -> DocumentText:
    """Return the text of a document; bytes that mean nothing in its encoding become replacement characters."""
    try:
        text, offsets = _decode(document.data, document.encoding)
    except LookupError:  # no such encoding
        text, offsets = _decode(document.data, "utf-8")
    return DocumentText(_LONE_RETURN.sub("\n", text), offsets)


def _decode(data: bytes, encoding: str) -> tuple[str, Numbers | None]:
    """Return the characters, and the offset of each and of the end; no offsets if every byte is a character."""
    with suppress(UnicodeDecodeError):
        if encoding == "utf-8":  # most texts, and quick: all bytes begin a character but continuation bytes
            if data.isascii():
                return data.decode(), None
            begins = np.frombuffer(data, np.uint8) & 0xC0 != 0x80
            return data.decode(), np.append(np.flatnonzero(begins), len(data))
    codes, offsets = decode_with_offsets(data, codecs.lookup(encoding).name)
    text = codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return text.replace(NOT_DECODED, "\ufffd"), offsets.astype(np.int64)
