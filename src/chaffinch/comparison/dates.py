"""A table of names and dates -> the dates on which the submissions of a report were handed in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.load import load
from chaffinch.types import Report, Skipped

_NAMES = ("submission", "student", "name", "user", "username")
_DATES = ("date", "time", "timestamp", "submitted", "submitted at")
_DELIMITERS = ",;\t"


class Dated(NamedTuple):
    """A name and a date as they are written, and where."""

    where: str
    name: str
    date: str


def from_csv(path: Path) -> list[Dated]:
    """Return the rows of a table, numbered as in a spreadsheet. The first row names the columns."""
    try:
        text = load(path).decode("utf-8-sig")
        for delimiter in _DELIMITERS:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            rows = [(n, row) for n, row in enumerate(reader, 1) if any(cell.strip() for cell in row)]
            names, dates = (_column(rows[0][1] if rows else [], known) for known in (_NAMES, _DATES))
            if names is not None and dates is not None:
                return [Dated(f"row {n} of {path}", _cell(r, names), _cell(r, dates)) for n, r in rows[1:]]
    except UnicodeDecodeError:
        raise Unreadable(path, SkipReason.INVALID, "not UTF-8; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise Unreadable(path, SkipReason.INVALID, f"not a table: {error}; save it as CSV") from None
    columns = f"names (one of {', '.join(_NAMES)}) and one of dates (one of {', '.join(_DATES)})"
    raise Unreadable(path, SkipReason.INVALID, f"its first row must name a column of {columns}")


def _column(header: list[str], known: tuple[str, ...]) -> int | None:
    """Return the number of the column with the first of these titles."""
    titles = [title.strip().lower().replace("_", " ") for title in header]
    return next((titles.index(title) for title in known if title in titles), None)


def _cell(row: list[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""


def dated(report: Report, rows: Iterable[Dated]) -> Report:
    """Return the report with these dates. Unused rows are skipped, without names, which may be anonymized."""
    names = dict.fromkeys(s.name for s in (*report.submissions, *report.old))
    by_folded: dict[str, list[str]] = {}
    for name in names:
        by_folded.setdefault(_folded(name), []).append(name)
    dates: dict[str, str] = {}
    skipped: list[Skipped] = []
    for where, name, text in rows:
        candidates = [name] if name in names else by_folded.get(_folded(name), [])
        iso_date = iso(text)
        if len(candidates) != 1:
            detail = f"{'several submissions have' if candidates else 'no submission has'} this name"
        elif iso_date is None:
            detail = "not a date such as 2026-03-01 or 2026-03-01T14:05"
        elif candidates[0] in dates:
            detail = "this submission already has a date, from a row above"
        else:
            dates[candidates[0]] = iso_date
            continue
        skipped.append(Skipped(where, SkipReason.UNMATCHED, detail))
    in_order = {name: dates[name] for name in names if name in dates}
    return replace(report, dates=in_order, skipped=(*report.skipped, *skipped))


def _folded(name: str) -> str:
    """Return a key that ignores case and how accents are stored."""
    return normalize("NFC", normalize("NFC", name).casefold())


def iso(text: str) -> str | None:
    """Return a date, or a date and time to the second, in ISO 8601; None if it is neither."""
    try:
        if "T" not in text.upper() and " " not in text:
            return date.fromisoformat(text).isoformat()
        return datetime.fromisoformat(text).isoformat(timespec="seconds")
    except ValueError:
        return None
