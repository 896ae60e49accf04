"""Programs -> other views of the same tokens: what a plain stream of token classes does not show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Symbols = NDArray[np.uint32]

NAME, NUMBER, STRING = 1, 2, 3
"""The symbols of any name, any number and any string; core/src/read/symbol.rs has the same."""
KEYWORDS = 1 << 31
"""Symbols from here on stand for a spelling."""
CALL, MEMBERS, ASSIGNMENT, BRACES = ord("("), (ord("."), ord(">")), ord("="), (ord("{"), ord("}"))
SHORTEST_NUMBER, SHORTEST_STRING = 2, 4
"""Bytes, with the quotes. Shorter literals are in every program."""
EXPRESSION_WORDS = """
and assert await case del delete do else if in new not or print raise return throw typeof while yield
"""
"""Keywords that stand before an expression. A name after any other keyword is declared there."""


class Tokens(NamedTuple):
    """The tokens of one member, without what is not compared."""

    plain: Symbols
    named: Symbols
    """The same tokens by what they say."""
    sizes: Symbols
    """How many bytes each token has."""


class Views(NamedTuple):
    """For each member, its tokens in other views."""

    outside_names: list[Symbols]
    """The plain symbols without braces, with the names of what the member calls but does not declare.

    A copy can rename what it declares, but not the library. Braces around a single statement are optional.
    """
    literals: list[Symbols]
    """Strings, and numbers of several digits, by what they say."""


def views(members: Sequence[Tokens]) -> Views:
    """Return the views of all members; one pass over all tokens is many times as fast as one per member."""
    ends = np.cumsum([len(tokens.plain) for tokens in members])[:-1]
    if not members:
        return Views([], [])
    plain, named, sizes = (
        np.concatenate([np.empty(0, np.uint32), *column]) for column in zip(*members, strict=True)
    )
    owner = np.repeat(np.arange(len(members), dtype=np.uint64), [len(tokens.plain) for tokens in members])
    spelled = np.where(_is_outside(plain, named, owner), named, plain)
    is_literal = (plain == NUMBER) & (sizes >= SHORTEST_NUMBER) | (plain == STRING) & (sizes >= SHORTEST_STRING)
    return Views(
        _split(spelled, (plain != BRACES[0]) & (plain != BRACES[1]), ends),
        _split(named, is_literal, ends),
    )


def _is_outside(plain: Symbols, named: Symbols, owner: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which tokens are names that are called, or parts of something, and not declared there."""
    padded = np.concatenate([np.zeros(1, np.uint32), plain, np.zeros(2, np.uint32)])
    before, after, second_after = padded[:-3], padded[2:-1], padded[3:]
    is_name = plain == NAME
    is_part = (before == MEMBERS[0]) | (before == MEMBERS[1])
    is_used = is_name & ((after == CALL) | is_part)
    follows_keyword = (before >= KEYWORDS) & ~np.isin(before, _EXPRESSION_SYMBOLS)
    is_assigned = (after == ASSIGNMENT) & (second_after != ASSIGNMENT) & ~is_part
    is_declared = is_name & ((before == NAME) | (before == ord("*")) | follows_keyword | is_assigned)
    used, declared = np.flatnonzero(is_used), np.flatnonzero(is_declared)
    keys = owner << np.uint64(32) | named
    is_outside = np.zeros(len(plain), bool)
    is_outside[used] = ~np.isin(keys[used], keys[declared])
    return is_outside


def _split(symbols: Symbols, keep: NDArray[np.bool_], ends: NDArray[np.int64]) -> list[Symbols]:
    """Return the kept symbols of each member; each member but the last ends at one of `ends`."""
    kept = np.concatenate([[0], np.cumsum(keep)])
    return np.split(symbols[keep], kept[ends])


def _spelling(word: str) -> int:
    """Return the symbol of a keyword, as the core makes it: FNV-1a, folded to 31 bits."""
    hash_ = 0xCBF29CE484222325
    for byte in word.encode():
        hash_ = (hash_ ^ byte) * 0x100000001B3 % 2**64
    return KEYWORDS | (hash_ ^ hash_ >> 32) & 0xFFFFFFFF


_EXPRESSION_SYMBOLS = np.array([_spelling(word) for word in EXPRESSION_WORDS.split()], np.uint32)
