"""Measure an index of 100 million postings, and one of a million documents with Koala's recipe.

Most postings are random numbers, as hashes are. Among them are real documents, which the searches look for.
`python -m bench.index reader INDEX QUERIES` prints the memory of a process that searches.
"""

from __future__ import annotations

import json
import pickle
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from bench.memory import MIB, status
from bench.table import Row
from bench.texts import Texts
from chaffinch import File, fingerprint
from chaffinch.index.contents import pack
from chaffinch.index.folder.catalogue import Catalogue
from chaffinch.index.folder.folder_store import FolderStore
from chaffinch.index.folder.paths import CATALOGUE, SEGMENTS
from chaffinch.index.index import Index
from chaffinch.index.records import Batch, DocumentRecord, Metadata
from chaffinch.native.fingerprint import threads_used
from chaffinch.native.segment import Postings
from chaffinch.read.ready import text_document
from tests.postgres_server import running
from tools.programs import find_postgres

MILLION = 1_000_000
SIZES = (MILLION, 10 * MILLION, 100 * MILLION)
_DOCUMENTS, _EACH = 1000, 400
_AT_ONCE = 10_000
"""Documents in one batch for PostgreSQL, which takes longer with smaller batches."""
_SEARCHES = 300
_KOALA = MILLION
_DAY = date(1996, 3, 1)
_CHANCES = 10_000


def rows(samples: Texts, folder: Path) -> Iterator[Row]:
    indexed = list(documents(samples.english, 20_000, 10_000))
    yield from adding(indexed, folder)
    yield from growing(samples.english, indexed[:1000], folder)
    yield from koala(indexed[:1000], folder)


def documents(english: bytes, count: int, size: int, seed: int = 1) -> Iterator[File]:
    """Yield `count` documents of about `size` bytes: words drawn from the text, in random order."""
    words = english.split()
    rng = np.random.default_rng(seed)
    each = size * len(words) // sum(len(word) + 1 for word in words)
    for number in range(count):
        words_drawn = b" ".join([words[i] for i in rng.integers(0, len(words), each).tolist()])
        yield File(f"d{seed}-{number}", words_drawn, None, "plain", "text")


