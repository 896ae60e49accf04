"""Background threads that always finish before the block that started them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

Submit = Callable[..., Future[Any]]
"""Takes a function and its arguments."""


@contextmanager
def background(threads: int) -> Iterator[Submit]:
    """Run submitted work on background threads. Leaving the block waits for all of it.

    After an error, work that has not started is cancelled. A second interrupt waits too: otherwise the work
    would go on writing after the caller believes it has stopped.
    """
    pool = ThreadPoolExecutor(threads)
    pending: list[Future[Any]] = []

    def submit(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        pending[:] = [future for future in pending if not future.done()]
        pending.append(pool.submit(work, *arguments))
        return pending[-1]

    try:
        yield submit
    except BaseException:
        for future in pending:
            future.cancel()
        raise
    finally:
        interrupt = None
        while True:
            try:
                wait(pending)  # not pool.shutdown(): Python 3.11 forgets that a join was interrupted
                break
            except KeyboardInterrupt as error:
                interrupt = error
        pool.shutdown(wait=False)
        if interrupt is not None:
            raise interrupt
