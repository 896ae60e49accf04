"""Why the service does not do what a visitor asks for. The web turns each of these into a status."""

from __future__ import annotations

from chaffinch.errors import ChaffinchError


class BadRequest(ChaffinchError):
    """What was asked for makes no sense."""


class SignInNeeded(ChaffinchError):
    """Nobody knows who is asking."""


class Forbidden(ChaffinchError):
    """The visitor may see it, but may not do this."""


class NotFound(ChaffinchError):
    """There is no such thing, or the visitor may not know of it."""


class Conflict(ChaffinchError):
    """It does not fit what is there already."""


class TooLarge(ChaffinchError):
    """An upload is larger than the service takes."""


class OverQuota(ChaffinchError):
    """The account has too much stored."""


class TooManyRequests(ChaffinchError):
    """The visitor has to wait."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds
        """How long to wait."""


class FetchFailed(ChaffinchError):
    """Something cannot be fetched from the web. The message says why, and holds nothing of the answer."""


class ArchiveUnavailable(ChaffinchError):
    """The index of an archive cannot be read now."""
