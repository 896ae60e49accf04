"""Paths -> everything in them: files, folders, archives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from chaffinch.errors import Unreadable
from chaffinch.read import walk
from chaffinch.read.load import contents
from chaffinch.read.ready import expand
from chaffinch.read.submissions.grouping import Found, group
from chaffinch.types import Document, Skipped, Submission


def files(paths: Iterable[Path]) -> Iterator[Document | Skipped]:
    """Every file, as it is; folders in order of their names, without what is no work of a person's."""
    for path in paths:
        for found in walk.files(path) if path.is_dir() else [path]:
            yield _file(found) if isinstance(found, Path) else found


def documents(paths: Iterable[Path]) -> Iterator[Document | Skipped]:
    """Every document in files, folders and archives, with its format and language, and what was left out."""
    for found in files(paths):
        if isinstance(found, Document):
            yield from expand(found)
        else:
            yield found


def submissions(paths: Iterable[Path], pattern: str | None = None) -> tuple[list[Submission], list[Skipped]]:
    """What every student handed in, and what was left out; `pattern` finds a student's name in a path."""
    found: list[Found] = []
    skipped: list[Skipped] = []
    for path in paths:
        root = str(path)
        for document in documents([path]):
            if isinstance(document, Document):
                below = document.name.removeprefix(root).replace(os.sep, "/").lstrip("/")
                found.append(Found(root, below, document))
            else:
                skipped.append(document)
    grouped, nobodys = group(found, pattern)
    return grouped, skipped + nobodys


def _file(path: Path) -> Document | Skipped:
    try:
        return Document(str(path), contents(path))
    except Unreadable as error:
        return Skipped.because(error)
