"""What documents are called where no name may be shown: paths without what tells students apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import PurePosixPath

from chaffinch.read.submissions.platforms import without_archive
from chaffinch.report.anonymize.name_forms import student
from chaffinch.report.anonymize.names import Names, ending
from chaffinch.types import Report, Submission


class Files:
    """A name for every document, another for each of a submission's.

    A step of a path that stands in the paths of several students tells nobody apart, and is shown. Of the
    others a folder becomes the student's label, once, and a file its number.
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
        """What a document of a submission is called; of nobody's, its path without names."""
        known = self._known.get((submission, document))
        return known[1] if known else self._names.file(submission, document)

    def number(self, submission: str, document: str) -> int:
        """Which of the submission's documents it is; -1 if it is none."""
        return self._known.get((submission, document), (-1, ""))[0]

    def _all(self, submission: Submission) -> dict[str, str]:
        found: dict[str, str] = {}
        taken: set[str] = set()
        for n, path in enumerate(dict.fromkeys(d.name for d in submission.documents), 1):
            shown = next(name for name in self._ways(submission.name, path, n) if name not in taken)
            taken.add(shown)
            found[path] = shown
        return found

    def _ways(self, submission: str, path: str, n: int) -> Iterator[str]:
        """The name of the nth document, and others should it be taken."""
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
        suffix = ending(last)
        suffix = suffix if self._step(submission, suffix) == suffix else ""
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
