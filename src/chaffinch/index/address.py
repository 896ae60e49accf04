"""Where an index is: a folder, or the address of a PostgreSQL database, which may hold a password."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

CATALOGUE = "catalogue.db"
"""The file that every index in a folder has."""

_SCHEME = r"\w\w+:/{1,2}"
"""One letter is the drive of a path. A path that was an address has one slash."""
_USER_AND_PASSWORD = re.compile(rf"({_SCHEME}[^:@]*):.*@", re.S)
"""Up to the last @: a password may contain any character, even where the address is malformed."""
_SECRETS = ("password", "sslpassword")


def is_database(where: str | Path) -> bool:
    """Return whether this is the address of a database; otherwise it is a path."""
    return isinstance(where, str) and where.startswith(("postgresql://", "postgres://"))


def is_index(where: str | Path) -> bool:
    """Return whether this is the address of a database or a folder that holds an index."""
    return is_database(where) or (Path(where) / CATALOGUE).is_file()


def without_password(where: str | Path) -> str:
    """Return a path or an address as it may be shown to others."""
    shown = str(where)
    if not re.match(_SCHEME, shown):
        return shown
    server, _, rest = _USER_AND_PASSWORD.sub(r"\1@", shown).partition("?")
    query, hash_mark, name = rest.partition("#")
    parameters = [p for p in query.split("&") if unquote(p.partition("=")[0]).strip() not in ("", *_SECRETS)]
    return server + ("?" + "&".join(parameters) if parameters else "") + hash_mark + name
