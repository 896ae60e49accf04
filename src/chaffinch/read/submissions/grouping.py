"""Documents -> the students who handed them in.

If you give one folder or archive, each entry in it is a student: a folder, an archive, or a file by its name
without the ending. A single folder around all entries is ignored if it holds folders, archives or an export, or
has the name of what it came in (hw1.zip/hw1/...), and so are grades and notes beside it. If there are only
nested folders down to files, the outermost is the only student. Beside the folders of students, a file of
grades or notes is skipped.

If you give several paths, each is a student. A path is a class as above if it holds an export of a learning
platform, or only folders and archives, most of them with names that the other paths do not have.

Exports of Moodle, Canvas, Gradescope, GitHub Classroom and Blackboard have the student in the file names. All
attempts of a student are one submission. Of files with the same contents, the least deep one is kept. Folders
called build, dist, vendor and the like are skipped if the student has at least half as much code outside of
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import NamedTuple

from chaffinch.errors import BadPattern, Problem, SkipReason
from chaffinch.read.rules import DEFAULT, Rules
from chaffinch.read.submissions import platforms
from chaffinch.read.submissions.others_work import code_bytes, others_folder
from chaffinch.read.submissions.platforms import Owner
from chaffinch.read.submissions.stray_files import (
    BESIDE_THE_CLASS,
    BESIDE_THE_STUDENTS,
    beside_students,
    is_class_beside,
)
from chaffinch.read.walk import sort_key
from chaffinch.types import Document, Skipped, Submission

_NO_MATCH = Problem(SkipReason.UNMATCHED, "does not match --student-pattern")
_MOST_WRAPPERS = 4
"""Folders around a class that may have files beside them."""
_PACKED_ALONE = re.compile(r"(?<!\.tar)\.(?:gz|bz2|xz)$", re.I)


class Located(NamedTuple):
    """A document, the path that the user gave, and the document's path below it, with slashes."""

    root: str
    path: str
    """Empty if the user named the document itself."""
    document: Document


class _InClass(NamedTuple):
    """A document by the entry of the class that holds it, and its path inside that entry."""

    entry: str
    rest: str
    located: Located


class _Class(NamedTuple):
    """The folder whose entries are students, every document by its entry, and what lies beside the students."""

    folder: str
    level: list[_InClass]
    beside: list[tuple[_InClass, Problem]]


class _Owned(NamedTuple):
    """A document, its owner or why it has none, and the folder in which a name stands for one student."""

    located: Located
    owner: Owner | Problem
    folder: str
    rest: str
    """The path inside the student's folder or archive."""


@dataclass(slots=True)
class _Student:
    name: str
    id: str
    folder: str
    files: list[_Owned] = field(default_factory=list)


def group(
    located: Iterable[Located],
    pattern: str | None = None,
    rules: Rules = DEFAULT,
    excluded: Collection[tuple[str, str]] = (),
) -> tuple[list[Submission], list[Skipped]]:
    """Return every student's submission, by name, and the documents that belong to nobody.

    `excluded` are the roots and paths of what a pattern excludes: it was part of the class.
    """
    items = sorted(located, key=lambda i: (sort_key(i.root), [sort_key(part) for part in i.path.split("/")]))
    students: dict[tuple[str, str, str], _Student] = {}
    skipped: list[Skipped] = []
    for owned in _by_layout(items, rules, excluded) if pattern is None else _by_pattern(items, pattern):
        owner = owned.owner
        if isinstance(owner, Problem):
            skipped.append(Skipped(owned.located.document.name, *owner))
            continue
        key = (owned.folder, owner.student, owner.id)
        students.setdefault(key, _Student(owner.student, owner.id, owned.folder)).files.append(owned)
    submissions = []
    for name, student in _with_unique_names(list(students.values())):
        files = _without_repeats(_without_others_work(student.files, rules, skipped), skipped)
        submissions.append(Submission(name, tuple(owned.located.document for owned in files)))
    return submissions, skipped


def _without_others_work(files: list[_Owned], rules: Rules, skipped: list[Skipped]) -> list[_Owned]:
    """Remove build output and third-party code, known by the folder, if there is half as much code outside."""
    folders: dict[tuple[str, Problem], list[_Owned]] = {}
    outside = []
    for owned in files:
        document = owned.located.document
        found = None if _is_included(owned.located, rules) else others_folder(owned.rest, document)
        if found is None:
            outside.append(owned)
        else:
            folder, problem = found
            name = document.name.removesuffix(owned.rest) + folder
            folders.setdefault((name, problem), []).append(owned)
    own = sum(code_bytes(owned.located.document) for owned in outside) if folders else 0
    removed: set[str] = set()
    for (name, problem), inside in folders.items():
        if own and 2 * own >= sum(code_bytes(owned.located.document) for owned in inside):
            skipped.append(Skipped(name, *problem))
            removed |= {owned.located.document.name for owned in inside}
    return [owned for owned in files if owned.located.document.name not in removed]


