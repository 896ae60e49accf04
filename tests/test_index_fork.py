"""A process that is forked while an index is open refuses to use it, and harms nothing of its parent's."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from chaffinch.errors import IndexTrouble
from chaffinch.index.index import Index
from tests.crashing import names, said, three_segments
from tests.indexed import Make, document

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

REFUSED = "was open when this process was forked from another; open it only after the fork"


def in_child(work: Callable[[], object]) -> str:
    """Fork, and return what the work returned in the child, or its error. A child that hangs is killed."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, which is the point
        child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            told = str(work())
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(theirs, told.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, told
    return told


def use(index: Index) -> None:
    with index:
        index.add(document("of the child", said(70)))


USES: list[Callable[[Index], object]] = [
    len,
    list,
    use,
    lambda i: "d0" in i,
    lambda i: i.search(said(0)),
    lambda i: i.content("d0"),
    lambda i: i.remove("d0"),
    lambda i: i.merge(),
    lambda i: i.verify(),
    lambda i: i.info(),
]


def test_the_child_refuses_whatever_it_is_asked_and_the_parent_goes_on(make: Make) -> None:
    index = make()
    index.add(document("d0", said(0)))
    for n, ask in enumerate(USES):
        told = in_child(lambda ask=ask: ask(index))  # type: ignore[misc]
        assert told.startswith(f"IndexTrouble: {index.store.where}: {REFUSED}")
        index.add(document(f"more{n}", said(10 + n)))
    assert in_child(index.close) == "None"
    assert index.verify() == []
    assert len(index) == 1 + len(USES)
    assert all(names(index, 10 + n) == [f"more{n}"] for n in range(len(USES)))


def test_nothing_is_lost_when_both_write_at_once(tmp_path: Path) -> None:
    with Index.create(tmp_path / "archive.index") as index:
        index.add(document("before", said(0)))
        begun, done = os.pipe()

        def write() -> str:
            os.read(begun, 1)
            refused = 0
            for n in range(20):
                try:
                    index.add(document(f"child{n}", said(100 + n)))
                except IndexTrouble:
                    refused += 1
            return f"{refused} refused"

        told: list[str] = []
        child = threading.Thread(target=lambda: told.append(in_child(write)))
        child.start()
        os.write(done, b"x")
        for n in range(20):
            index.add(document(f"d{n}", said(1 + n)))
        child.join()
        assert told == ["20 refused"]
        assert index.verify() == []
        assert all(names(index, 1 + n) == [f"d{n}"] for n in range(20))


def test_the_child_cannot_open_what_its_parent_has_open_but_anything_else(tmp_path: Path) -> None:
    where, other = three_segments(tmp_path / "archive.index"), three_segments(tmp_path / "other.index")

    def open_and_search(path: Path) -> list[str]:
        with Index.open(path) as own:
            own.add(document("more", said(9)))
            return names(own, 9)

    with Index.open(where) as index:
        assert in_child(lambda: open_and_search(where)).startswith(f"IndexTrouble: {where}: {REFUSED}")
        assert in_child(lambda: open_and_search(other)) == "['more']"
        assert names(index, 0) == ["d0"]
    assert in_child(lambda: open_and_search(where)) == "['more']"
    with Index.open(where) as index:
        assert names(index, 9) == ["more"]


def test_a_child_does_not_wait_for_threads_that_it_does_not_have(tmp_path: Path) -> None:
    with Index.open(three_segments(tmp_path / "archive.index")) as index:
        index.add(document("more", said(9)))
        stop = threading.Event()

        def keep_busy(work: Callable[[int], object]) -> None:
            number = 1000
            while not stop.is_set():
                work(number := number + 1)

        busy = [
            threading.Thread(target=keep_busy, args=[lambda n: names(index, n % 3)]),
            threading.Thread(target=keep_busy, args=[lambda n: index.add(document(f"d{n}", said(n)))]),
        ]
        for thread in busy:
            thread.start()
        try:
            for ask in USES:
                assert REFUSED in in_child(lambda ask=ask: ask(index))  # type: ignore[misc]
        finally:
            stop.set()
            for thread in busy:
                thread.join()
        assert index.verify() == []


def test_a_list_that_the_parent_began_is_not_continued_in_the_child(tmp_path: Path) -> None:
    with Index.open(three_segments(tmp_path / "archive.index")) as index:
        listing = iter(index)
        first = next(listing).name
        told = in_child(lambda: [first, *(record.name for record in listing)])
        assert REFUSED in told or told == "['d0', 'd1', 'd2']", "what was read before the fork is there"
        assert [record.name for record in listing] == ["d1", "d2"]


def test_workers_of_multiprocessing_get_the_message(tmp_path: Path) -> None:
    with Index.open(three_segments(tmp_path / "archive.index")) as index:
        context = multiprocessing.get_context("fork")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            with context.Pool(1, _give, [index]) as pool, pytest.raises(IndexTrouble, match=REFUSED):
                pool.apply(_search)
        assert names(index, 0) == ["d0"]


_given: list[Index] = []


def _give(index: Index) -> None:
    _given.append(index)


def _search() -> int:
    return len(_given[0].search(said(0)))
