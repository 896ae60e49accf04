"""Typed wrappers over the native functions that read documents and choose fingerprints.

The environment variable CHAFFINCH_LEVEL (portable, avx2, avx512) limits the instructions that the core uses.
Results do not depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from chaffinch._native import ffi, lib
from chaffinch.errors import BadArgument, BadRecipe
from chaffinch.native.call import call, columns, equally_long, fill, numbers
from chaffinch.recipe import MAX_W, WINDOWED, Recipe
from chaffinch.types import Fingerprints, Stream

LEVELS = ("portable", "avx2", "avx512")

# A symbol has 32 bits. The top two are 00 for bytes, folded code points, punctuation marks and token classes;
# 10 or 11 for keywords and for tokens named by what they say; 01 for nothing that a document contains.
RESERVED: int = lib.RESERVED
"""The first symbol that no document contains: from here on they serve as separators and masks."""
RESERVED_COUNT = 2**30
"""The number of reserved symbols."""

_BYTES, _UTF8, _SYMBOLS, _DECODED, _SINGLE_BYTE, _CODE, _HTML = 0, 1, 6, 7, 8, 9, 10
_UNICODE = {"utf-8": _UTF8, "utf-16-le": 2, "utf-16-be": 3, "utf-32-le": 4, "utf-32-be": 5}
_SCHEMES = {
    name: number
    for number, name in enumerate(
        ("all", "every", "mod-p", "safe-mod-p", "smallest", "winnow", "open-closed", "mod", "rare")
    )
}
FORMS = {"consonants": 1}  # 0 for every other front end


class Language:
    """A programming language in the core."""

    def __init__(self, name: str, table: bytes) -> None:
        self.name = name
        try:
            self.handle = call(lib.chf_language, table)
        except BadArgument as error:
            raise BadArgument(f"the language {name}: {error}") from None


class Source(NamedTuple):
    """A document as the core reads it: bytes or numbers, and how they are encoded."""

    data: bytes | NDArray[np.uint32]
    encoding: int = _BYTES
    table: NDArray[np.uint32] | Language | None = None
    """What the encoding needs: code points, starts or a language."""
    ends: NDArray[np.uint32] | None = None

    @classmethod
    def code(cls, data: bytes, language: Language) -> Source:
        """A program, in an encoding that contains ASCII; a symbol is a token."""
        return cls(data, _CODE, language)

    @classmethod
    def html(cls, data: bytes, code_points: NDArray[np.uint32] | None = None) -> Source:
        """A web page in UTF-8, or in a single-byte encoding with the code point of every byte."""
        return cls(data, _HTML, None if code_points is None else _code_points_of_bytes(code_points))

    @classmethod
    def unicode(cls, data: bytes, encoding: str) -> Source:
        """Bytes in UTF-8, UTF-16 or UTF-32."""
        return cls(data, _UNICODE[encoding])

    @classmethod
    def single_byte(cls, data: bytes, code_points: NDArray[np.uint32]) -> Source:
        """A byte per character, with the code point of every byte."""
        return cls(data, _SINGLE_BYTE, _code_points_of_bytes(code_points))

    @classmethod
    def decoded(cls, code_points: NDArray[np.uint32], starts: NDArray[np.uint32]) -> Source:
        """Code points, the offset of each in the original, and where the last ends."""
        if len(starts) != len(code_points) + 1:
            raise BadArgument("give one start for each code point, and the end of the last")
        codes = numbers(code_points, np.uint32, "code points")
        return cls(codes, _DECODED, numbers(starts, np.uint32, "starts"))

    @classmethod
    def canonical(cls, symbols: NDArray[np.uint32]) -> Source:
        """Symbols that are canonical already; spans count symbols."""
        return cls(numbers(symbols, np.uint32, "symbols"), _SYMBOLS)

    @classmethod
    def stream(cls, stream: Stream) -> Source:
        """A stream that was made before; spans are those of the document that it was made from."""
        symbols, starts, ends = stream.symbols, stream.starts, stream.ends
        equally_long(symbols=symbols, starts=starts, ends=ends)
        first, last = numbers(starts, np.uint32, "starts"), numbers(ends, np.uint32, "ends")
        return cls(numbers(symbols, np.uint32, "symbols"), _SYMBOLS, first, last)


def _code_points_of_bytes(code_points: NDArray[np.uint32]) -> NDArray[np.uint32]:
    if len(code_points) != 256:
        raise BadArgument(f"a single-byte encoding has 256 code points, not {len(code_points)}")
    return numbers(code_points, np.uint32, "code points")


def level() -> int:
    """Return the number of the best level that CHAFFINCH_LEVEL allows."""
    asked = os.environ.get("CHAFFINCH_LEVEL", LEVELS[-1])
    if asked not in LEVELS:
        raise BadRecipe(f"CHAFFINCH_LEVEL is {asked!r}; choose one of {', '.join(LEVELS)}")
    return LEVELS.index(asked)


def levels() -> tuple[str, ...]:
    """Return the levels this machine has, the best last."""
    return LEVELS[: lib.chf_best_level() + 1]


def _native_recipe(recipe: Recipe, window: int | None) -> Any:
    if window is None:
        window = recipe.w
    elif recipe.scheme not in WINDOWED:
        raise BadRecipe(f"the scheme {recipe.scheme!r} has no window to widen; leave the window out")
    elif not recipe.w <= window <= MAX_W:
        raise BadRecipe(f"the window is {window}; give {recipe.w} (the recipe's) to {MAX_W}")
    native = ffi.new("ChfRecipe *")
    native.scheme = _SCHEMES[recipe.scheme]
    native.robust = recipe.ties == "robust"
    native.form = FORMS.get(recipe.front, 0)
    native.k, native.w, native.window = recipe.k, recipe.w, window
    native.r, native.p, native.seed = recipe.inner, recipe.modulus, recipe.seed
    native.skip = recipe.skip
    return native


def native_sources(sources: Sequence[Source]) -> tuple[Any, list[Any]]:
    """Return the sources as the core reads them, and the buffers that must live as long."""
    native = ffi.new("ChfSource[]", len(sources))
    keep: list[Any] = []
    for slot, source in zip(native, sources, strict=True):
        language = source.table if isinstance(source.table, Language) else None
        keep += fill(
            slot,
            data=source.data,
            encoding=source.encoding,
            table=None if language else source.table,
            ends=source.ends,
            language=language and language.handle,
        )
    return native, keep


@dataclass(frozen=True, slots=True, eq=False)
class Batch(Sequence[Fingerprints]):
    """Fingerprints of many documents in one set of columns; document i has offsets[i] to offsets[i + 1]."""

    hashes: NDArray[np.uint64]
    positions: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    offsets: NDArray[np.uint64]
    symbols: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.symbols)

    @overload
    def __getitem__(self, i: int) -> Fingerprints: ...
    @overload
    def __getitem__(self, i: slice) -> list[Fingerprints]: ...
    def __getitem__(self, i: int | slice) -> Fingerprints | list[Fingerprints]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = range(len(self))[i]  # counts from the end, refuses indexes out of range
        part = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return Fingerprints(
            self.hashes[part], self.positions[part], self.starts[part], self.ends[part], int(self.symbols[i])
        )


def threads_available() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_used(threads: int | None) -> int:
    """Return the number of threads asked for, or one for each processor."""
    if threads is not None and (not isinstance(threads, int | np.integer) or threads < 1):
        raise BadRecipe(f"threads is {threads!r}; choose 1 or more, or None for all processors")
    return threads_available() if threads is None else threads


def fingerprint(
    sources: Sequence[Source],
    recipe: Recipe,
    *,
    window: int | None = None,
    threads: int | None = None,
    only_starts: bool = False,
) -> Batch:
    """Return the fingerprints of every document, read on several threads.

    A wider `window` chooses a subset of the recipe's hashes. With `only_starts`, positions and ends are empty.
    """
    native, keep = native_sources(sources)
    how = _native_recipe(recipe, window)
    how.only_starts = only_starts
    result = call(lib.chf_fingerprint, native, len(sources), how, threads_used(threads), level())
    del keep
    hashes, positions, starts, ends, offsets, symbols = columns(result)
    if only_starts:
        positions, ends = positions[:0], ends[:0]  # not every scheme leaves them out
    return Batch(hashes, positions, starts, ends, offsets, symbols)


def stream(source: Source, recipe: Recipe) -> Stream:
    """Return the canonical stream of a document."""
    return streams([source], recipe)[0]


def streams(
    sources: Sequence[Source], recipe: Recipe, *, with_names: bool = False, threads: int | None = None
) -> list[Stream]:
    """Return the canonical stream of each document; `with_names` adds the named symbols of programs."""
    native, keep = native_sources(sources)
    form, count = FORMS.get(recipe.front, 0), threads_used(threads)
    result = call(lib.chf_streams, native, len(sources), form, with_names, count, level())
    del keep
    symbols, starts, ends, lengths, named = columns(result)
    all_streams, end = [], 0
    for source, length in zip(sources, lengths.tolist(), strict=True):
        part = slice(end, end := end + length)
        names = named[part] if with_names and source.encoding == _CODE else None
        all_streams.append(Stream(symbols[part], starts[part], ends[part], names))
    return all_streams


def stream_digests(
    sources: Sequence[Source], recipe: Recipe, *, threads: int | None = None
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return two hashes of each stream: of its symbols in their order, and in any order."""
    native, keep = native_sources(sources)
    form, count = FORMS.get(recipe.front, 0), threads_used(threads)
    result = call(lib.chf_digests, native, len(sources), form, count, level())
    del keep
    in_order, in_any_order = columns(result)
    return in_order, in_any_order


def order_keys(symbols: NDArray[np.uint32], recipe: Recipe) -> NDArray[np.uint32]:
    """Return the key that orders each gram; the smallest of a window is its fingerprint."""
    how = _native_recipe(recipe, None)
    return columns(call(lib.chf_keys, numbers(symbols, np.uint32, "symbols"), how, level()))[0]


def winnow(hashes: NDArray[np.uint64], w: int, ties: str = "rightmost") -> NDArray[np.uint32]:
    """Winnow hashes made elsewhere and return the chosen positions."""
    if w < 1:
        raise BadRecipe(f"w is {w}; give at least 1")
    result = call(lib.chf_winnow, numbers(hashes, np.uint64, "hashes"), w, ties == "robust")
    return columns(result)[0]


def count_utf8(data: bytes) -> tuple[int, int]:
    """Return how many characters of more than one byte are valid UTF-8, and how many bytes are not."""
    characters, invalid = columns(call(lib.chf_count_utf8, data))[0].tolist()
    return characters, invalid


def page_text(page: bytes) -> str:
    """Return what a reader sees of a web page in UTF-8: a line for each block, a tab before each cell."""
    return columns(call(lib.chf_page_text, page))[0].tobytes().decode("utf-8", "replace")
