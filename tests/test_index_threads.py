"""One Index for many threads: searches run at once, beside a writer, and give the answers of one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from chaffinch import Recipe
from chaffinch.errors import IndexTrouble
from chaffinch.index.answers import to_json
from chaffinch.index.index import Index
from chaffinch.native.turns import side_by_side, taking_turns
from tests.indexed import Make, document, text
from tests.postgres_helpers import connections, end_connections

THREADS = 4
PATIENCE = 60
RECIPE = Recipe("text", k=10, w=11)
COMMON = text(20, "common")
VERSIONS = [f"{text(30, 'first')} {COMMON}", f"{COMMON} {text(30, 'second')}"]


def filled(make: Make, *arguments: object) -> Index:
    index = make(*arguments or (RECIPE,))
    index.add([document(f"d{n}", text(150, n), COMMON) for n in range(12)])
    return index


def at_once(work: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """Return the results of threads that start together."""
    start = threading.Barrier(threads)

    def run(number: int) -> Any:
        start.wait(PATIENCE)
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def answer(index: Index, query: str) -> dict[str, Any]:
    return to_json([index.search(query)], [])


def test_threads_read_at_once(make: Make) -> None:
    index, inside = filled(make), threading.Barrier(THREADS)

    def read(number: int) -> int:
        with index.store.snapshot():
            inside.wait(PATIENCE)  # breaks unless all threads are in a snapshot
            return len(index.search(text(150, number), top=1))

    assert at_once(read) == [1] * THREADS


@pytest.mark.parametrize("recipe", ["text", "koala"])
def test_threads_get_the_answers_of_one_thread(make: Make, recipe: str) -> None:
    index = filled(make, recipe)
    queries = [f"{text(150, n)} {COMMON} {text(150, n + 1)}" for n in range(12)]
    alone = [answer(index, query) for query in queries]
    assert all(found["hits"] for found in alone)

    def search(number: int) -> list[dict[str, Any]]:
        order = [*queries[number:], *queries[:number]]
        found = dict(zip(order, (answer(index, query) for query in order), strict=True))
        return [found[query] for query in queries]

    for _ in range(5):
        assert at_once(search) == [alone] * THREADS


def test_a_search_beside_a_writer_sees_the_state_before_or_after_a_change(make: Make) -> None:
    index, finished = filled(make), threading.Event()
    index.add(document("d", VERSIONS[0]))
    both = f"{VERSIONS[0]} {VERSIONS[1]}"

    def write() -> None:
        try:
            for n in range(15):
                index.replace(document("d", VERSIONS[(n + 1) % 2]))
                index.add(document("more", text(50, "more")))
                index.merge()
                index.remove("more")
        finally:
            finished.set()

    def read(number: int) -> int:
        count = 0
        while not finished.is_set() or not count:
            hits = [hit for hit in index.search(both) if hit.document.name == "d"]
            assert [hit.containment.document for hit in hits] == [1], "the text is that of the postings"
            ends = [hits[0].matches[0].right.start, max(match.right.end for match in hits[0].matches)]
            assert ends in ([0, len(version)] for version in VERSIONS)
            stored = index.content("d")
            assert stored is not None
            assert stored.data.decode() in VERSIONS
            assert index.search(text(150, number))[0].document.name == f"d{number}"
            assert sum(record.name == "d" for record in index) == 1
            assert len(index) == index.info().documents or not finished.is_set()
            count += 1
        return count

    with ThreadPoolExecutor(1) as writer:
        writing: Future[None] = writer.submit(write)
        assert all(at_once(read))
        writing.result()
    assert index.verify() == []


def test_a_rotation_goes_on_beside_searches(make: Make) -> None:
    index, finished = make("koala"), threading.Event()
    index.add([document(f"d{n}", text(400, n)) for n in range(6)])

    def rotate() -> None:
        try:
            for _ in range(5):
                assert len(index.rotate().rotated) == 6
        finally:
            finished.set()

    def read(number: int) -> int:
        count = 0
        while not finished.is_set() or not count:
            assert index.search(text(400, number))[0].document.name == f"d{number}"
            count += 1
        return count

    with ThreadPoolExecutor(1) as writer:
        rotating = writer.submit(rotate)
        assert all(at_once(read))
        rotating.result()
    assert index.verify() == []


def test_threads_count_every_search_that_could_teach_something(make: Make) -> None:
    index = make("koala")
    index.add([document(f"d{n}", text(400, n)) for n in range(2)])
    pieces = [f"{text(400, n % 2)[40 * n : 40 * n + 900]} {text(200, ('other', n))}" for n in range(24)]
    for piece in pieces:
        index.search(piece)
    alone = sorted(index.store.probed())
    assert alone
    index.store.forget_touches(["d0", "d1"])
    assert index.store.probed() == []
    at_once(lambda number: [index.search(piece) for piece in pieces[number::THREADS]])
    assert sorted(index.store.probed()) == alone


def test_a_thread_goes_on_if_another_keeps_its_turn() -> None:
    done = threading.Event()

    def take(number: int) -> bool:
        with taking_turns():
            if number:
                done.set()
            return done.wait(PATIENCE)  # the first keeps its turn until the second has had one

    assert at_once(take, 2) == [True, True]


def test_threads_are_side_by_side_outside_python() -> None:
    outside, inside = threading.Barrier(THREADS), []

    def work(number: int) -> None:
        with taking_turns(), taking_turns():
            with side_by_side():
                outside.wait(PATIENCE)
            inside.append(number)
        with side_by_side():
            outside.wait(PATIENCE)

    at_once(work)
    assert sorted(inside) == [*range(THREADS)]


def test_closing_beside_searches_and_writers_gives_a_message(make: Make) -> None:
    for round_ in range(5):
        index, begun = filled(make) if not round_ else make(), threading.Semaphore(0)

        def work(number: int, index: Index = index, begun: threading.Semaphore = begun) -> str:
            try:
                for n in range(10_000):
                    if number:
                        assert index.search(text(150, number))[0].document.name == f"d{number}"
                    else:
                        index.replace(document("other", text(20, n)))
                    begun.release()
            except IndexTrouble as error:
                return str(error)
            return "it was not closed"

        with ThreadPoolExecutor(THREADS) as pool:
            working = [pool.submit(work, number) for number in range(THREADS)]
            for _ in range(2 * THREADS):
                begun.acquire(timeout=PATIENCE)
            index.close()
            assert {done.result() for done in working} == {f"{index.store.where}: is closed; open it again"}
        with pytest.raises(IndexTrouble, match="is closed"):
            index.search(text(150, 1))
        with pytest.raises(IndexTrouble, match="is closed"):
            index.add(document("late", text(50, 1)))
    assert make().verify() == []


def test_what_is_going_through_documents_survives_closing(make: Make) -> None:
    index = filled(make)
    records = iter(index)
    assert next(records).name == "d0"
    index.close()
    rest: list[str] = []
    try:
        rest += [record.name for record in records]
    except IndexTrouble as error:
        assert "is closed" in str(error)  # noqa: PT017 - a store may also go on from what it has
    assert rest in ([], [f"d{n}" for n in range(1, 12)])


def test_many_threads_share_a_few_connections(address: str) -> None:
    with Index.create(address, RECIPE) as index:
        index.add([document(f"d{n}", text(80, n)) for n in range(4)])
        counts: list[int] = []

        def search(number: int) -> str:
            name = index.search(text(80, number % 4))[0].document.name
            counts.append(len(connections(address)))
            return name

        assert at_once(search, 24) == [f"d{n % 4}" for n in range(24)]
        assert max(counts) <= 9, "eight read, one writes"


def test_connections_come_back_after_the_server_ended_them(address: str) -> None:
    with Index.create(address, RECIPE) as index:
        index.add([document(f"d{n}", text(80, n)) for n in range(4)])
        for _ in range(3):
            names = at_once(lambda number: index.search(text(80, number))[0].document.name)
            assert names == ["d0", "d1", "d2", "d3"]
            end_connections(address)
