"""Markdown -> a Source of what a reader of the rendered page sees. The core blanks the rest in place."""

from __future__ import annotations

from chaffinch.native.fingerprint import Source
from chaffinch.native.formats import markdown_page
from chaffinch.types import Document


def source(document: Document) -> Source:
    """Return the document as the core reads it."""
    return Source.unicode(markdown_page(document.data), "utf-8")
