"""What this program writes itself: left out, else the next report of a folder would hold the last one.

A file counts only if all of it is as it was written: no work is taken for a report by its first line.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Set
from pathlib import Path, PurePosixPath

from chaffinch.types import Document

GENERATOR = b'<meta name="generator" content="Chaffinch">'
"""In the first lines of every page of a report."""
WHY = "written by Chaffinch as a report or a part of one; left out"

# Browsers that save a page drop white space between tags.
_START = re.compile(
    rb'<!doctype html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*' + GENERATOR, re.I
)
_BODIES = (
    (
        b'<body>\n<header class="top">',
        b'<main id="main"',
        b'<div id="message"',
        b'<script type="application/json" id="index">{',
    ),
    (
        b'<body>\n<header>\n<p class="kind">Case file</p>',
        b'<section class="verdict">',
        b'<div class="receipt">',
        b". Made with Chaffinch.</footer>",
    ),
)
"""What is in each page, in this order."""
_END = re.compile(rb"</script>\s*</body>\s*</html>\s*\Z")
_FOLDER = frozenset(("index.html", "data"))
_CASES = "cases"
_CHUNK = re.compile(r"[ps]\d+")
_VERDICTS = b'{\n "kind": "chaffinch verdicts",'
_PAIRS = b"left,right,score,coverage left,coverage right,"
_LONGEST_END = 100


def is_ours(document: Document) -> bool:
    """Whether it is a page, the data, the list or the verdicts of a report, all of it."""
    data = document.data
    if data[:20].lower().startswith(b"<!doctype html>"):
        return _is_page(data)
    if data.startswith(b"chaffinchChunk("):
        return _is_chunk(PurePosixPath(document.name.replace("\\", "/")).stem, data)
    if data.startswith(_VERDICTS):
        return _are_verdicts(data)
    return data.startswith(_PAIRS) and _are_pairs(data)


def report(folder: Path, names: Set[str]) -> Set[str]:
    """Those of the names in a folder that are pages, data and case files of a report, and only that."""
    try:
        if folder.name.endswith(_CASES) and _are_all_ours(folder, ".html"):
            return names
        if not names >= _FOLDER or not _is_ours(folder / "index.html"):
            return frozenset()
        if not _are_all_ours(folder / "data", ".js"):
            return frozenset()
        has_cases = _CASES in names and _are_all_ours(folder / _CASES, ".html")
        return _FOLDER | {_CASES} if has_cases else _FOLDER
    except OSError:  # who reads it will say what is wrong
        return frozenset()


def _are_all_ours(folder: Path, ending: str) -> bool:
    if folder.is_symlink():
        return False
    return all(file.suffix == ending and _is_ours(file) for file in folder.iterdir())


def _is_ours(file: Path) -> bool:
    return not file.is_symlink() and file.is_file() and is_ours(Document(str(file), file.read_bytes()))


def _is_page(data: bytes) -> bool:
    if _START.match(data) is None or _END.search(data[-_LONGEST_END:]) is None:
        return False
    return any(_in_order(body, data) for body in _BODIES)


def _in_order(pieces: Iterable[bytes], data: bytes) -> bool:
    at = 0
    return all((at := data.find(piece, at)) >= 0 for piece in pieces)


def _is_chunk(key: str, data: bytes) -> bool:
    start, end = f'chaffinchChunk("{key}",'.encode(), b");\n"
    if not _CHUNK.fullmatch(key) or not data.startswith(start) or not data.endswith(end):
        return False
    return isinstance(_json(data[len(start) : -len(end)]), list)


def _are_verdicts(data: bytes) -> bool:
    found = _json(data)
    if not isinstance(found, dict) or found.keys() != {"kind", "version", "verdicts"}:
        return False
    verdicts = found["verdicts"]
    return isinstance(verdicts, dict) and all(
        isinstance(one, dict) and one.keys() == {"verdict", "note"} for one in verdicts.values()
    )


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _are_pairs(data: bytes) -> bool:
    """Two names, and then numbers."""
    try:
        head, *rows = csv.reader(io.StringIO(data.decode(), newline=""), strict=True)
        return all(len(row) == len(head) and all(map(_is_number, row[2:])) for row in rows)
    except (ValueError, csv.Error):
        return False


def _is_number(cell: str) -> bool:
    return not cell or re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", cell) is not None
