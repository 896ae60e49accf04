"""What can go wrong. Every error says what, where and what to do."""


class ChaffinchError(Exception):
    """The root: catch this to catch everything Chaffinch raises on purpose."""


class BadRecipe(ChaffinchError, ValueError):
    """A parameter is out of range or does not fit the others."""


class BadPattern(ChaffinchError, ValueError):
    """A pattern for students' names is no regular expression."""


class RecipeMismatch(ChaffinchError):
    """Fingerprints made in different ways cannot be compared."""


class Unreadable(ChaffinchError):
    """A document cannot be read; the others can."""


class IndexTrouble(ChaffinchError):
    """An index cannot be opened, or not be written to; what was in it is still there."""


class NoIndex(IndexTrouble):
    """There is no index."""


class CoreFailure(ChaffinchError):
    """The native core gave up: a defect, please report it with the message."""


class Damaged(ChaffinchError):
    """A file of an index is not as it was written; the others can be used without it."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}; put back a copy of it, or remove its documents and add them again")
        self.name = name
        self.why = why
