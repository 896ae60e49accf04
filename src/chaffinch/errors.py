"""What can go wrong. Every error says what happened, where, and what to do."""

from enum import StrEnum
from typing import NamedTuple


class SkipReason(StrEnum):
    """Why a file is not part of the result. Code decides by this, never by the wording of a message."""

    EMPTY = "empty"
    TOO_SHORT = "too short"
    EXCLUDED = "excluded"
    """By a pattern or a rule: hidden files, build output, version control, links, files that are never text."""
    OWN_REPORT = "own report"
    OTHER_LANGUAGE = "other language"
    DUPLICATE = "duplicate"
    """Another document has this name."""
    SAME = "same"
    """Another file of this student has the same contents."""
    UNMATCHED = "unmatched"
    """It belongs to no submission or document that is there."""
    NOT_COMPARED = "not compared"
    NOT_FOUND = "not found"
    NO_PERMISSION = "no permission"
    NOT_TEXT = "not text"
    PROTECTED = "protected"
    DAMAGED = "damaged"
    TOO_LARGE = "too large"
    NEEDS_PROGRAM = "needs a program"
    INVALID = "invalid"
    """It can be read, but it is not what was asked for."""


class Problem(NamedTuple):
    """Why something cannot be read or is not read."""

    reason: SkipReason
    detail: str


class ChaffinchError(Exception):
    """The root: catch this to catch everything Chaffinch raises on purpose."""


class BadArgument(ChaffinchError, ValueError):
    """Something given to the native core does not fit it: its length, its type, its size."""


class BadRecipe(ChaffinchError, ValueError):
    """A parameter is out of range or does not fit the others."""


class BadPattern(ChaffinchError, ValueError):
    """A pattern for names or paths is not valid."""


class RecipeMismatch(ChaffinchError):
    """Fingerprints made in different ways cannot be compared."""


class Unreadable(ChaffinchError):
    """A document cannot be read; the others can."""

    def __init__(self, name: object, reason: SkipReason, detail: str) -> None:
        self.name = str(name)
        self.reason = reason
        self.detail = detail
        super().__init__(f"{self.name}: {detail}" if self.name else detail)

    def __reduce__(self) -> tuple[type, tuple[str, SkipReason, str]]:
        return Unreadable, (self.name, self.reason, self.detail)


class NothingToCompare(ChaffinchError):
    """There are no two submissions, and no submission and earlier work, to compare."""


class IndexTrouble(ChaffinchError):
    """An index cannot be opened or written to; what was in it is still there."""


class TryAgain(IndexTrouble):
    """An index cannot be used just now: somebody else is writing to it, or its server does not answer."""


class NoIndex(IndexTrouble):
    """There is no index at this place."""


class CoreFailure(ChaffinchError):
    """The native core gave up: a defect. Please report it with the message."""


class Damaged(ChaffinchError):
    """A file of an index is not as it was written; the other files can be used without it."""

    def __init__(self, name: str, detail: str, documents: str = "") -> None:
        """`documents` names those that are affected."""
        remedy = "restore a copy of it, or remove its documents and add them again"
        super().__init__(f"{name}: {detail}; {remedy}{documents}")
        self.name = name
        self.detail = detail
