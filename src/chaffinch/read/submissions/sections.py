"""Submissions that are sections of a class, each with the work of several students."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from chaffinch.types import Submission

_MOST_SECTIONS = 4
_FEWEST_STUDENTS = 3
"""Folders with programs in each section."""


def find_sections(submissions: Sequence[Submission]) -> list[str]:
    """Return the path of each submission if all seem to be sections, otherwise none.

    Each holds several folders with programs, and most of these have names that occur in no other submission:
    projects of students have their src and tests alike.
    """
    if not 2 <= len(submissions) <= _MOST_SECTIONS:
        return []
    found = [_folders_with_programs(submission) for submission in submissions]
    counts = Counter(name for _, names in found for name in names)
    for _, names in found:
        unique = sum(counts[name] == 1 for name in names)
        if len(names) < _FEWEST_STUDENTS or 2 * unique <= len(names):
            return []
    return [path for path, _ in found]


def _folders_with_programs(submission: Submission) -> tuple[str, set[str]]:
    """Return the folder around all documents, and the names of the folders in it that hold programs."""
    paths = [document.name.replace(os.sep, "/").split("/") for document in submission.documents]
    around = os.path.commonprefix([path[:-1] for path in paths])  # noqa: RUF071 (of lists, part by part)
    depth = len(around)
    programs = zip(paths, submission.documents, strict=True)
    names = {path[depth] for path, d in programs if d.language != "text" and len(path) > depth + 1}
    return "/".join(around), names
