"""Exports of learning platforms: the names of files and folders -> the students who own them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from chaffinch.errors import Problem, SkipReason

GRADESCOPE_NAMES = "submission_metadata.yml"

_ARCHIVE = re.compile(r"\.(?:tar\.(?:gz|bz2|xz)|tgz|tbz2?|txz|zip|jar|7z|tar|gz|bz2|xz)$", re.I)
_NOT_WORK = Problem(SkipReason.UNMATCHED, "written by the learning platform, not by a student")
_MOODLE = re.compile(
    r"(?P<student>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*)|\.\w+)?", re.S
)
_CANVAS = re.compile(
    r"(?P<student>[^_]+(?:_[^_\d][^_]*)*?)(?:_LATE)?_(?P<id>\d+)(?:_(?:(?P<upload>\d+)_(?P<file>.+)|text\.html?))",
    re.S,
)
_CANVAS_DIGITS = 3
"""Fewest digits in the number of a student, except for the first few students."""
_CANVAS_ATTEMPT = re.compile(r"-\d{1,3}(?=(?:\.\w+)*$)")
_BLACKBOARD = re.compile(
    r"(?P<start>.+)_attempt_\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d(?:_(?P<file>.+)|(?P<receipt>\.txt))", re.S
)
_GRADESCOPE = re.compile(r"submission_(?P<id>\d+)")
_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{2,}-", re.I)


class Owner(NamedTuple):
    """A student, an id that separates namesakes, and the file's name before the platform renamed it."""

    student: str
    id: str = ""
    file: str = ""


Owners = Callable[[str], Owner | Problem | None]
"""Returns the owner of an entry, or why it has none, or None if the name does not show one."""


def exported(entries: Mapping[str, bool], metadata: bytes = b"") -> Owners | None:
    """Return how to find the owners of entries, if their names are clearly those of an export.

    `entries` maps each name to whether it is a folder or archive.
    """
    platforms = (_moodle(entries), _blackboard(entries), _gradescope(entries, metadata), _canvas(entries))
    return next(filter(None, platforms), None)


def without_archive(name: str) -> str:
    return _ARCHIVE.sub("", name)


def _moodle(entries: Mapping[str, bool]) -> Owners | None:
    def owner(entry: str) -> Owner | None:
        match = _MOODLE.fullmatch(entry)
        return Owner(match["student"].strip(), match["id"], match["file"] or "") if match else None

    return owner if any(map(owner, entries)) else None


def _canvas(entries: Mapping[str, bool]) -> Owners | None:
    """Require that most names match and that their numbers fit, because many file names contain numbers."""
    matches = [match for match in map(_CANVAS.fullmatch, entries) if match]
    usual = sum(len(match["id"]) >= _CANVAS_DIGITS for match in matches)
    if list(entries.values()) == [True] or 2 * usual <= len(entries) or not _are_canvas(matches):
        return None

    def owner(entry: str) -> Owner | None:
        match = _CANVAS.fullmatch(entry)
        if match is None:
            return None
        return Owner(match["student"], match["id"], _CANVAS_ATTEMPT.sub("", match["file"] or "text.html"))

    return owner


def _are_canvas(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether there are several students, each number has one student, and each upload one file."""
    students: dict[str, set[str]] = {}
    files: dict[tuple[str, str], set[str]] = {}
    for match in matches:
        students.setdefault(match["id"], set()).add(match["student"])
        if match["upload"]:
            files.setdefault((match["id"], match["upload"]), set()).add(without_archive(match["file"]))
    several = len(matches) == 1 or len(set().union(*students.values())) > 1
    return several and all(len(names) == 1 for names in (*students.values(), *files.values()))


def _blackboard(entries: Mapping[str, bool]) -> Owners | None:
    """The common start of all names is the course and the assignment; the rest is the student."""
    starts = {match["start"] for match in map(_BLACKBOARD.fullmatch, entries) if match}
    if not starts:
        return None
    student_at = _common_start(starts).rfind("_") + 1

    def owner(entry: str) -> Owner | Problem | None:
        match = _BLACKBOARD.fullmatch(entry)
        if match is None:
            return None
        return _NOT_WORK if match["receipt"] else Owner(match["start"][student_at:], "", match["file"])

    return owner


def _gradescope(entries: Mapping[str, bool], metadata: bytes) -> Owners | None:
    if not any(_GRADESCOPE.fullmatch(entry) for entry in entries):
        return None
    submitters = gradescope_submitters(metadata.decode("utf-8", "replace"))

    def owner(entry: str) -> Owner | Problem | None:
        if entry == GRADESCOPE_NAMES:
            return _NOT_WORK
        return submitters.get(entry) or Owner(entry) if _GRADESCOPE.fullmatch(entry) else None

    return owner


def gradescope_submitters(metadata: str) -> dict[str, Owner]:
    """Return who handed in each submission, alone or as a group, from the lines of the YAML that name them."""
    groups: dict[str, list[dict[str, str]]] = {}
    people: list[dict[str, str]] = []
    inside = False
    for line in metadata.splitlines():
        if top := re.fullmatch(r"(submission_\d+):\s*", line):
            people, inside = groups.setdefault(top[1], []), False
        elif re.match(r" {0,2}[^ \-#]", line):
            inside = line.strip() in (":submitters:", "submitters:")
        elif inside and (pair := re.fullmatch(r"\s*(-)?\s*:?(name|sid|email):\s*(.*?)\s*", line)):
            if pair[1] or not people:
                people.append({})
            people[-1][pair[2]] = _scalar(pair[3])
    owners = {}
    for submission, group in groups.items():
        names = [p.get("name") or p.get("email") or p.get("sid") or "" for p in group]
        ids = [p.get("sid") or p.get("email") or submission for p in group]
        if any(names):
            owners[submission] = Owner(", ".join(filter(None, names)), ", ".join(ids))
    return owners


def _scalar(value: str) -> str:
    """Return a YAML string without its quotes."""
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(ast.literal_eval(value))  # the escapes are the same as in Python
        except (SyntaxError, ValueError):
            return value[1:-1]
    return "" if value in ("~", "null") else value


def classroom(folder: str, entries: Mapping[str, bool]) -> Owners | None:
    """Return the owners of GitHub Classroom folders (assignment-student), or None if that is not certain."""
    folders = [entry for entry, is_folder in entries.items() if is_folder]
    if len(folders) < 2 or len(folders) < len(entries):
        return None
    named = re.search(r"([^/\\]+-)submissions(?:\.\w+)?[/\\]?$", folder)
    prefix = named[1] if named else ""
    if not prefix or not all(f.startswith(prefix) for f in folders):
        common = _common_start(folders)
        prefix = common[: common.rfind("-") + 1]
        is_certain = len(folders) > 2 or any(c.isdigit() for c in prefix)
        if not _SLUG.fullmatch(prefix) or not is_certain:
            return None
    students = {f: without_archive(f.removeprefix(prefix)) for f in folders}
    if not all(students.values()) or all(re.fullmatch(r"[\d.]+", s) for s in students.values()):
        return None
    return lambda entry: Owner(without_archive(entry.removeprefix(prefix)))


def _common_start(names: Iterable[str]) -> str:
    return os.path.commonprefix([*names])  # noqa: RUF071 (characters, not folders)
