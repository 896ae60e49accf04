"""The documents of a report by submission and name: their texts as they are shown, and their symbols."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from chaffinch.report.align import NO_SYMBOLS, Symbols, read_symbols
from chaffinch.report.document_text import DocumentText, Edit, decode
from chaffinch.types import Document, Report, Span, Submission

Redact = Callable[[str, str], list[Edit]]
"""From a submission's name and its text to the edits that remove names from it, in order."""


class ReportTexts:
    """The texts of all documents and the places of their symbols, each made when it is first needed."""

    def __init__(self, report: Report, redact: Redact | None = None) -> None:
        self._report = report
        self._redact = redact
        self._texts: dict[tuple[str, str], DocumentText] = {}
        self._symbols: dict[tuple[str, str], Symbols] = {}

    @cached_property
    def submissions(self) -> dict[str, Submission]:
        """Every submission by name, earlier work too."""
        return {s.name: s for s in (*self._report.old[::-1], *self._report.submissions[::-1])}

    @cached_property
    def documents(self) -> dict[str, dict[str, Document]]:
        """Every document by submission and name."""
        return {s.name: {d.name: d for d in s.documents[::-1]} for s in self.submissions.values()}

    @cached_property
    def owner(self) -> dict[str, str]:
        """The submission of each document, both by name."""
        return {
            d.name: s.name for s in (*self._report.old, *self._report.submissions)[::-1] for d in s.documents
        }

    def short(self, document: str) -> str:
        """Return the name of a document without the folders that all documents share."""
        return document[self._shared_length :]

    @cached_property
    def _shared_length(self) -> int:
        everyone = (*self._report.submissions, *self._report.old)
        names = [d.name for s in everyone for d in s.documents] or [""]
        first, last = min(names), max(names)  # all names between these share what these two share
        same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        return max(first.rfind("/", 0, same), first.rfind("\\", 0, same)) + 1

    def text(self, submission: str, document: str) -> DocumentText | None:
        """Return the text of a document; None if there is no such document."""
        key = (submission, document)
        if key not in self._texts:
            if (known := self.documents.get(submission, {}).get(document)) is None:
                return None
            text = decode(known)
            self._texts[key] = text.edited(self._redact(submission, text.text)) if self._redact else text
        return self._texts[key]

    def span(self, submission: str, span: Span) -> tuple[DocumentText, int, int] | None:
        """Return the text of a span's document, and the characters of the span; None if there is no text."""
        text = self.text(submission, span.document)
        return None if text is None else (text, *text.span(span.start, span.end))

    def symbols(self, submission: str, document: str) -> Symbols:
        """Return where the symbols of a document stand; none if there is no such document."""
        key = (submission, document)
        if key not in self._symbols:
            known = self.documents.get(submission, {}).get(document)
            stream, fronts = self._report.streams.get(key), list(self._report.receipt.recipes)
            self._symbols[key] = read_symbols(known, fronts, stream) if known else NO_SYMBOLS
        return self._symbols[key]
