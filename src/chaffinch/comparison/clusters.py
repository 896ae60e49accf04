"""Pairs -> clusters: submissions that pairs above the line link."""

from __future__ import annotations

from collections.abc import Sequence

from chaffinch.comparison.options import CLUSTER_SCORE, SURE_SCORE
from chaffinch.types import Cluster, Pair


def find_clusters(pairs: Sequence[Pair], line: float) -> tuple[Cluster, ...]:
    """Return the submissions that heavy pairs or a high score link, the largest clusters first."""
    leaders: dict[str, str] = {}

    def leader(name: str) -> str:
        while leaders.setdefault(name, name) != name:
            leaders[name] = name = leaders[leaders[name]]
        return name

    linking = [pair for pair in pairs if _links(pair, line)]
    for pair in linking:
        leaders[leader(pair.left)] = leader(pair.right)
    members: dict[str, list[str]] = {}
    for name in sorted(leaders):
        members.setdefault(leader(name), []).append(name)
    best_scores: dict[str, float] = {}
    for pair in linking:
        best_scores[leader(pair.left)] = max(best_scores.get(leader(pair.left), 0.0), pair.score)
    clusters = [Cluster(tuple(names), best_scores[head]) for head, names in members.items()]
    return tuple(sorted(clusters, key=lambda c: (-len(c.submissions), -c.score, c.submissions)))


def _links(pair: Pair, line: float) -> bool:
    if pair.surprise is None:
        return pair.score >= CLUSTER_SCORE
    return pair.weight >= line or pair.score >= SURE_SCORE
