"""The number of the last commit, in a file beside the catalogue.

After a crash, committed changes are only in the write-ahead log of SQLite, which ignores a log that was damaged
and does not miss one that was deleted. Then the catalogue is in an older state than this file says.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from zlib import crc32

FILE = "last-commit"


def write(folder: Path, version: int) -> None:
    """Note a commit that is durable. The note itself need not be, so this does not wait for the disk."""
    number = b"%020d" % version
    with suppress(OSError):  # the commit succeeded
        (folder / FILE).write_bytes(b"%s %010d\n" % (number, crc32(number)))


def read(folder: Path) -> int:
    """Return the last commit that was noted, or 0 if none was or the note is damaged."""
    with suppress(OSError, ValueError):
        number, checksum = (folder / FILE).read_bytes().split()
        if crc32(number) == int(checksum):
            return int(number)
    return 0
