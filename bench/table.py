"""Write measured figures and their bounds as a table, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

HEAD = ("what", "measured", "must reach", "ok")


@dataclass(frozen=True, slots=True)
class Row:
    """A figure and its bounds. A row without a value is not a failure; `note` says why it was not measured."""

    what: str
    value: float | None
    unit: str = ""
    least: float | None = None
    most: float | None = None
    note: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the figure keeps its bounds; None without a bound or a value."""
        if self.value is None or (self.least is None and self.most is None):
            return None
        enough = self.least is None or self.value >= self.least
        return enough and (self.most is None or self.value <= self.most)

    def cells(self) -> tuple[str, str, str, str]:
        """Return the row as text, in the order of HEAD."""
        signs = {"≥": self.least, "≤": self.most}
        bounds = [f"{sign} {_number(bound)}" for sign, bound in signs.items() if bound is not None]
        measured = self.note if self.value is None else f"{_number(self.value)} {self.unit}".strip()
        ok = {True: "yes", False: "NO", None: ""}[self.ok]
        return self.what, measured, " ".join(bounds), ok

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"ok": self.ok}


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def plain(rows: Sequence[Row]) -> str:
    """Return the table with aligned columns, for a terminal."""
    cells = [HEAD, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def markdown(rows: Sequence[Row]) -> str:
    lines = [HEAD, ("---",) * len(HEAD), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
