"""One process writes and any number read: nobody waits, and everybody sees one complete state."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chaffinch import Document, Recipe
from chaffinch.errors import IndexTrouble
from chaffinch.index.folder import paths
from chaffinch.index.index import Index
from tests import crashing
from tests.crashing import running, said
from tests.indexed import document, text

PASSAGE = text(60, "passage")
VERSIONS = [f"{text(30, 'first')} {PASSAGE}", f"{PASSAGE} {text(30, 'second')}"]


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """An index with three documents, each in a segment of its own."""
    folder = tmp_path / "archive.index"
    with Index.create(folder, Recipe("text", k=10, w=11)) as index:
        for n in range(3):
            index.add(document(f"d{n}", said(n)))
    return folder


def names(index: Index, number: int) -> list[str]:
    return [hit.document.name for hit in index.search(said(number))]


def done(where: Path, what: str, arguments: object) -> None:
    """Call a method of the index in another process, and wait for it."""
    with running(crashing.do, where, what, arguments) as process:
        assert process.rest() == ["begun", "done"]


def test_a_second_writer_is_refused_and_can_search(where: Path) -> None:
    with running(crashing.grow, where, 10, 1, True) as process, Index.open(where) as index:
        assert process.told() == 10
        for change in (
            lambda: index.add(document("more", said(4))),
            lambda: index.remove("d0"),
            index.merge,
        ):
            with pytest.raises(IndexTrouble, match=f"{where}: somebody else is writing.*try again"):
                change()
        assert names(index, 0) == ["d0"]
        assert names(index, 10) == ["d10"]
        process.kill()
        index.add(document("more", said(4)))
        assert names(index, 4) == ["more"]


def test_a_second_index_in_the_same_process_is_refused_too(where: Path) -> None:
    with Index.open(where) as one, Index.open(where) as other:
        one.add(document("more", said(4)))
        with pytest.raises(IndexTrouble, match="somebody else is writing"):
            other.add(document("more", said(4)))
        assert names(other, 4) == ["more"]


def test_what_is_looked_at_before_it_is_written_is_not_written_by_another_meanwhile(where: Path) -> None:
    refused = []

    def coming() -> Iterator[Document]:
        yield document("more", said(4))
        with Index.open(where) as other, pytest.raises(IndexTrouble, match="somebody else") as caught:
            other.add(document("more", said(4)))
        refused.append(caught.value)

    with Index.open(where) as index:
        index.add(coming())
        assert names(index, 4) == ["more"]
        assert len(index) == 4
    assert refused


def test_threads_that_add_the_same_add_it_once(where: Path) -> None:
    with Index.open(where) as index, ThreadPoolExecutor(4) as threads:
        made = [[document(f"new{n}", said(n + 100)) for n in range(20)]] * 4
        reports = list(threads.map(index.add, made))
        assert sorted(len(report.added) for report in reports) == [0, 0, 0, 20]
        assert len(index) == 23
        assert index.verify() == []


@pytest.mark.slow
def test_one_who_reads_sees_one_version_of_a_document_that_is_replaced(where: Path) -> None:
    with Index.open(where) as index:
        index.add(document("d", VERSIONS[1]))
    rounds, finished = 60, threading.Event()
    both = f"{VERSIONS[0]} {VERSIONS[1]}"

    def read(index: Index) -> int:
        count = 0
        while not finished.is_set() or not count:
            (hit,) = index.search(both)
            assert hit.document.name == "d"
            ends = [hit.matches[0].right.start, max(match.right.end for match in hit.matches)]
            assert ends in ([0, len(VERSIONS[0])], [0, len(VERSIONS[1])])
            assert hit.containment.document == 1, "the text is that of the postings"
            assert sum(stored.name == "d" for stored in index) == 1
            assert index.search(said(0))[0].document.name == "d0"
            assert index.info().damaged == ()
            count += 1
        return count

    with running(crashing.swap, where, VERSIONS, rounds) as process, Index.open(where) as index:
        assert process.told() == "begun"
        with ThreadPoolExecutor(2) as threads:
            try:
                readers = [threads.submit(read, index) for _ in range(2)]
                for _ in range(3):
                    assert index.verify() == []
                assert process.rest() == ["done"]
            finally:
                finished.set()
            assert all(reader.result() for reader in readers)
    with Index.open(where) as index:
        assert index.verify() == []


def test_a_state_that_is_looked_at_stays_while_another_process_merges_it_away(where: Path) -> None:
    with Index.open(where) as index:
        with index.store.snapshot():
            assert names(index, 1) == ["d1"]
            done(where, "remove", ["d1"])
            done(where, "merge", None)
            assert not paths.segment_path(where, 2).exists()
            assert [names(index, n) for n in range(3)] == [["d0"], ["d1"], ["d2"]]
            assert len(index) == 3
            assert index.verify() == []
            assert [stored.name for stored in index] == ["d0", "d1", "d2"]
        assert [names(index, n) for n in range(3)] == [["d0"], [], ["d2"]]
        assert len(index) == 2


def test_documents_that_are_gone_through_are_those_of_one_state(where: Path) -> None:
    with Index.open(where) as index:
        documents = iter(index)
        first = next(documents).name
        done(where, "replace", [document(f"d{n}", said(n + 100)) for n in range(3)])
        done(where, "merge", None)
        assert names(index, 100) == ["d0"], "others are not kept from looking at what is new"
        assert [first, *(stored.name for stored in documents)] == ["d0", "d1", "d2"]


def test_postings_that_are_gone_through_are_those_of_one_state(where: Path) -> None:
    with Index.open(where) as index:
        store = index.store
        numbers = list(store.numbers_by_name(["d0", "d1", "d2"]).values())
        before = [(n, h.tolist(), p.tolist()) for n, h, p in store.postings_of(numbers)]
        going = store.postings_of(numbers)
        first = next(going)
        done(where, "merge", None)
        after = [(n, h.tolist(), p.tolist()) for n, h, p in (first, *going)]
        assert after == before


def test_a_merge_is_done_though_somebody_reads_an_old_state(where: Path) -> None:
    with Index.open(where) as reader, reader.store.snapshot(), Index.open(where) as writer:
        assert len(reader) == 3
        told: list[str] = []
        writer.remove("d0")
        writer.merge(told.append)
        assert told[-1] == "Compacting the catalogue ..."
        assert writer.info().segments == 1
        assert len(writer) == 2
        assert len(reader) == 3
    with Index.open(where) as index:
        assert len(index) == 2
        assert index.verify() == []


def test_a_closed_index_is_all_in_its_catalogue(where: Path) -> None:
    with Index.open(where) as index:
        index.add(document("more", said(4)))
    assert not list(where.glob(f"{paths.CATALOGUE}-*"))


def test_making_an_index_where_one_is_being_made_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "archive.index"
    folder.mkdir()
    lock = paths.WriterLock(folder)
    with pytest.raises(IndexTrouble, match="somebody else is writing"):
        Index.create(folder)
    lock.release()
    Index.create(folder).close()
