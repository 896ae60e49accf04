"""Reports that Chaffinch wrote: skipped, or the next report on a folder would compare the last one."""

from __future__ import annotations

import json
import re
from collections.abc import Set
from pathlib import Path

from chaffinch.errors import Problem, SkipReason

GENERATOR = b'<meta name="generator" content="Chaffinch">'
"""In the first lines of every page of a report."""
OWN_REPORT = Problem(SkipReason.OWN_REPORT, "a report that Chaffinch wrote, or part of one")

# How every page begins. A browser that saves it changes the spacing, and adds a comment and tags of its own.
_PAGE = re.compile(
    rb"\s*+<!doctype html>\s*+(?:<!--[^>]*+>\s*+)?<html\b[^>]*+>\s*+<head>\s*+"
    rb"(?:(?!%b)<meta\b[^>]*+>\s*+)*+%b" % (GENERATOR, GENERATOR),
    re.I,
)
_CHUNK_START = b"chaffinchChunk("
_CSV_START = b"left,right,score,coverage left,"
_JSON_STARTS = (b'{\n "kind": "chaffinch verdicts",', b'{\n "pairs": [')
"""Of exported verdicts, and of the pairs as JSON."""
_DATA = re.compile(r"[ps]\d+\.js|report\.(?:js|css)")
"""What the folder "data" of a report holds."""
PART = b"/* A part of a Chaffinch report. */\n"
"""How its script and its style sheet begin."""
_PART_CONTENTS = (b"window.chaffinchChunk = ", b"--accent-soft: ")
_HEAD_BYTES = 1000


def is_own_report(format: str, data: bytes) -> bool:
    """Return whether a file is a report or part of one. Work pasted into a page is skipped with it."""
    if data.startswith(_CHUNK_START):
        return all(line.startswith(_CHUNK_START) for line in data.splitlines() if line)
    if data.startswith(PART):
        return any(content in data for content in _PART_CONTENTS)
    if data.startswith(_CSV_START):
        header, *rows = data.splitlines()
        return all(row.count(b",") >= header.count(b",") for row in rows)
    if format == "html":
        return is_own_page(data)
    return data.startswith(_JSON_STARTS) and _is_json(data)


def is_own_page(head: bytes) -> bool:
    """Return whether a file begins as the pages of a report do. A mark further on may be part of any work."""
    return _PAGE.match(head[:_HEAD_BYTES]) is not None


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def report_entries(folder: Path, names: Set[str]) -> Set[str]:
    """Return the entries of a folder that are a report in folder form: its page and its data."""
    if "index.html" not in names:
        return frozenset()
    page, data = folder / "index.html", folder / "data"
    try:
        if page.is_symlink() or not page.is_file():
            return frozenset()
        with page.open("rb") as file:
            if not is_own_page(file.read(_HEAD_BYTES)):
                return frozenset()
        has_data = data.name in names and not data.is_symlink() and data.is_dir()
        only_chunks = has_data and all(_DATA.fullmatch(entry.name) for entry in data.iterdir())
        return {page.name, data.name} if only_chunks else {page.name}
    except OSError:  # reading the folder reports the problem
        return frozenset()