def queries(indexed: list[File]) -> list[File]:
    """Return documents of 10 KB, part new, part from one or two indexed documents."""
    rng = random.Random(2)
    drawn = []
    for number in range(_SEARCHES):
        one, other = rng.sample(indexed, 2)
        half, quarter = len(one.data) // 2, len(other.data) // 4
        own = " ".join(f"{rng.getrandbits(36):x}" for _ in range(quarter // 10)).encode()
        drawn.append(File(f"q{number}", one.data[:half] + own + other.data[:quarter], None, "plain", "text"))
    return drawn


def adding(indexed: list[File], folder: Path) -> Iterator[Row]:
    """Measure bytes to committed postings in a new index, the median of three runs."""
    size = sum(len(d.data) for d in indexed) / 1e6
    for content, least in (("text", 150.0), ("none", None)):
        where = folder / f"adding-{content}"
        took = []
        for _ in range(3):
            with Index.create(where, content=content) as index:
                start = perf_counter()
                index.add(indexed)
                took.append(perf_counter() - start)
            shutil.rmtree(where)
        contents = "with their texts" if content == "text" else "fingerprints alone"
        yield Row(f"adding {size:,.0f} MB of documents, {contents}", size / median(took), "MB/s", least=least)
    start = perf_counter()
    pack([text_document(file, "plain") for file in indexed], threads_used(None))
    yield Row("zstd alone, the same documents on as many threads", size / (perf_counter() - start), "MB/s")


def batch(count: int, each: int, number: int, metadata: Callable[[int], Metadata] | None = None) -> Batch:
    """Return documents with random hashes."""
    rng = np.random.default_rng(number)
    postings = Postings(
        rng.integers(0, 2**64, count * each, np.uint64),
        np.repeat(np.arange(count, dtype=np.uint32), each),
        rng.integers(0, 16_384, count * each, np.uint32)
        if metadata is None
        else np.zeros(count * each, np.uint32),
    )
    first = number * count
    records = [
        DocumentRecord(
            f"paper-{first + i}.txt",
            rng.bytes(10),
            16_384,
            13_000,
            each,
            metadata(first + i) if metadata else Metadata(),
            registered=_DAY,
            chosen=_DAY,
            stream=rng.bytes(8),
        )
        for i in range(count)
    ]
    return Batch(records, postings, [None] * count, [])


def growing(english: bytes, indexed: list[File], folder: Path) -> Iterator[Row]:
    """Measure the same index at each size."""
    asked = queries(indexed)
    where = folder / "growing"
    rates, medians = [], []
    read = [*indexed]
    at, spent = 0, 0.0
    with Index.create(where) as index:
        assert isinstance(index.store, FolderStore)
        index.add(indexed)
        for size in SIZES:
            while at < size:
                fresh = batch(_DOCUMENTS, _EACH, at // (_DOCUMENTS * _EACH))
                begun = perf_counter()
                index.store.add(fresh)
                spent += perf_counter() - begun
                at += len(fresh.postings.hashes)
            begun = perf_counter()
            index.store.writer.wait()
            spent += perf_counter() - begun
            more = list(documents(english, 4000, 10_000, size))
            begun = perf_counter()
            index.add(more)
            rates.append(sum(len(d.data) for d in more) / 1e6 / (perf_counter() - begun))
            read += more
            yield Row(f"adding documents to {size:,} postings", rates[-1], "MB/s")
            times = _searched(index, asked)
            medians.append(median(times))
            if size == SIZES[0]:
                yield from in_threads(index, asked)
            yield Row(f"searching {size:,} postings, median", medians[-1] * 1e3, "ms", most=5)
        yield Row(f"searching {at:,} postings, 99 of 100", quantiles(times, n=100)[98] * 1e3, "ms", most=20)
        yield Row("postings a second, segments alone, with merges", at / spent / MILLION, "M/s", least=5)
        yield Row("fastest adding / slowest, as it grows", max(rates) / min(rates), "×", most=1.5)
        yield Row("slowest median search / fastest, as it grows", max(medians) / min(medians), "×", most=2)
        yield from waiting(index, asked)
        yield from postgres(index, read, asked)
        index.merge()
        info = index.info()
        catalogue = (where / CATALOGUE).stat().st_size
        size = catalogue + sum(path.stat().st_size for path in (where / SEGMENTS).iterdir())
        yield Row(
            "bytes per posting after the merge, with the catalogue", size / info.postings, "bytes", most=10
        )
        times = _searched(index, asked)
        yield Row("searching the merged index, median", median(times) * 1e3, "ms", most=5)
    yield reader(where, asked, folder)
    shutil.rmtree(where)


def _searched(index: Index, asked: list[File]) -> list[float]:
    """Return how long each search takes, after a first round that warms the caches."""
    for query in asked:
        index.search(query)
    times = []
    for query in asked:
        start = perf_counter()
        answer = index.search(query)
        times.append(perf_counter() - start)
        assert answer.hits[0].matches
    return times


def in_threads(index: Index, asked: list[File]) -> Iterator[Row]:
    """Measure the searches a second of several threads with one Index, of documents of 10 and 200 KB."""
    long = [
        File(f"l{n}", b" ".join(q.data for q in asked[n : n + 20]), None, "plain", "text") for n in range(40)
    ]
    for what, some in (("10", asked), ("200", long)):
        for threads in (1, 2, 4):
            with ThreadPoolExecutor(threads) as pool:
                start = perf_counter()
                answers = list(pool.map(index.search, some))
                rate = len(answers) / (perf_counter() - start)
            yield Row(f"searching for {what} KB, {threads} thread{'s' * (threads > 1)}", rate, "a second")


def waiting(index: Index, asked: list[File]) -> Iterator[Row]:
    """Measure the longest small add and search while everything is merged."""
    adds, searches = [0.0], [0.0]
    assert isinstance(index.store, FolderStore)
    writer = index.store.writer

    def merge_all() -> None:
        catalogue = Catalogue(writer.folder / CATALOGUE, write=True)
        writer._merge(catalogue, catalogue.segments(), threads=1)
        catalogue.close()

    # In the place of the writer's own merge, so that it starts no other.
    merge = writer._merger = threading.Thread(target=merge_all)
    merge.start()
    with Index.open(index.store.where) as reader:
        while merge.is_alive():
            start = perf_counter()
            reader.search(asked[len(searches) % len(asked)])
            searches.append(perf_counter() - start)
            fresh = batch(10, _EACH, 10 * MILLION + len(adds))
            start = perf_counter()
            index.store.add(fresh)
            adds.append(perf_counter() - start)
    yield Row(f"longest of {len(searches):,} searches during a merge", max(searches) * 1e3, "ms", most=200)
    yield Row(f"longest of {len(adds):,} small adds during a merge", max(adds) * 1e3, "ms", most=200)


def postgres(embedded: Index, read: list[File], asked: list[File]) -> Iterator[Row]:
    """Measure the same documents, postings and searches in PostgreSQL."""
    what = f"times as fast as PostgreSQL, {SIZES[-1]:,} postings"
    programs = find_postgres()
    if programs is None:
        yield Row(what, None, least=3, note="PostgreSQL is not installed")
        return
    with running(programs) as address, Index.create(address) as index:
        index.add(read)
        for number in range(SIZES[-1] // (_AT_ONCE * _EACH)):
            index.store.add(batch(_AT_ONCE, _EACH, number))
        index.merge()
        ours, theirs = (median(_searched(i, asked)) for i in (embedded, index))
        yield Row(f"PostgreSQL, searching {SIZES[-1]:,} postings, median", theirs * 1e3, "ms")
        yield Row(what, theirs / ours, "×", least=3)
        ours, theirs = (median(_looked_up(i, asked)) for i in (embedded, index))
        yield Row(f"{what}, look-ups alone", theirs / ours, "×", least=3)


def _looked_up(index: Index, asked: list[File]) -> list[float]:
    """Return how long it takes to find the postings of each query."""
    times = []
    for query in asked:
        hashes = np.unique(fingerprint(query, index.recipe).hashes)
        start = perf_counter()
        index.store.lookup(hashes)
        times.append(perf_counter() - start)
    return times


def reader(where: Path, asked: list[File], folder: Path) -> Row:
    """Measure the memory of a process that searches, without the files that the system caches."""
    saved = folder / "queries"
    saved.write_bytes(pickle.dumps(asked))
    command = [sys.executable, "-m", "bench.index", "reader", str(where), str(saved)]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout)
    return Row(f"memory of a reader at {SIZES[-1]:,} postings", done["anonymous"] / MIB, "MiB", most=100)


def koala(indexed: list[File], folder: Path) -> Iterator[Row]:
    """Measure a million documents with 100 of 1,000 fingerprints each, and their metadata."""
    where = folder / "koala"

    def metadata(number: int) -> Metadata:
        host = f"http://www.university-{number % 2000}.edu/~author{number % 200_000}/papers/"
        return Metadata(
            f"{host}paper-{number}.txt",
            f"author{number % 200_000}@university-{number % 2000}.edu",
            "1996-03-01",
        )

    with Index.create(where, "koala", content="none") as index:
        index.add(indexed)
        start = perf_counter()
        for number in range(_KOALA // 10_000):
            index.store.add(batch(10_000, 100, number, metadata))
        index.merge()
        yield Row(
            f"adding {_KOALA:,} documents with Koala's recipe", _KOALA / (perf_counter() - start), "a second"
        )
        yield Row(
            "Koala, bytes per document with its metadata", index.info().bytes / len(index), "bytes", most=600
        )
        times: list[float] = []
        chance_hits = 0
        for _ in range(2):
            times.clear()
            for document in indexed[:_SEARCHES]:
                start = perf_counter()
                hits = index.search(document)
                times.append(perf_counter() - start)
                assert hits[0].relation == "identical"
        yield Row(f"Koala, searching {_KOALA:,} documents, median", median(times) * 1e3, "ms", most=5)
        rng = np.random.default_rng(10**9)  # a seed that no batch has
        for _ in range(_CHANCES):
            chance_hits += len(index.store.lookup(rng.integers(0, 2**64, 1000, np.uint64)).queries)
        yield Row("Koala, chance hits in a search of 1,000", chance_hits / _CHANCES, "", most=0.01)
    shutil.rmtree(where)


def main() -> None:
    if sys.argv[1:2] == ["reader"]:
        asked = pickle.loads(Path(sys.argv[3]).read_bytes())
        with Index.open(sys.argv[2]) as index:
            for query in asked:
                index.search(query)
            print(json.dumps({"anonymous": status("RssAnon")}))
        return
    from bench import texts

    with TemporaryDirectory() as folder:
        for row in rows(texts.standard_library(), Path(folder)):
            print("  ".join(row.cells()), flush=True)


if __name__ == "__main__":
    main()
