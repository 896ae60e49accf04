"""Hashes and checks passwords with Argon2."""

from __future__ import annotations

import secrets
import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from chaffinch.service.refusals import BadRequest

MIN_LENGTH, MAX_LENGTH = 10, 1000
_HASHER = PasswordHasher()
_AT_ONCE = threading.Semaphore(4)
"""A hash takes 64 MB of memory, so many sign-ins at once have to wait."""
_GENERATED_BYTES = 15


def hash_password(password: str) -> str:
    """Return what to store. Raise if the password is too short."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise BadRequest(f"a password has at least {MIN_LENGTH} characters and at most {MAX_LENGTH}")
    with _AT_ONCE:
        return _HASHER.hash(password)


_NOBODY = hash_password(secrets.token_hex())


def is_right(password_hash: str | None, password: str) -> bool:
    """Return whether the password fits. Without a hash it does not, which takes as long to find out."""
    try:
        with _AT_ONCE:
            _HASHER.verify(password_hash or _NOBODY, password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def is_outdated(password_hash: str) -> bool:
    """Return whether the hash was made with other parameters than those of today."""
    return _HASHER.check_needs_rehash(password_hash)


def generate() -> str:
    """Return a password that nobody guesses."""
    return secrets.token_urlsafe(_GENERATED_BYTES)
