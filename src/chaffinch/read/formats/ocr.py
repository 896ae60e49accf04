"""A picture of a page -> its text, by the program Tesseract."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read import limited

SECONDS = 60
"""CPU time for a page. Most take one to five seconds."""
MAX_PAGES = 2000
_NOT_LANGUAGES = ("osd", "equ", "snum")
_LANGUAGE = re.compile(r"[\w/-]+")


def require_program() -> str:
    """Return the path of Tesseract, or raise an error that says what to install."""
    program = shutil.which("tesseract")
    if program is None:
        detail = "--ocr needs the program tesseract (Debian: tesseract-ocr); install it, or leave out --ocr"
        raise Unreadable("", SkipReason.NEEDS_PROGRAM, detail)
    return program


def page_text(picture: bytes) -> str:
    """Return the text in a picture, in any of the installed languages; nothing if it takes too long."""
    program = require_program()
    with TemporaryDirectory(prefix="chaffinch-") as folder:
        Path(folder, "page.pgm").write_bytes(picture)
        command = [program, "page.pgm", "page", *_languages(program)]
        try:
            limited.run(command, seconds=SECONDS, folder=folder)
        except limited.TookTooLong:
            return ""
        output = Path(folder, "page.txt")
        text = output.read_text("utf-8", "replace") if output.exists() else ""
    return text.replace("\f", "")


@cache
def _languages(program: str) -> tuple[str, ...]:
    """Return the option that names all installed languages, English first; none if they cannot be listed."""
    done = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=SECONDS)
    lines = done.stdout.splitlines()[1:]
    names = [name for name in lines if _LANGUAGE.fullmatch(name) and name not in _NOT_LANGUAGES]
    names.sort(key=lambda name: (name != "eng", name))
    return ("-l", "+".join(names)) if names else ()
