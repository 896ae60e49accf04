"""A writer may be killed at any moment: nothing that was acknowledged is lost, and nothing is half done."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaffinch import Recipe
from chaffinch.errors import NoIndex
from chaffinch.index.folder import paths
from chaffinch.index.index import Index
from tests import crashing
from tests.crashing import known_files, running, said
from tests.indexed import document, text
from tests.koalas import stored

KILLS = 100


def whole(where: Path) -> set[int]:
    """Check every document of a growing index, and return their numbers."""
    with Index.open(where) as index:
        assert index.verify() == []
        there = [int(stored.name[1:]) for stored in index]
        assert len(there) == len(set(there)) == len(index)
    return set(there)


def found(index: Index, number: int) -> bool:
    return [hit.document.name for hit in index.search(said(number))] == [f"d{number}"]


def segment_files(where: Path) -> set[str]:
    return {path.name for path in (where / paths.SEGMENTS).iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("together", [1, 3])
def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(tmp_path: Path, together: int) -> None:
    where = tmp_path / "archive.index"
    Index.create(where, Recipe("text", k=10, w=11)).close()
    chance = random.Random(together)
    acknowledged, there = set[int](), set[int]()
    strays = 0
    for kill in range(KILLS // 2):
        first = (max(there, default=-1) // together + 1) * together
        with running(crashing.grow, where, first, together, kill % 2 == 0) as process:
            acknowledged.update(process.told() for _ in range(chance.randint(0, 3)))
            time.sleep(chance.random() * 0.02)  # any moment
            acknowledged.update(process.kill())
        before, there = there, whole(where)
        assert acknowledged <= there
        assert before <= there
        assert len(there - before - acknowledged) <= together
        assert {n // together for n in there} == {n // together for n in there if n % together == together - 1}
        with Index.open(where) as index:
            assert all(found(index, n) for n in chance.sample(sorted(there), min(3, len(there))))
            strays += len(segment_files(where) - known_files(where))
    with Index.open(where) as index:
        assert all(found(index, n) for n in there)
        index.remove("d0")  # the next writer cleans up
        index.store.writer.wait()  # type: ignore[attr-defined]
        assert segment_files(where) == known_files(where)
    assert whole(where) == there - {0}
    assert len(acknowledged) >= KILLS // 2
    assert strays, "no kill fell between a segment and its commit"


@pytest.mark.parametrize("seed", range(8))
def test_an_index_is_created_whole_or_can_be_created_again(tmp_path: Path, seed: int) -> None:
    where, chance = tmp_path / "archive.index", random.Random(seed)
    with running(crashing.create, where) as process:
        assert process.told() == "begun"
        time.sleep(chance.random() * 0.02)  # any moment
        done = process.kill() == ["done"]
    try:
        Index.open(where).close()
    except NoIndex:
        assert not done
        Index.create(where).close()
    with Index.open(where) as index:
        index.add(document("d0", said(0)))
        assert found(index, 0)
    assert whole(where) == {0}
    assert not list(where.glob(f"{paths.PART}*"))


@pytest.mark.parametrize("seed", range(8))
def test_a_replacement_that_is_cut_off_leaves_one_of_the_two(tmp_path: Path, seed: int) -> None:
    where, chance = tmp_path / "archive.index", random.Random(seed)
    with Index.create(where, Recipe("text", k=10, w=11)) as index:
        index.add([document(f"d{n}", said(n)) for n in range(20)])
    with running(
        crashing.do, where, "replace", [document(f"d{n}", said(n + 100)) for n in range(20)]
    ) as process:
        assert process.told() == "begun"
        time.sleep(chance.random() * 0.03)  # any moment
        done = process.kill() == ["done"]
    assert whole(where) == set(range(20))
    with Index.open(where) as index:
        old, new = ([len(index.search(said(n + more))) for n in range(20)] for more in (0, 100))
    assert (old, new) in (([1] * 20, [0] * 20), ([0] * 20, [1] * 20))
    assert new == [1] * 20 or not done


@pytest.mark.parametrize("seed", range(8))
def test_a_rotation_that_is_cut_off_leaves_every_document_and_can_be_run_again(
    tmp_path: Path, seed: int
) -> None:
    where, chance = tmp_path / "archive.index", random.Random(seed)
    texts = {f"d{n}": text(400, n) for n in range(10)}
    with Index.create(where, "koala", content="search-set", stored=20, searched=100) as index:
        index.add([document(*item) for item in texts.items()])
        before = {name: stored(index, name) for name in texts}
    with running(crashing.do, where, "rotate", None) as process:
        assert process.told() == "begun"
        time.sleep(chance.random() * 0.02)  # any moment
        process.kill()
    with Index.open(where) as index:
        assert index.verify() == []
        assert len({stored(index, name) == before[name] for name in texts}) == 1, "all rotated or none"
        assert index.rotate().rotated == list(texts)
        assert {name: [h.document.name for h in index.search(t)] for name, t in texts.items()} == {
            name: [name] for name in texts
        }
        assert index.verify() == []


@pytest.mark.slow
def test_an_add_on_the_command_line_that_is_cut_off_is_simply_run_again(tmp_path: Path) -> None:
    where, papers = tmp_path / "archive.index", tmp_path / "papers"
    papers.mkdir()
    for n in range(4500):
        (papers / f"d{n}").write_text(text(30, n))
    Index.create(where).close()
    command = [sys.executable, "-m", "chaffinch", "index", "add", "--json", str(where), str(papers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        with Index.open(where) as index:
            while not len(index):  # until the first batch is there
                assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    with Index.open(where) as index:
        first = len(index)
    assert first
    told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert (len(told["already"]), len(told["added"]), told["skipped"]) == (first, 4500 - first, [])
    with Index.open(where) as index:
        assert sorted(stored.name for stored in index) == sorted(str(p) for p in papers.iterdir())
        assert index.verify() == []
