"""Detect the format of a file: by its content first, by its name second."""

from __future__ import annotations

import re

from chaffinch.languages import language
from chaffinch.languages.by_content import plain_program
from chaffinch.read.encoding import UTF8, by_first_bytes, is_utf8
from chaffinch.read.formats import html, mail, notebook
from chaffinch.types import File

ARCHIVES = ("zip", "tar", "gzip", "bzip2", "xz", "7z")

_MAGIC = {
    b"\x1f\x8b": "gzip", b"\xfd7zXZ\0": "xz", b"7z\xbc\xaf\x27\x1c": "7z", b"{\\rtf": "rtf",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "ole", b"\xc5\xd0\xd3\xc6": "postscript",
}  # fmt: skip
_MAGIC_STARTS = tuple(_MAGIC)
_EXTENSIONS = {
    "html": "html", "htm": "html", "xhtml": "html", "tex": "tex", "ltx": "tex", "latex": "tex", "eml": "mail",
    "md": "markdown", "markdown": "markdown", "rmd": "markdown", "qmd": "markdown", "mbox": "mbox",
}  # fmt: skip
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")  # the mark of its first block, or of its end
_PDF_OBJECT = re.compile(rb"%PDF-\d[^\r\n]*+[\r\n]++(?:%[^\r\n]*+[\r\n]++|\s++)*+\d+\s+\d+\s+obj\b")
_TEX = re.compile(rb"^[^%\n]*\\(?:documentclass|documentstyle|begin\s*\{document\})", re.M)
_HEAD_BYTES = 1 << 12
# Texts contain white space, escapes in some encodings, and the end-of-file mark of old systems.
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))


def detect_format(file: File) -> str:
    """Return the format of a file: "plain" if nothing else fits, "binary" if it is not text."""
    data = file.data
    head = data[:_HEAD_BYTES]
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        from chaffinch.read.formats.office import office  # slow to import, seldom needed

        return office.detect(data) or "zip"
    if head.startswith(_MAGIC_STARTS):
        format = next(format for start, format in _MAGIC.items() if head.startswith(start))
        return "doc" if format == "ole" and _is_word(data) else format
    if _BZIP2.match(head):
        return "bzip2"
    if (mark := head.find(b"%PDF-", 0, 1024)) >= 0 and _is_pdf(file.name, head, mark):
        return "pdf"
    if head.find(b"%!", 0, 1024) >= 0 and _is_postscript(file.name, head):
        return "postscript"
    if _is_tar(head[:512]):
        return "tar"
    if _is_binary(head) and not _is_program_with_zeros(file.name, head):
        return "binary"
    # A program may contain a web page or an e-mail; its name shows that it is a program.
    if language.of_file(file.name, head) is not None:
        return "plain"
    extension = file.name[file.name.rfind(".") + 1 :].lower()  # runs for every document; a Path is too slow
    if (by_content := _text_format(data, head)) is not None:
        return by_content
    format = _EXTENSIONS.get(extension, "plain")
    return "plain" if format == "plain" or plain_program(data) else format


def _text_format(data: bytes, head: bytes) -> str | None:
    if html.is_html(data):
        return "html"
    if notebook.is_notebook(data):
        return "notebook"
    if mail.is_mbox(head):
        return "mbox"
    if mail.is_mail(head):
        return "mail"
    return "tex" if b"\\" in head and _TEX.search(head) else None


def _is_pdf(name: str, head: bytes, mark: int) -> bool:
    """Return whether this is a PDF with the mark here. A program or a text may quote the mark."""
    if name.lower().endswith(".pdf"):
        return True
    is_program = language.of_file(name, head) is not None
    has_object = _PDF_OBJECT.match(head, mark) is not None
    before = head[:mark].strip(b"\xef\xbb\xbf \t\r\n\f")
    if not before or before.startswith(b"HTTP/"):
        return has_object or (not is_program and _is_binary(head))
    return (
        has_object and not is_program and (b"\x1b" in before or _has_control(before))
    )  # junk, or printer codes


def _is_postscript(name: str, head: bytes) -> bool:
    from chaffinch.read.formats import postscript

    return postscript.is_postscript(head, is_program=language.of_file(name, head) is not None)


def _is_word(data: bytes) -> bool:
    from chaffinch.read.formats.office import word97

    return word97.is_word(data)


def _is_tar(header: bytes) -> bool:
    """Check the checksum of the first header, because the oldest archives have no other mark."""
    checksum = header[148:155].strip(b" \0")
    if len(header) < 512 or not checksum.isdigit() or b"8" in checksum or b"9" in checksum:
        return False
    return int(checksum, 8) == sum(header[:148]) + 8 * ord(" ") + sum(header[156:])


def _has_control(data: bytes) -> bool:
    return any(map(data.__contains__, _CONTROL))


def _is_program_with_zeros(name: str, head: bytes) -> bool:
    """Return whether a program has zero bytes, which compilers ignore, and is plain text otherwise."""
    rest = head.replace(b"\0", b"")
    return bool(rest) and language.of_file(name, rest) is not None and is_utf8(rest) and not _is_binary(rest)


def _is_binary(head: bytes) -> bool:
    if not _has_control(head):  # faster than to count them
        return False
    if len(head) - len(head.translate(None, _CONTROL)) <= len(head) // 20:
        return False
    return by_first_bytes(head) == UTF8  # else it is text in an encoding that has zero bytes
