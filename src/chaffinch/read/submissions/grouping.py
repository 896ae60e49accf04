"""Documents -> the students who handed them in.

Of one folder or archive given, each entry is a student: a folder, an archive or a file by its name without the
ending. A folder around all of it is passed through if it holds folders, archives or an export, or has the name
of what it came in (hw1.zip/hw1/...). If there is nothing but one folder in another down to files, the first is
the only student.

Of several paths given, each is a student, unless it holds an export of a learning platform, or nothing but
folders and archives most of which have names that do not occur in the other paths: then it is a class as above.

In exports of Moodle, Canvas, Gradescope, GitHub Classroom and Blackboard the names tell the student. What one
student handed in several times is one submission, each file of the same name and contents once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import NamedTuple

from chaffinch.errors import BadPattern, SkipReason
from chaffinch.read.submissions import platforms
from chaffinch.read.submissions.platforms import Owner
from chaffinch.read.walk import in_order
from chaffinch.types import Document, Skipped, Submission

_PACKED_ALONE = re.compile(r"(?<!\.tar)\.(?:gz|bz2|xz)$", re.I)


class Found(NamedTuple):
    """A document, the path given by the user that led to it, and its own path from there on, with slashes."""

    root: str
    path: str
    """Empty if the document is what the user named."""
    document: Document


class _Placed(NamedTuple):
    """A document by the entry of the class that it lies in, and its path inside that."""

    entry: str
    rest: str
    found: Found


class _Owned(NamedTuple):
    """A document, its owner or why it has none, and the place where a name means one student."""

    found: Found
    owner: Owner | str
    place: str


@dataclass(slots=True)
class _Student:
    name: str
    id: str
    place: str
    documents: list[Document] = field(default_factory=list)
    seen: set[tuple[str, bytes]] = field(default_factory=set)

    def add(self, document: Document, file: str) -> None:
        content = (file, sha256(document.data).digest())
        if content not in self.seen:
            self.seen.add(content)
            self.documents.append(document)


def group(found: Iterable[Found], pattern: str | None = None) -> tuple[list[Submission], list[Skipped]]:
    """Every student's submission, by name, and what is nobody's."""
    everything = sorted(found, key=lambda f: (in_order(f.root), [in_order(part) for part in f.path.split("/")]))
    students: dict[tuple[str, str, str], _Student] = {}
    skipped: list[Skipped] = []
    for item, owner, place in _by_layout(everything) if pattern is None else _by_pattern(everything, pattern):
        if isinstance(owner, str):
            skipped.append(Skipped(item.document.name, SkipReason.UNMATCHED, owner))
            continue
        key = (place, owner.student, owner.id)
        student = students.setdefault(key, _Student(owner.student, owner.id, place))
        student.add(item.document, owner.file or _last(item.path or item.root))
    named = _told_apart(list(students.values()))
    return [Submission(name, tuple(s.documents)) for name, s in named], skipped


def _by_pattern(found: Sequence[Found], pattern: str) -> Iterator[_Owned]:
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"--student-pattern {pattern!r}: no regular expression: {error}; mend it") from None
    which = "student" if "student" in compiled.groupindex else min(compiled.groups, 1)
    several = len({item.root for item in found}) > 1
    for item in found:
        # Of several paths, as in class/*, the last part of each may be what tells the student.
        searched = "/".join(filter(None, (_last(item.root) if several else "", item.path))) or _last(item.root)
        match = compiled.search(searched)
        student = match[which] if match else None
        owner = Owner(student) if student else "does not match --student-pattern"
        yield _Owned(item, owner, item.root if item.path else _before(item.root))


def _by_layout(found: Sequence[Found]) -> Iterator[_Owned]:
    roots: dict[str, list[Found]] = {}
    for item in found:
        roots.setdefault(item.root, []).append(item)
    classes = {root: _class_level(root, items) for root, items in roots.items() if items[0].path}
    common = Counter(entry for _, placed in classes.values() for entry in _entries(placed))
    among_roots = platforms.exported({_last(root): root in classes for root in roots})
    for root, items in roots.items():
        folder, placed = classes.get(root, ("", []))
        entries = _entries(placed)
        owners = platforms.exported(entries, _metadata(placed))
        if placed and (owners or len(roots) == 1 or _is_class(placed, common)):
            owners = owners or platforms.classroom(folder, entries)
            yield from (_Owned(p.found, _owner(p.entry, bool(p.rest), owners), root) for p in placed)
        else:
            owner = _owner(_last(root), bool(placed), among_roots)
            yield from (_Owned(item, owner, _before(root)) for item in items)


def _owner(entry: str, is_folder: bool, owners: platforms.Owners | None) -> Owner | str:
    known = owners(entry) if owners else None
    if known is None:
        return Owner(_plain_name(entry, is_folder))
    if isinstance(known, Owner) and is_folder:
        return known._replace(file="")  # the file's name is the one inside
    return known


def _class_level(root: str, found: list[Found]) -> tuple[str, list[_Placed]]:
    """The folder whose entries are students, and every document by the entry it lies in."""
    folder, level = root, [_placed(item.path, item) for item in found]
    only_student = folder, level
    while len(entries := _entries(level)) == 1 and all(entries.values()) and not platforms.exported(entries):
        wrapper, level = level[0].entry, [_placed(p.rest, p.found) for p in level]
        below = _entries(level)
        if _bare(wrapper) == _bare(folder):
            only_student = wrapper, level
        elif not any(below.values()) and not platforms.exported(below):
            return only_student
        folder = wrapper
    return folder, level


def _placed(path: str, found: Found) -> _Placed:
    entry, _, rest = path.partition("/")
    return _Placed(entry, rest, found)


def _entries(placed: Iterable[_Placed]) -> dict[str, bool]:
    """The names on the level of the class, each with whether something lies in it."""
    return {p.entry: bool(p.rest) for p in placed}


def _is_class(placed: Sequence[_Placed], common: Counter[str]) -> bool:
    entries = _entries(placed)
    alone = sum(common[entry] == 1 for entry in entries)
    return len(entries) > 1 and all(entries.values()) and 2 * alone > len(entries)


def _metadata(placed: Iterable[_Placed]) -> bytes:
    return next((p.found.document.data for p in placed if p.entry == platforms.GRADESCOPE_NAMES), b"")


def _last(path: str) -> str:
    return PurePath(path).name or path


def _before(path: str) -> str:
    return str(PurePath(path).parent)


def _bare(path: str) -> str:
    return platforms.without_archive(_last(path))


def _plain_name(entry: str, is_folder: bool) -> str:
    """A folder's name, an archive's or a file's without its ending."""
    bare = platforms.without_archive(entry)
    packed_alone = _PACKED_ALONE.search(entry)
    return PurePath(bare).stem if packed_alone or not is_folder else bare


def _told_apart(students: Sequence[_Student]) -> list[tuple[str, _Student]]:
    """Names that differ, in order: where needed with the platform's number, or with the place."""
    same: dict[str, list[_Student]] = {}
    for student in students:
        same.setdefault(student.name, []).append(student)
    named: dict[str, _Student] = {}
    for name, namesakes in same.items():
        ways = (
            [s.id for s in namesakes],
            [s.place for s in namesakes],
            [f"{s.id}, {s.place}" for s in namesakes],
        )
        marks = next((way for way in ways if all(way) and len(set(way)) == len(way)), ways[-1])
        for mark, student in zip(marks, namesakes, strict=True):
            unique = name if len(namesakes) == 1 else f"{name} ({mark})"
            while unique in named:  # someone is called that already
                unique += "'"
            named[unique] = student
    return sorted(named.items(), key=lambda item: in_order(item[0]))
