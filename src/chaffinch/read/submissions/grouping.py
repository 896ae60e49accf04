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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePath
from typing import NamedTuple

from chaffinch.errors import BadPattern, Problem, SkipReason
from chaffinch.languages import language
from chaffinch.read.rules import DEFAULT, Rules
from chaffinch.read.submissions import platforms
from chaffinch.read.submissions.layout import (
    Layout,
    Located,
    find_layout,
    in_level,
    is_included,
    last_part,
    parent,
)
from chaffinch.read.submissions.others_work import code_bytes, others_folder
from chaffinch.read.submissions.platforms import Owner
from chaffinch.read.walk import sort_key
from chaffinch.types import Skipped, Submission

_NO_MATCH = Problem(SkipReason.UNMATCHED, "does not match --student-pattern")
_PACKED_ALONE = re.compile(r"(?<!\.tar)\.(?:gz|bz2|xz)$", re.I)


class LocatedSkip(NamedTuple):
    """What is skipped, the path that the user gave, and the path below it, with slashes."""

    root: str
    path: str
    skipped: Skipped


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
    skipped: list[Skipped] = field(default_factory=list)


def group(
    located: Iterable[Located],
    pattern: str | None = None,
    rules: Rules = DEFAULT,
    skips: Sequence[LocatedSkip] = (),
) -> tuple[list[Submission], list[Skipped]]:
    """Return every student's submission, by name, and the documents that belong to nobody.

    `skips` is what was skipped before. Without a pattern, it shows students of whose work nothing can be read.
    """
    items = sorted(located, key=lambda i: (sort_key(i.root), [sort_key(part) for part in i.path.split("/")]))
    students: dict[tuple[str, str, str], _Student] = {}
    skipped: list[Skipped] = []
    unread = [skip.root for skip in skips if skip.path or skip.skipped.reason == SkipReason.EMPTY]
    excluded = [(s.root, s.path) for s in skips if rules.below(s.root).excludes(s.skipped.name)]
    layout = find_layout(items, rules, unread, excluded) if pattern is None else None
    for owned in _by_pattern(items, pattern or "") if layout is None else _by_layout(layout):
        owner = owned.owner
        if isinstance(owner, Problem):
            skipped.append(Skipped(owned.located.document.name, *owner))
            continue
        key = (owned.folder, owner.student, owner.id)
        students.setdefault(key, _Student(owner.student, owner.id, owned.folder)).files.append(owned)
    for folder, owner, entry in _owners_of_skips(layout, skips) if layout else ():
        key = (folder, owner.student, owner.id)
        students.setdefault(key, _Student(owner.student, owner.id, folder)).skipped.append(entry)
    submissions = []
    for name, student in _with_unique_names(list(students.values())):
        files = _without_repeats(_without_others_work(student.files, rules, skipped), skipped)
        documents = tuple(owned.located.document for owned in files)
        submissions.append(Submission(name, documents, () if documents else tuple(student.skipped)))
    return submissions, skipped


def _without_others_work(files: list[_Owned], rules: Rules, skipped: list[Skipped]) -> list[_Owned]:
    """Remove build output and third-party code, known by the folder, if there is half as much code outside."""
    folders: dict[tuple[str, Problem], list[_Owned]] = {}
    outside = []
    for owned in files:
        document = owned.located.document
        found = None if is_included(owned.located, rules) else others_folder(owned.rest, document)
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


def _without_repeats(files: list[_Owned], skipped: list[Skipped]) -> list[_Owned]:
    """Keep each content once: where it is least deep in folders, and there under the name of a program.

    Files that the user named are all kept.
    """

    def preference(owned: _Owned) -> tuple[int, bool, int, bytes]:
        path = owned.located.path
        return path.count("/"), language.of_file(path, b"") is None, len(path), sort_key(path)

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
            shown = best.rest or last_part(best.located.path or best.located.root)
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
        searched = "/".join(filter(None, (last_part(item.root) if several else "", item.path))) or last_part(
            item.root
        )
        match = compiled.search(searched)
        student = match[which] if match else None
        owner = Owner(student) if student else _NO_MATCH
        rest = searched[match.end() :].partition("/")[2] if match else ""
        yield _Owned(item, owner, item.root if item.path else parent(item.root), rest)


def _by_layout(layout: Layout) -> Iterator[_Owned]:
    among_roots = layout.owners_of_roots()
    for root, below in layout.roots.items():
        if root in layout.classes:
            _, level, beside = layout.folders[root]
            owners = layout.owners(root)
            yield from (_Owned(p.located, _owner(p.entry, bool(p.rest), owners), root, p.rest) for p in level)
            yield from (_Owned(p.located, problem, root, p.rest) for p, problem in beside)
        else:
            owner = _owner(last_part(root), root in layout.folders, among_roots)
            yield from (_Owned(item, owner, parent(root), item.path) for item in below)


def _owners_of_skips(layout: Layout, skips: Iterable[LocatedSkip]) -> Iterator[tuple[str, Owner, Skipped]]:
    """Yield the folder and the owner of each entry that is skipped, if they are known.

    A file on the level of the class is nobody's, unless it is empty or an export names its owner: it may be a
    picture, or a table of grades. If several paths are given and none is a class, each of them is a student.
    """
    owners = {root: layout.owners(root) for root in layout.classes}
    for root, path, entry in skips:
        is_empty = entry.reason == SkipReason.EMPTY
        if root in layout.classes:
            name, rest = in_level(layout.folders[root].level, path)
            is_work = bool(rest) or (bool(name) and (is_empty or _is_owned(name, owners[root])))
            owner = _owner(name, bool(rest) or Path(entry.name).is_dir(), owners[root])
            folder = root
        else:
            is_work = (bool(path) or is_empty) and bool(layout.roots) and not layout.classes
            owner, folder = _owner(last_part(root), True, None), parent(root)
        is_work = is_work and entry.reason != SkipReason.OWN_REPORT
        if is_work and isinstance(owner, Owner):
            yield folder, owner, entry


def _is_owned(entry: str, owners: platforms.Owners | None) -> bool:
    return owners is not None and owners(entry) is not None


def _owner(entry: str, is_folder: bool, owners: platforms.Owners | None) -> Owner | Problem:
    known = owners(entry) if owners else None
    if known is None:
        return Owner(_plain_name(entry, is_folder))
    if isinstance(known, Owner) and is_folder:
        return known._replace(file="")  # the name that counts is inside the folder
    return known


def plain_name(path: str, *, is_archive: bool = False) -> str:
    """Return the name of a student who handed in one file or archive."""
    return _plain_name(last_part(path), is_archive)


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
