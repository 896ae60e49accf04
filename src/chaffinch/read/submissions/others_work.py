"""Folders in a student's work that others or programs wrote, such as build, dist and vendor."""

from __future__ import annotations

import re

from chaffinch.errors import Problem
from chaffinch.languages.by_content import without_comments
from chaffinch.read.rules import usually_not_written
from chaffinch.types import Document

_PACKAGE = re.compile(rb"^\s*package\s+([\w.]+)", re.M)
_PACKAGED = ("java", "kotlin", "scala", "groovy")
"""Languages in which a file names its package, and its folders are called like that."""
_MEASURED_BYTES = 1 << 20
"""Of each file."""


def others_folder(path: str, document: Document) -> tuple[str, Problem] | None:
    """Return the folder whose name shows that others or programs wrote this document, and why, or None.

    The path is relative to the student's work. A package may be called build, too.
    """
    found = usually_not_written(path)
    if found is None or document.language not in _PACKAGED:
        return found
    package = _PACKAGE.search(document.data[:_MEASURED_BYTES])
    names = package[1].decode("ascii", "replace").split(".") if package else []
    folders = path.split("/")[:-1]
    is_package = names and folders[-len(names) :] == names
    return None if is_package and len(folders) - len(names) < found[0].count("/") + 1 else found


def code_bytes(document: Document) -> int:
    """Return how much code a document holds, without comments and white space; none if it is text."""
    if document.language == "text":
        return 0
    return sum(map(len, without_comments(document.data[:_MEASURED_BYTES]).split()))
