"""The process that runs PDFium: PDF files on standard input, their pages on standard output.

A file that hangs PDFium, crashes it or makes it ask for too much memory ends this process and nothing else. The
module imports nothing of Chaffinch, so that it starts fast.

A request is the CPU time in seconds, a page number or -1, the length of the file, and the file. An answer
is a length and as many bytes: the text of all pages as JSON, or the picture of one page in the format PGM.
"""

from __future__ import annotations

import ctypes
import json
import signal
import struct
import sys
import time
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

PR_SET_PDEATHSIG = 1
LENGTH = struct.Struct("<Q")
REQUEST = struct.Struct("<QqQ")
ALL_PAGES = -1
MEMORY_BYTES = 1 << 30
"""Address space for a file, and four times its size on top."""
MAX_TEXT = 1 << 30
MAX_PAGES = 1 << 20
MAX_BROKEN_PAGES = 100
DOTS_PER_POINT = 300 / 72
MAX_PIXELS = 20_000_000


def main() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # not even a bomb outlives the parent
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while header := requests.read(REQUEST.size):
        seconds, page, length = REQUEST.unpack(header)
        _limit(seconds, length)
        started = time.process_time()
        data = requests.read(length)
        if page == ALL_PAGES:
            contents = _read(data)
            took = time.process_time() - started
            answer = json.dumps(contents | {"seconds": took}).encode("ascii")
        else:
            answer = _picture(data, page)
        answers.write(LENGTH.pack(len(answer)) + answer)
        answers.flush()


def _limit(seconds: int, size: int) -> None:
    """Have the system end this process if the next file takes too much time or memory."""
    if hasattr(signal, "setitimer"):  # not on Windows, where the parent's clock is the only limit
        import resource

        signal.setitimer(signal.ITIMER_PROF, seconds)
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = MEMORY_BYTES + 4 * size
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))


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


def read_message(pipe: BinaryIO) -> bytes | None:
    """Return the next message, or None if the other side is gone."""
    header = pipe.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    message = pipe.read(length) if length <= 8 * MAX_TEXT else b""
    return message if len(message) == length else None


if __name__ == "__main__":
    main()
