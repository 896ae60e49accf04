"""Web pages -> a Source of what a reader sees."""

from __future__ import annotations

import re

from chaffinch.native.fingerprint import Source, page_text
from chaffinch.read import encoding as plain
from chaffinch.types import Document

# Nothing that was taken is given back: many comments could be parted in more ways than there is time for.
_START = re.compile(
    rb"\s*+(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b",
    re.I | re.S,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I)
_HEAD = 4096


def is_html(document: Document) -> bool:
    """By its first bytes."""
    start = document.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") and _START.match(document.data[:_HEAD]) is not None


def declared_encoding(data: bytes) -> str | None:
    """What the page says of itself."""
    found = _CHARSET.search(data[:_HEAD])
    return found[1].decode("ascii") if found else None


def source(document: Document, encoding: str) -> Source:
    """The page as the core takes it; bytes of what is neither UTF-8 nor a byte a character are its UTF-8's."""
    if (table := plain.single_byte_table(encoding)) is not None:
        return Source.html(document.data, table)
    return Source.html(plain.as_utf8(document, encoding))


def html_text(data: bytes, encoding: str | None = None) -> str:
    """Return what a reader sees of a page, a line for each block: the same letters as in its stream."""
    encoding = encoding or plain.first_guess(data)
    if encoding == "utf-8":
        encoding = plain.second_guess(data, declared_encoding(data))
    return page_text(data.decode(encoding, "replace").encode("utf-8", "replace"))
