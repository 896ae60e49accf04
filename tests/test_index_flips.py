"""Whatever byte of an index is damaged, no answer is wrong, nothing hangs, and every error is clear."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from chaffinch.errors import IndexTrouble
from chaffinch.index.folder import last_commit, paths
from chaffinch.index.index import Index
from tests import crashing
from tests.crashing import names, running, said, three_segments
from tests.damaging import Damaging, cuts, flip, flips, zeroed_blocks
from tests.indexed import document

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs alarms and kills")

FEW, MANY = 997, 211
"""One byte of this many is flipped here, and every byte by `python tools/fuzz_index.py --all`."""
LOG = f"{paths.CATALOGUE}-wal"


@pytest.fixture(scope="module", params=["text", "koala"])
def damaging(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Damaging:
    return Damaging(tmp_path_factory.mktemp("damaging"), request.param)


def test_a_flipped_byte_gives_no_wrong_answer(damaging: Damaging) -> None:
    assert [problem for damage in flips(damaging, FEW) for problem in damaging.problems(damage)] == []


@pytest.mark.slow
def test_more_flipped_bytes_give_no_wrong_answer(damaging: Damaging) -> None:
    assert [problem for damage in flips(damaging, MANY, 7) for problem in damaging.problems(damage)] == []


@pytest.mark.slow
def test_files_cut_short_or_with_blocks_of_zeros_give_no_wrong_answer(damaging: Damaging) -> None:
    ways = [*cuts(damaging, 5), *zeroed_blocks(damaging, 512), *zeroed_blocks(damaging, 4096)]
    assert [problem for damage in ways for problem in damaging.problems(damage)] == []


def spoil(where: Path, statement: str) -> None:
    with closing(sqlite3.connect(where / paths.CATALOGUE)) as connection, connection:
        assert connection.execute(statement).rowcount == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET name = 'd2' WHERE id = 1",
        "UPDATE documents SET postings = postings + 1 WHERE id = 1",
        "UPDATE documents SET id = -1 WHERE id = 1",
        "UPDATE documents SET id = 70000 WHERE id = 1",
        "DELETE FROM documents WHERE id = 1",
        "DELETE FROM contents WHERE document = 1",
        "UPDATE contents SET at = 0 WHERE document = 1",
        "UPDATE keys SET entries = x'' WHERE bucket = 0",
        "DELETE FROM keys WHERE bucket = 0",
        "DELETE FROM removed",
        "DELETE FROM boilerplate",
        "DELETE FROM segments WHERE first = 1",
        "UPDATE segments SET last = last + 1 WHERE first = 1",
        "UPDATE meta SET value = 1 WHERE key = 'documents'",
        "UPDATE meta SET value = '{}' WHERE key = 'settings'",
        "DELETE FROM meta WHERE key = 'next'",
        "DELETE FROM meta WHERE key = 'version'",
    ],
)
def test_a_row_that_is_wrong_or_gone_is_noticed(tmp_path: Path, statement: str) -> None:
    where = three_segments(tmp_path / "archive.index")
    with Index.open(where) as index:
        index.add(document("boilerplate", said(3)), boilerplate=True)
        index.add([document("gone", said(4)), document("there", said(5))])
        index.remove("gone")
    spoil(where, statement)
    uses: list[Callable[[Index], object]] = [
        list,
        lambda i: i.search(said(1)),
        lambda i: i.content("d1"),
        lambda i: i.info(),
        lambda i: i.add(document("more", said(9))),
    ]
    refusals = [refusal(where, use) for use in uses]
    assert any(refusals)
    assert all(told.startswith(f"{where}: ") and "restore a copy of it" in told for told in refusals if told)
    problems: list[str] = []
    assert refusal(where, lambda index: problems.extend(index.verify())) or problems


def refusal(where: Path, use: Callable[[Index], object]) -> str:
    """Return what an index says that cannot be used, or nothing if it can."""
    try:
        with Index.open(where) as index:
            use(index)
    except IndexTrouble as error:
        return str(error)
    return ""


def crashed(tmp_path: Path) -> tuple[Path, int]:
    """Return an index whose writer was killed, and the number of documents that it had acknowledged."""
    where = tmp_path / "crashed.index"
    Index.create(where).close()
    with running(crashing.grow, where, 0, 1, False) as process:
        while process.told() < 9:
            pass
        rest = process.kill()
    assert (where / LOG).stat().st_size
    return where, max([9, *rest]) + 1


def test_a_log_that_was_deleted_is_missed(tmp_path: Path) -> None:
    where, count = crashed(tmp_path)
    (where / LOG).unlink()
    with pytest.raises(IndexTrouble, match=f"{where}: its last changes are lost, because {LOG} is damaged"):
        Index.open(where)
    (where / last_commit.FILE).unlink()
    with Index.open(where) as index:
        assert len(index) < count
        index.add(document("more", said(900)))
        assert names(index, 900) == ["more"]


def test_a_log_that_is_damaged_loses_nothing_in_silence(tmp_path: Path) -> None:
    where, count = crashed(tmp_path)
    whole, copy = (where / LOG).read_bytes(), tmp_path / "copy.index"
    lost = 0
    for offset in range(0, len(whole), len(whole) // 40):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(where, copy)
        (copy / LOG).write_bytes(flip(Path(LOG), whole, offset, 0).data)
        found: list[list[str]] = []
        told = refusal(copy, lambda index: found.extend(names(index, n) for n in range(count)))  # noqa: B023
        assert told.startswith(f"{copy}: ") or found == [[f"d{n}"] for n in range(count)]
        lost += bool(told)
    assert lost


def test_a_damaged_note_of_the_last_commit_does_no_harm(tmp_path: Path) -> None:
    where = three_segments(tmp_path / "archive.index")
    whole = (where / last_commit.FILE).read_bytes()
    for damaged in (
        b"",
        b"\xff" * 40,
        whole[:-5],
        *(flip(Path(), whole, n, 0).data for n in range(len(whole))),
    ):
        (where / last_commit.FILE).write_bytes(damaged)
        with Index.open(where) as index:
            assert len(index) == 3
