"""Word processor documents and books (DOCX, ODT, EPUB) -> their text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chaffinch.read.formats.office import docx, epub, odt
from chaffinch.read.formats.office.package import BAD_ZIP, open_zip, unpacker
from chaffinch.types import Document, File

_HEAD_BYTES = 1 << 16
_READERS = {"docx": docx.text, "odt": odt.text, "epub": epub.text}


def detect(data: bytes) -> str | None:
    """Return what a ZIP is: "docx", "odt", "epub", "office" for another office file, or None."""
    try:
        archive, files = open_zip(data)

        def head(path: str) -> bytes:
            return archive.open(files[path]).read(_HEAD_BYTES) if path in files else b""

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
    except BAD_ZIP:  # a document that is cut off is still not an archive
        start = data[:200]
        if start[30:38] == b"mimetype":
            return "odt"
        return "docx" if re.search(rb"\[Content_Types\]\.xml|_rels/\.rels", start) else None


def read(file: File) -> Iterator[Document]:
    """Yield the text of a DOCX, ODT or EPUB file."""
    assert file.format is not None
    yield _READERS[file.format](file, unpacker(file))