def _is_included(located: Located, rules: Rules) -> bool:
    return bool(rules.include) and rules.below(located.root).includes(located.document.name, False)


def _without_repeats(files: list[_Owned], skipped: list[Skipped]) -> list[_Owned]:
    """Keep each content once: where it is least deep in folders. Files that the user named are all kept."""

    def preference(owned: _Owned) -> tuple[int, int, bytes]:
        path = owned.located.path
        return path.count("/"), len(path), sort_key(path)

    kept: dict[tuple[str, bytes], _Owned] = {}
    keys = [(o.located.document.language, sha256(o.located.document.data).digest()) for o in files]
    for owned, key in zip(files, keys, strict=True):
        if key not in kept or preference(owned) < preference(kept[key]):
            kept[key] = owned
    unique = []
    for owned, key in zip(files, keys, strict=True):
        best = kept[key]
        if owned is best or not owned.located.path:
            unique.append(owned)
        else:
            shown = best.rest or _last(best.located.path or best.located.root)
            detail = f"the same as {shown} of this student"
            skipped.append(Skipped(owned.located.document.name, SkipReason.SAME, detail))
    return unique


def _by_pattern(items: Sequence[Located], pattern: str) -> Iterator[_Owned]:
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"--student-pattern {pattern!r}: invalid regular expression: {error}") from None
    which = "student" if "student" in compiled.groupindex else min(compiled.groups, 1)
    several = len({item.root for item in items}) > 1
    for item in items:
        # If several paths are given, as in class/*, the last part of each may name the student.
        searched = "/".join(filter(None, (_last(item.root) if several else "", item.path))) or _last(item.root)
        match = compiled.search(searched)
        student = match[which] if match else None
        owner = Owner(student) if student else _NO_MATCH
        rest = searched[match.end() :].partition("/")[2] if match else ""
        yield _Owned(item, owner, item.root if item.path else _parent(item.root), rest)


def _by_layout(
    items: Sequence[Located], rules: Rules, excluded: Collection[tuple[str, str]]
) -> Iterator[_Owned]:
    roots: dict[str, list[Located]] = {}
    for item in items:
        roots.setdefault(item.root, []).append(item)
    folders = {root: below for root, below in roots.items() if below[0].path}
    classes = {
        root: _without_stray_files(_class_of(root, below, excluded, rules), rules)
        for root, below in folders.items()
    }
    if len(roots) > 1 and len(_classes_among(classes)) < len(roots):
        # If a path is a student, a file beside folders is part of the work.
        classes = {root: _class_of(root, below, excluded) for root, below in folders.items()}
    found = classes.keys() if len(roots) == 1 else _classes_among(classes)
    among_roots = platforms.exported({_last(root): root in classes for root in roots})
    for root, below in roots.items():
        if root in found:
            folder, level, beside = classes[root]
            entries = _entries(level)
            owners = platforms.exported(entries, _metadata(level)) or platforms.classroom(folder, entries)
            yield from (_Owned(p.located, _owner(p.entry, bool(p.rest), owners), root, p.rest) for p in level)
            yield from (_Owned(p.located, problem, root, p.rest) for p, problem in beside)
        else:
            level = classes[root].level if root in classes else []
            owner = _owner(_last(root), bool(level), among_roots)
            yield from (_Owned(item, owner, _parent(root), item.path) for item in below)


def _owner(entry: str, is_folder: bool, owners: platforms.Owners | None) -> Owner | Problem:
    known = owners(entry) if owners else None
    if known is None:
        return Owner(_plain_name(entry, is_folder))
    if isinstance(known, Owner) and is_folder:
        return known._replace(file="")  # the name that counts is inside the folder
    return known


def _class_of(
    root: str, items: list[Located], excluded: Collection[tuple[str, str]], rules: Rules | None = None
) -> _Class:
    """Return the folder whose entries are students. Without rules, no file may lie beside it."""
    folder, level = root, [_in_class(item.path, item) for item in items]
    only_student = _Class(folder, level, [])
    beside: list[tuple[_InClass, Problem]] = []
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
            only_student = _Class(wrapper, inside, [])
        elif not any(below.values()) and not platforms.exported(below):
            return only_student
        folder, level, above = wrapper, inside, f"{above}{wrapper}/"
    return _Class(folder, level, beside)


def _only_folder(level: Iterable[_InClass]) -> str | None:
    """Return the only folder or archive among entries that are no export, or None."""
    entries = _entries(level)
    folders = [entry for entry, is_folder in entries.items() if is_folder]
    return folders[0] if len(folders) == 1 and not platforms.exported(entries) else None


