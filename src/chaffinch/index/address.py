"""Where an index is: a folder, or the address of a PostgreSQL database, which may hold a password."""

from __future__ import annotations

import os
import re
from pathlib import Path

from chaffinch.errors import SkipReason, Unreadable

CATALOGUE = "catalogue.db"
"""The file that every index in a folder has."""
FORM = "postgresql://user@host:port/database#name"
"""How to write an address."""

_SCHEME = r"(?<![\w+.-])(?:[\w+.-]{2,}:/+|postgres[\w+.-]*:(?=\S))"
"""One letter is the drive of a path. A path that was an address has one slash."""
_USER_AND_PASSWORD = re.compile(rf"({_SCHEME}[^:@]*):.*@", re.S | re.I)
"""Up to the last @: a password may contain any character, even where the address is malformed."""
_KEY = "".join(f"(?:{letter}|%{ord(letter):x})" for letter in "password")
_IN_QUERY = re.compile(rf"([?&])(?:[^=&#?]*{_KEY}[^=&#?]*=[^&#]*(&|(?=#)|\Z))+", re.I)
_SETTING = re.compile(rf"({_KEY}\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^\s&#]*[^\s&#:;,)])", re.I)
"""As in "host=h password=p". What follows the password in a message is not a part of it."""
_ADDRESS = re.compile(r"\s*(?:[\w+.-]{2,}://|postgres[\w+.-]*:)", re.I)


def is_database(where: str | Path) -> bool:
    """Return whether this is the address of a database; otherwise it is a path."""
    return isinstance(where, str) and where.startswith(("postgresql://", "postgres://"))


def is_index(where: str | Path) -> bool:
    """Return whether this is the address of a database or a folder that holds an index."""
    return is_database(where) or (Path(where) / CATALOGUE).is_file()


def looks_like_address(where: str | Path) -> bool:
    """Return whether this was meant to be an address, even if it is misspelt."""
    text = str(where)
    if _ADDRESS.match(text):
        return True
    return without_password(text) != text and not os.path.exists(text)  # noqa: PTH110 - Path raises for long names


def refuse_address(where: str | Path) -> None:
    """Raise if this is an address and not a path: paths are listed, and an address may hold a password."""
    if looks_like_address(where):
        detail = f"not a path, and not the address of an index; write {FORM}"
        if str(where).startswith(("postgresql:/", "postgres:/")):
            detail = "an index can only be earlier work (compare --old) or INDEX; name a file or a folder here"
        raise Unreadable(without_password(where), SkipReason.INVALID, detail)


def without_password(text: str | Path) -> str:
    """Return a text as it may be shown to others: without the password of any address in it."""
    shown = _IN_QUERY.sub(lambda query: query[1] if query[2] else "", str(text))
    shown = _SETTING.sub(r"\1***", shown)
    return _USER_AND_PASSWORD.sub(r"\1@", shown)
