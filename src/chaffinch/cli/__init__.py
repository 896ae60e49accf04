"""The command line, with all its commands."""

from chaffinch.cli import compare_commands as commands_compare
from chaffinch.cli import index_commands as commands_index
from chaffinch.cli.commands import main

__all__ = ["commands_compare", "commands_index", "main"]
