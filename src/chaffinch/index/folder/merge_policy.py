"""Which segments to merge, and when."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from chaffinch.index.folder.catalogue import SegmentRow

FAN = 8
"""Segments of about one size that become one. Every posting is written once per such step."""
SMALLEST_LEVEL = 1 << 15
"""Postings. Segments up to `FAN` times this size count as equally small."""


def due(segments: Sequence[SegmentRow], removed: Sequence[int]) -> list[SegmentRow]:
    """Return neighbouring segments that should become one, the newest and smallest first.

    Only neighbours are merged. So a segment holds consecutive documents, and a document's postings lie in one
    segment.
    """
    for level in sorted({_level(s) for s in segments}):
        run: list[SegmentRow] = []
        for segment in reversed(segments):
            if _level(segment) > level:
                break
            run.append(segment)
        if len(run) >= FAN:
            return run[::-1]
    for segment in segments:  # a segment that is mostly removed documents is rewritten alone
        if removed_in(segment, removed) * 2 > segment.last - segment.first + 1:
            return [segment]
    return []


def removed_in(segment: SegmentRow, removed: Sequence[int]) -> int:
    """Return how many of the sorted removed documents have postings in a segment."""
    return bisect_right(removed, segment.last) - bisect_left(removed, segment.first)


def is_needed(segment: SegmentRow, removed: Sequence[int]) -> bool:
    """Return whether any document that is not removed has its postings in this segment."""
    return removed_in(segment, removed) < segment.documents


def _level(segment: SegmentRow) -> int:
    level, size = 0, segment.postings // SMALLEST_LEVEL
    while size >= FAN:
        level, size = level + 1, size // FAN
    return level
