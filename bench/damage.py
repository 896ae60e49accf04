"""Measure how many of a program's tokens a lexer still finds after lines were deleted.

Each line is deleted with a probability of 5 %. Both figures count 10-grams of tokens with multiplicity, summed
over files:

- kept: the share of the grams on undeleted lines that are still found. No lexer can find a gram that lost a
  line, so it does not count. A string or comment that lost one end and swallows other lines does.
- plain: the share of all grams of the file that are still found. Grams across deleted lines count as lost, so
  no lexer reaches 1.
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
        tokens = chaffinch.stream(File(f"program in {language}", data, "latin-1"), Recipe(language))
        return tokens.symbols.astype(np.uint64), tokens.starts.astype(np.uint64), tokens.ends.astype(np.uint64)

    survival = Survival()
    for data, lines in damaged(files):
        survival.add(*stream(data), stream(b"".join(remaining(data, lines)))[0], deleted(data, lines))
    what = f"{K}-grams kept when 5 % of the lines are deleted, {language}"
    return [Row(what, survival.share, least=KEPT), Row(f"{what}, of all grams", survival.plain)]


def damaged(files: Sequence[bytes]) -> Iterator[tuple[bytes, set[int]]]:
    """Yield files and the numbers of the lines to delete."""
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
    """Return the number of deleted bytes before every byte and before the end."""
    marks = np.zeros(len(data) + 1, np.uint64)
    offset = 0
    for i, line in enumerate(data.splitlines(keepends=True)):
        if i in lines:
            marks[offset + 1 : offset + 1 + len(line)] = 1
        offset += len(line)
    return marks.cumsum(dtype=np.uint64)


class Survival:
    """The figures, summed over files."""

    def __init__(self) -> None:
        self._whole = self._possible = self._found = self._plain = 0

    @property
    def share(self) -> float:
        return self._found / max(1, self._possible)

    @property
    def plain(self) -> float:
        return self._plain / max(1, self._whole)

    def add(self, kinds: Numbers, starts: Numbers, ends: Numbers, after: Numbers, gone: Numbers) -> None:
        """Add a file: its tokens, the tokens after the deletion, and where bytes were deleted."""
        if len(kinds) < K:
            return
        grams, left = _grams(kinds), _grams(after)
        untouched = gone[starts[: 1 - K].astype(np.intp)] == gone[ends[K - 1 :].astype(np.intp)]
        self._whole += len(grams)
        self._possible += int(untouched.sum())
        self._plain += _common(grams, left)
        self._found += _common(grams[untouched], left)


def _grams(kinds: Numbers) -> Numbers:
    """Return a hash of each gram."""
    if len(kinds) < K:
        return np.empty(0, np.uint64)
    hashes = np.zeros(len(kinds) - K + 1, np.uint64)
    for i in range(K):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + kinds[i : len(kinds) - K + 1 + i] + np.uint64(1)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _common(one: Numbers, two: Numbers) -> int:
    """Return the size of the intersection, with multiplicity."""
    (values, counts), (others, more) = (np.unique(grams, return_counts=True) for grams in (one, two))
    _, i, j = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return int(np.minimum(counts[i], more[j]).sum())
