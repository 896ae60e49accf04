"""Read a file's bytes, with a clear message if that fails."""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path
from typing import BinaryIO

from chaffinch.errors import SkipReason, Unreadable

MAX_BYTES = 2**32 - 1
"""The core counts bytes in 32 bits."""
WAIT_SECONDS = 5
"""How long a named pipe may have no writer."""
_SYSTEM_FOLDERS = (("/", "proc"), ("/", "sys"))
"""Files of no size there are made while they are read, and some never end."""
_MODE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)


def load(path: Path) -> bytes:
    """Return all bytes of a file or pipe."""
    try:
        _refuse_device(path, path.stat())  # before it is opened: to open some devices has an effect
        with os.fdopen(os.open(path, _MODE), "rb") as file:
            status = os.fstat(file.fileno())
            _refuse_device(path, status)
            refuse_large(str(path), status.st_size)
            if status.st_size:
                return file.read()
            first = _first_bytes(path, file.fileno()) if stat.S_ISFIFO(status.st_mode) else b""
            return _from_pipe(path, file, first)
    except IsADirectoryError:
        raise Unreadable(path, SkipReason.INVALID, "is a directory; name the files in it") from None
    except FileNotFoundError:
        raise Unreadable(path, SkipReason.NOT_FOUND, "no such file or folder") from None
    except PermissionError:
        raise Unreadable(path, SkipReason.NO_PERMISSION, "no permission to read it") from None
    except (OSError, ValueError) as error:
        raise Unreadable(path, SkipReason.DAMAGED, getattr(error, "strerror", None) or str(error)) from None


def _refuse_device(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
        raise Unreadable(path, SkipReason.INVALID, "is a device, not a file; name a file or a pipe")
    if stat.S_ISREG(status.st_mode) and not status.st_size and path.resolve().parts[:2] in _SYSTEM_FOLDERS:
        detail = "is made by the system, not a file; copy what it says to a file and name that"
        raise Unreadable(path, SkipReason.INVALID, detail)


def _first_bytes(path: Path, pipe: int) -> bytes:
    """Wait for the first bytes of a pipe that was opened without blocking, and have it block from then on."""
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    is_silent = not ready.poll(1000 * WAIT_SECONDS)
    try:
        first = os.read(pipe, 1 << 16)  # gives nothing if there is no writer, and an error if there is one
    except BlockingIOError:
        first, is_silent = b"", False
    if is_silent and not first:
        detail = f"is a pipe that nothing has written to for {WAIT_SECONDS} s; start the program that does"
        raise Unreadable(path, SkipReason.INVALID, detail)
    os.set_blocking(pipe, True)
    return first


def _from_pipe(path: Path, file: BinaryIO, first: bytes) -> bytes:
    """Read a file whose size is not known in advance."""
    parts = [first]
    size = len(first)
    while part := file.read(1 << 20):
        parts.append(part)
        size += len(part)
        refuse_large(str(path), size)
    return b"".join(parts)


def refuse_large(name: str, size: int) -> None:
    if size > MAX_BYTES:
        raise Unreadable(name, SkipReason.TOO_LARGE, "longer than 4 GiB; split it")
