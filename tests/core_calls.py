"""Right calls of every function of the C interface, with arguments that can be made wrong one by one."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch._native import ffi, lib


@dataclass(frozen=True)
class Misshapen:
    """A column that is not what it says."""

    array: NDArray[Any]
    what: str

    def native(self, memory: Memory) -> tuple[Any, int, int]:
        size, width = self.array.size, self.array.itemsize
        data = memory.place(self.array.tobytes(), shift=self.what == "not aligned")
        return {
            "no column": (ffi.NULL, 0, 0),
            "no pointer": (ffi.NULL, size, width),
            "half as wide": (data, 2 * size, width // 2),
            "twice as wide": (data, size // 2, 2 * width),
            "not aligned": (data, size, width),
            "larger than any memory": (data, 2**63 // width, width),
        }[self.what]


@dataclass
class Structure:
    """A structure, or several of one kind one after another, for a function that takes a pointer to it."""

    kind: str
    rows: list[dict[str, Any]] | None
    """None for a null pointer."""


@dataclass
class Handle:
    """A result of another call that holds an object."""

    make: Callable[[Memory], Any] | None


@dataclass
class Handles:
    """Several of them, for a function that takes a pointer to pointers."""

    all: list[Handle]


class Memory:
    """Where the arguments of a call are. A read behind the end of an array ends the process."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def place(self, data: bytes, shift: int = 0) -> Any:
        """Return a pointer to bytes, `shift` bytes before the end of what can be read."""
        size = -(-(len(data) + shift + 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        area = self.keep(mmap.mmap(-1, size + mmap.PAGESIZE))
        start = size - len(data) - shift
        area[start : start + len(data)] = data
        buffer = self.keep(ffi.from_buffer("uint8_t[]", area))
        libc = ctypes.CDLL(None) if hasattr(mmap, "PROT_READ") else None
        if libc is not None:
            end = int(ffi.cast("uintptr_t", buffer)) + size
            no_access = 0
            assert libc.mprotect(ctypes.c_void_p(end), ctypes.c_size_t(mmap.PAGESIZE), no_access) == 0
        return buffer + start

    def native(self, value: Any) -> Any:
        """Return an argument as cffi takes it."""
        if isinstance(value, np.ndarray):
            return (self.place(value.tobytes()), value.size, value.itemsize)
        if isinstance(value, Misshapen):
            return value.native(self)
        if isinstance(value, Handle):
            return ffi.NULL if value.make is None else self.keep(value.make(self))
        if isinstance(value, Handles):
            return self.keep(ffi.new("ChfResult *[]", [self.native(one) for one in value.all]))
        if isinstance(value, Structure):
            if value.rows is None:
                return ffi.NULL
            rows = [{name: self.native(field) for name, field in row.items()} for row in value.rows]
            size = ffi.sizeof(value.kind)
            native = self.keep(ffi.new(f"{value.kind}[]", rows))
            return ffi.cast(f"{value.kind} *", self.place(bytes(ffi.buffer(native, size * len(rows)))))
        return value


@dataclass
class Call:
    """A call of the function `name`."""

    name: str
    arguments: dict[str, Any]
    free: frozenset[str] = frozenset()
    """The columns of which any length is right."""
    optional: frozenset[str] = frozenset()
    """The columns that may be left out."""

    def run(self) -> tuple[str | None, int, list[bytes]]:
        """Return the error and its cause, or the columns."""
        memory = Memory()
        result = getattr(lib, self.name)(*map(memory.native, self.arguments.values()))
        if isinstance(result, int):
            return None, 0, [bytes([result])]
        try:
            error = ffi.string(result.error).decode() if result.error != ffi.NULL else None
            columns = (result.columns[i] for i in range(result.len))
            found = [bytes(ffi.buffer(c.data, c.len * c.width)) if c.len else b"" for c in columns]
            return error, result.cause, found
        finally:
            lib.chf_free(result)


def _result(name: str, *arguments: Any) -> Callable[[Memory], Any]:
    def make(memory: Memory) -> Any:
        result = getattr(lib, name)(*map(memory.native, arguments))
        assert result.error == ffi.NULL, ffi.string(result.error)
        return ffi.gc(result, lib.chf_free)

    return make


def wide(*values: int) -> NDArray[np.uint64]:
    return np.array(values, np.uint64)


def short(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def text(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _source(data: NDArray[Any], encoding: int, **others: Any) -> dict[str, Any]:
    return {"data": data, "encoding": encoding, **others}


_LATIN = np.arange(256, dtype=np.uint32)
_TABLE = text(b"keyword\x1fif\x1estring\x1f'\x1f'\x1f\\\x1f0\x1f1\x1eline-comment\x1f#")
_LANGUAGE = Handle(_result("chf_language", _TABLE))
_WORDS = b"some words that are long enough, and then some words again: caf\xc3\xa9 1234 # done"
_SYMBOLS = np.arange(300, dtype=np.uint32) % 7
_SOURCES = [
    *(_source(text(_WORDS), encoding) for encoding in range(6)),
    _source(_SYMBOLS, 6),
    _source(_SYMBOLS, 6, table=_SYMBOLS * 2, ends=_SYMBOLS * 2 + 1),
    _source(_SYMBOLS + 97, 7, table=np.arange(301, dtype=np.uint32)),
    _source(text(_WORDS), 8, table=_LATIN),
    _source(text(_WORDS), 9, language=_LANGUAGE),
    _source(text(b"<p>" + _WORDS), 10),
    _source(text(b"<p>" + _WORDS), 10, table=_LATIN),
]
_RECIPE = Structure(
    "ChfRecipe",
    [
        {"scheme": 5, "robust": 1, "form": 0, "k": 5, "w": 4, "window": 4, "r": 2, "p": 3, "skip": 0}
        | {"only_starts": 0, "seed": 7}
    ],
)
_POSTINGS = Structure(
    "ChfPostings",
    [{"queries": short(0, 0, 1, 2), "documents": short(1, 2, 1, 3), "hashes": 3, "boilerplate": short(2, 3)}],
)
_DOCUMENTS = Structure(
    "ChfDocuments",
    [
        {
            "symbols": short(*range(20), *range(5, 25)),
            "symbol_offsets": wide(0, 20, 40),
            "hashes": wide(11, 12, 11, 12),
            "positions": short(6, 12, 1, 7),
            "owners": short(2, 2, 2, 2),
            "hash_offsets": wide(0, 2, 4),
            "kinds": np.zeros(40, np.uint8),
        }
    ],
)
_HASHES = (np.arange(400, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
_COLUMNS = _HASHES, np.arange(400, dtype=np.uint32) % 9, np.arange(400, dtype=np.uint32)


def _segment_bytes(memory: Memory) -> NDArray[np.uint8]:
    built = _result("chf_segment_build", *_COLUMNS, 64, 1)(memory)
    return text(bytes(ffi.buffer(built.columns[0].data, built.columns[0].len)))


_SEGMENT_BYTES = _segment_bytes(Memory())
_SEGMENT = Handle(_result("chf_segment_open", _SEGMENT_BYTES))
_GRAMS = Handle(_result("chf_grams", _SYMBOLS, wide(0, 100, 300), 3, np.ones(3, np.float32), 1))
_SEGMENTS = Handles([_SEGMENT, _SEGMENT])
_MERGE = Handle(lambda memory: _result("chf_merge", _SEGMENTS, 2, short(3), 1)(memory))
_SHARED = {
    "positions": short(0, 6),
    "numbers": short(0, 1),
    "owner_positions": short(0),
    "owners": short(2),
    "queries": short(0, 1),
    "documents": short(8, 8),
    "offsets": short(0, 6),
    "k": 5,
    "gap": 3,
    "guarantee": 8,
}


def other_object(handle: Handle) -> Handle:
    """Return a handle of an object of another kind."""
    return _LANGUAGE if handle is _GRAMS else _GRAMS


def right_calls() -> list[Call]:
    """Return at least one right call of each function that returns a result."""
    calls = [
        Call("chf_best_level", {}),
        Call("chf_language", {"records": _TABLE}, frozenset({"records"})),
        Call("chf_keys", {"symbols": _SYMBOLS, "how": _RECIPE, "level": 2}, frozenset({"symbols"})),
        Call("chf_winnow", {"hashes": _HASHES, "w": 4, "robust": 1}, frozenset({"hashes"})),
        Call("chf_count_utf8", {"data": text(_WORDS)}, frozenset({"data"})),
        Call("chf_page_text", {"data": text(b"<p>" + _WORDS)}, frozenset({"data"})),
        Call("chf_tex_page", {"data": text(b"\\section{" + _WORDS + b"}")}, frozenset({"data"})),
        Call("chf_markdown_page", {"data": text(b"# " + _WORDS)}, frozenset({"data"})),
        Call(
            "chf_rtf_text",
            {"data": text(b"{\\rtf1 " + _WORDS + b"\\par}"), "start": 0}
            | {"pages": short(1252, 256, 437, 256), "tables": np.append(_LATIN, _LATIN)},
            frozenset({"data"}),
        ),
        Call(
            "chf_pairs",
            {"hashes": wide(1, 2, 3, 1, 2), "offsets": wide(0, 3, 5), "old": np.zeros(2, np.uint8)}
            | {"rarity": np.ones(3, np.float32), "min_share": 0.0, "enough": 1.0, "threads": 2},
        ),
        Call(
            "chf_matches",
            {"documents": _DOCUMENTS, "pairs": short(0, 1), "k": 5, "gap": 3, "guarantee": 8, "threads": 2},
            optional=frozenset({"documents.0.kinds"}),
        ),
        Call(
            "chf_grams",
            {"symbols": _SYMBOLS, "offsets": wide(0, 100, 300), "n": 3, "rarity": np.ones(3, np.float32)}
            | {"threads": 2},
        ),
        Call("chf_shares", {"grams": _GRAMS, "pairs": short(0, 1), "threads": 2}),
        Call(
            "chf_segment_build",
            dict(zip(("hashes", "documents", "positions"), _COLUMNS, strict=True)) | {"bits": 64, "threads": 2},
        ),
        Call("chf_segment_open", {"data": _SEGMENT_BYTES}, frozenset({"data"})),
        Call("chf_segment_check", {"segment": _SEGMENT, "threads": 2}),
        Call("chf_segment_scan", {"segment": _SEGMENT, "bucket": 0, "skipped": 0, "limit": 100}),
        Call(
            "chf_lookup",
            {"segments": _SEGMENTS, "len": 2, "hashes": _HASHES, "removed": short(2, 5), "threads": 2},
            frozenset({"hashes", "removed"}),
        ),
        Call("chf_count_owners", {"postings": _POSTINGS}, frozenset({"postings.0.boilerplate"})),
        Call(
            "chf_tally",
            {"postings": _POSTINGS, "weights": np.ones(3), "repeats": short(1, 2, 0)},
            frozenset({"postings.0.boilerplate"}),
        ),
        Call(
            "chf_merge",
            {"segments": _SEGMENTS, "len": 2, "removed": short(2, 5), "threads": 2},
            frozenset({"removed"}),
        ),
        Call("chf_merge_next", {"merge": _MERGE}),
    ]
    for source in _SOURCES:
        documents = Structure("ChfSource", [source, _source(text(b"other"), 1)])
        stands_alone = "table" not in source or source["encoding"] in (8, 10)
        free = frozenset({"documents.0.data"}) if stands_alone else frozenset[str]()
        free |= {"documents.1.data"}
        optional = frozenset({"documents.0.table"} if source["encoding"] == 10 else ())
        calls += [
            Call(
                "chf_fingerprint",
                {"documents": documents, "count": 2, "how": _RECIPE, "threads": 2, "level": 2},
                free,
                optional,
            ),
            Call(
                "chf_streams",
                {"documents": documents, "count": 2, "form": 1, "with_names": 1, "threads": 2, "level": 2},
                free,
                optional,
            ),
            Call(
                "chf_digests",
                {"documents": documents, "count": 2, "form": 1, "threads": 2, "level": 2},
                free,
                optional,
            ),
        ]
    texts = Structure("ChfSource", [_SOURCES[1], _SOURCES[1]])
    for all_grams in (0, 1):
        shared = Structure("ChfShared", [_SHARED | {"all_grams": all_grams}])
        arguments = {"texts": texts, "count": 2, "documents": short(8), "form": 0, "shared": shared}
        free = frozenset({"texts.0.data", "texts.1.data"})
        calls.append(Call("chf_extend_matches", arguments | {"threads": 2, "level": 2}, free))
    return calls
