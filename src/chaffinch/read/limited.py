"""Run another program on a file, with limits on its time, memory and output."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from chaffinch.read.budget import spend_seconds

MEMORY_BYTES = 4 << 30
OUTPUT_BYTES = 1 << 30
# The shell's limits hold whatever a file makes the program do. Not every shell can limit memory. The units are
# seconds, 512 bytes and 1,024 bytes.
_LIMITS = 'ulimit -t "$1"; ulimit -f "$2"; ulimit -v "$3" 2>/dev/null; shift 3; exec "$@"'
_WAITING_FACTOR = 6
"""A program may take this many times its CPU limit by the clock, because machines may be busy."""
_STOPPED = (-signal.SIGKILL, -getattr(signal, "SIGXCPU", 24)) if os.name == "posix" else ()


class TookTooLong(Exception):
    """The program was stopped at its time limit."""


def run(
    command: Sequence[str],
    *,
    seconds: int,
    folder: Path | str | None = None,
    output: IO[bytes] | None = None,
    output_bytes: int = OUTPUT_BYTES,
) -> int:
    """Run a program in a folder, which is also the one for its temporary files, and return its exit code."""
    if os.name == "posix":
        limits = (str(seconds), str((output_bytes >> 9) + 1), str(MEMORY_BYTES >> 10))
        command = ["sh", "-c", _LIMITS, "sh", *limits, *command]
    environment = os.environ | {"LC_ALL": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}
    if folder is not None:
        environment |= dict.fromkeys(("TMPDIR", "TMP", "TEMP", "HOME"), str(folder))
    before = _children_seconds()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if output is None else output,
            stderr=subprocess.DEVNULL,
            timeout=_WAITING_FACTOR * seconds,
        )
    except subprocess.TimeoutExpired:
        raise TookTooLong from None
    finally:
        spend_seconds(_children_seconds() - before)
    if done.returncode in _STOPPED:
        raise TookTooLong
    return done.returncode


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system
