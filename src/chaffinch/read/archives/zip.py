"""ZIP archives -> the files in them. Reads damaged archives, and refuses zip bombs whose entries overlap."""

from __future__ import annotations

import bz2
import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.read.archives.members import DAMAGED, ENCRYPTED, LINK, PARTLY_READ, Entry, Listing
from chaffinch.read.budget import TOO_MANY_FILES, Budget
from chaffinch.types import File

_LOCAL = struct.Struct("<4s5H3I2H")
_SIGNATURE, _DESCRIPTOR, _CENTRAL = b"PK\x03\x04", b"PK\x07\x08", b"PK\x01\x02"
_ENCRYPTED, _SIZES_FOLLOW, _HAS_END_MARK, _UTF8 = 0x1, 0x8, 0x2, 0x800
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_OVERLAPS = Problem(SkipReason.EXCLUDED, "shares its bytes with other members, as in a zip bomb")
_DECODER_BYTES = 256 << 20
"""Memory that a decoder may use; the largest dictionary that programs offer has 64 MB."""
_DAMAGE = (zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, struct.error)


def listing(file: File, budget: Budget) -> Listing:
    """Return the entries of a ZIP by its directory, or by the header before each if it has no directory."""
    data = file.data
    if max(data.count(_CENTRAL), data.count(_SIGNATURE)) > budget.files:
        raise Unreadable(file.name, *TOO_MANY_FILES)
    broken: Problem | None = None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, *_DAMAGE):
        infos, broken = list(_salvage(data)), PARTLY_READ
    infos = [info for info in infos if not info.filename.endswith(("/", "\\"))]
    overlapping = _overlapping(infos)
    entries = [Entry(_path(info), _problem(info, i in overlapping)) for i, info in enumerate(infos)]

    def read(number: int, name: str) -> bytes:
        info = infos[number]
        budget.check(name, info.file_size, info.compress_size)
        try:
            unpacked = _unpack(data, info)
        except _DAMAGE:
            raise Unreadable(name, *DAMAGED) from None
        budget.spend(len(unpacked))
        if len(unpacked) != info.file_size or zlib.crc32(unpacked) != info.CRC:
            raise Unreadable(name, *DAMAGED)
        return unpacked

    return Listing(entries, read, broken)


def _path(info: zipfile.ZipInfo) -> str:
    """Return a member's name; some programs write UTF-8 without saying so."""
    if info.flag_bits & _UTF8 or info.filename.isascii():
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _problem(info: zipfile.ZipInfo, overlaps: bool) -> Problem | None:
    if info.flag_bits & _ENCRYPTED:
        return ENCRYPTED
    if stat.S_ISLNK(info.external_attr >> 16):
        return LINK
    if info.compress_type not in _METHODS:
        detail = f"is packed in a rare way (method {info.compress_type}); unpack it yourself"
        return Problem(SkipReason.NEEDS_PROGRAM, detail)
    return _OVERLAPS if overlaps else None


def _overlapping(infos: Sequence[zipfile.ZipInfo]) -> set[int]:
    """Return the numbers of the entries that reach into the next one."""
    order = sorted(range(len(infos)), key=lambda i: infos[i].header_offset)
    return {
        i
        for i, after in pairwise(order)
        if infos[i].header_offset + _LOCAL.size + infos[i].compress_size > infos[after].header_offset
    }


def _unpack(data: bytes, info: zipfile.ZipInfo) -> bytes:
    """Unpack a member, up to one byte more than the size in its header."""
    signature, *_, name, extra = _LOCAL.unpack_from(data, info.header_offset)
    start = info.header_offset + _LOCAL.size + name + extra
    packed = memoryview(data)[start : start + info.compress_size]
    if signature != _SIGNATURE or len(packed) < info.compress_size:
        raise ValueError
    limit = info.file_size + 1
    match info.compress_type:
        case zipfile.ZIP_STORED:
            return bytes(packed[:limit])
        case zipfile.ZIP_DEFLATED:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, limit)
        case zipfile.ZIP_BZIP2:
            return bz2.BZ2Decompressor().decompress(packed, limit)
        case _:
            # An LZMA file has the unpacked size where the ZIP has two version numbers.
            size = b"\xff" * 8 if info.flag_bits & _HAS_END_MARK else struct.pack("<Q", info.file_size)
            alone = b"".join((packed[4:9], size, packed[9:]))
            return lzma.LZMADecompressor(lzma.FORMAT_ALONE, _DECODER_BYTES).decompress(alone, limit)


def _salvage(data: bytes) -> Iterator[zipfile.ZipInfo]:
    """Yield the entries of a ZIP without a directory by the header before each, in one pass."""
    position = data.find(_SIGNATURE)
    while 0 <= position <= len(data) - _LOCAL.size:
        _, _, flags, method, _, _, crc, packed, size, name, extra = _LOCAL.unpack_from(data, position)
        start = position + _LOCAL.size
        raw = data[start : start + name]
        start += name + extra
        end = start + packed
        if flags & _SIZES_FOLLOW:
            end = data.find(_DESCRIPTOR, start)
            if not 0 <= end <= len(data) - 16:
                return
            crc, packed, size = struct.unpack_from("<3I", data, end + 4)
        info = zipfile.ZipInfo(raw.decode("utf-8" if flags & _UTF8 else "cp437", "replace"))
        info.header_offset, info.flag_bits, info.compress_type = position, flags, method
        info.CRC, info.compress_size, info.file_size = crc, packed, size
        yield info
        position = data.find(_SIGNATURE, end)
