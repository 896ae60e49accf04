"""Case files of the first pairs, in a folder, under names that every file system can have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize

from chaffinch.report.anonymize.anonymous_report import everybody, in_order
from chaffinch.report.case_file import case_file
from chaffinch.types import Report

_OURS = re.compile(r"\d{2,}(?: .* - .*)?\.html")
_MARK = b'<p class="kind">Case file</p>'
_FORBIDDEN = '<>:"/\\|?*'
_LONGEST = 100
_MOST_BYTES = 255
"""Of a file's name, in most file systems."""


def case_files(
    report: Report,
    folder: Path,
    count: int,
    *,
    redact: bool = False,
    verdicts: Mapping[str, Any] | None = None,
) -> None:
    """The first `count` pairs, a case file each; those of an earlier run go, for they may have names."""
    for left_over in folder.iterdir() if folder.is_dir() else ():
        if _OURS.fullmatch(left_over.name) and left_over.is_file() and _MARK in left_over.read_bytes():
            left_over.unlink()
    pairs = in_order(report, everybody(report)) if redact else report.pairs
    for n, pair in enumerate(pairs[:count], 1):
        name = f"{n:02}.html" if redact else _name(n, pair.left, pair.right)
        case_file(report, pair, folder / name, redact=redact, verdicts=verdicts)


def _name(n: int, left: str, right: str) -> str:
    """The number comes first, so that no two names are the same and none is reserved."""
    frame = f"{n:02}  - .html"
    a, b = (
        _safe(name, (_LONGEST - len(frame)) // 2, (_MOST_BYTES - len(frame)) // 2) for name in (left, right)
    )
    return f"{n:02} {a} - {b}.html"


def _safe(name: str, characters: int, size: int) -> str:
    shown = "".join("_" if c in _FORBIDDEN or not c.isprintable() else c for c in normalize("NFC", name))
    return shown[:characters].encode()[:size].decode("utf-8", "ignore").strip(" .") or "_"
