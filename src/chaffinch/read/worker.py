"""A process of our own for code that a file may cause to hang, to crash or to use up the memory."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import BinaryIO, cast

from chaffinch.read.budget import spend_seconds
from chaffinch.read.worker_process import REQUEST, read_answer

_WAITING_FACTOR = 10
"""A worker may take this many times its CPU limit by the clock before it is stopped: machines may be busy."""


class WorkerEnded(Exception):
    """The request took too much time or memory, or crashed the worker."""


class Worker:
    """A process that runs a module. It starts with the first request, and again after one that ended it."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = threading.Lock()
        atexit.register(self.stop)

    def ask(self, *request: bytes, seconds: float, memory: int) -> bytes:
        """Return the answer to a request, and count the CPU time it took."""
        with self._lock:
            return self._answer(self._running(), request, seconds, memory)

    def _answer(
        self, process: subprocess.Popen[bytes], request: tuple[bytes, ...], seconds: float, memory: int
    ) -> bytes:
        timer = threading.Timer(_WAITING_FACTOR * seconds, process.kill)
        timer.start()
        started = time.monotonic()
        try:
            requests, answers = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
            requests.write(REQUEST.pack(seconds, memory, sum(map(len, request))))
            for piece in request:
                requests.write(piece)
            requests.flush()
            answer = read_answer(answers)
        except OSError:  # it ended while it was written to
            answer = None
        finally:
            timer.cancel()
        if answer is None:
            self.stop()
            spend_seconds(min(seconds, time.monotonic() - started))
            raise WorkerEnded
        spend_seconds(answer[0])
        return answer[1]

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the process; after a fork, one of our own."""
        if self._process is not None and self._process.poll() is not None:
            self.stop()
        if self._process is None or self._owner != os.getpid():
            # -P keeps the current folder off the path; a file there might be called json.py.
            path = os.pathsep.join(filter(None, sys.path))
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": path},
            )
            self._owner = os.getpid()
        return self._process

    def stop(self) -> None:
        """End the process, if it is ours."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # the worker will not read what is still to be written
                    pipe.close()
        process.wait()
