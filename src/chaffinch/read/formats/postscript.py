"""PostScript -> PDF by Ghostscript, which is an external program, and then as PDF."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.formats import pdf
from chaffinch.types import Document, File

SECONDS = 60
"""PostScript is a programming language: a document may run forever."""

_PROGRAMS = ("gs", "gswin64c", "gswin32c")
# Nothing but temporary files can be read or written, and nothing is asked of a terminal.
_OPTIONS = ("-dSAFER", "-dBATCH", "-dNOPAUSE", "-dQUIET", "-sDEVICE=pdfwrite", "-sOutputFile=out.pdf")
# In blocks of 512 bytes and in kilobytes; not every shell can limit memory.
_LIMITED = 'ulimit -f 2000000; ulimit -v 4000000 2>/dev/null; exec "$@"'


def read(file: File) -> Iterator[Document]:
    """The text with the page of every byte."""
    program = next((path for name in _PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        raise Unreadable(
            file.name,
            SkipReason.NEEDS_PROGRAM,
            "PostScript is read by Ghostscript, which is not here; install it",
        )
    with TemporaryDirectory(prefix="chaffinch-") as folder:
        Path(folder, "in.ps").write_bytes(file.data)
        command = [program, *_OPTIONS, "in.ps"]
        if os.name == "posix":
            command = ["sh", "-c", _LIMITED, "sh", *command]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=os.environ | dict.fromkeys(("TMPDIR", "TMP", "TEMP"), folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise Unreadable(
                file.name,
                SkipReason.DAMAGED,
                f"Ghostscript was not done after {SECONDS} s; print it to PDF yourself",
            ) from None
        made = Path(folder, "out.pdf")
        # A program that fails half-way has printed the pages before.
        if not made.exists() or not made.stat().st_size:
            raise Unreadable(
                file.name,
                SkipReason.DAMAGED,
                f"Ghostscript could not read it (exit code {done.returncode})",
            )
        yield from pdf.read(replace(file, data=made.read_bytes()))
