"""Secret tokens for sessions, the API and links. Only their hashes are stored."""

from __future__ import annotations

import secrets
from hashlib import sha256

_BYTES = 32


def new_token(prefix: str = "") -> str:
    return prefix + secrets.token_urlsafe(_BYTES)


def hash_token(token: str) -> bytes:
    """Return what is stored. A token is random and long, so a fast hash is safe."""
    return sha256(token.encode("utf-8", "replace")).digest()
