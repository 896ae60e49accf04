"""Processes that write to an index and are killed in the middle of it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from chaffinch import fingerprint
from chaffinch.errors import IndexTrouble
from chaffinch.index.folder import merge_policy, paths
from chaffinch.index.folder.catalogue import Catalogue
from chaffinch.index.index import Index
from chaffinch.types import File
from tests.indexed import document, text

# Forked from one process that has open_for_import all this: a start costs no more than a few milliseconds.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.crashing"])


class Process:
    """A process that sends what it has done, until it is killed."""

    def __init__(self, work: Callable[..., None], *arguments: object) -> None:
        self._ours, theirs = _PROCESSES.Pipe(duplex=False)
        self._process: ForkServerProcess = _PROCESSES.Process(
            target=work, args=(theirs, *arguments), daemon=True
        )
        self._process.start()
        theirs.close()

    def told(self) -> Any:
        """Return the next message, as soon as it arrives."""
        return self._ours.recv()

    def quiet_for(self, seconds: float) -> bool:
        """Return whether it sends nothing for this long."""
        return not self._ours.poll(seconds)

    def kill(self) -> list[Any]:
        """Kill the process at once, whatever it is doing. Return what it sent and nobody has received yet."""
        self._process.kill()
        self._process.join()
        assert self._process.exitcode in (-signal.SIGKILL, 0), self._process.exitcode
        return self.rest()

    def rest(self) -> list[Any]:
        """Return every message until the process ends."""
        heard = []
        try:
            while True:
                heard.append(self._ours.recv())
        except (EOFError, OSError):
            self._ours.close()
        self._process.join()
        return heard

    def close(self) -> None:
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
        self._ours.close()


@contextmanager
def running(work: Callable[..., None], *arguments: object) -> Iterator[Process]:
    process = Process(work, *arguments)
    try:
        yield process
    finally:
        process.close()


def merge_often() -> None:
    """Merge segments of any size as soon as there are three of them."""
    merge_policy.FAN, merge_policy.SMALLEST_LEVEL = 3, 8


def known_files(where: Path) -> set[str]:
    """Return the file names of the segments in use."""
    with closing(Catalogue(where / paths.CATALOGUE)) as catalogue:
        return {paths.segment_path(where, row.number).name for row in catalogue.segments()}


def said(number: int) -> str:
    """Return the text of a document. No other document shares any of it."""
    return text(40, f"document {number}")


def three_segments(folder: Path) -> Path:
    """An index with three documents, each in a segment of its own."""
    with Index.create(folder) as index:
        for n in range(3):
            index.add(document(f"d{n}", said(n)))
    return folder


def names(index: Index, number: int) -> list[str]:
    return [hit.document.name for hit in index.search(said(number))]


def grow(tell: Connection, where: Path, first: int, together: int, merging_too: bool) -> None:
    """Add documents, `together` at a time, and send their numbers once they are added. Merge now and then."""
    merge_often()
    with Index.open(where) as index:
        for number in range(first, first + 10_000, together):
            some = range(number, number + together)
            index.add([document(f"d{n}", said(n)) for n in some], threads=1)
            for n in some:
                tell.send(n)
            if merging_too and number // together % 7 == 6:
                index.merge()


def do(tell: Connection, where: Path, what: str, arguments: object) -> None:
    """Call one method of an index. Send when it has begun and when it is done."""
    merge_often()
    with Index.open(where) as index:
        tell.send("begun")
        getattr(index, what)(*([] if arguments is None else [arguments]))
        tell.send("done")


def create(tell: Connection, where: Path) -> None:
    tell.send("begun")
    Index.create(where).close()
    tell.send("done")


def swap(tell: Connection, where: Path, versions: list[str], rounds: int) -> None:
    """Replace a document by its other version again and again, while others are added and removed."""
    merge_often()
    with Index.open(where) as index:
        tell.send("begun")
        for n in range(rounds):
            index.replace(document("d", versions[n % 2]), threads=1)
            index.add(document(f"other{n}", said(n)), threads=1)
            if n % 3 == 2:
                index.remove([f"other{n - 2}", f"other{n - 1}"])
            if n % 10 == 9:
                index.merge()
    tell.send("done")


def limited(tell: Connection, where: Path, most: int, large: bytes) -> None:
    """Add with no file larger than `most` bytes, and then without that limit."""
    import resource

    with Index.open(where) as index:
        index.add(document("before", said(77)))
        free = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, free[1]))
        for _ in range(2):
            try:
                index.add(File("large", large, "utf-8", "plain", "text"))
                tell.send("added")
            except IndexTrouble as error:
                tell.send(str(error))
        tell.send([len(index.search(said(77))), index.verify()])
        resource.setrlimit(resource.RLIMIT_FSIZE, free)
        index.add(File("large", large, "utf-8", "plain", "text"))
        tell.send([len(index), index.verify()])
        index.store.writer.wait()  # type: ignore[attr-defined]
        tell.send(sorted(path.name for path in (where / "segments").iterdir()))


def look(tell: Connection, where: Path, asked: Connection) -> None:
    """Search for the numbers it receives, then try to add, as a user without permission to write."""
    fingerprint("imports what is imported on first use, which the other user may not read")
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    with Index.open(where) as index:
        while (number := asked.recv()) is not None:
            answer = index.search(said(number))
            tell.send([[hit.document.name for hit in answer], list(answer.receipt.damaged), len(index)])
        try:
            index.add(document("more", said(99)))
        except IndexTrouble as error:
            tell.send(str(error))
        try:
            Index.create(where / "another")
        except IndexTrouble as error:
            tell.send(str(error))
