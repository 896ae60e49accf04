"""Word processor documents and books (DOCX, ODT, EPUB) -> their text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chaffinch.read.formats.office import docx, epub, odt
from chaffinch.read.formats.office.package import BAD_ZIP, open_zip, unpacker
from chaffinch.types import Document, File

_HEAD_BYTES = 1 << 16
_DIRECTORY_END = b"PK\x05\x06"
_NAMES = (b"mimetype", b"meta-inf/container.xml", b"[content_types].xml", b"index/document.iwa")
"""Files that tell what a document is."""
_READERS = {"docx": docx.text, "odt": odt.text, "epub": epub.text}


def detect(data: bytes) -> str | None:
    """Return what a ZIP is: "docx", "odt", "epub", "office" for another office file, or None."""
    if not _may_be_document(data):
        return None
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


def _may_be_document(data: bytes) -> bool:
    """Return whether the directory of a ZIP names a file that documents have. It is slow to parse."""
    end = data.rfind(_DIRECTORY_END)
    if not 0 <= end <= len(data) - 20:
        return True  # it is damaged
    size = int.from_bytes(data[end + 12 : end + 16], "little")
    directory = data[max(0, end - size) : end].replace(b"\\", b"/").lower()
    return any(name in directory for name in _NAMES)


def read(file: File) -> Iterator[Document]:
    """Yield the text of a DOCX, ODT or EPUB file."""
    assert file.format is not None
    yield _READERS[file.format](file, unpacker(file))
