"""The other side of a worker: requests on standard input, answers on standard output, limits for each.

A request is the CPU time in seconds, the memory in bytes, a length, and as many bytes. An answer is the CPU
time it took, a length, and as many bytes. This module imports nothing of Chaffinch, so that it starts fast.
"""

from __future__ import annotations

import ctypes
import signal
import struct
import sys
import time
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable

REQUEST = struct.Struct("<dQQ")
ANSWER = struct.Struct("<dQ")
_PR_SET_PDEATHSIG = 1
_MAX_ANSWER = 8 << 30


def serve(answer_to: Callable[[bytes], bytes]) -> None:
    """Answer requests until there are no more. The system ends this process if one breaks its limits."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # not even a bomb outlives the parent
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while header := requests.read(REQUEST.size):
        seconds, memory, length = REQUEST.unpack(header)
        _limit(seconds, memory)
        started = time.process_time()
        answer = answer_to(requests.read(length))
        answers.write(ANSWER.pack(time.process_time() - started, len(answer)))
        answers.write(answer)
        answers.flush()


def _limit(seconds: float, memory: int) -> None:
    if hasattr(signal, "setitimer"):  # not on Windows, where the parent's clock is the only limit
        import resource

        signal.setitimer(signal.ITIMER_PROF, seconds)
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (memory if most < 0 else min(memory, most), most))


def read_answer(pipe: BinaryIO) -> tuple[float, bytes] | None:
    """Return the time that the next answer took, and the answer, or None if the process is gone."""
    header = pipe.read(ANSWER.size)
    if len(header) < ANSWER.size:
        return None
    seconds, length = ANSWER.unpack(header)
    answer = pipe.read(length) if length <= _MAX_ANSWER else b""
    return (seconds, answer) if len(answer) == length else None
