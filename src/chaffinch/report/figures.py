"""How the figures of a report are shown: numbers, dates, the receipt, and what they mean in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from chaffinch.types import Receipt

GLOSSARY = {
    "score": "how much of the smaller work the other one contains too, in any order, beyond what works of "
    "this class usually share. It counts pieces of a few letters or tokens; strings and numbers that both have "
    "raise it. It is lower where matches cover little, where the works are very short, and where many have the "
    "very same content; other identical works score 100%. Each language counts by its share of the work. Base "
    "code does not count.",
    "coverage": "how much of one side lies in matches. If one side is high and the other is low, the larger "
    "work may contain the whole smaller one.",
    "surprise": "how much more these two share than each of them usually shares with the others, in standard "
    "deviations. Near 0, they are like any two works of the class. In a very small class it is not known. "
    "The report's own order is by score, and a little by surprise.",
}


def number(value: float | None) -> float | None:
    """Return a number for JSON, which has no infinity."""
    return round(value, 6) if value is not None and math.isfinite(value) else None


def shown_date(date: str) -> str:
    """Return a date to the minute, with the time zone if there is one."""
    zone = date[19:].replace("+00:00", "UTC")
    return f"{date[:10]} {date[11:16]} {zone}".strip()


def seconds(date: str) -> int:
    """Return the seconds since 1970; a time without a zone is taken as UTC."""
    moment = datetime.fromisoformat(date)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def receipt_in_words(receipt: Receipt) -> dict[str, Any]:
    """Return the receipt for a reader: the lines and each guarantee are sentences."""
    recipes = {name: {**recipe, "guarantee": _guarantee(recipe)} for name, recipe in receipt.recipes.items()}
    return receipt.to_dict() | {
        "recipes": recipes,
        "lines": {name: _line(line) for name, line in receipt.lines.items()},
    }


def _line(line: float | None) -> str:
    if line is None:
        return "no pair stands out"
    return f"pairs that weigh at least {line:.2f} stand out from the class"


def _guarantee(recipe: Mapping[str, Any]) -> str:
    shortest = recipe["guarantee"]
    if shortest is None:
        surely = "none: shared runs of any length may be missed"
    else:
        surely = f"every shared run of {shortest} symbols is found"
    return f"{surely}; nothing shorter than {recipe['k']} is reported"
