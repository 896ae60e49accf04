"""The command line, with all its commands."""

from chaffinch import commands_compare
from chaffinch.commands import main

__all__ = ["commands_compare", "main"]
