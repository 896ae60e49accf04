"""Programs in any language that Pygments knows -> tokens, numbered as the native lexer numbers its own.

Pygments is an extra: pip install 'chaffinch[languages]'. Its lexers are regular expressions in Python: some
four hundred times slower than the native ones, and nothing here bounds their time on a hostile text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch.languages.language import pygments
from chaffinch.read.encoding import single_byte_table
from chaffinch.types import Stream

# The same numbers as in core/src/read/symbol.rs.
_NAME, _NUMBER, _STRING = 1, 2, 3
_WORD = 1 << 31
_WHOLE = {"name": _NAME, "number": _NUMBER, "string": _STRING}
_PIECES = re.compile(r"\w+|[^\w\s]")


def tokens(data: bytes, encoding: str, name: str) -> Stream:
    """The program's tokens; bytes of what is neither UTF-8 nor a byte a character are those of its UTF-8."""
    text, places = _decoded(data, encoding)
    lexer = _lexer(name)
    ignore_case = bool(getattr(lexer, "flags", 0) & re.IGNORECASE)
    symbols: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    # Lexers that mix languages may give tokens out of order.
    for start, kind, spelling in sorted(lexer.get_tokens_unprocessed(text + "\n"), key=lambda token: token[0]):
        end = min(start + len(spelling), len(text))
        if start < last or start >= end:
            continue
        last = end
        how = _treatment(kind)
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
    return Stream(np.array(symbols, np.uint32), _places(starts, places), _places(ends, places))


@cache
def _treatment(kind: Any) -> str:
    """What becomes of a token of this kind."""
    t = pygments("pygments.token")
    if kind in t.Comment or kind in t.String.Doc or kind in t.Whitespace:
        return "nothing"
    if kind in t.Name:
        return "name"
    if kind in t.Number:
        return "number"
    if kind in t.Literal:
        return "string"
    return "spelling" if kind in t.Keyword or kind in t.Operator or kind in t.Punctuation else "unknown"


def _symbol(piece: str, keyword: bool, ignore_case: bool) -> int:
    """A mark is its code point; a word is a keyword, or in text of no known kind a name."""
    if not (piece[0].isalnum() or piece[0] == "_"):
        return ord(piece)
    if not keyword:
        return _NAME
    return word_hash(piece.lower() if ignore_case else piece)


@cache
def word_hash(word: str) -> int:
    """The symbol of a keyword, as in the core."""
    found = 0xCBF29CE484222325
    for byte in word.encode("utf-8", "surrogateescape"):
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return _WORD | (found ^ found >> 32) & 0xFFFFFFFF


def _decoded(data: bytes, encoding: str) -> tuple[str, NDArray[np.uint32] | None]:
    """The text as Pygments wants it, and the byte of every character where that is not its number."""
    if encoding != "utf-8" and single_byte_table(encoding) is not None:
        return _unix(data.decode(encoding, "replace")), None
    if encoding != "utf-8":
        data = data.decode(encoding, "replace").encode()
    text = data.decode("utf-8", "surrogateescape")  # an invalid byte is a character too
    if len(text) == len(data):
        return _unix(text), None
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.uint32) + (codes >= 0x10000)
    sizes[(codes >= 0xDC80) & (codes <= 0xDCFF)] = 1
    return _unix(text), np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)


def _unix(text: str) -> str:
    """As long as before."""
    return text.replace("\ufeff", " ").replace("\r\n", " \n").replace("\r", "\n")


def _places(offsets: list[int], places: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    found = np.array(offsets, np.int64)
    return found.astype(np.uint32) if places is None else places[found]


@cache
def _lexer(name: str) -> Any:
    return pygments("pygments.lexers").get_lexer_by_name(name)
