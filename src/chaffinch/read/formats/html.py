"""Web pages -> a Source of what a reader sees."""

from __future__ import annotations

import re

from chaffinch.native.fingerprint import Source, page_text
from chaffinch.read.encoding import UTF8, decode, detect, single_byte_table
from chaffinch.types import Document

# Possessive throughout: with backtracking, a page of many comments would take exponential time.
_START = re.compile(
    rb"\s*+(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b",
    re.I | re.S,
)
_HEAD_BYTES = 1 << 12


def is_html(data: bytes) -> bool:
    """Return whether the first bytes are those of a web page."""
    start = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") and _START.match(data[:_HEAD_BYTES]) is not None


def source(document: Document) -> Source:
    """Return the page as the core reads it, in UTF-8 or an encoding of one byte a character."""
    table = None if document.encoding == UTF8 else single_byte_table(document.encoding)
    return Source.html(document.data, table)


def html_text(data: bytes, encoding: str | None = None) -> str:
    """Return what a reader sees of a page, a line for each block: the same letters as in its stream."""
    text = decode(data, encoding or detect(data, is_page=True))
    return page_text(text.encode("utf-8", "replace"))
