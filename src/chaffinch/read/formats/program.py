"""Programs -> a Source whose symbols are tokens."""

from __future__ import annotations

from functools import cache

from chaffinch.languages.language import KEEP_NAMES, records
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source
from chaffinch.types import Document


@cache
def lexer(front: str) -> core.Language:
    """Return the native lexer of a language, with or without its names."""
    language, keep, _ = front.partition(KEEP_NAMES)
    rows = [*records(language), *([("keep-names",)] if keep else [])]
    return core.Language(language, b"\x1e".join(b"\x1f".join(f.encode() for f in row) for row in rows))


def source(document: Document, front: str) -> Source:
    """Return the document as the core reads it, in an encoding that contains ASCII."""
    return Source.code(document.data, lexer(front))
