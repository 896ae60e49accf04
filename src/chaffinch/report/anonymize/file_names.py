"""Name documents without names of students: paths without the steps that identify a student."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import PurePath, PurePosixPath

from chaffinch.errors import SkipReason
from chaffinch.read.skipped_groups import SAME_AS_ANOTHER
from chaffinch.read.submissions.platforms import without_archive
from chaffinch.report.anonymize.names import Names, student
from chaffinch.types import Report, Skipped, Submission

_ROW = re.compile(r"(row \d+|date) of (.*)", re.S)
_ENDING = re.compile(r"(?<=.)\.(?:[A-Za-z][A-Za-z0-9]{0,3}|ipynb|scala|swift|xhtml)$")


class Files:
    """A name for every document; no two documents of a submission have the same one.

    A step of a path that several students have identifies nobody and is shown. Any other folder becomes the
    student's label, once, and any other file its number.
    """

    def __init__(self, report: Report, names: Names) -> None:
        everyone = (*report.submissions, *report.old)
        steps = {(student(s.name), step) for s in everyone for d in s.documents for step in _steps(d.name)}
        students = Counter(step for _, step in steps)
        self._shared = {step for step, many in students.items() if many > 1}
        self._names = names
        self._redacted = cache(names.step)
        self._known = {
            (s.name, path): (n, shown) for s in everyone for n, (path, shown) in enumerate(self._all(s).items())
        }

    def name(self, submission: str, document: str) -> str:
        """Return the name of a document; if it belongs to no submission, its path without names."""
        known = self._known.get((submission, document))
        return known[1] if known else self._names.file(submission, document)

    def number(self, submission: str, document: str) -> int:
        """Return the position of a document in its submission; -1 if it is not there."""
        return self._known.get((submission, document), (-1, ""))[0]

    def skipped(self, n: int, skipped: Skipped) -> Skipped:
        """Return the nth skipped file without its name; it may be of a student of whom nothing is known."""
        text = self._names.text
        if row := _ROW.fullmatch(skipped.name):  # of dates, not a file
            shown = "a date" if row[1] == "date" else f"{row[1]} of {text(PurePath(row[2]).name)}"
            return replace(skipped, name=shown)
        file = PurePosixPath(skipped.name).name
        shown = f"file {n}{self._ending(file)}"
        detail = skipped.detail.replace(skipped.name, shown).replace(file or "\0", shown)
        if skipped.reason == SkipReason.SAME:  # the detail has the name of the other file
            detail = SAME_AS_ANOTHER
        return replace(skipped, name=shown, detail=text(detail))

    def _ending(self, file: str) -> str:
        """Return the ending of a file's name, with its dot, if it names a kind of file and no student."""
        match = _ENDING.search(file)
        return match[0] if match and self._redacted(match[0], "") == match[0] else ""

    def _all(self, submission: Submission) -> dict[str, str]:
        names: dict[str, str] = {}
        taken: set[str] = set()
        for n, path in enumerate(dict.fromkeys(d.name for d in submission.documents), 1):
            shown = next(name for name in self._candidates(submission.name, path, n) if name not in taken)
            taken.add(shown)
            names[path] = shown
        return names

    def _candidates(self, submission: str, path: str, n: int) -> Iterator[str]:
        """Yield names for the nth document, best first."""
        label = self._names.labels[submission]
        *folders, last = _steps(path)
        shown = []
        is_labelled = False
        for step in folders:
            is_shown = step in self._shared
            new = self._step(submission, step) if is_shown else label + step[len(without_archive(step)) :]
            is_own = new == label or not is_shown
            if not (is_own and is_labelled):
                shown.append(new)
            is_labelled = is_labelled or is_own
        suffix = self._ending(last)
        if last in self._shared:
            file = self._step(submission, last)
        elif not is_labelled and student(submission) in (last, PurePosixPath(last).stem):
            file, is_labelled = label + suffix, True
        else:
            file = f"file {n}{suffix}"
        if not is_labelled and [*shown, file] != [*folders, last]:
            shown.append(label)
        yield "/".join([*shown, file])
        yield from ("/".join([*shown, f"file {other}{suffix}"]) for other in count(n))

    def _step(self, submission: str, step: str) -> str:
        return self._redacted(step, submission if submission in self._names.near else "")


def _steps(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")
