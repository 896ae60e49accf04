"""What the caller of `compare` gives -> submissions with unique names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from chaffinch.errors import NothingToCompare, SkipReason, Unreadable
from chaffinch.index.address import is_database, refuse_address
from chaffinch.read import collect
from chaffinch.read.rules import Rules
from chaffinch.types import Document, File, Skipped, Submission

_NAMED = 3
"""Names that a message lists."""
_NAME_MORE = (
    "Name a folder or an archive with an entry for each student, or several files; --old takes earlier work."
)

Comparable = collect.Item
"""A file, a folder or an archive by its path, bytes under a name, or a document."""


def split_items(
    items: Comparable | Submission | Iterable[Comparable | Submission],
) -> tuple[list[Comparable], list[Submission]]:
    """Return what is to be read, and the submissions that are ready."""
    listed = [items] if isinstance(items, Submission) else items
    if isinstance(listed, str | bytes | Path | File | Document) or not isinstance(listed, Iterable):
        return collect.as_list(listed), []
    listed = [*listed]
    return (
        collect.as_list(item for item in listed if not isinstance(item, Submission)),
        [item for item in listed if isinstance(item, Submission)],
    )


def require_existing(items: Iterable[Comparable]) -> None:
    """Raise if a path does not exist. Without its base code or earlier work, a class has another result."""
    for item in items:
        if isinstance(item, str | Path) and not is_database(item) and not Path(item).exists():
            raise Unreadable(item, SkipReason.NOT_FOUND, "no such file or folder")


def read_base(items: Iterable[Comparable], rules: Rules) -> tuple[list[Submission], list[Skipped]]:
    """Return the base code in each item, and what is skipped. Every file there was handed out."""
    base: list[Submission] = []
    skipped: list[Skipped] = []
    for item in items:
        found = list(collect.collect(item, rules=rules))
        skipped += [entry for entry in found if isinstance(entry, Skipped)]
        base.append(Submission("", tuple(c.document for c in found if not isinstance(c, Skipped))))
        require_contents(item, base[-1:])
    return base, skipped


def require_contents(item: Comparable, found: Iterable[Submission]) -> None:
    """Raise if a folder of base code or earlier work holds nothing to compare with, for the same reason."""
    if isinstance(item, str | Path) and Path(item).is_dir() and not any(s.documents for s in found):
        detail = "nothing in this folder can be compared; name a folder with texts or programs, or leave it out"
        raise NothingToCompare(f"{item}: {detail}")


def require_enough(
    new: Sequence[Submission], has_earlier: bool, items: Sequence[Comparable], skipped: Sequence[Skipped]
) -> None:
    """Raise if there is nothing to compare: no submission, or only one and no earlier work."""
    found = [submission for submission in new if submission.documents]
    if len(found) > 1 or (found and has_earlier):
        return
    names = [item.name if isinstance(item, File | Document) else str(Path(item)) for item in items]
    for entry in skipped:
        if not found and entry.reason == SkipReason.NOT_FOUND and entry.name in names:
            raise Unreadable(entry.name, entry.reason, entry.detail)
    where = f" in {_some(names)}" if names else ""
    what = f"only one submission{where}: {found[0].name}" if found else f"no submission{where}"
    raise NothingToCompare(f"{what}.{_reasons(skipped)} {_NAME_MORE}")


def require_content(sizes: Iterable[int], count: int, skipped: Sequence[Skipped]) -> None:
    """Raise if no submission of the class has a symbol. `sizes` are in symbols."""
    if not any(sizes):
        found = f"{count} submissions, and none has anything to compare"
        raise NothingToCompare(f"{found}.{_reasons(skipped)} {_NAME_MORE}")


def require_language(new: int, by_language: Mapping[str, Mapping[int, object]], asked: str) -> None:
    """Raise if no submission has a document in the language asked for. The first `new` are the class."""
    if not any(number < new for documents in by_language.values() for number in documents):
        raise NothingToCompare(
            f"{new} submissions, and none has a document in {asked}; choose another language, or leave it out"
        )


def _reasons(skipped: Sequence[Skipped]) -> str:
    return f" Skipped: {_some([f'{s.name} ({s.detail})' for s in skipped])}." if skipped else ""


def _some(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + rest


def refuse_addresses(paths: Iterable[Comparable], earlier: Iterable[Comparable]) -> None:
    """Raise if an address is given, except that of an index for earlier work."""
    for item in chain(paths, (item for item in earlier if not isinstance(item, str) or not is_database(item))):
        if isinstance(item, str | Path):
            refuse_address(item)


def split_only_submission(only: Submission, paths: Sequence[Comparable]) -> list[Submission]:
    """Split a submission into its files if these are exactly the paths that were given.

    Files with the same name and different extensions belong to one student. If nothing else is given, they
    are to be compared with each other.
    """
    if len(only.documents) < 2 or {d.name for d in only.documents} != set(map(str, paths)):
        return [only]
    return [Submission(Path(d.name).name, (d,)) for d in only.documents]


def with_unique_names(new: Sequence[Submission], earlier: Sequence[Submission]) -> list[Submission]:
    """Return all submissions under different names: a student of the class may have earlier work too."""
    unique: dict[str, Submission] = {}
    for submissions, label in ((new, ""), (earlier, "old")):
        for submission in submissions:
            suffixes = chain(["", label], (f"{label} {n}".strip() for n in count(2)))
            names = (f"{submission.name} ({suffix})" if suffix else submission.name for suffix in suffixes)
            name = next(name for name in names if name not in unique)
            unique[name] = Submission(name, submission.documents)
    return list(unique.values())
