"""What reading may cost: archives within archives share one budget, so a bomb is a message, not a crash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from chaffinch.errors import Problem, SkipReason, Unreadable

MAX_DEPTH = 8
MAX_RATIO = 200
"""Bytes out for a byte in; text packs up to about 20."""
RATIO_FREE = 16 << 20
"""The first bytes may be packed as tightly as they like."""
MAX_MEMBER = 1 << 30
_BLOCK = 1 << 20


def too_large(most: int) -> Problem:
    """The problem of a file that unpacks to more bytes than it may."""
    return Problem(
        SkipReason.TOO_LARGE,
        f"unpacks to more than the limit of {most >> 20} MB; unpack it yourself if you trust it",
    )


@dataclass(slots=True)
class Budget:
    """What is left to spend on one file given by the user, with all that is packed inside."""

    room: int = 4 << 30
    """In bytes, unpacked."""
    files: int = 1_000_000
    depth: int = MAX_DEPTH
    outer: Budget | None = None
    """What is spent here is spent there too."""

    def within(self, name: str, packed: int) -> Budget:
        """The part of it that an archive of so many bytes may spend, with all that is packed inside."""
        if not self.depth:
            raise Unreadable(
                name, SkipReason.TOO_LARGE, f"lies within {MAX_DEPTH} other archives; unpack it yourself"
            )
        return Budget(min(self.room, RATIO_FREE + MAX_RATIO * packed), self.files, self.depth - 1, self)

    def file(self, name: str) -> None:
        """One more member; raises when there are too many."""
        self.files -= 1
        if self.outer:
            self.outer.file(name)
        if self.files < 0:
            raise Unreadable(
                name, SkipReason.TOO_LARGE, "more files in one archive than are ever read; unpack it yourself"
            )

    def spend(self, size: int) -> None:
        """So many bytes were unpacked."""
        self.room -= size
        if self.outer:
            self.outer.spend(size)

    def check(self, name: str, size: int, packed: int) -> None:
        """Raises if a member of `packed` bytes should not unpack to so many."""
        most = min(MAX_MEMBER, self.most(packed))
        if size > most:
            raise Unreadable(name, *too_large(most))

    def unpack(self, file: BinaryIO, name: str, packed: int) -> bytes:
        """All that comes out of a member's `packed` bytes; raises when that is more than it should be."""
        parts: list[bytes] = []
        size = 0
        try:
            while part := file.read(_BLOCK):
                parts.append(part)
                size += len(part)
                self.check(name, size, packed)
        finally:
            self.spend(size)  # a failure costs as much, or many of them would cost nothing
        return b"".join(parts)

    def most(self, packed: int) -> int:
        """What may come out of so many bytes, in however many files."""
        most = min(self.room, RATIO_FREE + MAX_RATIO * packed)
        return max(0, min(most, self.outer.most(packed)) if self.outer else most)
