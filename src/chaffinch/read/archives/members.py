"""What an archive of any format holds -> its members: one rule for order, names and what is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.read.budget import Budget
from chaffinch.read.walk import BUILD_OUTPUT, excluded, in_order, is_environment
from chaffinch.types import File, Skipped

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")


class Entry(NamedTuple):
    """A file in an archive under the name it has there, and why it cannot be read, if so."""

    path: str
    problem: Problem | None = None


class Listing(NamedTuple):
    """All files in an archive, how to read one by its number and name, and what is wrong with the rest."""

    entries: Sequence[Entry]
    read: Callable[[int, str], bytes]
    broken: Problem | None = None


@dataclass(slots=True)
class _Folder:
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    repeats: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, number: int) -> None:
        """Of several files of one name all are kept, so that none can hide another: "a.c", "a (2).c"."""
        free = name
        while free in self.files:
            self.repeats[name] = self.repeats.get(name, 1) + 1
            stem, dot, ending = name.rpartition(".")
            free = f"{stem or ending} ({self.repeats[name]}){dot}{ending if stem else ''}"
        self.files[free] = number


def members(archive: str, listing: Listing, budget: Budget) -> Iterator[File | Skipped]:
    """The files of an archive in order of their paths, one at a time."""
    for path, number in _in_order(_tree(archive, listing.entries, budget)):
        name = f"{archive}/{path}"
        if isinstance(number, Problem):
            yield Skipped(name, *number)
        elif problem := listing.entries[number].problem:
            yield Skipped(name, *problem)
        else:
            try:
                data = listing.read(number, name)
            except Unreadable as error:
                yield Skipped.because(error, name)
            except MemoryError:
                yield Skipped(name, SkipReason.TOO_LARGE, "needs more memory than there is; unpack it yourself")
            else:
                yield File(name, data)
                del data  # one at a time
    if listing.broken:
        yield Skipped(archive, *listing.broken)


def clean(path: str) -> list[str]:
    """The parts of a path that cannot lead out of where it starts, whatever system it was made on."""
    parts = [_CONTROL.sub("_", part) for part in re.split(r"[/\\]", path)]
    if _DRIVE.match(parts[0]):
        parts[0] = parts[0][2:]
    return [part for part in parts if part.strip(" ") not in ("", ".", "..")] or ["unnamed"]


def _tree(archive: str, entries: Sequence[Entry], budget: Budget) -> _Folder:
    top = _Folder()
    for number, entry in enumerate(entries):
        *folders, name = clean(entry.path)
        here = top
        budget.file(archive)
        for folder in folders:
            if folder not in here.folders:
                budget.file(archive)  # a name may be thousands of folders
                here.folders[folder] = _Folder()
            here = here.folders[folder]
        here.add(name, number)
    return top


def _in_order(top: _Folder) -> Iterator[tuple[str, int | Problem]]:
    """The path of every file with its number, and of all that is left out with the reason."""
    waiting = [_contents(top, "")]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        path, what = found
        if not isinstance(what, _Folder):
            yield path, what
        elif is_environment(what.files):
            yield path, BUILD_OUTPUT
        else:
            waiting.append(_contents(what, f"{path}/"))


def _contents(folder: _Folder, before: str) -> Iterator[tuple[str, int | Problem | _Folder]]:
    siblings = folder.folders.keys() | folder.files.keys()
    for name in sorted(siblings, key=in_order):
        for place, is_folder in ((folder.files, False), (folder.folders, True)):
            if name in place:
                yield before + name, excluded(name, is_folder, siblings) or place[name]
