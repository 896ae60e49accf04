"""Paragraphs, table cells and notes, one after another -> the text of a document with its sections."""

from __future__ import annotations

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.formats.extract import NO_TEXT, Extract
from chaffinch.types import Document, File

_MAX_NESTED = 1000
"""A text box in a text box in a paragraph makes three."""


class Paragraphs:
    """Collect a document's paragraphs. Notes come at the end, so that they do not split sentences."""

    def __init__(self, original: File) -> None:
        self.name = original.name
        self._extract = Extract(original)
        self._count = 0
        self._gap = ""  # the separator before the next paragraph
        self._row_has_text = False
        self._notes: list[str] = []
        self._open: list[list[str]] = []  # a paragraph may hold a text box or a note with paragraphs
        self._open_notes: list[list[str]] = []  # one, except in hostile files

    def begin(self) -> None:
        """Begin a paragraph."""
        if len(self._open) > _MAX_NESTED:
            detail = f"nests more than {_MAX_NESTED:,} paragraphs, which no real document does; save it again"
            raise Unreadable(self.name, SkipReason.DAMAGED, detail)
        self._open.append([])

    def write(self, text: str) -> None:
        """Add text to the innermost open paragraph, if there is one."""
        if self._open:
            self._open[-1].append(text)

    def end(self) -> None:
        """End the innermost open paragraph."""
        pieces = self._open.pop()
        if self._open_notes:
            self._open_notes[-1].append("".join(pieces))
        elif pieces:
            self.add("".join(pieces))

    def begin_note(self) -> None:
        """Begin a footnote or endnote."""
        self._open_notes.append([])

    def end_note(self) -> None:
        """End the innermost open note, if there is one."""
        if self._open_notes:
            self.add_note("\n".join(self._open_notes.pop()))

    def add(self, text: str) -> None:
        """Add a paragraph; blank ones are neither written nor counted."""
        if text := text.rstrip():
            self._count += 1
            self._extract.add(self._gap, f"paragraph {self._count}", text)
            self._gap = "\n"
            self._row_has_text = True

    def end_cell(self) -> None:
        if self._row_has_text:
            self._gap = "\t"

    def row(self) -> None:
        """Begin or end a row of a table."""
        self._gap = "\n" if self._gap else ""
        self._row_has_text = False

    def add_note(self, text: str) -> None:
        """Add a footnote or endnote."""
        self._notes.append(text.strip())

    def document(self) -> Document:
        """Return the document; raise an error if it has no text."""
        for number, note in enumerate(self._notes, 1):
            if note:
                self._extract.add(self._gap, f"footnote {number}", note)
                self._gap = "\n"
        if self._extract.is_empty:
            raise Unreadable(self.name, *NO_TEXT)
        self._extract.write("\n")
        return self._extract.document()
