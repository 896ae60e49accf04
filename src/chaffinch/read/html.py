"""Web pages -> a Source of what a reader sees."""

from __future__ import annotations

import re

from chaffinch.core import Source
from chaffinch.read import plain
from chaffinch.types import Document

# Nothing that was taken is given back: many comments could be parted in more ways than there is time for.
_START = re.compile(
    rb"\s*+(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b",
    re.I | re.S,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I)
_HEAD = 4096


def is_html(document: Document) -> bool:
    """By its first bytes, else by its name."""
    start = document.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<") and _START.match(document.data[:_HEAD]):
        return True
    return is_named_html(document.name)


def is_named_html(name: str) -> bool:
    return name.lower().endswith((".html", ".htm", ".xhtml"))


def declared_encoding(data: bytes) -> str | None:
    """What the page says of itself."""
    found = _CHARSET.search(data[:_HEAD])
    return found[1].decode("ascii") if found else None


def source(document: Document, encoding: str) -> Source:
    """The page as the core takes it; bytes of what is neither UTF-8 nor a byte a character are its UTF-8's."""
    table = plain.single_byte_table(encoding)
    if table is not None or encoding == "utf-8":
        return Source.html(document.data, table)
    return Source.html(document.data.decode(encoding, "replace").encode())
