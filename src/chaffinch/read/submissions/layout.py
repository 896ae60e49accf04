"""Documents -> the folders that are classes, whose entries are students, and what lies beside these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from chaffinch.errors import Problem
from chaffinch.read.rules import Rules
from chaffinch.read.submissions import platforms
from chaffinch.read.submissions.stray_files import (
    BESIDE_THE_CLASS,
    BESIDE_THE_STUDENTS,
    beside_students,
    is_class_beside,
)
from chaffinch.types import Document

_MOST_WRAPPERS = 4
"""Folders around a class that may have files beside them."""


class Located(NamedTuple):
    """A document, the path that the user gave, and the document's path below it, with slashes."""

    root: str
    path: str
    """Empty if the user named the document itself."""
    document: Document


class InClass(NamedTuple):
    """A document by the entry of the class that holds it, and its path inside that entry."""

    entry: str
    rest: str
    located: Located


class Class(NamedTuple):
    """The folder whose entries are students, every document by its entry, and what lies beside the students."""

    folder: str
    level: list[InClass]
    beside: list[tuple[InClass, Problem]]


class Layout(NamedTuple):
    """The paths that the user gave, with their documents, and which of them are classes."""

    roots: dict[str, list[Located]]
    folders: dict[str, Class]
    """For each path to a folder or archive, what it would be as a class."""
    classes: Collection[str]

    def owners(self, root: str) -> platforms.Owners | None:
        """Return how to find the owners of the entries of a class."""
        folder, level, _ = self.folders[root]
        entries = _entries(level)
        return platforms.exported(entries, _metadata(level)) or platforms.classroom(folder, entries)

    def owners_of_roots(self) -> platforms.Owners | None:
        return platforms.exported({last_part(root): root in self.folders for root in self.roots})


def find_layout(
    items: Sequence[Located], rules: Rules, unread: Iterable[str], excluded: Collection[tuple[str, str]]
) -> Layout:
    """Find out which of the given paths are classes.

    `unread` are folders and archives in which something is skipped, maybe all. `excluded` are the roots and
    paths of what a pattern excludes: it was part of the class.
    """
    roots: dict[str, list[Located]] = {}
    for item in items:
        roots.setdefault(item.root, []).append(item)
    folders = {root: below for root, below in roots.items() if below[0].path}
    classes = {
        root: _without_stray_files(_class_of(root, below, excluded, rules), rules)
        for root, below in folders.items()
    }
    several = len(roots.keys() | set(unread)) > 1
    if several and len(_classes_among(classes)) < len(roots):
        # If a path is a student, a file beside folders is part of the work.
        classes = {root: _class_of(root, below, excluded) for root, below in folders.items()}
    return Layout(roots, classes, _classes_among(classes) if several else classes.keys())


def _class_of(
    root: str, items: list[Located], excluded: Collection[tuple[str, str]], rules: Rules | None = None
) -> Class:
    """Return the folder whose entries are students. Without rules, no file may lie beside it."""
    folder, level = root, [_in_class(item.path, item) for item in items]
    only_student = Class(folder, level, [])
    beside: list[tuple[InClass, Problem]] = []
    above = ""
    while (wrapper := _only_folder(level)) is not None:
        inside = [_in_class(p.rest, p.located) for p in level if p.entry == wrapper]
        files = [p for p in level if p.entry != wrapper]
        if files and (rules is None or not _is_beside(files, inside, rules)):
            break
        if _is_last_student(inside, [path.removeprefix(above) for of, path in excluded if of == root]):
            break
        beside += [(p, BESIDE_THE_CLASS) for p in files]
        below = _entries(inside)
        if _bare(wrapper) == _bare(folder):
            only_student = Class(wrapper, inside, [])
        elif not any(below.values()) and not platforms.exported(below):
            return only_student
        folder, level, above = wrapper, inside, f"{above}{wrapper}/"
    return Class(folder, level, beside)


def _only_folder(level: Iterable[InClass]) -> str | None:
    """Return the only folder or archive among entries that are no export, or None."""
    entries = _entries(level)
    folders = [entry for entry, is_folder in entries.items() if is_folder]
    return folders[0] if len(folders) == 1 and not platforms.exported(entries) else None


