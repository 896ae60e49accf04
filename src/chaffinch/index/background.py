"""Work that is done by other threads while one goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

Submit = Callable[..., Future[Any]]
"""Takes a function and what to call it with."""


@contextmanager
def beside(threads: int) -> Iterator[Submit]:
    """Nothing of it goes on when this is left; after an error, what has not begun is given up.

    Whoever interrupts a second time waits too; else what is written would go on behind their back.
    """
    pool = ThreadPoolExecutor(threads)
    pending: list[Future[Any]] = []

    def submit(work: Callable[..., Any], *given: Any) -> Future[Any]:
        pending[:] = [future for future in pending if not future.done()]
        pending.append(pool.submit(work, *given))
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
                wait(pending)  # not for the threads: of an interrupted join Python 3.11 forgets that it was one
                break
            except KeyboardInterrupt as error:
                interrupt = error
        pool.shutdown(wait=False)
        if interrupt is not None:
            raise interrupt
