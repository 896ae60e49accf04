"""Where the submissions of each cluster are drawn: by forces, from a fixed beginning, the same every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, hypot, pi, sin, sqrt
from typing import NamedTuple

_WORK = 1_500_000
"""Steps for one cluster at most: so that a very large one is drawn roughly rather than late."""
_ROUNDS = 150
_GAP = 80.0
_MARGIN = 44.0
_GOLDEN = pi * (3 - sqrt(5))

Edges = Mapping[tuple[int, int], float]
"""From two places in a cluster to the score of their pair."""


class Drawing(NamedTuple):
    """How wide and high all clusters are together, and where in that each submission is."""

    width: float
    height: float
    places: list[list[tuple[float, float]]]


def draw(clusters: Sequence[tuple[int, Edges]]) -> Drawing:
    """The clusters, as numbers of members and edges, in rows from left to right."""
    shapes = [_boxed(_settled(size, edges)) for size, edges in clusters]
    area = sum(width * height for width, height, _ in shapes)
    limit = max(sqrt(area) * 1.5, max((width for width, _, _ in shapes), default=0.0))
    x = y = row = widest = 0.0
    found = []
    for width, height, places in shapes:
        if x and x + width > limit:
            x, y, row = 0.0, y + row, 0.0
        found.append([(round(x + px, 1), round(y + py, 1)) for px, py in places])
        x, row = x + width, max(row, height)
        widest = max(widest, x)
    return Drawing(round(widest, 1), round(y + row, 1), found)


def _boxed(places: list[tuple[float, float]]) -> tuple[float, float, list[tuple[float, float]]]:
    """Width, height and the places moved to within them."""
    left, top = (min(p[axis] for p in places) for axis in (0, 1))
    right, bottom = (max(p[axis] for p in places) for axis in (0, 1))
    moved = [(x - left + _MARGIN, y - top + _MARGIN) for x, y in places]
    return right - left + 2 * _MARGIN, bottom - top + 2 * _MARGIN, moved


def _settled(size: int, edges: Edges) -> list[tuple[float, float]]:
    """Members push each other away, edges pull together: Fruchterman and Reingold, 1991."""
    if size == 2:
        return [(0.0, 0.0), (_GAP * 1.4, 0.0)]
    xs = [_GAP * sqrt(n + 0.5) * cos(n * _GOLDEN) for n in range(size)]
    ys = [_GAP * sqrt(n + 0.5) * sin(n * _GOLDEN) for n in range(size)]
    rounds = min(_ROUNDS, _WORK // (size * size))
    for turn in range(rounds):
        dx, dy = [0.0] * size, [0.0] * size
        for a in range(size):
            ax, ay = xs[a], ys[a]
            for b in range(a):
                x, y = ax - xs[b], ay - ys[b]
                push = _GAP * _GAP / max(x * x + y * y, 0.01)
                dx[a] += x * push
                dy[a] += y * push
                dx[b] -= x * push
                dy[b] -= y * push
        for (a, b), score in edges.items():
            x, y = xs[a] - xs[b], ys[a] - ys[b]
            pull = hypot(x, y) / _GAP * (0.3 + score)
            dx[a] -= x * pull
            dy[a] -= y * pull
            dx[b] += x * pull
            dy[b] += y * pull
        for a in range(size):  # towards the middle, or what has no edges would drift away
            dx[a] -= xs[a] * 0.3
            dy[a] -= ys[a] * 0.3
        heat = _GAP * (1 - turn / rounds)
        for a in range(size):
            length = max(hypot(dx[a], dy[a]), 0.01)
            step = min(length, heat) / length
            xs[a] += dx[a] * step
            ys[a] += dy[a] * step
    return list(zip(xs, ys, strict=True))
