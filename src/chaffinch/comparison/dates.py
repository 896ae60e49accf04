"""When work was handed in: a table of names and dates -> the dates of a report's submissions."""

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
    """A name and a date as somebody wrote them, and where."""

    where: str
    name: str
    date: str


def from_csv(path: Path) -> list[Dated]:
    """The rows of a table, counted as a spreadsheet does; its first row names the columns."""
    try:
        text = load(path).decode("utf-8-sig")
        for delimiter in _DELIMITERS:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            rows = [(n, row) for n, row in enumerate(reader, 1) if any(cell.strip() for cell in row)]
            names, dates = (_column(rows[0][1] if rows else [], known) for known in (_NAMES, _DATES))
            if names is not None and dates is not None:
                return [
                    Dated(f"row {n} of {path}", _cell(row, names), _cell(row, dates)) for n, row in rows[1:]
                ]
    except UnicodeDecodeError:
        raise Unreadable(path, SkipReason.INVALID, "not UTF-8; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise Unreadable(path, SkipReason.INVALID, f"not a table: {error}; save it as CSV") from None
    known = f"one of {', '.join(_NAMES)}; and one of {', '.join(_DATES)}"
    raise Unreadable(
        path, SkipReason.INVALID, f"its first row must name a column of names and one of dates: {known}"
    )


def _column(header: list[str], known: tuple[str, ...]) -> int | None:
    """Which column has the first of these titles that is there."""
    titles = [title.strip().lower().replace("_", " ") for title in header]
    return next((titles.index(title) for title in known if title in titles), None)


def _cell(row: list[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""


def dated(report: Report, rows: Iterable[Dated]) -> Report:
    """The report with these dates; rows of no use are told, without names, which an anonymous report hides."""
    names = dict.fromkeys(s.name for s in (*report.submissions, *report.old))
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_folded(name), []).append(name)
    found: dict[str, str] = {}
    skipped: list[Skipped] = []
    for where, name, text in rows:
        meant = [name] if name in names else alike.get(_folded(name), [])
        day = iso(text)
        if len(meant) != 1:
            why = "several submissions have this name" if meant else "no submission has this name"
        elif day is None:
            why = "no date as 2026-03-01 or 2026-03-01T14:05"
        elif meant[0] in found:
            why = "this submission has a date already, from above"
        else:
            found[meant[0]] = day
            continue
        skipped.append(Skipped(where, SkipReason.UNMATCHED, why))
    in_order = {name: found[name] for name in names if name in found}
    return replace(report, dates=in_order, skipped=(*report.skipped, *skipped))


def _folded(name: str) -> str:
    """Alike for names that differ in case, or in how accents are stored."""
    return normalize("NFC", normalize("NFC", name).casefold())


def iso(text: str) -> str | None:
    """A date, or a date and time to the second, in the one way that all are kept; None if it is neither."""
    try:
        if "T" not in text.upper() and " " not in text:
            return date.fromisoformat(text).isoformat()
        return datetime.fromisoformat(text).isoformat(timespec="seconds")
    except ValueError:
        return None
