"""PDF -> its text, page by page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pypdfium2 import PdfDocument, PdfiumError

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.formats.extract import Extract
from chaffinch.types import Document, File

# A word broken at a line's end, by PDFium's own mark, which is no character, by a soft hyphen, or by a hyphen
# that a small letter follows. The rest of the word is brought up, so that lines keep their numbers.
_BROKEN = re.compile("([^\\W\\d_]+)(?:[\ufffe\x02\u00ad]\n?|[-\u2010]\n(?=[^\\W\\d_A-Z]))(\\S+)[ \t]*\n?")
# Whether it had a hyphen before, other places tell.
_COMPOUND = re.compile(r"\b[^\W\d_]+-[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]*")
# As characters, and as the bytes that stand for them in two encodings of TeX's fonts, which older files do not
# explain.
_LIGATURES = {
    letters: ("ff", "fi", "fl", "ffi", "ffl")[i]
    for first in ("\ufb00", "\x0b", "\x1b")
    for i, letters in enumerate(chr(ord(first) + n) for n in range(5))
} | {"\ufb05": "st", "\ufb06": "st"}
_LIGATURE = re.compile("[\ufb00-\ufb06\x0b-\x0f\x1b-\x1f]")
_MAX_PAGES = 1 << 20
_MAX_BROKEN_PAGES = 100


def read(file: File) -> Iterator[Document]:
    """The text with the page of every byte; running heads and page numbers are left out."""
    extract = Extract(file)
    pages = _mended(list(_pages(file)))
    if not any(page.strip() for page in pages):
        raise Unreadable(
            file.name,
            SkipReason.NOT_TEXT,
            "holds no text, perhaps pictures of pages; make it searchable first",
        )
    for number, page in enumerate(_without_running_heads(pages), 1):
        extract.part(f"page {number}")
        extract.write(page + "\n")
    yield extract.document()


def _pages(file: File) -> Iterator[str]:
    try:
        pdf = PdfDocument(file.data)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable(
                file.name, SkipReason.PROTECTED, "is protected by a password; save it without one"
            ) from None
        raise Unreadable(
            file.name, SkipReason.DAMAGED, f"not a PDF that can be read ({error}); save it again"
        ) from None
    with pdf:
        broken = 0
        for number in range(min(len(pdf), _MAX_PAGES)):
            try:
                page = pdf[number]
                try:
                    yield page.get_textpage().get_text_bounded()
                finally:
                    page.close()
            except PdfiumError:
                broken += 1  # the other pages can be read; a page tree may promise millions that are not there
                if broken > _MAX_BROKEN_PAGES:
                    return
                yield ""


def _mended(pages: list[str]) -> list[str]:
    """Pages with words that they break or write in their own way, as they are read."""
    pages = [_LIGATURE.sub(lambda found: _LIGATURES[found[0]], page.replace("\r\n", "\n")) for page in pages]
    hyphenated = {word for page in pages for word in _COMPOUND.findall(page)}

    def join(broken: re.Match[str]) -> str:
        whole = f"{broken[1]}-{_WORD.match(broken[2])[0]}"  # type: ignore[index]
        return f"{broken[1]}{'-' if whole in hyphenated else ''}{broken[2]}\n"

    return [_BROKEN.sub(join, page) for page in pages]


def _without_running_heads(pages: list[str]) -> Iterator[str]:
    """Pages but for first and last lines that, numbers aside, stand on at least a third of them."""
    lines = [page.strip("\n").split("\n") for page in pages]
    for edge in (0, -1):
        seen = Counter(_but_for_numbers(page[edge]) for page in lines)
        often = {line for line, times in seen.items() if times >= max(3, len(pages) / 3)}
        for page in lines:
            if _but_for_numbers(page[edge]) in often:
                page[edge] = ""  # the line stays, empty, so that the others keep their numbers
    return ("\n".join(page) for page in lines)


def _but_for_numbers(line: str) -> str:
    return re.sub(r"[\d\s]+|\b[ivxlc]+\b", "", line)
