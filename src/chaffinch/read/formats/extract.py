"""The text of a file in a format that is not text, with a map to its pages, paragraphs or cells."""

from __future__ import annotations

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.types import Document, File, Section

MAX_TEXT = 1 << 30
"""Bytes. More text than this is a bomb, not a document."""
MAX_SECTIONS = 200_000
"""Further ones belong to the last. A document with more paragraphs was made to be slow."""
NO_TEXT = Problem(SkipReason.NOT_TEXT, "holds no text; if it shows pictures of text, hand in the text itself")


class Extract:
    """Collect the text of a document piece by piece."""

    def __init__(self, original: File) -> None:
        self._original = original
        self._pieces: list[bytes] = []
        self._sections: list[Section] = []
        self._size = 0

    def section(self, label: str) -> None:
        """Begin a page, paragraph or cell."""
        if self._sections and self._sections[-1].start == self._size:
            self._sections.pop()  # nothing was written to it
        if len(self._sections) < MAX_SECTIONS:
            self._sections.append(Section(self._size, label))

    def add(self, gap: str, label: str, text: str) -> None:
        """Write a gap of ASCII, then a section; the same as three calls, in half the time."""
        if len(self._sections) < MAX_SECTIONS:
            self._sections.append(Section(self._size + len(gap), label))
        self.write(gap + text)

    def write(self, text: str) -> None:
        piece = text.encode("utf-8", "replace")  # half a surrogate pair is not a character
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > MAX_TEXT:
            detail = f"holds more than {MAX_TEXT >> 20} MB of text; split it"
            raise Unreadable(self._original.name, SkipReason.TOO_LARGE, detail)

    @property
    def is_empty(self) -> bool:
        return not self._size

    def document(self, language: str = "text") -> Document:
        """Return the extracted text as a document, under the name and format of the file."""
        file, text = self._original, b"".join(self._pieces)
        sections = tuple(self._sections)
        return Document(file.name, text, "utf-8", file.format or "plain", language, sections, file.sha256())
