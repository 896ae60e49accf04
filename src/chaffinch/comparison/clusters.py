"""Pairs -> clusters: submissions that pairs above the line link."""

from __future__ import annotations

from collections.abc import Sequence

from chaffinch.types import Cluster


def find_clusters(links: Sequence[tuple[str, str, float]]) -> tuple[Cluster, ...]:
    """Return the submissions that are linked, the largest clusters first; a link has two names and a score."""
    leaders: dict[str, str] = {}

    def leader(name: str) -> str:
        while leaders.setdefault(name, name) != name:
            leaders[name] = name = leaders[leaders[name]]
        return name

    for left, right, _ in links:
        leaders[leader(left)] = leader(right)
    members: dict[str, list[str]] = {}
    for name in sorted(leaders):
        members.setdefault(leader(name), []).append(name)
    best_scores: dict[str, float] = {}
    for left, _, score in links:
        best_scores[leader(left)] = max(best_scores.get(leader(left), 0.0), score)
    clusters = [Cluster(tuple(names), best_scores[head]) for head, names in members.items()]
    return tuple(sorted(clusters, key=lambda c: (-len(c.submissions), -c.score, c.submissions)))
