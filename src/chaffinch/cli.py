"""The command line, with all its commands."""

from chaffinch import commands_compare, commands_index
from chaffinch.commands import main

__all__ = ["commands_compare", "commands_index", "main"]
