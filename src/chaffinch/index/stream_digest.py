"""Hashes of canonical streams: they show whether documents are identical where no text is stored."""

from __future__ import annotations

from collections.abc import Sequence

from chaffinch import fingerprinting
from chaffinch.languages.language import OTHER
from chaffinch.native.fingerprint import Source
from chaffinch.native.fingerprint import stream_digests as native_digests
from chaffinch.read.for_recipe import native_source
from chaffinch.recipe import Recipe
from chaffinch.types import Document

_IN_ORDER, _IN_ANY_ORDER = 5, 3
"""Bytes of each hash. They are compared only where nearly all fingerprints agree too."""


def stream_digests(documents: Sequence[Document], recipe: Recipe, threads: int | None = None) -> list[bytes]:
    """Return, for each document, a hash of its symbols in their order, and one of them in any order."""
    if recipe.front.startswith(OTHER):
        sources = [Source.canonical(s.symbols) for s in fingerprinting.streams(documents, recipe)]
    else:
        sources = [native_source(document, recipe) for document in documents]
    pairs = zip(*(column.tolist() for column in native_digests(sources, recipe, threads=threads)), strict=True)
    return [
        _top_bytes(in_order, _IN_ORDER) + _top_bytes(any_order, _IN_ANY_ORDER) for in_order, any_order in pairs
    ]


def have_same_symbols(digest: bytes, other: bytes) -> bool:
    """Return whether two streams have the same symbols, as often, in whatever order."""
    return digest[_IN_ORDER:] == other[_IN_ORDER:]


def _top_bytes(number: int, count: int) -> bytes:
    return number.to_bytes(8, "big")[:count]
