"""Word processor documents and books (DOCX, ODT, EPUB) -> their text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.formats.office import docx, epub, odt
from chaffinch.read.formats.office.package import BAD_ZIP, open_zip, unpacker
from chaffinch.types import Document, File

_HEAD = 1 << 16


def kind(data: bytes) -> str | None:
    """What a ZIP holds: "docx", "odt", "epub", another "office" file, or None of these."""
    try:
        archive, files = open_zip(data)

        def head(path: str) -> bytes:
            return archive.open(files[path]).read(_HEAD) if path in files else b""

        mime = head("mimetype").strip()
        if mime == b"application/epub+zip" or b"oebps-package" in head("meta-inf/container.xml"):
            return "epub"
        if mime.startswith((b"application/vnd.oasis.opendocument.", b"application/vnd.sun.xml.")):
            return "odt" if b"opendocument.text" in mime else "office"
        types = head("[content_types].xml")
        if re.search(rb"wordprocessingml|ms-word", types):
            return "docx"
        if re.search(rb"spreadsheetml|presentationml|ms-excel|ms-powerpoint|visio", types):
            return "office"
        return "office" if "index/document.iwa" in files else None
    except BAD_ZIP:  # what is cut off is still no archive of files
        start = data[:200]
        if start[30:38] == b"mimetype":
            return "odt"
        return "docx" if re.search(rb"\[Content_Types\]\.xml|_rels/\.rels", start) else None


def read(file: File) -> Iterator[Document]:
    """The text of a document of one of the kinds above."""
    readers = {"docx": docx.text, "odt": odt.text, "epub": epub.text}
    if file.format not in readers:
        raise Unreadable(
            file.name,
            SkipReason.DAMAGED,
            "spreadsheets, slides and drawings are not read; save it as PDF or as text",
        )
    yield readers[file.format](file, unpacker(file))
