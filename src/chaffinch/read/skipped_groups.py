"""What is skipped -> a line for each kind: a class may hold thousands of files that nobody wrote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chaffinch.errors import SkipReason
from chaffinch.types import Skipped

SAME_AS_ANOTHER = "the same as another file of the student"
LISTED_ALONE = 3
"""Entries of one kind that are listed each on a line of its own."""
_EXPECTED = (
    SkipReason.EXCLUDED,
    SkipReason.SAME,
    SkipReason.OTHER_LANGUAGE,
    SkipReason.EMPTY,
    SkipReason.NOT_TEXT,
)
"""Reasons that need no look at each file. Any other one is a problem of that file."""


class SkippedGroup(NamedTuple):
    """Entries that are skipped for the same reason."""

    names: tuple[str, ...]
    detail: str

    @property
    def title(self) -> str:
        return first_of(self.names)


def first_of(names: Sequence[str]) -> str:
    """Return the first name, and how many more there are."""
    return f"{names[0]} and {len(names) - 1:,} more" if len(names) > 1 else names[0]


def grouped(skipped: Iterable[Skipped]) -> list[SkippedGroup]:
    """Return what is skipped, in order, with entries of the same kind together if there are many of them."""
    kinds: dict[object, list[Skipped]] = {}
    for number, entry in enumerate(skipped):
        detail = "" if entry.reason == SkipReason.SAME else entry.detail
        kinds.setdefault((entry.reason, detail) if entry.reason in _EXPECTED else number, []).append(entry)
    groups = []
    for entries in kinds.values():
        if len(entries) <= LISTED_ALONE:
            groups += [SkippedGroup((entry.name,), entry.detail) for entry in entries]
            continue
        is_same = entries[0].reason == SkipReason.SAME
        detail = SAME_AS_ANOTHER if is_same else entries[0].detail
        groups.append(SkippedGroup(tuple(entry.name for entry in entries), detail))
    return groups
