"""Documents that repeat themselves have few matches, and every shared run of t symbols lies in one."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chaffinch
from chaffinch import Document, Recipe, Report, reference
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source
from chaffinch.native.pairs import Corpus, MatchTable, find_matches
from chaffinch.recipe import recipe_for
from chaffinch.report.case_file import case_file
from tests import repetitive
from tests.indexed import Make

FREE = 64
"""Matches that any pair may have."""
K = 3


def compared(name: str, submissions: int = 3) -> Report:
    documents = [Document(f"{n}_{name}", repetitive.KINDS[name](n).encode()) for n in range(submissions)]
    return chaffinch.compare(documents, threshold=0, top=None)


def table_of(left: list[int], right: list[int], w: int, threads: int = 1) -> MatchTable:
    streams = [np.array(symbols, np.uint32) for symbols in (left, right)]
    prints = [core.fingerprint([Source.canonical(stream)], Recipe("bytes", k=K, w=w))[0] for stream in streams]
    pairs = np.array([[0, 1]] * 3, np.uint32)
    return find_matches(Corpus(streams, prints), pairs, K, 2, K + w - 1, threads)


def runs_by_match(table: MatchTable) -> list[list[tuple[int, int, int]]]:
    runs = list(zip(table.left.tolist(), table.right.tolist(), table.lengths.tolist(), strict=True))
    last = int(table.pairs[1, 0])
    return [runs[a:b] for a, b in pairwise(table.matches[: last + 1, 0].tolist())]


pieces = st.lists(st.sampled_from([[1], [2], [1, 2], [1, 1, 2], [2, 2, 1, 3], [3]]), min_size=40, max_size=120)
repetitive_streams = pieces.map(lambda some: [symbol for piece in some for symbol in piece])


@settings(max_examples=60)
@given(repetitive_streams, repetitive_streams, st.integers(2, 5))
def test_every_shared_run_of_t_symbols_lies_in_a_match_on_each_side(
    left: list[int], right: list[int], w: int
) -> None:
    t = K + w - 1
    matches = runs_by_match(table_of(left, right, w))
    assert len(matches) <= max(FREE, min(len(left), len(right)) // t)
    assert all(left[i : i + n] == right[j : j + n] for match in matches for i, j, n in match)
    for side, (mine, other) in enumerate(((left, right), (right, left))):
        theirs = {tuple(other[j : j + t]) for j in range(len(other) - t + 1)}
        spans = [(min(r[side] for r in m), max(r[side] + r[2] for r in m)) for m in matches]
        in_runs = {r[side] + i for m in matches for r in m for i in range(r[2])}
        for i in range(len(mine) - t + 1):
            if tuple(mine[i : i + t]) in theirs:
                assert any(start <= i and i + t <= end for start, end in spans)
                assert in_runs.issuperset(range(i, i + t))


@settings(max_examples=20)
@given(repetitive_streams, repetitive_streams)
def test_the_longest_run_is_kept(left: list[int], right: list[int]) -> None:
    table = table_of(left, right, 2)
    longest = max((n for *_, n in reference.runs(left, right, K + 1)), default=0)
    assert longest <= K or int(table.lengths.max()) == longest


@settings(max_examples=10)
@given(repetitive_streams, repetitive_streams)
def test_repetition_gives_the_same_with_any_number_of_threads(left: list[int], right: list[int]) -> None:
    one, two = (table_of(left, right, 3, threads) for threads in (1, 2))
    assert [column.tolist() for column in one] == [column.tolist() for column in two]


@pytest.mark.parametrize("name", repetitive.KINDS)
def test_a_pair_has_few_matches_and_few_runs(name: str) -> None:
    report = compared(name)
    assert len(report.pairs) == 3
    for pair in report.pairs:
        sizes = [len(report.streams[who, f"{who}.{name.partition('.')[2]}"]) for who in (pair.left, pair.right)]
        t = recipe_for(report.submissions[0].documents[0].language or "text").guarantee or 1
        assert len(pair.places) <= max(FREE, min(sizes) // t)
        assert sum(len(match.runs) for match in pair.places) <= max(FREE, 3 * sum(sizes) // t)


def test_programs_of_five_shapes_are_one_block(tmp_path: Path) -> None:
    report = compared("five_shapes.c", 8)
    assert len(report.pairs) == 28
    for pair in report.pairs:
        assert len(pair.matches) <= 3
        assert pair.coverage.left > 0.95
        assert pair.matches[0].symbols <= pair.symbols
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 300_000
    case_file(report, report.pairs[0], tmp_path / "case.html")
    assert (tmp_path / "case.html").stat().st_size < 1_000_000


def test_a_copy_among_repetitive_programs_is_still_first() -> None:
    texts = {f"s{n:02}.c": repetitive.program(n) for n in range(20)}
    lines = texts["s03.c"].splitlines()
    texts["copy.c"] = "\n".join(line for n, line in enumerate(lines) if n % 20).replace("a", "qq")
    report = chaffinch.compare([Document(name, text.encode()) for name, text in texts.items()])
    assert {report.pairs[0].left, report.pairs[0].right} == {"s03", "copy"}
    assert report.pairs[0].score > 0.9 > max(pair.score for pair in report.pairs[1:])


def test_a_block_never_goes_on_in_another_file(tmp_path: Path) -> None:
    for n in range(2):
        (tmp_path / f"s{n}").mkdir()
        for part in range(3):
            (tmp_path / f"s{n}" / f"{part}.c").write_text(repetitive.program(10 * n + part, 2000))
    report = chaffinch.compare([tmp_path], threshold=0)
    (pair,) = report.pairs
    t = recipe_for("c").guarantee or 0
    streams = {name: stream for (_, name), stream in report.streams.items()}
    assert 0 < len(pair.matches) < 100
    for side in ("left", "right"):
        spans = [getattr(match, side) for match in pair.matches]
        mine = {s.document for s in spans}
        theirs = {
            tuple(symbols[i : i + t])
            for name, stream in streams.items()
            if name not in mine
            for symbols in [stream.symbols.tolist()]
            for i in range(len(symbols) - t + 1)
        }
        for name in mine:
            stream = streams[name]
            here = [(s.start, s.end) for s in spans if s.document == name]
            for i in range(len(stream) - t + 1):
                if tuple(stream.symbols[i : i + t].tolist()) in theirs:
                    start, end = int(stream.starts[i]), int(stream.ends[i + t - 1])
                    assert any(a <= start and end <= b for a, b in here)


def test_what_repeats_itself_in_base_code_is_bounded_too() -> None:
    base = Document("base.c", repetitive.numbers(1, 2000).encode())
    documents = [
        Document(f"{n}.c", (repetitive.numbers(1, 2000) + repetitive.program(n)).encode()) for n in range(4)
    ]
    report = chaffinch.compare(documents, base=[base], threshold=0, top=None)
    assert len(report.pairs) == 6
    assert max(len(pair.matches) for pair in report.pairs) <= 2 * FREE


@pytest.mark.parametrize("recipe", ["code", "koala"])
@pytest.mark.parametrize("name", ["five_shapes.c", "numbers.c", "tables.c"])
def test_a_search_has_few_matches_too(make: Make, recipe: str, name: str) -> None:
    index = make(recipe)
    stored, query = (Document(f"{n}_{name}", repetitive.KINDS[name](n).encode()) for n in (1, 2))
    index.add(stored)
    for hit in index.search(query):
        assert len(hit.matches) <= 2 * FREE
        for match in hit.matches:
            for side, whole in enumerate((match.left, match.right)):
                assert whole.start == min(run[side].start for run in match.runs)
                assert whole.end == max(run[side].end for run in match.runs)
