"""PostScript -> its text, page by page: Ghostscript, a separate program, converts it to PDF."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read import limited
from chaffinch.read.budget import seconds_for
from chaffinch.read.formats import pdf
from chaffinch.types import Document, File

_PROGRAMS = ("gs", "gswin64c", "gswin32c")
# Before the program: what ends the job before this one on a printer, also where an editor spelled it out.
_START = re.compile(rb"(?:\x04|\^D|\s)*+(?:\x1b%-12345X(?:@PJL[^\n]*+\n)*+)?(?:\x04|\s)*+%!(?P<adobe>PS)?")
# Old programs write no more than "%!". So do authors of TeX, MATLAB and Octave, whose next lines differ.
_COMMENT = re.compile(
    rb"^%%(?:Title|Creator|CreationDate|For|BoundingBox|Pages?|Document[A-Za-z]+|Orientation|LanguageLevel"
    rb"|EndComments|(?:Begin|End)(?:Prolog|Setup|ProcSet|Resource))\b",
    re.M,
)
_OPERATORS = re.compile(
    rb"\b(bind\s+def|exch\s+def|dict\s+begin|load\s+def|findfont|scalefont|setfont|showpage|moveto|rlineto|lineto"
    rb"|newpath|gsave|grestore|userdict|statusdict|currentdict|setlinewidth|ifelse)\b"
)
_FEWEST_OPERATORS = 3
"""Different ones that a program shows, if it has no comments like those of a PostScript document."""
# Only temporary files can be read or written, and nothing waits for a terminal.
_OPTIONS = ("-dSAFER", "-dBATCH", "-dNOPAUSE", "-dQUIET", "-sDEVICE=pdfwrite", "-sOutputFile=out.pdf")


def is_postscript(head: bytes, *, is_program: bool) -> bool:
    """Return whether a file begins like PostScript; one with the name of a program needs the full mark."""
    start = _START.match(head)
    if start is None or start["adobe"]:
        return start is not None
    if is_program:
        return False
    code = head[start.end() :].replace(b"\r", b"\n")
    return bool(_COMMENT.search(code)) or len(set(_OPERATORS.findall(code))) >= _FEWEST_OPERATORS


def read(file: File, use_ocr: bool = False) -> Iterator[Document]:
    """Yield the text with the page of every byte."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        detail = "PostScript needs Ghostscript; install it, or print the file to PDF"
        raise Unreadable(file.name, SkipReason.NEEDS_PROGRAM, detail)
    with TemporaryDirectory(prefix="chaffinch-") as folder:
        start = _START.match(file.data)
        Path(folder, "in.ps").write_bytes(file.data[file.data.index(b"%!") :] if start else file.data)
        seconds = seconds_for(len(file.data))  # PostScript is a programming language, so it may run forever
        try:
            exit_code = limited.run([program, *_OPTIONS, "in.ps"], seconds=seconds, folder=folder)
        except limited.TookTooLong:
            detail = f"Ghostscript was not done after {seconds} s; print it to PDF yourself"
            raise Unreadable(file.name, SkipReason.TOO_LARGE, detail) from None
        output = Path(folder, "out.pdf")
        # If the document fails halfway, the pages before that are there.
        if not output.exists() or not output.stat().st_size:
            detail = f"Ghostscript could not read it (exit code {exit_code}); print it to PDF yourself"
            raise Unreadable(file.name, SkipReason.DAMAGED, detail)
        yield from pdf.read(replace(file, data=output.read_bytes()), use_ocr)
