"""Reports that Chaffinch wrote: skipped, or the next report on a folder would compare the last one."""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path

from chaffinch.errors import Problem, SkipReason

GENERATOR = b'<meta name="generator" content="Chaffinch">'
"""In the first lines of every page of a report."""
OWN_REPORT = Problem(SkipReason.OWN_REPORT, "a report that Chaffinch wrote, or part of one")

_FIRST_BYTES = (
    b"chaffinchChunk(",
    b'{\n "kind": "chaffinch verdicts",',
    b"left,right,score,coverage left,",
    b'{\n "pairs": [',
)
"""The first bytes of a report's data, of exported verdicts, and of the pairs as CSV and as JSON."""
_CHUNK = re.compile(r"[ps]\d+\.js")
_HEAD_BYTES = 1000


def is_own_report(data: bytes) -> bool:
    """Return whether these are the first bytes of a report. Work pasted into a report is skipped with it."""
    return data.startswith(_FIRST_BYTES) or GENERATOR in data[:_HEAD_BYTES]


def report_entries(folder: Path, names: Set[str]) -> Set[str]:
    """Return the entries of a folder that are a report in folder form: its page and its data."""
    if "index.html" not in names:
        return frozenset()
    page, data = folder / "index.html", folder / "data"
    try:
        if page.is_symlink() or not page.is_file():
            return frozenset()
        with page.open("rb") as file:
            if not is_own_report(file.read(_HEAD_BYTES)):
                return frozenset()
        has_data = data.name in names and not data.is_symlink() and data.is_dir()
        only_chunks = has_data and all(_CHUNK.fullmatch(entry.name) for entry in data.iterdir())
        return {page.name, data.name} if only_chunks else {page.name}
    except OSError:  # reading the folder reports the problem
        return frozenset()
