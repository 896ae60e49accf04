"""Books (EPUB) -> their text, chapter by chapter."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.formats.extract import Extract
from chaffinch.read.formats.html import html_text
from chaffinch.read.formats.office.package import Unpack, elements
from chaffinch.types import Document, File

_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
_TITLE = re.compile(rb"<title[^<>]*>[^<]*</title>", re.I)  # which nobody sees in a book


def text(file: File, unpack: Unpack) -> Document:
    """The chapters in the order of the book."""
    extract = Extract(file)
    found = False
    chapters = _chapters(file.name, unpack)
    locked = {
        _resolve("", attributes.get("URI", ""))
        for element, attributes in elements(file.name, unpack("META-INF/encryption.xml"))
        if element == "CipherReference"
    }
    if not locked.isdisjoint(chapters):  # embedded fonts are often scrambled, which does not matter
        raise Unreadable(
            file.name, SkipReason.PROTECTED, "is locked by its publisher (DRM); hand in a copy that is not"
        )
    for number, path in enumerate(chapters, 1):
        page = html_text(_TITLE.sub(b"", unpack(path) or b"", count=1))
        if page:
            found = True
            extract.section(f"chapter {number}")
            extract.write(page + "\n")
    if not found:
        raise Unreadable(
            file.name,
            SkipReason.NOT_TEXT,
            "holds no text; if it shows pictures of text, hand in the text itself",
        )
    return extract.document()


def _chapters(name: str, unpack: Unpack) -> list[str]:
    """The paths of the pages, each once."""
    container = elements(name, unpack("META-INF/container.xml"))
    package = next(
        (a["full-path"] for element, a in container if element == "rootfile" and "full-path" in a), ""
    )
    listed = elements(name, unpack(_resolve("", package)))
    if not listed:
        raise Unreadable(
            name, SkipReason.DAMAGED, "is damaged (its table of contents is missing); save it again"
        )
    pages = {
        a.get("id", ""): _resolve(dirname(package), a.get("href", ""))
        for element, a in listed
        if element == "item" and a.get("media-type", _PAGES[0]) in _PAGES
    }
    spine = (a.get("idref", "") for element, a in listed if element == "itemref")
    return list(dict.fromkeys(pages[i] for i in spine if i in pages))


def _resolve(folder: str, reference: str) -> str:
    return normpath(join("/", folder, unquote(reference.partition("#")[0]))).lstrip("/")
