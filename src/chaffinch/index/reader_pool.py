"""Readers of a store: each search has one to itself, so that several threads search at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from chaffinch.errors import IndexTrouble
from chaffinch.index.store import CLOSED

_MAX_IDLE = 8
"""Readers that stay open while nobody uses them."""


class Reader(Protocol):
    """Reads one state of a store at a time, for one thread at a time."""

    def close(self) -> None: ...


R = TypeVar("R", bound=Reader)


class ReaderPool(Generic[R]):
    """Readers that are opened when needed and then used again. With a limit, threads wait for a free one."""

    def __init__(self, where: str, open_reader: Callable[[], R], limit: int | None = None) -> None:
        self._where, self._open, self._limit = where, open_reader, limit
        self._idle: list[R] = []
        self._in_use = 0
        self._changed = threading.Condition()
        self._of_thread = threading.local()
        self.closed = False

    @property
    def current(self) -> R | None:
        """The reader that this thread keeps."""
        return getattr(self._of_thread, "reader", None)

    @contextmanager
    def keep(self, reader: R) -> Iterator[None]:
        """Make this reader the current one of this thread inside the `with` block."""
        before, self._of_thread.reader = self.current, reader
        try:
            yield
        finally:
            self._of_thread.reader = before

    @contextmanager
    def take(self) -> Iterator[R]:
        """Yield a reader that nobody else uses inside the `with` block."""
        reader = self._take()
        try:
            yield reader
        finally:
            self._give_back(reader)

    def _take(self) -> R:
        with self._changed:
            self._changed.wait_for(lambda: self.closed or self._limit is None or self._in_use < self._limit)
            self.refuse_closed()
            self._in_use += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self._open()
        except BaseException:
            with self._changed:
                self._in_use -= 1
                self._changed.notify()
            raise

    def _give_back(self, reader: R) -> None:
        with self._changed:
            self._in_use -= 1
            self._changed.notify()
            is_kept = not self.closed and len(self._idle) < _MAX_IDLE
            if is_kept:
                self._idle.append(reader)
        if not is_kept:
            reader.close()

    def refuse_closed(self) -> None:
        if self.closed:
            raise IndexTrouble(f"{self._where}: {CLOSED}")

    def close(self) -> None:
        """Give out no more readers. Those in use are closed when they come back."""
        with self._changed:
            self.closed = True
            idle, self._idle = self._idle, []
            self._changed.notify_all()
        for reader in idle:
            reader.close()
