"""A segment that another process cuts short while it is open is an error, whatever is being done with it."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from chaffinch.errors import Damaged
from chaffinch.index.folder.paths import open_segment, segment_path
from chaffinch.index.index import Index
from chaffinch.native import segment as core_index
from chaffinch.native.segment import Postings, Segment
from tests.indexed import document, text

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows refuses to cut a mapped file short")

NONE = np.empty(0, np.uint32)
SIZES = {"empty": 0, "whole pages": mmap.PAGESIZE, "part of a page": mmap.PAGESIZE + 100}


def cut(path: Path, size: int) -> None:
    """In another process, as a copy over it or a full disk would."""
    command = [sys.executable, "-c", "import os, sys; os.truncate(sys.argv[1], int(sys.argv[2]))"]
    subprocess.run([*command, path, str(size)], check=True)


def postings(n: int) -> Postings:
    chance = np.random.default_rng(1)
    columns = (chance.integers(0, 1000, n, np.uint32), chance.integers(0, 16384, n, np.uint32))
    return Postings(chance.integers(0, 2**64, n, np.uint64), *columns)


def segment(path: Path, n: int) -> Segment:
    path.write_bytes(bytes(core_index.build(postings(n))))
    return open_segment(path)


def names(index: Index, seed: str) -> list[str]:
    return [hit.document.name for hit in index.search(text(4000, seed))]


@pytest.fixture
def where(tmp_path: Path) -> Path:
    with Index.create(tmp_path / "archive.index") as index:
        index.add([document(f"d{n}", text(4000, f"d{n}")) for n in range(3)])
        index.add([document("other", text(4000, "other"))])
    return tmp_path / "archive.index"


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("searched", [False, True])
def test_an_open_index_names_the_segment_and_serves_the_rest(where: Path, size: int, searched: bool) -> None:
    path = segment_path(where, 1)
    with Index.open(where) as index:
        if searched:  # so that its pages have been checked
            assert names(index, "d1") == ["d1"]
        else:
            index.info()
        cut(path, size)
        answer = index.search(text(4000, "d1"))
        assert list(answer) == []
        assert answer.receipt.damaged[0].startswith(f"{path}: ")
        assert names(index, "other") == ["other"]
        assert any(problem.startswith(f"{path}: ") for problem in index.verify())
        with pytest.raises(Damaged, match=str(path)):
            index.merge()


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_every_way_to_read_a_segment_raises(tmp_path: Path, size: int) -> None:
    hashes = postings(50_000).hashes
    ways: list[Callable[[Segment], object]] = [
        lambda one: core_index.lookup([one], hashes, NONE),
        lambda one: one.check(),
        lambda one: list(one.scan()),
        lambda one: list(core_index.merge([one], NONE)),
        lambda one: list(core_index.merge([one], np.arange(10, dtype=np.uint32))),
    ]
    for number, read in enumerate(ways):
        path = tmp_path / f"{number}"
        one = segment(path, 50_000)
        one.check()
        cut(path, size)
        with pytest.raises(Damaged, match=str(path)):
            read(one)


def test_a_merge_stops_when_a_segment_is_cut_in_the_middle_of_it(tmp_path: Path) -> None:
    path = tmp_path / "large"
    pieces = core_index.merge([segment(tmp_path / "small", 1000), segment(path, 3_000_000)], NONE)
    next(pieces)
    cut(path, mmap.PAGESIZE)
    with pytest.raises(Damaged, match=str(path)):
        list(pieces)


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.02, 0.05])
def test_a_segment_may_be_cut_at_any_moment_of_a_merge_or_search(tmp_path: Path, delay: float) -> None:
    paths = [tmp_path / "first", tmp_path / "second"]
    hashes = postings(100_000).hashes
    segments = [segment(path, 1_000_000) for path in paths]

    def read_forever() -> None:
        while True:
            list(core_index.merge(segments, NONE, threads=2))
            core_index.lookup(segments, hashes, NONE, threads=2)

    cutting = threading.Timer(delay, cut, (paths[0], 100))
    cutting.start()
    with pytest.raises(Damaged, match=str(paths[0])):
        read_forever()
    cutting.join()


def test_threads_that_search_export_and_verify_live_on_and_name_the_segment(where: Path) -> None:
    path = segment_path(where, 1)
    told: dict[str, str] = {}
    with Index.open(where) as index:

        def search() -> str:
            return "".join(index.search(text(4000, "d1")).receipt.damaged)

        def export() -> str:
            try:
                index.export(where.with_name(f"{threading.get_ident()}.jsonl"))
            except Damaged as error:
                return str(error)
            return ""

        def verify() -> str:
            return "".join(index.verify())

        def until_damaged(name: str, use: Callable[[], str]) -> None:
            started.wait()
            while not told.get(name):
                told[name] = use()

        uses = {"search": search, "search too": search, "export": export, "verify": verify}
        started = threading.Barrier(len(uses) + 1)
        threads = [threading.Thread(target=until_damaged, args=use) for use in uses.items()]
        for thread in threads:
            thread.start()
        started.wait()
        cut(path, mmap.PAGESIZE)
        for thread in threads:
            thread.join()
        assert [message.startswith(f"{path}: ") for message in told.values()] == [True] * len(uses)
        assert names(index, "other") == ["other"]


def test_a_text_file_that_is_cut_while_open_is_reported(where: Path) -> None:
    with Index.open(where) as index:
        assert names(index, "other") == ["other"]
        cut(where / "texts-0001.dat", 100)
        answer = index.search(text(4000, "other"))
        assert [hit.document.name for hit in answer] == ["other"]
        assert answer.receipt.damaged[0].startswith("other: its stored content is damaged")
        with pytest.raises(Damaged, match="its stored content is damaged"):
            index.content("other")


FOREIGN = """
import faulthandler, mmap, os, pathlib, sys
from chaffinch.index.folder.paths import open_segment
if "before" in sys.argv: faulthandler.enable()
ours, theirs = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
segment = open_segment(ours)
if "after" in sys.argv: faulthandler.enable()
segment.check()
if "after" in sys.argv:
    os.truncate(ours, 0)
    try:
        segment.check()
    except Exception as error:
        print(type(error).__name__, flush=True)
theirs.write_bytes(bytes(mmap.PAGESIZE))
with theirs.open("rb") as file:
    other = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
os.truncate(theirs, 0)
if "sent" in sys.argv: os.kill(os.getpid(), 7 if sys.platform == "linux" else 10)
other[0]
"""


@pytest.mark.parametrize("how", ["alone", "before", "after", "sent"])
def test_a_fault_of_other_code_ends_the_process_as_ever(tmp_path: Path, how: str) -> None:
    """With and without a handler of Python's that was installed before or after ours, which still works."""
    segment(tmp_path / "ours", 50_000)
    command = [sys.executable, "-c", FOREIGN, str(tmp_path / "ours"), str(tmp_path / "theirs"), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGBUS
    assert done.stdout == ("Damaged\n" if how == "after" else "")
    assert ("Fatal Python error: Bus error" in done.stderr) == (how in ("before", "after"))
