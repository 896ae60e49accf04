"""What is left of a program's tokens after lines were deleted from it.

Each line goes with a probability of 5 %. Two figures, both of 10-grams of tokens and counted with their
multiplicity, summed over files:

- kept: of the grams that lie on lines none of which was deleted, those that are still found. A gram from which
  a line is missing cannot be found by any lexer and does not count. What counts against the lexer is all that
  a string or a comment does beyond its own lines once its other end is gone.
- plain: of all the grams of the whole file, those that are still found. Grams across deleted lines count as
  lost, so no lexer reaches 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

import chaffinch
from bench.table import Row
from chaffinch import File, Recipe

K = 10
PART = 0.05
KEPT = 0.90
SAMPLE = 2_000_000  # bytes

Numbers = NDArray[np.uint64]


def rows(language: str, files: Sequence[bytes]) -> list[Row]:
    def stream(data: bytes) -> tuple[Numbers, Numbers, Numbers]:
        found = chaffinch.stream(File(f"program in {language}", data, "latin-1"), Recipe(language))
        return found.symbols.astype(np.uint64), found.starts.astype(np.uint64), found.ends.astype(np.uint64)

    kept = Kept()
    for data, lines in damaged(files):
        kept.add(*stream(data), stream(b"".join(remaining(data, lines)))[0], deleted(data, lines))
    what = f"{K}-grams kept when 5 % of the lines are deleted, {language}"
    return [Row(what, kept.share, least=KEPT), Row(f"{what}, of all grams", kept.plain)]


def damaged(files: Sequence[bytes]) -> Iterator[tuple[bytes, set[int]]]:
    """Files, and the numbers of the lines to delete."""
    rng = random.Random(0)
    size = 0
    for data in files:
        lines = data.splitlines(keepends=True)
        yield data, {i for i in range(len(lines)) if rng.random() < PART}
        size += len(data)
        if size >= SAMPLE:
            return


def remaining(data: bytes, lines: set[int]) -> list[bytes]:
    return [line for i, line in enumerate(data.splitlines(keepends=True)) if i not in lines]


def deleted(data: bytes, lines: set[int]) -> Numbers:
    """For every byte and the end, how many deleted bytes are before it."""
    marks = np.zeros(len(data) + 1, np.uint64)
    at = 0
    for i, line in enumerate(data.splitlines(keepends=True)):
        if i in lines:
            marks[at + 1 : at + 1 + len(line)] = 1
        at += len(line)
    return marks.cumsum(dtype=np.uint64)


class Kept:
    """Adds up the files."""

    def __init__(self) -> None:
        self._whole = self._possible = self._found = self._plain = 0

    @property
    def share(self) -> float:
        return self._found / max(1, self._possible)

    @property
    def plain(self) -> float:
        return self._plain / max(1, self._whole)

    def add(self, kinds: Numbers, starts: Numbers, ends: Numbers, after: Numbers, gone: Numbers) -> None:
        """A file's tokens, those of what is left of it, and where bytes were deleted."""
        if len(kinds) < K:
            return
        grams, left = _grams(kinds), _grams(after)
        untouched = gone[starts[: 1 - K].astype(np.intp)] == gone[ends[K - 1 :].astype(np.intp)]
        self._whole += len(grams)
        self._possible += int(untouched.sum())
        self._plain += _common(grams, left)
        self._found += _common(grams[untouched], left)


def _grams(kinds: Numbers) -> Numbers:
    """A hash of each."""
    if len(kinds) < K:
        return np.empty(0, np.uint64)
    hashes = np.zeros(len(kinds) - K + 1, np.uint64)
    for i in range(K):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + kinds[i : len(kinds) - K + 1 + i] + np.uint64(1)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _common(one: Numbers, two: Numbers) -> int:
    """The size of the intersection, with multiplicity."""
    (values, counts), (others, more) = (np.unique(grams, return_counts=True) for grams in (one, two))
    _, i, j = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return int(np.minimum(counts[i], more[j]).sum())
