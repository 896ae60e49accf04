"""Submissions -> units: what a submission has in one language, as one stream that remembers its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting as api
from chaffinch.recipe import Recipe
from chaffinch.types import Document, Fingerprints, Span, Stream

_LAST = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Streams one after another, each with a symbol behind it that is nowhere else."""

    documents: tuple[Document, ...]
    """Those whose bytes the spans point into."""
    streams: tuple[Stream, ...]
    starts: NDArray[np.int64]
    """Where each stream begins in the unit's."""
    symbols: NDArray[np.uint32]
    prints: Fingerprints
    """With positions in the unit's stream, and no byte ranges."""

    @property
    def size(self) -> int:
        """The symbols of all documents."""
        return len(self.symbols) - len(self.documents)

    @property
    def between(self) -> NDArray[np.int64]:
        """Where the symbols stand that are behind documents."""
        return np.append(self.starts[1:], len(self.symbols)) - 1

    def spans(self, starts: Sequence[int], lengths: Sequence[int], runs: Sequence[int]) -> list[Span]:
        """The bytes of these runs of symbols, none of which reaches from one document into another."""
        found = []
        for run in runs:
            start, length = starts[run], lengths[run]
            i = int(self.starts.searchsorted(start, "right")) - 1 if len(self.documents) > 1 else 0
            stream, at = self.streams[i], start - int(self.starts[i])
            begin, last = int(stream.starts[at]), int(stream.ends[at + length - 1])
            found.append(Span(self.documents[i].name, begin, last))
        return found


def units(submissions: Sequence[Sequence[Document]], recipe: Recipe, threads: int | None = None) -> list[Unit]:
    """One for each submission's documents of one language."""
    documents = [api.ready_for(d, recipe) for submission in submissions for d in submission]
    prints = api.fingerprint_all(documents, recipe, threads=threads)
    streams = api.streams(documents, recipe)
    found = []
    end = 0
    for submission in submissions:
        start, end = end, end + len(submission)
        of_unit = [prints[i] for i in range(start, end)]
        found.append(_unit(documents[start:end], streams[start:end], of_unit, _LAST - start))
    return found


def _unit(documents: list[Document], streams: list[Stream], prints: list[Fingerprints], separator: int) -> Unit:
    starts = np.cumsum([0, *(len(s) + 1 for s in streams)], dtype=np.int64)
    between = [np.array([separator - i], np.uint32) for i in range(len(streams))]
    pieces = [piece for pair in zip((s.symbols for s in streams), between, strict=True) for piece in pair]
    positions = [p.positions + np.uint32(start) for p, start in zip(prints, starts, strict=False)]
    nothing = np.empty(0, np.uint32)
    whole = Fingerprints(
        np.concatenate([p.hashes for p in prints]) if prints else np.empty(0, np.uint64),
        np.concatenate([*positions, nothing]),
        nothing,
        nothing,
        int(starts[-1]),
    )
    return Unit(tuple(documents), tuple(streams), starts[:-1], np.concatenate([*pieces, nothing]), whole)
