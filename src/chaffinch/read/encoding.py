"""Which encoding is a text in, and how does the core read it?"""

from __future__ import annotations

import codecs
import re
from array import array
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from threading import get_ident

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.native.fingerprint import Source, count_utf8
from chaffinch.read.latin_encodings import encoding_of
from chaffinch.types import Document

UTF8 = "utf-8"
# UTF-32 before UTF-16, because its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD_BYTES = 1 << 12
_SAMPLE_BYTES = 1 << 16
_REPLACEMENT = 0xFFFD
NOT_DECODED = "\uffff"  # not a character, so no text contains it
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I)
_MULTIBYTE = re.compile(
    r"utf-(7|8|8-sig|16|32)(-[bl]e)?|gb\w+|big5\w*|cp9(32|49|50)|euc_\w+|iso2022_\w+|shift_jis\w*|johab|hz"
)
_STATEFUL = ("iso2022", "hz", "utf-7")
"""Encodings whose characters have no fixed size alone."""
_MOST_ERRORS = 1000
"""With more of them, a text is read as UTF-8, because it takes long to find the place of each."""
_DOUBLE_BYTE = ("gb18030", "cp932", "euc_jp", "cp949", "big5hkscs")


def known(encoding: str) -> str | None:
    """Return Python's own name of an encoding, or None if it is not one of text that is decoded in linear time.

    Files declare their encodings, and Python takes quadratic time for some, such as Punycode.
    """
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    return name if _MULTIBYTE.fullmatch(name) or single_byte_table(name) is not None else None


def detect(data: bytes, *, is_page: bool = False) -> str:
    """Return the encoding of a text, by all of its bytes. A web page may declare its own."""
    encoding = by_first_bytes(data)
    if encoding != UTF8 or data.isascii():
        return encoding
    characters, invalid = count_utf8(data)
    if not invalid or characters > invalid:
        return UTF8  # a few invalid bytes are ignored
    return (declared_by_page(data) if is_page else None) or _likeliest(data)


def by_first_bytes(data: bytes) -> str:
    """Return the encoding by the byte order mark, by zero bytes or by escapes, else UTF-8."""
    if data[:1] in b"\xff\xfe\x00":
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return encoding
    if data.find(b"\0", 0, _HEAD_BYTES) >= 0 and (encoding := _wide(data[:_HEAD_BYTES])):
        return encoding
    if data.find(b"\x1b", 0, _HEAD_BYTES) >= 0 and b"\x1b$" in data[:_HEAD_BYTES]:
        with suppress(UnicodeError):
            data.decode("iso2022_jp")
            return "iso2022_jp"
    return UTF8


def declared_by_page(data: bytes) -> str | None:
    """Return the encoding that a web page declares, unless it is Unicode, which its bytes would show."""
    declared = _CHARSET.search(data[:_HEAD_BYTES])
    name = known(declared[1].decode("ascii")) if declared and declared[1].isascii() else None
    return None if name is None or name.startswith("utf") else name


def _likeliest(data: bytes) -> str:
    """Return the likeliest encoding of bytes that are not Unicode; Latin-1 if nothing fits better."""
    sample = _sample(data)
    high = np.frombuffer(data[: 1 << 20], np.uint8) >= 0x80
    if 200 * int(high.sum()) < len(high) and not (high[1:] & high[:-1]).any():
        return "cp1252"  # quotation marks and dashes in ASCII: too few to tell a language by
    if (encoding := encoding_of(sample)) is not None:
        return encoding
    from charset_normalizer import from_bytes  # slow to import, seldom needed

    # The end of the sample may split a character of two bytes; then the text is more coherent without it.
    guesses = [from_bytes(sample[: len(sample) - cut]).best() for cut in range(2)]
    # It is not Unicode, which was ruled out above; two ASCII letters may look like a character of UTF-16.
    likely = [g for g in guesses if g is not None and not g.encoding.startswith(("ascii", "utf_"))]
    likely = [g for g in likely if known(g.encoding)]
    if not likely:
        return _with_errors(sample)
    return max(likely, key=lambda guess: (guess.coherence, -guess.chaos)).encoding


