"""Compare labelled documents, and measure how well figures tell copies from other pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from pathlib import Path

import numpy as np

from chaffinch import File
from chaffinch.comparison.compare import compare
from chaffinch.types import Pair, Report

LARGEST = 250  # programs; in a larger class all pairs with their matches take gigabytes
_FIRST = 10_000  # pairs ranked in a larger class; a labelled pair after them counts as missed

Names = frozenset[str]


def auc(copies: Sequence[float], others: Sequence[float]) -> float:
    """Return the probability that a copy has a higher figure than another pair; a tie counts half."""
    less = np.searchsorted(np.sort(others), copies, "left")
    not_more = np.searchsorted(np.sort(others), copies, "right")
    return float((less + not_more).sum()) / 2 / max(len(copies) * len(others), 1)


def average_precision(
    figures: Mapping[Names, float], labelled: set[Names], among: set[Names] | None = None
) -> float:
    """Return the mean, over the labelled pairs, of the precision down to each. Equal figures rank together.

    A labelled pair without a figure counts 0. With `among`, only those pairs count.
    """
    if among is not None:
        figures = {pair: figure for pair, figure in figures.items() if pair in among}
        labelled = labelled & among
    hits = ranked = 0
    total = 0.0
    for _, equal in groupby(sorted(figures, key=figures.__getitem__, reverse=True), key=figures.__getitem__):
        pairs = set(equal)
        ranked += len(pairs)
        hits += (here := len(pairs & labelled))
        total += here * hits / ranked
    return total / max(len(labelled), 1)


def each_once(programs: Mapping[str, bytes], labelled: set[Names]) -> set[Names]:
    """Return all pairs of programs, with byte-identical programs under one name only.

    Many programs appear under several names, and the labels do not say so: a copy is labelled under one name
    and would count as a false alarm under another.
    """
    known = frozenset().union(*labelled)
    names = {programs[name]: name for name in sorted(programs, key=lambda name: (name in known, name))}
    return set(map(frozenset, combinations(names.values(), 2)))


def weights(pairs: Sequence[Pair]) -> dict[Names, float]:
    """Return the weight by which a report ranks each pair."""
    return {names(pair): pair.weight for pair in pairs}


def everything(documents: Sequence[File]) -> Report:
    """Compare with every pair listed that shares anything."""
    return _by_file_name(compare(documents, threshold=0, top=None))


def ranking(documents: Sequence[File]) -> Report:
    """Compare with as many pairs listed as memory allows."""
    if len(documents) <= LARGEST:
        return everything(documents)
    return _by_file_name(compare(documents, threshold=0, top=_FIRST))


def _by_file_name(report: Report) -> Report:
    """Return the report with the names of files for those of submissions: the labels have these."""
    names = {s.name: s.documents[0].name for s in report.submissions if s.documents}
    pairs = (replace(p, left=names[p.left], right=names[p.right]) for p in report.pairs)
    return replace(report, pairs=tuple(pairs))


def document(path: Path, name: str = "") -> File:
    return File(name or path.name, path.read_bytes())


def names(pair: Pair) -> Names:
    return frozenset((pair.left, pair.right))
