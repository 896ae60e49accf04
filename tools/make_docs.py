"""Writes docs/commands.md from the commands' own help, so that it cannot say anything else."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from chaffinch.cli import main

TARGET = Path(__file__).parent.parent / "docs" / "commands.md"


def commands() -> str:
    """The help of every command, one section each."""
    parts = ["# Commands\n\nMade by `make docs` from the help of each command.\n"]
    for arguments in ([], *([name] for name in sorted(main.commands))):
        title = " ".join(["chaffinch", *arguments])
        shown = CliRunner(env={"COLUMNS": "100"}).invoke(
            main, [*arguments, "--help"], prog_name="chaffinch", max_content_width=100
        )
        parts.append(f"## {title}\n\n```\n{shown.output.rstrip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(commands(), encoding="utf-8")
