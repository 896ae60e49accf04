"""OpenDocument texts (ODT) -> their text."""

from __future__ import annotations

import re

from chaffinch.errors import Unreadable
from chaffinch.read.formats.office.package import PASSWORD, Attributes, Unpack, attribute, damaged, parse
from chaffinch.read.formats.office.paragraphs import Paragraphs
from chaffinch.types import Document, File

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_NAMES = {
    f"{namespace} {name}": name
    for namespace, names in {
        _OASIS + "text:1.0": "p h s tab line-break span note tracked-changes note-citation ruby-text",
        _OASIS + "table:1.0": "table-row table-cell",
        _OASIS + "office:1.0": "annotation binary-data",
        _OASIS + "style:1.0": "style text-properties",
        _OASIS + "svg-compatible:1.0": "title desc",
    }.items()
    for name in names.split()
}
_SKIPPED = frozenset(
    ["tracked-changes", "note-citation", "ruby-text", "annotation", "binary-data", "title", "desc"]
)
_SPACE = re.compile(r"[ \t\r\n]{2,}|[\t\r\n]")
_MAX_SPACES = 80


def text(file: File, unpack: Unpack) -> Document:
    """Return the body with every change accepted, then the notes, without comments and hidden text."""
    if b"encryption-data" in (unpack("META-INF/manifest.xml") or b""):
        raise Unreadable(file.name, *PASSWORD)
    content = unpack("content.xml")
    if content is None:
        raise damaged(file.name, "no content.xml in it")
    paragraphs = Paragraphs(file)
    skipped = 0  # open elements, from the first that is not read
    hiding_styles: set[str] = set()
    style = ""

    def start(element: str, attributes: Attributes) -> None:
        nonlocal skipped, style
        if skipped:
            skipped += 1
            return
        name = _NAMES.get(element)
        if name is None:  # most elements
            return
        if name in ("p", "h"):
            paragraphs.begin()
        elif name in _SKIPPED:
            skipped = 1
        elif name == "span":
            skipped = int(attribute(attributes, "style-name") in hiding_styles)
        elif name == "s":
            paragraphs.write(" " * _count(attribute(attributes, "c") or "1"))
        elif name == "tab":
            paragraphs.write("\t")
        elif name == "line-break":
            paragraphs.write("\n")
        elif name == "note":
            paragraphs.begin_note()
        elif name == "table-row":
            paragraphs.row()
        elif name == "style":
            style = attribute(attributes, "name") or ""
        elif name == "text-properties" and attribute(attributes, "display") == "none":
            hiding_styles.add(style)

    def end(element: str) -> None:
        nonlocal skipped
        if skipped:
            skipped -= 1
            return
        name = _NAMES.get(element)
        if name in ("p", "h"):
            paragraphs.end()
        elif name == "note":
            paragraphs.end_note()
        elif name == "table-cell":
            paragraphs.end_cell()
        elif name == "table-row":
            paragraphs.row()

    def show(text: str) -> None:
        if not skipped:
            paragraphs.write(text if text.isalnum() else _SPACE.sub(" ", text))

    parse(file.name, content, start, end, show)
    return paragraphs.document()


def _count(digits: str) -> int:
    return min(int(digits), _MAX_SPACES) if digits.isdecimal() and len(digits) < 9 else 1
