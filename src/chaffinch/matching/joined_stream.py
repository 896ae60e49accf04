"""The documents of one submission in one language -> one stream of symbols that knows its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import ChaffinchError
from chaffinch.fingerprinting import streams
from chaffinch.native import fingerprint as native
from chaffinch.native.fingerprint import RESERVED, RESERVED_COUNT
from chaffinch.read.for_recipe import ready_for
from chaffinch.recipe import Recipe
from chaffinch.types import Document, Fingerprints, Skipped, Span, Stream


@dataclass(frozen=True, slots=True, eq=False)
class JoinedStream:
    """Streams one after another, each followed by a separator: a symbol that occurs nowhere else."""

    documents: tuple[Document, ...]
    """The documents whose bytes the spans point into."""
    streams: tuple[Stream, ...]
    starts: NDArray[np.int64]
    """The position of each document's first symbol."""
    symbols: NDArray[np.uint32]
    prints: Fingerprints
    """Their positions count from the start of the joined stream. They have no byte ranges."""

    @property
    def size(self) -> int:
        """The number of symbols, without the separators."""
        return len(self.symbols) - len(self.documents)

    @property
    def separators(self) -> NDArray[np.int64]:
        """The positions of the separators."""
        return np.append(self.starts[1:], len(self.symbols)) - 1

    def spans(self, starts: Sequence[int], lengths: Sequence[int]) -> list[Span]:
        """Return the bytes of runs of symbols. No run may reach from one document into another."""
        firsts = np.asarray(starts, np.int64)
        lasts = firsts + np.asarray(lengths, np.int64) - 1
        numbers = self.starts.searchsorted(firsts, "right") - 1
        begins, ends = np.empty_like(firsts), np.empty_like(firsts)
        for number in set(numbers.tolist()):
            runs, shift, stream = numbers == number, self.starts[number], self.streams[number]
            begins[runs] = stream.starts[firsts[runs] - shift]
            ends[runs] = stream.ends[lasts[runs] - shift]
        names = [self.documents[number].name for number in numbers.tolist()]
        return [Span(*span) for span in zip(names, begins.tolist(), ends.tolist(), strict=True)]


def join_streams(
    submissions: Sequence[Sequence[Document]],
    recipe: Recipe,
    threads: int | None = None,
    *,
    with_names: bool = False,
    skipped: list[Skipped] | None = None,
) -> list[JoinedStream]:
    """Lex every document once and join the streams of each submission.

    `with_names` also gives the streams of programs their named symbols. See `streams` for `skipped`.
    """
    documents = [ready_for(document, recipe) for submission in submissions for document in submission]
    all_streams = streams(documents, recipe, with_names=with_names, threads=threads, skipped=skipped)
    sources = [native.Source.canonical(stream.symbols) for stream in all_streams]
    # In a canonical stream a fingerprint starts at its position.
    prints = native.fingerprint(sources, recipe, threads=threads, only_starts=True)
    separators = reserved_symbols(0, len(documents))
    pieces = [(stream.symbols, separators[i : i + 1]) for i, stream in enumerate(all_streams)]
    symbols = np.concatenate([np.empty(0, np.uint32), *(piece for both in pieces for piece in both)])
    starts = np.cumsum([0, *(len(stream) + 1 for stream in all_streams)], dtype=np.int64)
    joined, last = [], 0
    for submission in submissions:
        first, last = last, last + len(submission)
        begin, end = int(starts[first]), int(starts[last])
        own_starts = starts[first:last] - begin
        offsets = prints.offsets[first : last + 1].astype(np.int64)
        rows = slice(offsets[0], offsets[-1])
        positions = prints.starts[rows]
        if len(own_starts) > 1:
            positions = positions + np.repeat(own_starts, np.diff(offsets)).astype(np.uint32)
        joined.append(
            JoinedStream(
                tuple(documents[first:last]),
                tuple(all_streams[first:last]),
                own_starts,
                symbols[begin:end],
                Fingerprints(prints.hashes[rows], positions, _NONE, _NONE, end - begin),
            )
        )
    return joined


_NONE = np.empty(0, np.uint32)


def reserved_symbols(first: int, count: int) -> NDArray[np.uint32]:
    """Return symbols that no document contains, by their numbers."""
    if first + count > RESERVED_COUNT:
        detail = f"more than {RESERVED_COUNT:,} symbols are base code or common code"
        raise ChaffinchError(f"{detail}; compare fewer submissions at once")
    return np.arange(RESERVED + first, RESERVED + first + count, dtype=np.uint32)
