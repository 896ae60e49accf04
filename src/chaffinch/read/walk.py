"""Folders -> the files in them that someone wrote, always in the same order.

Links are never followed. A target inside the folder is read under its own name, and a target outside was not
asked for. So there are no loops, and nothing is read twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chaffinch.errors import Problem, SkipReason
from chaffinch.read.own_reports import OWN_REPORT, report_entries
from chaffinch.read.rules import BUILD_OUTPUT, DEFAULT, Rules, is_environment, may_be_student
from chaffinch.types import Skipped


def sort_key(name: str) -> bytes:
    """Return the key that sorts names the same way everywhere, even names that are not valid text."""
    return name.encode("utf-8", "surrogatepass")


class _Folder(NamedTuple):
    """A folder to open."""

    path: Path
    is_skipped: bool = False
    """Then only what a pattern includes is read."""
    is_root: bool = False
    may_be_class: bool = False
    """It is the root, or the only thing in folders down from it. Its entries may be students."""


def files(root: Path, rules: Rules = DEFAULT) -> Iterator[Path | Skipped]:
    """Yield every file below a folder, and what is skipped. A root that is a file is always yielded."""
    try:
        target = root.resolve()
        is_folder = root.is_dir()
    except (OSError, RuntimeError):  # reading it reports the problem
        is_folder = False
    if not is_folder:
        yield root
        return
    rules = rules.below(root)
    open_folders = [_contents(_Folder(root, is_root=True, may_be_class=True), target, rules)]
    while open_folders:  # no recursion: folders may be nested deeper than Python's stack
        item = next(open_folders[-1], None)
        if item is None:
            open_folders.pop()
        elif isinstance(item, _Folder):
            open_folders.append(_contents(item, target, rules))
        else:
            yield item


def _contents(folder: _Folder, target: Path, rules: Rules) -> Iterator[Path | Skipped | _Folder]:
    """Yield the files and folders in a folder in order, and what is skipped."""
    path, is_skipped, is_root, may_be_class = folder
    try:
        with os.scandir(path) as listing:
            entries = sorted(listing, key=lambda entry: sort_key(entry.name))
    except OSError as error:
        yield Skipped(str(path), *_error_problem(error))
        return
    if not entries and not is_root and not is_skipped:
        yield Skipped(str(path), SkipReason.EMPTY, "an empty folder")
    names = {entry.name for entry in entries}
    is_asked_for = is_root or is_skipped or rules.includes(str(path), True)
    if not is_asked_for and is_environment(names, lambda name: _names(path / name)):
        yield Skipped(str(path), *BUILD_OUTPUT)
        is_skipped = True
    if is_skipped and not rules.include:
        return
    if report := report_entries(path, names):
        yield Skipped(str(path if report == names else path / "index.html"), *OWN_REPORT)
        entries = [entry for entry in entries if entry.name not in report]
    for entry in entries:
        is_folder = _is_folder(entry)
        is_read = not is_skipped or rules.includes(entry.path, is_folder)
        problem = rules.problem(entry.path, is_folder, names) if is_read else None
        if problem == BUILD_OUTPUT and may_be_class and may_be_student(entry.name, names, _names(Path(entry))):
            problem = None
        if is_read and (problem := problem or _problem(entry, target)):
            yield Skipped(entry.path, *problem)
            is_read = False
        if is_folder and (is_read or rules.include):
            yield _Folder(Path(entry), not is_read, may_be_class=may_be_class and len(names) == 1)
        elif is_read:
            yield Path(entry.path)


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:  # not a folder, or reading it reports the problem
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:  # it was deleted meanwhile
        return False


def _problem(entry: os.DirEntry[str], root: Path) -> Problem | None:
    """Return why an entry is not read, if so."""
    try:
        if entry.is_symlink():
            return _link_problem(Path(entry.path), root)
        if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
            return None
    except OSError as error:
        return _error_problem(error)
    return Problem(SkipReason.EXCLUDED, "a pipe, socket or device, not a file")


def _link_problem(link: Path, root: Path) -> Problem:
    try:
        inside = link.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):  # Python 3.11 and 3.12 raise RuntimeError for loops
        return Problem(SkipReason.EXCLUDED, "a link that leads nowhere")
    if inside:
        return Problem(SkipReason.EXCLUDED, "a link to a file that is read under its own name")
    return Problem(SkipReason.EXCLUDED, "a link out of the folder; to read its target, name the target")


def _error_problem(error: OSError) -> Problem:
    if isinstance(error, PermissionError):
        return Problem(SkipReason.NO_PERMISSION, "no permission to read it")
    if isinstance(error, FileNotFoundError):
        return Problem(SkipReason.NOT_FOUND, "was deleted before it could be read")
    return Problem(SkipReason.DAMAGED, error.strerror or str(error))
