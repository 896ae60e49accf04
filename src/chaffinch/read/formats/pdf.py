"""PDF -> its text, page by page. PDFium extracts it, in a process of its own with limits."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import cast

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.budget import program_seconds
from chaffinch.read.formats import ocr, pdf_worker
from chaffinch.read.formats.extract import Extract
from chaffinch.read.legible import is_language
from chaffinch.read.worker import Worker, WorkerEnded
from chaffinch.types import Document, File

_MEMORY_BYTES = 1 << 30
"""Address space for a file, and four times its size on top."""

# A word broken at the end of a line: by PDFium's own mark, by a soft hyphen, or by a hyphen before a small
# letter. The rest of the word moves up, so that lines keep their numbers.
_BROKEN_WORD = re.compile(
    "(?<![^\\W\\d_])([^\\W\\d_]++)(?:[\ufffe\x02\u00ad]\n?|[-\u2010]\n(?=[^\\W\\d_A-Z]))(\\S+)[ \t]*\n?"
)
# Other places in the text show whether the word had a hyphen before it was broken.
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]++-[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]*")
# As characters, and as bytes in two encodings of TeX's fonts, which older files do not declare.
_LIGATURES = {
    chr(ord(first) + i): letters
    for first in ("\ufb00", "\x0b", "\x1b")
    for i, letters in enumerate(("ff", "fi", "fl", "ffi", "ffl"))
} | {"\ufb05": "st", "\ufb06": "st"}
_LIGATURE = re.compile("[\ufb00-\ufb06\x0b-\x0f\x1b-\x1f]")


def read(file: File, use_ocr: bool = False) -> Iterator[Document]:
    """Yield the text with the page of every byte, without running heads and page numbers.

    With `use_ocr`, pages without text, or with text that is not language, are read from their pictures.
    """
    extract = Extract(file)
    pages = _worker.pages(file)
    pages = _mend_words(_recognized(file, pages) if use_ocr else pages)
    if not any(page.strip() for page in pages):
        detail = "holds no text, perhaps pictures of pages; use --ocr, or make it searchable first"
        raise Unreadable(file.name, SkipReason.NOT_TEXT, detail)
    for number, page in enumerate(_without_running_heads(pages), 1):
        extract.section(f"page {number}")
        extract.write(page + "\n")
    yield extract.document()


def _recognized(file: File, pages: list[str]) -> list[str]:
    """Return the pages, with text by Tesseract where a page has none or all of them are not language."""
    all_bad = not is_language("\n".join(pages))
    bad = [number for number, page in enumerate(pages) if all_bad or not page.strip() or not is_language(page)]
    recognized = list(pages)
    for number in bad[: ocr.MAX_PAGES]:
        text = ocr.page_text(_worker.picture(file, number))
        recognized[number] = text if text.strip() else pages[number]
    return recognized


class _Worker(Worker):
    """The process that runs PDFium."""

    def pages(self, file: File) -> list[str]:
        """Return the text of every page."""
        answer = json.loads(self._ask(file, pdf_worker.ALL_PAGES))
        if "error" not in answer:
            return cast(list[str], answer["pages"])
        if answer.get("is_protected"):
            detail = "is protected by a password; save it without one"
            raise Unreadable(file.name, SkipReason.PROTECTED, detail)
        detail = f"not a PDF that can be read ({answer['error']}); save it again"
        raise Unreadable(file.name, SkipReason.DAMAGED, detail)

    def picture(self, file: File, page: int) -> bytes:
        """Return a page as Tesseract reads it, or nothing if it cannot be drawn."""
        return self._ask(file, page)

    def _ask(self, file: File, page: int) -> bytes:
        size = len(file.data)
        limits = {"seconds": program_seconds(size), "memory": _MEMORY_BYTES + 4 * size}
        try:
            return self.ask(pdf_worker.PAGE.pack(page), file.data, **limits)
        except WorkerEnded:
            detail = "needs too much time or memory, or crashes PDFium; print it to PDF again"
            raise Unreadable(file.name, SkipReason.TOO_LARGE, detail) from None


_worker = _Worker(pdf_worker.__name__)


def _mend_words(pages: list[str]) -> list[str]:
    """Return the pages with ligatures spelled out and broken words joined."""
    pages = [
        _LIGATURE.sub(lambda ligature: _LIGATURES[ligature[0]], page.replace("\r\n", "\n")) for page in pages
    ]
    hyphenated = {word for page in pages for word in _COMPOUND.findall(page)}

    def join(broken: re.Match[str]) -> str:
        whole = f"{broken[1]}-{_WORD.match(broken[2])[0]}"  # type: ignore[index]
        return f"{broken[1]}{'-' if whole in hyphenated else ''}{broken[2]}\n"

    return [_BROKEN_WORD.sub(join, page) for page in pages]


def _without_running_heads(pages: list[str]) -> Iterator[str]:
    """Yield the pages without first and last lines that, apart from numbers, a third of the pages share."""
    lines = [page.strip("\n").split("\n") for page in pages]
    for edge in (0, -1):
        counts = Counter(_without_numbers(page[edge]) for page in lines)
        running = {line for line, times in counts.items() if times >= max(3, len(pages) / 3)}
        for page in lines:
            if _without_numbers(page[edge]) in running:
                page[edge] = ""  # the line stays, empty, so that the others keep their numbers
    return ("\n".join(page) for page in lines)


def _without_numbers(line: str) -> str:
    return re.sub(r"[\d\s]+|\b[ivxlc]+\b", "", line)
