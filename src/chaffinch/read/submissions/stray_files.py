"""Files beside the submissions of a class that are nobody's work: tables of grades, notes, the assignment."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from chaffinch.errors import Problem, SkipReason
from chaffinch.read.file_kinds import is_about_programs, is_data, suffix
from chaffinch.types import Document

BESIDE_THE_CLASS = Problem(SkipReason.EXCLUDED, "beside the folder of the class")
BESIDE_THE_STUDENTS = Problem(SkipReason.EXCLUDED, "beside the folders of the students")
_NOTES = re.compile(
    r"(?:notes?|grades?|grading|gradebook|roster|attendance|feedback|instructions?|rubric|syllabus)\b.*",
    re.I | re.S,
)
_FEWEST_WORKS = 5
"""Folders of students. Beside fewer, a file may well be a student's work."""
_WORKS_PER_FILE = 4
"""Folders of students for each file beside them. Where there are more files, students handed in files."""
_FEWEST_ENTRIES = 3
"""Entries of a folder that is taken as the class although files lie beside it."""

Works = Mapping[str, Sequence[Document]]
"""The entries of a folder, with the documents in each."""


def is_class_beside(files: Works, inside: Works, folders: Collection[str], is_export: bool) -> bool:
    """Return whether a folder is the class and the files beside it are not part of it.

    `inside` is what the folder holds, and `folders` are those of its entries that are folders or archives. At
    most one file may be a text that a student could have written.
    """
    if len(inside) < _FEWEST_ENTRIES or not (is_export or 2 * len(folders) > len(inside)):
        return False
    stray = _stray(files, inside)
    return len(files) - len(stray) <= 1 and not any(_has_program(documents) for documents in files.values())


def beside_students(files: Works, works: Works) -> set[str]:
    """Return the files that are nobody's work, beside the folders and archives of students."""
    is_usual = len(works) >= max(_FEWEST_WORKS, _WORKS_PER_FILE * len(files))
    return _stray(files, works) if is_usual else set()


def _stray(files: Works, works: Works) -> set[str]:
    """Return the files that differ from the works of students.

    In a class of programs that is any text, unless most students have a file with that ending too. In a class
    of texts it is data, and what the name shows to be a note; any other text may be a student's.
    """
    has_programs = 2 * sum(map(_has_program, works.values())) > len(works)
    endings = Counter(e for documents in works.values() for e in {suffix(d.name) for d in documents})

    def is_stray(name: str, documents: Sequence[Document]) -> bool:
        if _has_program(documents):
            return False
        if _NOTES.fullmatch(name) or is_about_programs(name):
            return True
        is_usual = 2 * endings[suffix(name)] > len(works)
        if all(map(is_data, documents)):
            return has_programs or not is_usual
        return has_programs and not is_usual

    return {name for name, documents in files.items() if is_stray(name, documents)}


def _has_program(documents: Iterable[Document]) -> bool:
    return any(document.language != "text" for document in documents)
