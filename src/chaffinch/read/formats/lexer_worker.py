"""The process that runs Pygments: programs on standard input, their tokens on standard output.

The symbols are those of the native lexer. A request is the length of a JSON object, the object, which names the
lexer and the encoding, and the program. An answer is four bytes that say whether it went well, and either the
symbols, starts and ends, each as many numbers of 32 bits, or a message.
"""

from __future__ import annotations

import json
import re
import struct
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch.languages.language import pygments
from chaffinch.read.encoding import single_byte_table
from chaffinch.read.worker_process import serve
from chaffinch.types import Stream

LENGTH = struct.Struct("<I")
GOOD, BAD = b"good", b"bad "

# The same numbers as in core/src/read/symbol.rs.
_NAME, _NUMBER, _STRING = 1, 2, 3
_WORD = 1 << 31
_WHOLE = {"name": _NAME, "number": _NUMBER, "string": _STRING}
_PIECES = re.compile(r"\w+|[^\w\s]")


def tokens(data: bytes, encoding: str, name: str) -> Stream:
    """Return the program's tokens. In an encoding of several bytes a character, offsets count its UTF-8."""
    text, offsets = _decoded(data, encoding)
    lexer = _lexer(name)
    ignore_case = bool(getattr(lexer, "flags", 0) & re.IGNORECASE)
    symbols: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    # Lexers that mix languages may yield tokens out of order.
    for start, token_type, spelling in sorted(lexer.get_tokens_unprocessed(text + "\n"), key=itemgetter(0)):
        end = min(start + len(spelling), len(text))
        if start < last or start >= end:
            continue
        last = end
        how = _treatment(token_type)
        if how == "string" and symbols and symbols[-1] == _STRING and ends[-1] == start:
            ends[-1] = end  # quotes, escapes and contents come one by one
        elif how in _WHOLE:
            symbols.append(_WHOLE[how])
            starts.append(start)
            ends.append(end)
        elif how != "nothing":
            for piece in _PIECES.finditer(spelling, 0, end - start):
                symbols.append(_symbol(piece[0], how == "spelling", ignore_case))
                starts.append(start + piece.start())
                ends.append(start + piece.end())
    return Stream(np.array(symbols, np.uint32), _bytes(starts, offsets), _bytes(ends, offsets))


@cache
def _treatment(token: Any) -> str:
    """Return how tokens of this type are read."""
    t = pygments("pygments.token")
    if token in t.Comment or token in t.String.Doc or token in t.Whitespace:
        return "nothing"
    for types, treatment in ((t.Name, "name"), (t.Number, "number"), (t.Literal, "string")):
        if token in types:
            return treatment
    return "spelling" if token in t.Keyword or token in t.Operator or token in t.Punctuation else "unknown"


def _symbol(piece: str, keyword: bool, ignore_case: bool) -> int:
    """Return the symbol of a mark (its code point), a keyword (its hash) or any other word (a name)."""
    if not (piece[0].isalnum() or piece[0] == "_"):
        return ord(piece)
    if not keyword:
        return _NAME
    return word_hash(piece.lower() if ignore_case else piece)


@cache
def word_hash(word: str) -> int:
    """Return the symbol of a keyword, as in the core."""
    value = 0xCBF29CE484222325
    for byte in word.encode("utf-8", "surrogateescape"):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return _WORD | (value ^ value >> 32) & 0xFFFFFFFF


def _decoded(data: bytes, encoding: str) -> tuple[str, NDArray[np.uint32] | None]:
    """Return the text for Pygments, and the offset of every character unless each is one byte."""
    if encoding != "utf-8":
        text = data.decode(encoding, "replace")
        if single_byte_table(encoding) is not None:
            return _unix(text), None
        data = text.encode()
    text = data.decode("utf-8", "surrogateescape")  # an invalid byte is a character too
    if len(text) == len(data):
        return _unix(text), None
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.uint32) + (codes >= 0x10000)
    sizes[(codes >= 0xDC80) & (codes <= 0xDCFF)] = 1
    return _unix(text), np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)


def _unix(text: str) -> str:
    """Return the text with line feeds at the ends of lines, as long as before."""
    return text.replace("\ufeff", " ").replace("\r\n", " \n").replace("\r", "\n")


def _bytes(characters: list[int], offsets: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    """Return the byte offsets of characters."""
    return np.array(characters, np.uint32) if offsets is None else offsets[np.array(characters, np.int64)]


@cache
def _lexer(name: str) -> Any:
    return pygments("pygments.lexers").get_lexer_by_name(name)


def _answer(request: bytes) -> bytes:
    (length,) = LENGTH.unpack_from(request)
    start = LENGTH.size + length
    try:
        stream = tokens(request[start:], **json.loads(request[LENGTH.size : start]))
    except Exception as error:  # whatever a lexer does with a program
        return BAD + f"{type(error).__name__}: {error}".encode("utf-8", "replace")
    return GOOD + b"".join(column.tobytes() for column in (stream.symbols, stream.starts, stream.ends))


if __name__ == "__main__":
    serve(_answer)