def _sample(data: bytes) -> bytes:
    """Return a stretch of the text that begins with the line or word of the first non-ASCII byte."""
    ascii_ = np.frombuffer(data, np.uint8) < 0x80
    first = int(ascii_.argmin()) if len(data) else 0
    start = max(data.rfind(b"\n", 0, first), data.rfind(b" ", 0, first)) + 1
    return data[start : start + _SAMPLE_BYTES]


def _with_errors(sample: bytes) -> str:
    """Return a double-byte encoding with almost no errors, else Latin-1."""
    wrong = {e: sample.decode(e, "replace").count("\ufffd") for e in _DOUBLE_BYTE}
    best = min(wrong, key=lambda encoding: wrong[encoding])
    return best if wrong[best] <= len(sample) // 200 else "latin-1"


def _wide(sample: bytes) -> str:
    """Return UTF-32 or UTF-16 for text without a byte order mark, else an empty string."""
    letters = sample.translate(None, b"\0\t\n\v\f\r")
    if 4 * sample.count(b"\0") < len(sample) and min(letters, default=0) >= 0x20 and is_utf8(sample):
        return ""  # a few zeros between ASCII, where compilers ignore them
    fours = np.frombuffer(sample[: len(sample) & ~3], np.uint8).reshape(-1, 4)
    if len(fours) and fours.any(axis=1).all():
        if not fours[:, 3].any() and (fours[:, 2] <= 0x10).all():
            return "utf-32-le"
        if not fours[:, 0].any() and (fours[:, 1] <= 0x10).all():
            return "utf-32-be"
    zeros = (np.frombuffer(sample[: len(sample) & ~1], np.uint8).reshape(-1, 2) == 0).sum(axis=0)
    left, right = zeros.tolist()
    if 20 * min(left, right) > max(left, right):
        return ""  # zeros on both sides: data, not text
    encoding = "utf-16-be" if left > right else "utf-16-le"
    text = sample[: len(sample) & ~1].decode(encoding, "replace")
    readable = sum(c.isprintable() or c.isspace() for c in text)
    return encoding if readable >= 0.95 * len(text) and "\ufffd" not in text[:-1] else ""


def is_utf8(sample: bytes) -> bool:
    """Return whether the start of a text is UTF-8; its last character may be cut off."""
    with suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder(UTF8)().decode(sample)
        return True
    return False


def source(document: Document) -> Source:
    """Return plain text as the core reads it; offsets count the document's bytes."""
    data, encoding = document.data, document.encoding
    if encoding == UTF8:
        return Source.unicode(data, encoding)
    name = _known(document.name, encoding).removesuffix("-sig")
    if name in ("utf-16", "utf-32"):  # the byte order is in the mark; without one, little-endian is usual
        name += "-be" if data.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)) else "-le"
    if name.startswith(("utf-8", "utf-16", "utf-32")):
        return Source.unicode(data, name)
    if (table := single_byte_table(name)) is not None:
        return Source.single_byte(data, table)
    try:
        return Source.decoded(*decode_with_offsets(data, name))
    except (LookupError, UnicodeError) as error:
        detail = f"cannot be decoded as {encoding}: {error}"
        raise Unreadable(document.name, SkipReason.DAMAGED, detail) from None


def is_read_in_place(data: bytes, encoding: str, format: str, *, is_program: bool) -> bool:
    """Return whether the core reads text in this encoding and format without a copy in UTF-8."""
    if encoding == UTF8:
        return True
    if format in ("tex", "markdown"):
        return is_program
    if single_byte_table(encoding) is not None:
        return True
    if encoding.startswith(("utf-16", "utf-32")):
        return not is_program and format != "html"
    # The lexer reads every encoding that contains ASCII.
    return format != "html" and _has_sizes(data, encoding)


