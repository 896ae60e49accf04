"""Text taken out of a format that is not text, with a map to its pages, paragraphs or cells."""

from __future__ import annotations

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.types import Document, Section

MAX_TEXT = 1 << 30
"""More text than this is a bomb, not a document."""


class Extract:
    """Collects the text of a document piece by piece."""

    def __init__(self, original: Document) -> None:
        self._original = original
        self._pieces: list[bytes] = []
        self._sections: list[Section] = []
        self._size = 0

    def part(self, label: str) -> None:
        """What is written from here on belongs to this page, paragraph or cell."""
        if self._sections and self._sections[-1].start == self._size:
            self._sections.pop()  # nothing was written to it
        self._sections.append(Section(self._size, label))

    def write(self, text: str) -> None:
        piece = text.encode("utf-8", "replace")  # half a surrogate pair is no character
        self._size += len(piece)
        if self._size > MAX_TEXT:
            raise Unreadable(
                self._original.name,
                SkipReason.TOO_LARGE,
                f"holds more than {MAX_TEXT >> 20} MB of text; split it",
            )
        self._pieces.append(piece)

    def document(self, language: str = "text") -> Document:
        """The original with its text in place of its bytes."""
        return self._original.reread(
            b"".join(self._pieces), encoding="utf-8", language=language, sections=tuple(self._sections)
        )
