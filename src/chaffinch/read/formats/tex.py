"""TeX and LaTeX -> a Source of what the typeset pages say. The core blanks the rest in place."""

from __future__ import annotations

from chaffinch.native.fingerprint import Source
from chaffinch.native.formats import tex_page
from chaffinch.types import Document


def source(document: Document) -> Source:
    """Return the document as the core reads it."""
    return Source.unicode(tex_page(document.data), "utf-8")
