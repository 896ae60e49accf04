"""Plain text in any encoding -> a Source whose places are bytes of the original."""

from __future__ import annotations

import codecs
from contextlib import suppress
from functools import cache
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from chaffinch import core
from chaffinch.core import Source
from chaffinch.errors import Unreadable
from chaffinch.types import Document

# UTF-32 before UTF-16: its little-endian mark begins with the other's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD = 1 << 12
_SAMPLE = 1 << 16
_REPLACEMENT = 0xFFFD


def first_guess(data: bytes) -> str:
    """The encoding, by the byte order mark or by zero bytes, else UTF-8."""
    if data[:1] in b"\xff\xfe\x00":
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return encoding
    if data.find(b"\0", 0, _HEAD) >= 0 and (encoding := _wide(data[:_SAMPLE])):
        return encoding
    return "utf-8"


def second_guess(data: bytes, declared: str | None = None) -> str:
    """The encoding of what was taken for UTF-8: still that, else what it declares, else the likeliest."""
    characters, invalid = core.count_utf8(data)
    if characters >= 4 * invalid:
        return "utf-8"  # a few bad bytes in good UTF-8 are passed over
    with suppress(LookupError):
        name = codecs.lookup(declared or "").name
        if not name.startswith("utf"):  # which it is not
            return name
    return detect(data)


def detect(data: bytes) -> str:
    """The likeliest encoding of bytes that are not Unicode; any bytes are Latin-1 if nothing fits better."""
    from charset_normalizer import from_bytes  # slow to import, seldom needed

    sample = data[:_SAMPLE]
    if len(data) > _SAMPLE:  # do not cut a character in half
        sample = sample[: max(sample.rfind(b"\n"), sample.rfind(b" "), _SAMPLE // 2)]
    best = from_bytes(sample).best()
    return "latin-1" if best is None or best.encoding in ("ascii", "utf_8") else best.encoding


def _wide(sample: bytes) -> str:
    """UTF-16 without a mark, where the zero bytes are all on one side; else nothing."""
    zero = np.frombuffer(sample[: len(sample) & ~1], np.uint8).reshape(-1, 2) == 0
    left, right = zero.mean(axis=0) if len(zero) else (0, 0)
    if max(left, right) < 0.1 or min(left, right) > 0.05:
        return ""
    return "utf-16-be" if left > right else "utf-16-le"


def source(document: Document, encoding: str) -> Source:
    """The document in this encoding, as the core takes it."""
    if encoding == "utf-8":
        return Source.unicode(document.data, encoding)
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise Unreadable(f"{document.name}: no encoding {encoding!r}; leave it out to detect it") from None
    data = document.data
    if name in ("utf-8", "utf-8-sig"):
        return Source.unicode(data, "utf-8")
    if name in ("utf-16", "utf-32"):  # the byte order is in the mark, or the machine's own
        big = data.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
        return Source.unicode(data, name + ("-be" if big else "-le"))
    if name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        return Source.unicode(data, name)
    table = single_byte_table(name)
    if table is not None:
        return Source.single_byte(data, table)
    try:
        return Source.decoded(*_decode(data, name))
    except (LookupError, UnicodeError) as error:
        raise Unreadable(f"{document.name}: cannot be decoded as {encoding}: {error}") from None


@cache
def single_byte_table(name: str) -> NDArray[np.uint32] | None:
    """The code point of every byte, or None if characters may take several."""
    name = codecs.lookup(name).name
    if name not in ("iso8859-1", "ascii"):
        try:
            module = import_module("encodings." + name.replace("-", "_"))
        except ImportError:
            return None
        if not hasattr(module, "decoding_table"):
            return None
    text = [bytes([byte]).decode(name, "replace") for byte in range(256)]
    return np.array([ord(t) if len(t) == 1 else _REPLACEMENT for t in text], np.uint32)


def _decode(data: bytes, encoding: str) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Code points and their starts. Fast if every character encodes back to bytes that add up to the data."""
    text = data.decode(encoding, "replace")
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds, which = np.unique(codes, return_inverse=True)
    try:
        sizes = np.array([len(chr(code).encode(encoding)) for code in kinds.tolist()], np.uint32)
    except UnicodeError:
        return _decode_bytewise(data, encoding)
    starts = np.zeros(len(codes) + 1, np.uint32)
    np.cumsum(sizes[which], out=starts[1:])
    if starts[-1] != len(data):  # an encoding with states, or several ways to write a character
        return _decode_bytewise(data, encoding)
    return codes, starts


def _decode_bytewise(data: bytes, encoding: str) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    codes: list[int] = []
    starts = [0]
    for i in range(len(data) + 1):
        final = i == len(data)
        found = decoder.decode(b"" if final else data[i : i + 1], final)
        for n, char in enumerate(found):
            codes.append(ord(char))
            # Of several characters that one byte completes, the last is that byte, the first what led to it.
            starts.append(min(i + 1, len(data)) if n == len(found) - 1 else i)
    return np.array(codes, np.uint32), np.array(starts, np.uint32)
