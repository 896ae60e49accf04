"""What reading may cost: archives within archives share one budget, so a zip bomb ends in a message."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf
from typing import BinaryIO, TypeVar

from chaffinch.errors import Problem, SkipReason, Unreadable

MAX_DEPTH = 8
MAX_RATIO = 200
"""Bytes out for each byte in. Text seldom shrinks to less than a twentieth."""
FREE_BYTES = 16 << 20
"""The ratio does not limit the first bytes."""
MAX_MEMBER = 1 << 30
"""Bytes of one unpacked file."""
SECONDS = 9
"""CPU time to read a file of up to ten megabytes, and one second more for each further megabyte."""
TOO_MANY_FILES = Problem(SkipReason.TOO_LARGE, "holds more files than the limit; unpack it yourself")
OUT_OF_MEMORY = Problem(SkipReason.TOO_LARGE, "needs more memory than there is; unpack it yourself")
MEMBER_TOO_LARGE = Problem(SkipReason.TOO_LARGE, f"is larger than {MAX_MEMBER >> 20} MB; split it")
_BLOCK = 1 << 20
_Item = TypeVar("_Item")


class _Clock(threading.local):
    """What a thread is reading, and what programs have spent on it."""

    def __init__(self) -> None:
        self.budget: Budget | None = None
        self.by_programs = 0.0


_clock = _Clock()


def too_large(limit: int) -> Problem:
    """Return the problem of a file that unpacks to more bytes than this limit."""
    detail = f"unpacks to more than the limit of {limit >> 20} MB; unpack it yourself if you trust it"
    return Problem(SkipReason.TOO_LARGE, detail)


@dataclass(slots=True)
class Budget:
    """What is left to spend on one file that the user gave, including everything packed inside."""

    room: int = 4 << 30
    """Unpacked bytes."""
    files: int = 1_000_000
    depth: int = MAX_DEPTH
    seconds: float = SECONDS
    """CPU time of the outermost file."""
    outer: Budget | None = None
    """Bytes and files that are spent here are spent there too."""
    _end: float = 0
    _member_end: float = inf
    _paused: float = 0

    def timed(self, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield the items, and subtract the time that each took; what the caller does with them is free."""
        while True:
            before, now = _clock.budget, cpu_seconds()
            self._end = now + self.seconds
            self._member_end += now - self._paused
            _clock.budget = self
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                _clock.budget = before
                self._paused = cpu_seconds()
                self.seconds = self._end - self._paused
            yield item

    def within(self, name: str, packed: int) -> Budget:
        """Return the part of the budget that an archive of this size may spend."""
        if not self.depth:
            detail = f"lies within {MAX_DEPTH} other archives; unpack it yourself"
            raise Unreadable(name, SkipReason.TOO_LARGE, detail)
        room = min(self.room, unpacked_limit(packed))
        return Budget(room, self.files, self.depth - 1, outer=self)

    def count_file(self, name: str) -> None:
        """Count one more file; raise an error if there are too many."""
        self.files -= 1
        if self.outer:
            self.outer.count_file(name)
        if self.files < 0:
            raise Unreadable(name, *TOO_MANY_FILES)

    def spend(self, size: int) -> None:
        """Subtract the size of something that was unpacked."""
        self.room -= size
        if self.outer:
            self.outer.spend(size)

    def check(self, name: str, size: int, packed: int) -> None:
        """Raise an error if `packed` bytes must not unpack to this size."""
        limit = min(MAX_MEMBER, self.limit(packed))
        if size > limit:
            raise Unreadable(name, *too_large(limit))

    def unpack(self, file: BinaryIO, name: str, packed: int) -> bytes:
        """Return everything that `packed` bytes unpack to; raise an error if it is too much."""
        parts: list[bytes] = []
        size = 0
        try:
            while part := file.read(_BLOCK):
                parts.append(part)
                size += len(part)
                self.check(name, size, packed)
        finally:
            self.spend(size)  # failures count too, or many of them would cost nothing
        return b"".join(parts)

    def limit(self, packed: int) -> int:
        """Return how many bytes this many packed bytes may unpack to, in any number of files."""
        limit = min(self.room, unpacked_limit(packed))
        return max(0, min(limit, self.outer.limit(packed)) if self.outer else limit)


def cpu_seconds() -> float:
    """Return the CPU time of this thread and of the programs that it had read files."""
    return time.thread_time() + _clock.by_programs


def spend_seconds(seconds: float) -> None:
    """Count what a program took, or what a text will take when it is compared."""
    _clock.by_programs += seconds


def begin_member(archive: str) -> None:
    """Give the next file of an archive half of the time that is left, so that one bad file loses no other."""
    if (budget := _clock.budget) is not None:
        now = cpu_seconds()
        budget._member_end = now + (budget._end - now) / 2
        if now > budget._end:
            keep_time(archive)


def program_seconds(size: int) -> int:
    """Return the CPU time that a program may take for a file of this size, less if it lies in an archive."""
    budget = _clock.budget
    if budget is None or budget._member_end == inf:
        return seconds_for(size)
    return min(seconds_for(size), max(1, ceil(min(budget._end, budget._member_end) - cpu_seconds())))


def keep_time(name: str) -> None:
    """Raise an error if the file that is being read has taken too long. Readers call this in long loops."""
    budget = _clock.budget
    if budget is not None and cpu_seconds() > min(budget._end, budget._member_end):
        detail = "takes longer to read than any real file of its size; unpack it, or save it again"
        raise Unreadable(name, SkipReason.TOO_LARGE, detail)


def seconds_for(size: int) -> int:
    """Return the CPU time that reading a file of this size may take."""
    return SECONDS + max(0, (size >> 20) - 10)


def unpacked_limit(packed: int) -> int:
    """Return how many bytes this many packed bytes may unpack to by the ratio alone."""
    return FREE_BYTES + MAX_RATIO * packed
