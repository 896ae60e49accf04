"""Books (EPUB) -> their text, chapter by chapter."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.formats.extract import NO_TEXT, Extract
from chaffinch.read.formats.html import html_text
from chaffinch.read.formats.office.package import Unpack, damaged, elements
from chaffinch.types import Document, File

_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
_TITLE = re.compile(rb"<title[^<>]*>[^<]*</title>", re.I)  # not shown in a book


def text(file: File, unpack: Unpack) -> Document:
    """Return the chapters in the order of the book."""
    extract = Extract(file)
    chapters = _chapters(file.name, unpack)
    locked = {
        _resolve("", attributes.get("URI", ""))
        for element, attributes in elements(file.name, unpack("META-INF/encryption.xml"))
        if element == "CipherReference"
    }
    if not locked.isdisjoint(chapters):  # embedded fonts are often scrambled, which does not matter
        detail = "is locked by its publisher (DRM); hand in a copy that is not"
        raise Unreadable(file.name, SkipReason.PROTECTED, detail)
    for number, path in enumerate(chapters, 1):
        if page := html_text(_TITLE.sub(b"", unpack(path) or b"", count=1)):
            extract.section(f"chapter {number}")
            extract.write(page + "\n")
    if extract.is_empty:
        raise Unreadable(file.name, *NO_TEXT)
    return extract.document()


def _chapters(name: str, unpack: Unpack) -> list[str]:
    """Return the paths of the pages, each once."""
    container = elements(name, unpack("META-INF/container.xml"))
    package = next((a["full-path"] for e, a in container if e == "rootfile" and "full-path" in a), "")
    listed = elements(name, unpack(_resolve("", package)))
    if not listed:
        raise damaged(name, "its table of contents is missing")
    pages = {
        a.get("id", ""): _resolve(dirname(package), a.get("href", ""))
        for element, a in listed
        if element == "item" and a.get("media-type", _PAGES[0]) in _PAGES
    }
    spine = (a.get("idref", "") for element, a in listed if element == "itemref")
    return list(dict.fromkeys(pages[i] for i in spine if i in pages))


def _resolve(folder: str, reference: str) -> str:
    return normpath(join("/", folder, unquote(reference.partition("#")[0]))).lstrip("/")
