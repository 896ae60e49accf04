"""The process that runs PDFium: PDF files on standard input, their pages on standard output.

A file that hangs PDFium, crashes it or makes it ask for too much memory ends this process and nothing else. A
request is a page number or -1, and the file. An answer is the text of all pages as JSON, or the picture of one
page in the format PGM.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

from chaffinch.read.worker_process import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = struct.Struct("<q")
ALL_PAGES = -1
MAX_TEXT = 1 << 30
MAX_PAGES = 1 << 20
MAX_BROKEN_PAGES = 100
DOTS_PER_POINT = 300 / 72
MAX_PIXELS = 20_000_000


def _answer(request: bytes) -> bytes:
    (page,), data = PAGE.unpack_from(request), request[PAGE.size :]
    return json.dumps(_read(data)).encode("ascii") if page == ALL_PAGES else _picture(data, page)


def _read(data: bytes) -> dict[str, object]:
    """Return the text of every page, or an error of PDFium's."""
    from pypdfium2 import PdfDocument, PdfiumError
    from pypdfium2.raw import FPDF_ERR_PASSWORD

    try:
        with PdfDocument(data) as pdf:
            return {"pages": list(_pages(pdf))}
    except PdfiumError as error:
        return {"error": str(error), "is_protected": error.err_code == FPDF_ERR_PASSWORD}
    except MemoryError:
        return {"error": "out of memory"}


def _pages(pdf: object) -> Iterator[str]:
    from pypdfium2 import PdfiumError

    broken = size = 0
    for number in range(min(len(pdf), MAX_PAGES)):  # type: ignore[arg-type]
        try:
            page = pdf[number]  # type: ignore[index]
            try:
                text: str = page.get_textpage().get_text_bounded()
            finally:
                page.close()
        except PdfiumError:
            broken += 1  # the other pages can be read; but a page tree may promise millions that do not exist
            if broken > MAX_BROKEN_PAGES:
                return
            text = ""
        size += len(text)
        if size > MAX_TEXT:
            return
        yield text


def _picture(data: bytes, number: int) -> bytes:
    """Return a page in shades of grey, or nothing if PDFium cannot draw it."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with PdfDocument(data) as pdf:
            page = pdf[number]
            width, height = page.get_size()
            scale = min(DOTS_PER_POINT, (MAX_PIXELS / max(1.0, width * height)) ** 0.5)
            bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
            raw, stride = bytes(bitmap.buffer), bitmap.stride
            rows = (raw[stride * y : stride * y + bitmap.width] for y in range(bitmap.height))
            return b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + b"".join(rows)
    except (PdfiumError, MemoryError):
        return b""


if __name__ == "__main__":
    serve(_answer)
