"""Threads that search take turns in Python, and run the core side by side.

Python runs one thread at a time, and gives way to another whenever a thread reads a row or a file. Searches do
that a hundred times each, and the changes cost more than the reading: four threads that look for small texts
would take twice as long as one. So a search waits for its turn, but not for long, since the other may be
waiting for a disk.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 0.02
"""Seconds to wait for a turn before going on without one."""

_turn = threading.Lock()


class _Thread(threading.local):
    takes_turns = has_turn = False


_thread = _Thread()


@contextmanager
def taking_turns() -> Iterator[None]:
    """Run the `with` block in turns with other threads, if it is not inside another such block."""
    if _thread.takes_turns:
        yield
        return
    _thread.takes_turns, _thread.has_turn = True, _turn.acquire(timeout=_PATIENCE)
    try:
        yield
    finally:
        _thread.takes_turns = False
        if _thread.has_turn:
            _turn.release()


@contextmanager
def side_by_side() -> Iterator[None]:
    """Let other threads have their turn while the `with` block runs outside Python."""
    if not _thread.takes_turns:
        yield
        return
    if _thread.has_turn:
        _turn.release()
    _thread.has_turn = False
    try:
        yield
    finally:
        _thread.has_turn = _turn.acquire(timeout=_PATIENCE)