def _has_sizes(data: bytes, encoding: str) -> bool:
    """Return whether encoding each character again shows how many bytes it had. Otherwise offsets are slow."""
    name = known(encoding)
    if name is None or name.startswith(_STATEFUL):
        return False
    try:
        text, error_sizes = _decode_noting_errors(data, name, _MOST_ERRORS)
        return len(text.replace(NOT_DECODED, "").encode(name)) + sum(error_sizes) == len(data)
    except UnicodeError:
        return False


def to_utf8(name: str, data: bytes, encoding: str) -> bytes:
    """Return a text in UTF-8."""
    if encoding == UTF8:
        return data
    return decode(data, _known(name, encoding)).encode()


def decode(data: bytes, encoding: str) -> str:
    """Return a text, with replacement characters for errors. With a table, errors cost no more time."""
    if (table := single_byte_table(encoding)) is None:
        return data.decode(encoding, "replace")
    return table[np.frombuffer(data, np.uint8)].astype("<u4").tobytes().decode("utf-32-le")


def _known(name: str, encoding: str) -> str:
    """Return Python's own name of an encoding, or raise an error."""
    own_name = known(encoding)
    if own_name is None:
        detail = f"there is no encoding {encoding!r}; leave it out to have it detected"
        raise Unreadable(name, SkipReason.INVALID, detail)
    return own_name


@cache
def single_byte_table(encoding: str) -> NDArray[np.uint32] | None:
    """Return the code point of every byte, or None unless every character of the encoding is one byte."""
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    if name not in ("iso8859-1", "ascii"):
        module_name = "encodings." + name.replace("-", "_")
        if not find_spec(module_name) or not hasattr(import_module(module_name), "decoding_table"):
            return None
    text = [bytes([byte]).decode(name, "replace") for byte in range(256)]
    return np.array([ord(t) if len(t) == 1 else _REPLACEMENT for t in text], np.uint32)


def decode_with_offsets(data: bytes, encoding: str) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return code points and where they start, from the size of every encoded character and of every error."""
    if encoding.startswith(_STATEFUL):
        return _decode_bytewise(data, encoding)
    text, error_sizes = _decode_noting_errors(data, encoding, len(data))
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    distinct, which = np.unique(codes, return_inverse=True)
    sizes = np.array([len(chr(c).encode(encoding, "replace")) for c in distinct.tolist()], np.uint32)[which]
    wrong = codes == ord(NOT_DECODED)
    if int(wrong.sum()) == len(error_sizes):
        sizes[wrong] = error_sizes
    starts = np.zeros(len(codes) + 1, np.uint32)
    np.cumsum(sizes, out=starts[1:])
    if starts[-1] != len(data):  # some character can be encoded in several ways
        return _decode_bytewise(data, encoding)
    return codes, starts


def _decode_noting_errors(data: bytes, encoding: str, most: int) -> tuple[str, list[int]]:
    """Return the text and the size of each error in it; raise an error if there are more than `most`."""
    sizes: list[int] = []

    def note(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError) or len(sizes) >= most:
            raise error
        sizes.append(error.end - error.start)
        return NOT_DECODED, error.end

    handler = f"chaffinch-note-{get_ident()}"  # handlers are global, and threads read at the same time
    codecs.register_error(handler, note)
    return data.decode(encoding, handler), sizes


def _decode_bytewise(data: bytes, encoding: str) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    codes, starts = array("I"), array("I", [0])
    for i in range(len(data) + 1):
        final = i == len(data)
        completed = decoder.decode(b"" if final else data[i : i + 1], final)
        for n, char in enumerate(completed):
            codes.append(ord(char))
            # If one byte completes several characters, the last of them is that byte.
            starts.append(min(i + 1, len(data)) if n == len(completed) - 1 else i)
    return np.array(codes, np.uint32), np.array(starts, np.uint32)
