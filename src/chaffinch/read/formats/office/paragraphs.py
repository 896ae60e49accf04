"""Paragraphs, table cells and notes, one after another -> the text of a document with its sections."""

from __future__ import annotations

from chaffinch.errors import Unreadable
from chaffinch.read.formats.extract import NO_TEXT, Extract
from chaffinch.types import Document, File


class Paragraphs:
    """Collect a document's paragraphs. Notes come at the end, so that they do not split sentences."""

    def __init__(self, original: File) -> None:
        self._name = original.name
        self._extract = Extract(original)
        self._count = 0
        self._gap = ""  # the separator before the next paragraph
        self._row_has_text = False
        self._notes: list[str] = []

    def add(self, text: str) -> None:
        """Add a paragraph; blank ones are neither written nor counted."""
        if text := text.rstrip():
            self._count += 1
            self._write(f"paragraph {self._count}", text)
            self._row_has_text = True

    def _write(self, label: str, text: str) -> None:
        self._extract.write(self._gap)
        self._extract.section(label)
        self._extract.write(text)
        self._gap = "\n"

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
                self._write(f"footnote {number}", note)
        if self._extract.is_empty:
            raise Unreadable(self._name, *NO_TEXT)
        self._extract.write("\n")
        return self._extract.document()
