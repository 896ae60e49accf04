"""Where the submissions of each cluster are drawn: by forces, from a fixed start, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_WORK = 6_000_000
"""Rounds times members squared: the work spent on one cluster, so that a large one is not drawn late."""
_MOST_ROUNDS = 150
_FEWEST_ROUNDS = 10
"""Fewer rounds improve nothing: a very large cluster stays the spiral that it starts as."""
_GAP = 80.0
_MARGIN = 44.0
_GOLDEN_ANGLE = pi * (3 - sqrt(5))

Edges = dict[tuple[int, int], float]
"""From two members of a cluster to the score of their pair."""
Shape = tuple[int, Edges]
"""The number of members of a cluster, and its edges."""
Places = NDArray[np.float64]
"""A row of x and y for each member."""


class Drawing(NamedTuple):
    """The width and height of all clusters together, and where each member of each cluster is."""

    width: float
    height: float
    places: list[list[tuple[float, float]]]


def draw(clusters: Sequence[Shape]) -> Drawing:
    """Draw the clusters in rows, from left to right."""
    settled: dict[int, Places] = {}
    rounds = [_rounds(size) for size, _ in clusters]
    for count in set(rounds):  # together, since most clusters are tiny
        batch = [n for n, of_cluster in enumerate(rounds) if of_cluster == count]
        settled |= zip(batch, _settle([clusters[n] for n in batch], count), strict=True)
    boxes = [settled[n] - settled[n].min(axis=0) + _MARGIN for n in range(len(clusters))]
    sizes = [(box.max(axis=0) + _MARGIN).tolist() for box in boxes]
    area = sum(width * height for width, height in sizes)
    limit = max(sqrt(area) * 1.5, max((width for width, _ in sizes), default=0.0))
    x = y = row_height = widest = 0.0
    places = []
    for box, (width, height) in zip(boxes, sizes, strict=True):
        if x and x + width > limit:
            x, y, row_height = 0.0, y + row_height, 0.0
        places.append([(round(x + left, 1), round(y + top, 1)) for left, top in box.tolist()])
        x, row_height = x + width, max(row_height, height)
        widest = max(widest, x)
    return Drawing(round(widest, 1), round(y + row_height, 1), places)


def _rounds(size: int) -> int:
    rounds = min(_MOST_ROUNDS, _WORK // (size * size))
    return rounds if size > 2 and rounds >= _FEWEST_ROUNDS else 0


def _start(size: int) -> Places:
    """Return two members side by side, or more in a spiral."""
    if size == 2:
        return np.array([[0.0, 0.0], [_GAP * 1.4, 0.0]])
    # Rounded, since sines differ in the last bit from machine to machine.
    spiral = [(sqrt(n + 0.5), n * _GOLDEN_ANGLE) for n in range(size)]
    return np.array([(round(_GAP * r * cos(turn), 6), round(_GAP * r * sin(turn), 6)) for r, turn in spiral])


def _settle(clusters: Sequence[Shape], rounds: int) -> list[Places]:
    """Move members apart and edges together: Fruchterman and Reingold, 1991."""
    bounds = np.cumsum([0, *(size for size, _ in clusters)])
    places = np.concatenate([_start(size) for size, _ in clusters])
    if not rounds:
        return np.split(places, bounds[1:-1])
    pairs = [np.column_stack(np.tril_indices(size, -1)) for size, _ in clusters]
    pull = [_pull(both, edges) for both, (_, edges) in zip(pairs, clusters, strict=True)]
    one, other = np.concatenate([both + first for both, first in zip(pairs, bounds[:-1], strict=True)]).T
    strength = np.concatenate(pull) / _GAP
    for n in range(rounds):
        apart = places[one] - places[other]
        squared = _squared(apart)
        forces = apart * (_GAP * _GAP / np.maximum(squared, 0.01) - np.sqrt(squared) * strength)[:, None]
        sums = (np.bincount(one, f, len(places)) - np.bincount(other, f, len(places)) for f in forces.T)
        # A little towards the middle, or members without edges would drift away.
        force = np.column_stack(list(sums)) - places * 0.3
        length = np.maximum(np.sqrt(_squared(force)), 0.01)
        places += force * (np.minimum(length, _GAP * (1 - n / rounds)) / length)[:, None]
    return np.split(places, bounds[1:-1])


def _pull(pairs: NDArray[np.int64], edges: Edges) -> NDArray[np.float64]:
    """Return how strongly the members of each pair attract each other: not at all without an edge."""
    scores = edges | {(b, a): score for (a, b), score in edges.items()}
    return np.array([0.3 + scores[a, b] if (a, b) in scores else 0.0 for a, b in pairs.tolist()])


def _squared(vectors: Places) -> NDArray[np.float64]:
    """Return the squared length of each vector, with the same rounding everywhere."""
    x, y = vectors.T
    squared: NDArray[np.float64] = x * x + y * y
    return squared
