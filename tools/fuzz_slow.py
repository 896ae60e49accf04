"""Look for files that a reader takes long for: pieces of markup in random order, at two sizes."""

from __future__ import annotations

import random
import time
from pathlib import Path

import chaffinch
from bench.worst_inputs import WORST, packed
from chaffinch import Document, File, Recipe
from chaffinch.read.ready import ready_documents

PIECES = {
    "rtf": rb"{ } \b \par \f0 \u233? \'e9 \~ \footnote \* \fonttbl \uc3 \bin9 \cell \row a",
    "tex": rb"\label \begin{comment} \end{comment} \cite [ ] { } % \verb | \hskip 1pt \title \def \a $ \\ a",
    "md": b"` `` ``` ~~~ [ ] ( ) < > <!-- --> & &amp; > 1. 2. - * <a \" ' --- [a]: [^a] {.a} \\ a",
    "html": b"<html> < > <!-- --> <script> </script> <style> <a \" ' = & &amp; <![CDATA[ ]]> / a",
    "eml": b"From: To: --b --b-- Content-Type:multipart/mixed;boundary=b Content-Type:text/html =?a?q?b?= a :",
    "ipynb": b'{ } [ ] , " : "cells" "cell_type" "code" "source" "nbformat" \\n % ! 9',
    "xml": b"<w:p> </w:p> <w:r> <w:t> </w:t> <w:t/> <!-- --> <![CDATA[ ]]> &amp; a=\"b\" xmlns:a=\"b\" a",
    "txt": b"( * ) { } - /* */ (* *) \"\"\" ''' ; = # // int def \xe9 \xff \x1b$B a",
}  # fmt: skip
"""By the ending of a file: words that mean something in its format."""
_STARTS = {
    "rtf": b"{\\rtf1 ", "html": b"<html>", "eml": b"From: a\nTo: b\n", "ipynb": b'{"nbformat": 4, "cells": [',
    "tex": b"\\documentclass{a}\\begin{document}",
}  # fmt: skip
_WORD_NAMES = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
SHORT, TIMES_LONGER = 30_000, 8
GROWTH = 3
"""How much more time a byte of the longer file may take."""
LEAST_SECONDS = 0.05
"""Shorter times say nothing about growth."""
LEAST_RATE = 2e6
"""Bytes a second. The benchmark demands more, but measures when nothing else runs."""


def _file(ending: str, pattern: bytes, size: int) -> File:
    data = _STARTS.get(ending, b"") + pattern * (size // len(pattern))
    if ending == "xml":
        body = _WORD_NAMES + data + b"</w:document>"
        members = {"[Content_Types].xml": b"wordprocessingml", "word/document.xml": body}
        return File("x.docx", packed(members)(0))
    return File(f"x.{ending}", data)


def seconds(file: File) -> float:
    """Return the CPU time from a file to its symbols."""
    started = time.process_time()
    for item in ready_documents(file):
        if isinstance(item, Document):
            chaffinch.stream(item, Recipe(item.language))
    return time.process_time() - started


def search(limit: float, failing: Path) -> bool:
    """Try random patterns for some seconds; keep the first that is not linear, and return False."""
    chance = random.Random()
    end = time.monotonic() + limit
    tried = 0
    slowest = 0.0
    for name, make in WORST.values():
        seconds(File(name, make(SHORT)))
    while time.monotonic() < end:
        ending = chance.choice(list(PIECES))
        words = PIECES[ending].split(b" ")
        pieces = [chance.choice(words) + chance.choice([b"", b" ", b"\n"]) for _ in range(chance.randint(1, 6))]
        pattern = b"".join(pieces)
        file = _file(ending, pattern, TIMES_LONGER * SHORT)
        long = seconds(file)
        if is_suspicious := long > LEAST_SECONDS:
            long = min(long, *(seconds(file) for _ in range(2)))  # others may have used the processor
        short = seconds(_file(ending, pattern, SHORT)) if is_suspicious else 0.0
        tried += 1
        slowest = max(slowest, long)
        if is_suspicious and (long > GROWTH * TIMES_LONGER * short or long * LEAST_RATE > TIMES_LONGER * SHORT):
            failing.parent.mkdir(parents=True, exist_ok=True)
            failing.write_bytes(file.data)
            print(f"slow: {ending} files of {pattern!r}: {short:.2f} s, then {long:.2f} s; kept in {failing}")
            return False
    size = TIMES_LONGER * SHORT // 1000
    print(f"slow: {tried} patterns, none too slow; the slowest {size} KB took {slowest:.2f} s", flush=True)
    return True
