"""How the figures of a report are shown: numbers, dates, the receipt, and what they mean in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from chaffinch.types import Pair, Report

_SMALLEST_CLASS = 5
"""Submissions. A smaller class does not show how much any two of its works share."""

GLOSSARY = {
    "score": "how much of the smaller work the other one contains too, in any order, beyond what works of "
    "this class usually share. Identical works score 100%. Base code does not count. The score counts pieces "
    "of a few letters or tokens, so it can include more than the matches show.",
    "coverage": "how much of one side lies in matches. If one side is high and the other is low, the larger "
    "work may contain the whole smaller one.",
    "surprise": "how much more these two share than each of them usually shares with the others, in standard "
    "deviations. Near 0, they are like any two works of the class. In a very small class it is not known. "
    "Pairs are ranked by surprise times score.",
}


def number(value: float) -> float | None:
    """Return a number for JSON, which has no infinity."""
    return round(value, 6) if math.isfinite(value) else None


def shown_surprise(report: Report, pair: Pair) -> float | None:
    """Return the surprise of a pair if the class is large enough for it to mean anything."""
    return number(pair.surprise) if len(report.submissions) + len(report.old) >= _SMALLEST_CLASS else None


def shown_date(date: str) -> str:
    """Return a date to the minute, with the time zone if there is one."""
    zone = date[19:].replace("+00:00", "UTC")
    return f"{date[:10]} {date[11:16]} {zone}".strip()


def seconds(date: str) -> int:
    """Return the seconds since 1970; a time without a zone is taken as UTC."""
    moment = datetime.fromisoformat(date)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def plain(value: Any) -> Any:
    """Return a value of the receipt as JSON can hold it, sets in order."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(inner) for inner in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return number(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def worded(value: Any) -> Any:
    """Return a value of the receipt in which each guarantee is a sentence."""
    if isinstance(value, list):
        return [worded(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    words = {key: worded(inner) for key, inner in value.items()}
    if isinstance(guarantee := value.get("guarantee"), int):
        words["guarantee"] = f"every shared run of {guarantee} symbols is found"
    elif "guarantee" in value and guarantee is None:
        words["guarantee"] = "none: shared runs of any length may be missed"
    if isinstance(k := value.get("k"), int) and "guarantee" in value:
        words["guarantee"] += f"; nothing shorter than {k} is reported"
    return words
