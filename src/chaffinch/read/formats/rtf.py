"""Rich Text Format (RTF) -> the text of a document. The core parses it; Python knows the encodings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.native.formats import rtf_text
from chaffinch.read.encoding import single_byte_table
from chaffinch.read.formats.extract import MAX_SECTIONS, NO_TEXT
from chaffinch.types import Document, File, Section

_SINGLE_BYTE = {
    **{page: f"cp{page}" for page in (*range(1250, 1259), 437, 850, 852, 855, 857, *range(860, 867), 874)},
    10000: "mac_roman",
    10007: "mac_cyrillic",
}
_DOUBLE_BYTE = {932: "cp932", 936: "gbk", 949: "cp949", 950: "cp950", 1361: "johab"}
"""Code pages with pairs of bytes. Their tables are made only for files that need them."""
_CHARSETS = {128: 932, 129: 949, 130: 1361, 134: 936, 136: 950}
_NUMBERED = re.compile(rb"\\(?:(fcharset)|cpg|ansicpg)([0-9]{1,10})")
_NONE = 2**32 - 1
_NOTE = 2**31


def read(file: File) -> Iterator[Document]:
    """Yield the paragraphs, then the notes, without headers, footers, comments and hidden text."""
    start = file.data[:64].find(b"{\\rtf")
    if start < 0:
        raise Unreadable(file.name, SkipReason.DAMAGED, "does not begin like RTF; save it again")
    text, starts, numbers = rtf_text(file.data, start, _tables(file.data))
    if not text:
        raise Unreadable(file.name, *NO_TEXT)
    labels = map(_label, numbers[:MAX_SECTIONS].tolist())
    sections = tuple(map(Section, starts[:MAX_SECTIONS].tolist(), labels))
    yield Document(file.name, text, "utf-8", "rtf", "text", sections, file.sha256())


def _label(number: int) -> str:
    return f"footnote {number - _NOTE}" if number > _NOTE else f"paragraph {number}"


def _tables(data: bytes) -> dict[int, NDArray[np.uint32]]:
    """Return the tables of all code pages that a file may use."""
    named = {(bool(charset), int(number)) for charset, number in set(_NUMBERED.findall(data))}
    pages = {_CHARSETS.get(number, 0) if is_charset else number for is_charset, number in named}
    return _single_byte_tables() | {
        page: _pairs(_DOUBLE_BYTE[page]) for page in sorted(pages & _DOUBLE_BYTE.keys())
    }


@cache
def _single_byte_tables() -> dict[int, NDArray[np.uint32]]:
    tables = ((page, single_byte_table(encoding)) for page, encoding in _SINGLE_BYTE.items())
    return {page: table for page, table in tables if table is not None}


@cache
def _pairs(encoding: str) -> NDArray[np.uint32]:
    """Return the code points of all bytes and all pairs of bytes."""
    singles = [bytes([first]) for first in range(256)]
    pairs = [bytes([first, second]) for first in range(256) for second in range(256)]
    return np.array([_code_point(each, encoding) for each in singles + pairs], np.uint32)


def _code_point(character: bytes, encoding: str) -> int:
    try:
        text = character.decode(encoding)
    except UnicodeDecodeError:
        return _NONE
    return ord(text) if len(text) == 1 else _NONE
