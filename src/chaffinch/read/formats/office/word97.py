"""Word documents from before 2007 (DOC) -> their text, by the program antiword or catdoc."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read import limited
from chaffinch.read.budget import program_seconds
from chaffinch.read.formats.extract import MAX_TEXT
from chaffinch.read.formats.office.paragraphs import Paragraphs
from chaffinch.types import Document, File

PROGRAMS = {"antiword": ("-m", "UTF-8.txt", "-w", "0"), "catdoc": ("-d", "utf-8", "-w")}
"""The programs that are tried, and the options for text in UTF-8 with a paragraph on each line."""
_WORD_STREAM = "WordDocument".encode("utf-16-le")
_OTHER_STREAM = "PowerPoint Document".encode("utf-16-le")  # a presentation may hold a Word document


def is_word(data: bytes) -> bool:
    """Return whether an OLE file holds a document of Word."""
    return _WORD_STREAM in data and _OTHER_STREAM not in data


def read(file: File) -> Iterator[Document]:
    """Yield the text, by the first of the programs that can read it."""
    programs = {name: path for name in PROGRAMS if (path := shutil.which(name))}
    if not programs:
        detail = "Word files from before 2007 need the program antiword or catdoc; install it, or save as DOCX"
        raise Unreadable(file.name, SkipReason.NEEDS_PROGRAM, detail)
    for name, path in programs.items():
        if text := _text(file, [path, *PROGRAMS[name], "in.doc"]):
            paragraphs = Paragraphs(file)
            for line in text.split("\n"):
                paragraphs.add(line)
            yield paragraphs.document()
            return
    detail = f"{' and '.join(programs)} find no text in it, or a password; save it as DOCX without one"
    raise Unreadable(file.name, SkipReason.DAMAGED, detail)


def _text(file: File, command: list[str]) -> str:
    """Return what a program says is in the document, or nothing if it fails."""
    seconds = program_seconds(len(file.data))
    with TemporaryDirectory(prefix="chaffinch-") as folder:
        Path(folder, "in.doc").write_bytes(file.data)
        output = Path(folder, "out.txt")
        try:
            with output.open("wb") as opened:
                exit_code = limited.run(
                    command, seconds=seconds, folder=folder, output=opened, output_bytes=MAX_TEXT
                )
        except limited.TookTooLong:
            detail = f"{Path(command[0]).name} was not done after {seconds} s; save it as DOCX"
            raise Unreadable(file.name, SkipReason.TOO_LARGE, detail) from None
        text = output.read_bytes().decode("utf-8", "replace").replace("\f", "\n")
    return "" if exit_code or not text.strip() else text