def _is_last_student(inside: Iterable[_InClass], excluded: Iterable[str]) -> bool:
    """Return whether a folder is what patterns left of a class, not a folder around the class.

    `excluded` are the paths of what they excluded. Beside a class there may be one folder that is not of it.
    """
    others = [path for path in excluded if "/" not in path and _may_be_folder(path)]
    entries = _entries(inside)
    return len(others) > 1 or (len(others) == 1 and not (len(entries) > 1 and all(entries.values())))


def _may_be_folder(entry: str) -> bool:
    return platforms.without_archive(entry) != entry or not PurePath(entry).suffix


def _is_beside(files: Sequence[_InClass], inside: list[_InClass], rules: Rules) -> bool:
    """Return whether files lie beside the folder of a class. A file that the user includes is a student's."""
    if any(_is_included(p.located, rules) for p in files):
        return False
    for _ in range(_MOST_WRAPPERS):
        if (wrapper := _only_folder(inside)) is not None:
            inside = [_in_class(p.rest, p.located) for p in inside if p.entry == wrapper]
    entries = _entries(inside)
    folders = [entry for entry, is_folder in entries.items() if is_folder]
    return is_class_beside(_works(files), _works(inside), folders, platforms.exported(entries) is not None)


def _without_stray_files(of: _Class, rules: Rules) -> _Class:
    """Remove files beside the folders of students that are nobody's work."""
    entries = _entries(of.level)
    owners = platforms.exported(entries, _metadata(of.level))
    files = [p for p in of.level if not p.rest and (owners is None or owners(p.entry) is None)]
    names = {p.entry for p in files}
    works = [p for p in of.level if p.entry not in names]
    stray = beside_students(_works(p for p in files if not _is_included(p.located, rules)), _works(works))
    beside = [(p, BESIDE_THE_STUDENTS) for p in files if p.entry in stray]
    return _Class(of.folder, [p for p in of.level if p.entry not in stray], of.beside + beside)


def _works(level: Iterable[_InClass]) -> dict[str, list[Document]]:
    """Return the documents of each entry."""
    works: dict[str, list[Document]] = {}
    for p in level:
        works.setdefault(p.entry, []).append(p.located.document)
    return works


def _classes_among(classes: Mapping[str, _Class]) -> set[str]:
    """Return which of several paths are classes; the others are students."""
    entries = {root: _entries(of.level) for root, of in classes.items()}
    counts = Counter(entry for of_root in entries.values() for entry in of_root)
    return {
        root
        for root, of in classes.items()
        if platforms.exported(entries[root], _metadata(of.level)) or _is_class(entries[root], counts)
    }


def _in_class(path: str, located: Located) -> _InClass:
    entry, _, rest = path.partition("/")
    return _InClass(entry, rest, located)


def _entries(level: Iterable[_InClass]) -> dict[str, bool]:
    """Return the names on the level of the class, and whether each is a folder or archive."""
    return {p.entry: bool(p.rest) for p in level}


def _is_class(entries: dict[str, bool], counts: Counter[str]) -> bool:
    unique = sum(counts[entry] == 1 for entry in entries)
    return len(entries) > 1 and all(entries.values()) and 2 * unique > len(entries)


def _metadata(level: Iterable[_InClass]) -> bytes:
    return next((p.located.document.data for p in level if p.entry == platforms.GRADESCOPE_NAMES), b"")


def _last(path: str) -> str:
    return PurePath(path).name or path


def _parent(path: str) -> str:
    return str(PurePath(path).parent)


def _bare(path: str) -> str:
    return platforms.without_archive(_last(path))


def plain_name(path: str, *, is_archive: bool = False) -> str:
    """Return the name of a student who handed in one file or archive."""
    return _plain_name(_last(path), is_archive)


def _plain_name(entry: str, is_folder: bool) -> str:
    """Return the name of a folder, or of an archive or file without its ending."""
    bare = platforms.without_archive(entry)
    packed_alone = _PACKED_ALONE.search(entry)
    return PurePath(bare).stem if packed_alone or not is_folder else bare


def _with_unique_names(students: Sequence[_Student]) -> list[tuple[str, _Student]]:
    """Return every student under a unique name, in order. Namesakes get the platform's number or the folder."""
    by_name: dict[str, list[_Student]] = {}
    for student in students:
        by_name.setdefault(student.name, []).append(student)
    named: dict[str, _Student] = {}
    for name, namesakes in by_name.items():
        both = [f"{s.id}, {s.folder}" for s in namesakes]
        choices = ([s.id for s in namesakes], [s.folder for s in namesakes], both)
        labels = next((c for c in choices if all(c) and len(set(c)) == len(c)), both)
        for label, student in zip(labels, namesakes, strict=True):
            unique = name if len(namesakes) == 1 else f"{name} ({label})"
            while unique in named:  # another student has this name
                unique += "'"
            named[unique] = student
    return sorted(named.items(), key=lambda item: sort_key(item[0]))
