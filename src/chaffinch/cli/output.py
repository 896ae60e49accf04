"""What commands print: results to standard output, warnings and progress to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click

from chaffinch.index.address import without_password
from chaffinch.read.skipped_groups import grouped
from chaffinch.types import Skipped

LISTED = 12
"""Lines of one kind that are printed before the rest is only counted."""
_PROGRESS_WIDTH = 100
"""Characters."""


def printable(text: str) -> str:
    """Return the text without characters that could control a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def counted(count: int, noun: str) -> str:
    """Return "1 pair" or "1,234 pairs"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def progress(line: str) -> None:
    """Show what is going on, on one line that the next call overwrites. Without a terminal, do nothing."""
    if sys.stderr and sys.stderr.isatty():
        click.echo(f"\r\x1b[K{without_password(printable(line))[:_PROGRESS_WIDTH]}", nl=False, err=True)


def warn(message: str) -> None:
    """Print a message to standard error."""
    progress("")
    click.echo(f"chaffinch: {without_password(printable(message))}", err=True)


def warn_skipped(skipped: Sequence[Skipped], where: str = "--json lists all of them") -> None:
    """Print a line for each kind of skipped entries, or the first lines and where the others are."""
    groups = grouped(skipped)
    for group in groups[:LISTED]:
        warn(f"{group.title}: {group.detail}")
    if rest := sum(len(group.names) for group in groups[LISTED:]):
        warn(f"and {rest} more skipped; {where}")


def print_json(value: Any) -> None:
    """Print JSON in UTF-8, whatever the encoding of the terminal, because programs read it."""
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def print_result(as_json: bool, result: dict[str, Any], line: str) -> None:
    """Print a result for a program or for a person."""
    progress("")
    if as_json:
        print_json(result)
    else:
        click.echo("\n".join(map(without_password, line.split("\n"))))
