"""The list of files in an archive -> its members: one rule for order, names and exclusions in every format."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.read.budget import OUT_OF_MEMORY, Budget, keep_time
from chaffinch.read.rules import BUILD_OUTPUT, Rules, is_environment, may_be_student
from chaffinch.read.walk import sort_key
from chaffinch.types import File, Skipped

DAMAGED = Problem(SkipReason.DAMAGED, "is damaged")
PARTLY_READ = Problem(SkipReason.DAMAGED, "is cut off or damaged; not all of it was read")
ENCRYPTED = Problem(SkipReason.PROTECTED, "is encrypted; unpack it with its password and name the files")
LINK = Problem(SkipReason.EXCLUDED, "a link, not a file")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")


class Entry(NamedTuple):
    """A file by its name in the archive, and why it cannot be read, if so."""

    path: str
    problem: Problem | None = None


class Listing(NamedTuple):
    """All files in an archive, how to read one by its number and name, and what is wrong with the archive."""

    entries: Sequence[Entry]
    read: Callable[[int, str], bytes]
    broken: Problem | None = None


@dataclass(slots=True)
class _Folder:
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: dict[str, int | Problem] = field(default_factory=dict)
    repeats: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        return self.folders.keys() | self.files.keys()

    def names_inside(self, folder: str) -> set[str]:
        return self.folders[folder].names if folder in self.folders else set()


def unused_name(name: str, used: Container[str], repeats: dict[str, int]) -> str:
    """Return a name that is not used yet, such as "a (2).c", so that no file can hide another."""
    free = name
    while free in used:
        repeats[name] = repeats.get(name, 1) + 1
        stem, dot, ending = name.rpartition(".")
        free = f"{stem or ending} ({repeats[name]}){dot}{ending if stem else ''}"
    return free


def members(archive: str, listing: Listing, budget: Budget, rules: Rules) -> Iterator[File | Skipped]:
    """Yield the files of an archive in order of their paths, one at a time."""
    for name, number in _in_order(archive, _tree(archive, listing.entries, budget), rules):
        if isinstance(number, Problem):
            yield Skipped(name, *number)
            continue
        try:
            data = listing.read(number, name)
        except Unreadable as error:
            yield Skipped.because(error, name)
        except MemoryError:
            yield Skipped(name, *OUT_OF_MEMORY)
        else:
            yield File(name, data)
            del data  # only one file is in memory at a time
    if listing.broken:
        yield Skipped(archive, *listing.broken)


def clean(path: str) -> list[str]:
    """Return the parts of a path from any system, without those that lead out of the archive."""
    parts = [_CONTROL.sub("_", part) for part in re.split(r"[/\\]", path)]
    if _DRIVE.match(parts[0]):
        parts[0] = parts[0][2:]
    return [part for part in parts if part.strip(" ") not in ("", ".", "..")] or ["unnamed"]


def _tree(archive: str, entries: Sequence[Entry], budget: Budget) -> _Folder:
    top = _Folder()
    for number, entry in enumerate(entries):
        *folders, name = clean(entry.path)
        here = top
        budget.count_file(archive)
        if not number & 0xFFF:
            keep_time(archive)
        for folder in folders:
            if folder not in here.folders:
                budget.count_file(archive)  # one name may stand for thousands of folders
                here.folders[folder] = _Folder()
            here = here.folders[folder]
        here.files[unused_name(name, here.files, here.repeats)] = entry.problem or number
    return top


def _in_order(archive: str, top: _Folder, rules: Rules) -> Iterator[tuple[str, int | Problem]]:
    """Yield the path of every file with its number, or with the reason why it is skipped."""
    is_skipped = not rules.is_root(archive) and rules.excludes(archive) and not rules.includes(archive, False)
    open_folders = [_contents(archive, top, rules, is_skipped)]
    while open_folders:
        path, entry, is_skipped = next(open_folders[-1], ("", None, False))
        if entry is None:
            open_folders.pop()
        elif isinstance(entry, _Folder):
            open_folders.append(_contents(path, entry, rules, is_skipped))
        else:
            yield path, entry


def _contents(
    path: str, folder: _Folder, rules: Rules, is_skipped: bool = False
) -> Iterator[tuple[str, int | Problem | _Folder, bool]]:
    """Yield files, what is skipped, and folders to open, of which only what a pattern includes may be read."""
    siblings = folder.names
    may_be_class = rules.is_root(path)
    for name in sorted(siblings, key=sort_key):
        inner = f"{path}/{name}"
        if name in folder.files and (not is_skipped or rules.includes(inner, False)):
            yield inner, rules.problem(inner, False, siblings) or folder.files[name], False
        if name in folder.folders:
            entry = folder.folders[name]
            is_included = rules.includes(inner, True)
            problem = None if is_included or is_skipped else rules.problem(inner, True, siblings)
            if problem == BUILD_OUTPUT and may_be_class and may_be_student(name, siblings, entry.names):
                problem = None
            if not (is_included or is_skipped or problem) and is_environment(entry.names, entry.names_inside):
                problem = BUILD_OUTPUT
            if problem:
                yield inner, problem, False
            is_read = is_included or not (is_skipped or problem)
            if is_read or rules.include:
                yield inner, entry, not is_read
