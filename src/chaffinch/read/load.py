"""Read a file's bytes, with a clear message if that fails."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from chaffinch.errors import SkipReason, Unreadable

MAX_BYTES = 2**32 - 1
"""The core counts bytes in 32 bits."""


def load(path: Path) -> bytes:
    """Return all bytes of a file or pipe."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode):
                refuse_large(str(path), status.st_size)
                return file.read() if status.st_size else _from_pipe(path, file)
        raise Unreadable(path, SkipReason.INVALID, "is a device, not a file; name a file or a pipe")
    except IsADirectoryError:
        raise Unreadable(path, SkipReason.INVALID, "is a directory; name the files in it") from None
    except FileNotFoundError:
        raise Unreadable(path, SkipReason.NOT_FOUND, "no such file or folder") from None
    except PermissionError:
        raise Unreadable(path, SkipReason.NO_PERMISSION, "no permission to read it") from None
    except (OSError, ValueError) as error:
        raise Unreadable(path, SkipReason.DAMAGED, getattr(error, "strerror", None) or str(error)) from None


def _from_pipe(path: Path, file: BinaryIO) -> bytes:
    """Read a file whose size is not known in advance."""
    parts: list[bytes] = []
    size = 0
    while part := file.read(1 << 20):
        parts.append(part)
        size += len(part)
        refuse_large(str(path), size)
    return b"".join(parts)


def refuse_large(name: str, size: int) -> None:
    if size > MAX_BYTES:
        raise Unreadable(name, SkipReason.TOO_LARGE, "longer than 4 GiB; split it")
