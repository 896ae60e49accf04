"""Ranked pairs -> the first of them by a figure that you choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chaffinch.comparison.language_group import LanguageGroup
from chaffinch.comparison.listed_pairs import pair_matches
from chaffinch.comparison.options import Options
from chaffinch.comparison.ranking import Indices, Ranking

MATCHED_AT_ONCE = 1 << 12
"""Pairs. Matches are found a block at a time and not kept: those of all pairs take too much memory."""


def sort_ranking(
    ranking: Ranking, groups: Sequence[LanguageGroup], options: Options, has_surprise: bool
) -> Ranking:
    """Return the first `top` listed pairs by the figure, highest first; equal ones stay in the order they had.

    Where there is no surprise, sorting by it changes nothing.
    """
    by_surprise = ranking.surprise if has_surprise else np.zeros(len(ranking.surprise))
    known = {"surprise": by_surprise, "score": ranking.scores}.get(options.sort or "")
    rows = np.arange(len(ranking.pairs)) if known is None else np.argsort(-known, kind="stable")
    listed: list[int] = []
    figures: list[int] = []  # of the matches
    for start in range(0, len(rows), MATCHED_AT_ONCE):
        if known is not None and options.top is not None and len(listed) >= options.top:
            break
        block = rows[start : start + MATCHED_AT_ONCE]
        matched = pair_matches(groups, ranking.pairs[block], options.threads)
        for row, score, shared in zip(block.tolist(), ranking.scores[block].tolist(), matched, strict=True):
            if options.is_listed(score, longest := shared.longest):
                listed.append(row)
                figures.append(shared.symbols if options.sort == "size" else longest)
    chosen: Indices = np.array(listed, np.int64)
    if known is None:
        chosen = chosen[np.argsort(-np.array(figures, np.int64), kind="stable")]
    return _rows(ranking, chosen[: options.top])


def _rows(ranking: Ranking, rows: Indices) -> Ranking:
    columns = ("pairs", "scores", "surprise", "shared")
    return replace(ranking, **{name: getattr(ranking, name)[rows] for name in columns})