def _is_last_student(inside: Iterable[InClass], excluded: Iterable[str]) -> bool:
    """Return whether a folder is what patterns left of a class, not a folder around the class.

    `excluded` are the paths of what they excluded. Beside a class there may be one folder that is not of it.
    """
    others = [path for path in excluded if "/" not in path and _may_be_folder(path)]
    entries = _entries(inside)
    return len(others) > 1 or (len(others) == 1 and not (len(entries) > 1 and all(entries.values())))


def _may_be_folder(entry: str) -> bool:
    return platforms.without_archive(entry) != entry or not PurePath(entry).suffix


def _is_beside(files: Sequence[InClass], inside: list[InClass], rules: Rules) -> bool:
    """Return whether files lie beside the folder of a class. A file that the user includes is a student's."""
    if any(is_included(p.located, rules) for p in files):
        return False
    for _ in range(_MOST_WRAPPERS):
        if (wrapper := _only_folder(inside)) is not None:
            inside = [_in_class(p.rest, p.located) for p in inside if p.entry == wrapper]
    entries = _entries(inside)
    folders = [entry for entry, is_folder in entries.items() if is_folder]
    return is_class_beside(_works(files), _works(inside), folders, platforms.exported(entries) is not None)


def _without_stray_files(of: Class, rules: Rules) -> Class:
    """Remove files beside the folders of students that are nobody's work."""
    entries = _entries(of.level)
    owners = platforms.exported(entries, _metadata(of.level))
    files = [p for p in of.level if not p.rest and (owners is None or owners(p.entry) is None)]
    names = {p.entry for p in files}
    works = [p for p in of.level if p.entry not in names]
    stray = beside_students(_works(p for p in files if not is_included(p.located, rules)), _works(works))
    beside = [(p, BESIDE_THE_STUDENTS) for p in files if p.entry in stray]
    return Class(of.folder, [p for p in of.level if p.entry not in stray], of.beside + beside)


def _works(level: Iterable[InClass]) -> dict[str, list[Document]]:
    """Return the documents of each entry."""
    works: dict[str, list[Document]] = {}
    for p in level:
        works.setdefault(p.entry, []).append(p.located.document)
    return works


def _classes_among(classes: Mapping[str, Class]) -> set[str]:
    """Return which of several paths are classes; the others are students."""
    entries = {root: _entries(of.level) for root, of in classes.items()}
    counts = Counter(entry for of_root in entries.values() for entry in of_root)
    return {
        root
        for root, of in classes.items()
        if platforms.exported(entries[root], _metadata(of.level)) or _is_class(entries[root], counts)
    }


def _in_class(path: str, located: Located) -> InClass:
    entry, _, rest = path.partition("/")
    return InClass(entry, rest, located)


def _entries(level: Iterable[InClass]) -> dict[str, bool]:
    """Return the names on the level of the class, and whether each is a folder or archive."""
    return {p.entry: bool(p.rest) for p in level}


def _is_class(entries: dict[str, bool], counts: Counter[str]) -> bool:
    unique = sum(counts[entry] == 1 for entry in entries)
    return len(entries) > 1 and all(entries.values()) and 2 * unique > len(entries)


def _metadata(level: Iterable[InClass]) -> bytes:
    return next((p.located.document.data for p in level if p.entry == platforms.GRADESCOPE_NAMES), b"")


def in_level(level: Sequence[InClass], path: str) -> tuple[str, str]:
    """Return a path as an entry of the class and the rest; both are empty outside the folder of the class."""
    first = level[0]
    around = first.located.path.removesuffix(f"{first.entry}/{first.rest}" if first.rest else first.entry)
    entry, _, rest = path.removeprefix(around).partition("/") if path.startswith(around) else ("", "", "")
    return entry, rest


def is_included(located: Located, rules: Rules) -> bool:
    return bool(rules.include) and rules.below(located.root).includes(located.document.name, False)


def last_part(path: str) -> str:
    return PurePath(path).name or path


def parent(path: str) -> str:
    return str(PurePath(path).parent)


def _bare(path: str) -> str:
    return platforms.without_archive(last_part(path))
