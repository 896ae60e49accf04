"""Write docs/commands.md from the help of each command, so that they always agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from chaffinch.cli import main

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"


def commands() -> str:
    """Return the help of every command, one section each."""
    parts = ["# Commands\n\nMade by `make docs` from the help of each command.\n"]
    for arguments in ([], *_names()):
        title = " ".join(["chaffinch", *arguments])
        shown = CliRunner(env={"COLUMNS": "100"}).invoke(
            main, [*arguments, "--help"], prog_name="chaffinch", max_content_width=100
        )
        parts.append(f"## {title}\n\n```\n{shown.output.rstrip()}\n```\n")
    return "\n".join(parts)


def _names() -> Iterator[list[str]]:
    """Yield the name of every command, and of the commands in a group."""
    for name, command in sorted(main.commands.items()):
        yield [name]
        if isinstance(command, click.Group):
            yield from ([name, inner] for inner in sorted(command.commands))


if __name__ == "__main__":
    TARGET.write_text(commands(), encoding="utf-8")
