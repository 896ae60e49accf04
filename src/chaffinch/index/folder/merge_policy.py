"""Which segments to merge, and when: beside the work that goes on, never in its way."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from chaffinch.index.folder.catalogue import SegmentRow

_FAN = 8
"""So many segments of about a size become one: each posting is written once for every such step."""
_SMALL = 1 << 15
"""Postings in a segment that is no larger than the smallest worth telling apart."""


def due(segments: Sequence[SegmentRow], removed: Sequence[int]) -> list[SegmentRow]:
    """Neighbours that should be one, the newest and smallest first; none if all is well.

    Only neighbours, so that the documents of a segment stay in a row and each has its postings in one segment.
    """
    for size in sorted({_level(s) for s in segments}):
        run: list[SegmentRow] = []
        for segment in reversed(segments):
            if _level(segment) > size:
                break
            run.append(segment)
        if len(run) >= _FAN:
            return run[::-1]
    for segment in segments:  # mostly of removed documents
        gone = bisect_right(removed, segment.last) - bisect_left(removed, segment.first)
        if gone * 2 > segment.last - segment.first + 1:
            return [segment]
    return []


def _level(segment: SegmentRow) -> int:
    level, size = 0, segment.postings // _SMALL
    while size >= _FAN:
        level, size = level + 1, size // _FAN
    return level
