"""Write the case files of the first pairs into a folder, under names that every file system allows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

from chaffinch.report.case_file import case_file
from chaffinch.types import Pair, Report

_CASE_NAME = re.compile(r"\d{2,}(?: .* - .*)?\.html")
_CASE_MARK = b'<p class="kind">Case file</p>'
_FORBIDDEN = '<>:"/\\|?*'
_NAME_LENGTH = 100
"""Characters of a file name."""
_NAME_SIZE = 255
"""Bytes of a file name; most file systems allow no more."""


def case_files(
    report: Report, folder: Path, count: int, *, redact: bool = False, verdicts: Mapping[str, Any] | None = None
) -> None:
    """Write a case file for each of the first `count` pairs, and remove those of an earlier run.

    Earlier case files would be confusing, and may contain names that this run redacts.
    """
    for file in folder.iterdir() if folder.is_dir() else ():
        if _CASE_NAME.fullmatch(file.name) and file.is_file() and _CASE_MARK in file.read_bytes():
            file.unlink()
    pairs: Sequence[Pair] = report.pairs
    if redact:
        from chaffinch.report.anonymize.anonymous_report import everybody, in_order

        pairs = in_order(report, everybody(report))
    for n, pair in enumerate(pairs[:count], 1):
        name = f"{n:02}.html" if redact else _file_name(n, pair.left, pair.right)
        case_file(report, pair, folder / name, redact=redact, verdicts=verdicts)


def _file_name(n: int, left: str, right: str) -> str:
    """Return a name that begins with the number, so that all names differ and none is a reserved one."""
    rest = len(f"{n:02}  - .html")
    length, size = (_NAME_LENGTH - rest) // 2, (_NAME_SIZE - rest) // 2
    return f"{n:02} {_allowed(left, length, size)} - {_allowed(right, length, size)}.html"


def _allowed(name: str, length: int, size: int) -> str:
    """Return as much of a name as fits, without characters that a file system may refuse."""
    printable = "".join("_" if c in _FORBIDDEN or not c.isprintable() else c for c in normalize("NFC", name))
    return printable[:length].encode()[:size].decode("utf-8", "ignore").strip(" .") or "_"
