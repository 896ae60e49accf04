"""The command line: `main`, with all its commands."""

# Each of these adds its commands to main.
from chaffinch.cli import (
    account_commands,
    compare_commands,
    fingerprint_commands,
    index_commands,
    search_commands,
    service_commands,
)
from chaffinch.cli.app import main

__all__ = [
    "account_commands",
    "compare_commands",
    "fingerprint_commands",
    "index_commands",
    "main",
    "search_commands",
    "service_commands",
]
