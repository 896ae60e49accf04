"""Paragraphs, table cells and notes, one after another -> a document's text with its places."""

from __future__ import annotations

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.formats.extract import Extract
from chaffinch.types import Document, File


class Paragraphs:
    """Collects a document's paragraphs; its notes come after all else, so that they split no sentence."""

    def __init__(self, original: File) -> None:
        self._name = original.name
        self._extract = Extract(original)
        self._count = 0
        self._gap = ""  # what will stand between the text so far and the next
        self._row_has_text = False
        self._notes: list[str] = []

    def add(self, text: str) -> None:
        """One more paragraph; blank ones are neither written nor counted."""
        text = text.rstrip()
        if text:
            self._count += 1
            self._extract.write(self._gap)
            self._extract.section(f"paragraph {self._count}")
            self._extract.write(text)
            self._gap = "\n"
            self._row_has_text = True

    def end_cell(self) -> None:
        if self._row_has_text:
            self._gap = "\t"

    def row(self) -> None:
        """A row of a table begins or ends here."""
        self._gap = "\n" if self._gap else ""
        self._row_has_text = False

    def add_note(self, text: str) -> None:
        """A footnote or endnote."""
        self._notes.append(text.strip())

    def document(self) -> Document:
        """All that was collected; raises if that is nothing."""
        for number, note in enumerate(self._notes, 1):
            if note:
                self._extract.write(self._gap)
                self._extract.section(f"footnote {number}")
                self._extract.write(note)
                self._gap = "\n"
        if not self._gap:
            raise Unreadable(
                self._name,
                SkipReason.NOT_TEXT,
                "holds no text; if it shows pictures of text, hand in the text itself",
            )
        self._extract.write("\n")
        return self._extract.document()
