"""Archives of every format -> their members, without writing any of them to disk under its name.

A member's name is the archive's name and the member's path. Members come in order of their paths. A member that
cannot be read is skipped, and the others are read.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.read import budget as limits
from chaffinch.read.archives import members as listing
from chaffinch.read.archives import sevenzip
from chaffinch.read.archives import zip as zips
from chaffinch.read.archives.members import LINK, PARTLY_READ, Entry, Listing
from chaffinch.read.budget import MAX_MEMBER, MEMBER_TOO_LARGE, Budget
from chaffinch.read.rules import DEFAULT, Rules
from chaffinch.types import File, Skipped

_DAMAGE = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError)
_ENDINGS = re.compile(r"\.(?:gz|bz2|xz|z|tgz|tbz2?|txz)$", re.I)
_STARTS: dict[str | None, bytes] = {"gzip": b"\x1f\x8b\x08", "bzip2": b"BZh", "xz": b"\xfd7zXZ\0"}
_MAX_STREAMS = 100_000
"""Parts of a compressed file that are unpacked one after another. Real files have one for each 64 KB."""
_TOO_MANY_STREAMS = Problem(SkipReason.TOO_LARGE, f"has more than {_MAX_STREAMS:,} parts; unpack it yourself")
_BLOCK = tarfile.BLOCKSIZE
_BYTES_IN_MEMORY = 64 << 20
_MAX_EXTENSION = 1 << 20
"""Bytes. Names and tables of attributes in a TAR are shorter."""
_EXTENSIONS = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
"""Types of headers that hold what does not fit into the next header."""


def members(file: File, budget: Budget, rules: Rules = DEFAULT) -> Iterator[File | Skipped]:
    """Yield the files in an archive, some of which may be archives too.

    The budget is what this archive may spend: `outer.within(file.name, len(file.data))`.
    """
    with ExitStack() as open_files:
        try:
            is_empty = True
            for member in listing.members(file.name, _listing(file, budget, open_files), budget, rules):
                is_empty = False
                yield member
            if is_empty:
                yield Skipped(file.name, SkipReason.EMPTY, "an empty archive")
        except Unreadable as error:
            yield Skipped.because(error, file.name)


def _listing(file: File, budget: Budget, open_files: ExitStack) -> Listing:
    match file.format:
        case "zip":
            return zips.listing(file, budget)
        case "7z":
            return sevenzip.listing(file, budget, open_files)
        case "tar":
            return _tar(io.BytesIO(file.data), None, budget, file.name)
        case _:
            return _compressed(file, budget, open_files)


def _compressed(file: File, budget: Budget, open_files: ExitStack) -> Listing:
    """Return the only file in a compressed file, or the members of a TAR in it up to where it is damaged."""
    openers: dict[str | None, Callable[[BinaryIO], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]]
    openers = {"bzip2": bz2.BZ2File, "xz": lzma.LZMAFile, "gzip": lambda data: gzip.GzipFile(fileobj=data)}
    if file.data.count(_STARTS[file.format]) > _MAX_STREAMS:
        raise Unreadable(file.name, *_TOO_MANY_STREAMS)
    packed = openers[file.format](io.BytesIO(file.data))
    unpacked = cast(BinaryIO, open_files.enter_context(SpooledTemporaryFile(_BYTES_IN_MEMORY)))  # noqa: SIM115
    broken: Problem | None = None
    size, limit = 0, budget.limit(len(file.data))
    try:
        # read1 returns the bytes before the damage; read would lose them.
        while part := packed.read1(1 << 18):
            size += unpacked.write(part)
            if size > limit:
                broken = limits.too_large(limit)
                break
    except _DAMAGE:
        broken = PARTLY_READ
    except MemoryError:
        broken = limits.OUT_OF_MEMORY
    budget.spend(size)  # once for all members
    unpacked.seek(0)
    if _header(unpacked.read(_BLOCK)):
        return _tar(unpacked, broken, budget, file.name)

    def read(_: int, name: str) -> bytes:
        if broken or size > MAX_MEMBER:
            raise Unreadable(name, *(broken or MEMBER_TOO_LARGE))
        unpacked.seek(0)
        return unpacked.read()

    name = _ENDINGS.sub("", PurePosixPath(file.name.replace("\\", "/")).name)
    return Listing([Entry(name)], read)


def _tar(file: BinaryIO, broken: Problem | None, budget: Budget, archive: str) -> Listing:
    """Read all headers of a TAR. Python's own reader hangs on some hostile archives."""
    entries: list[Entry] = []
    ranges: list[tuple[int, int]] = []  # start and size of each entry
    end = file.seek(0, io.SEEK_END)
    position = 0
    extended: dict[str, str] = {}
    while position < end:
        file.seek(position)
        block = file.read(_BLOCK)
        if not block.strip(b"\0"):
            break
        position += _BLOCK
        header = _header(block)
        if header is None:  # look for the next one that is whole
            broken, extended = broken or PARTLY_READ, {}
            continue
        if header.type in _EXTENSIONS:
            extended |= _extension(header, file.read(min(header.size, _MAX_EXTENSION)))
            position += _padded(header.size)
            continue
        if header.type == tarfile.GNUTYPE_SPARSE:
            position += _sparse_tables(block, file)
        size = _number(extended.get("size")) or header.size
        has_data = header.isreg() or header.type not in tarfile.SUPPORTED_TYPES
        start, position = position, position + (_padded(size) if has_data else 0)
        if not header.isdir() and header.type != tarfile.XGLTYPE:
            if len(entries) > budget.files:
                raise Unreadable(archive, *limits.TOO_MANY_FILES)
            problem = _problem(header, extended, start + size > end)
            entries.append(Entry(extended.get("path", header.name), problem))
            ranges.append((start, size))
        extended = {}

    def read(number: int, name: str) -> bytes:
        start, size = ranges[number]
        if size > MAX_MEMBER:
            raise Unreadable(name, *MEMBER_TOO_LARGE)
        file.seek(start)
        return file.read(size)

    return Listing(entries, read, broken)


def _header(block: bytes) -> tarfile.TarInfo | None:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return None
    return header if header.size >= 0 else None


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _sparse_tables(header: bytes, file: BinaryIO) -> int:
    """Return the size of the tables between the header of a sparse file and its data."""
    size, more = 0, header[482]
    while more:
        table = file.read(_BLOCK)
        size, more = size + _BLOCK, table[504] if len(table) == _BLOCK else 0
    return size


def _extension(header: tarfile.TarInfo, data: bytes) -> dict[str, str]:
    """Return the fields for the next header."""
    if header.type == tarfile.GNUTYPE_LONGNAME:
        return {"path": data.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")}
    if header.type == tarfile.GNUTYPE_LONGLINK:
        return {}
    fields: dict[str, str] = {}
    position = 0
    while space := data.find(b" ", position, position + 12) + 1:  # each record begins with its length
        length = _number(data[position : space - 1].decode("ascii", "replace"))
        key, equals, value = data[space : position + length].removesuffix(b"\n").partition(b"=")
        if not equals:
            break
        fields[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        position += length
    return fields


def _number(digits: str | None) -> int:
    return int(digits) if digits and digits.isascii() and digits.isdigit() and len(digits) < 16 else 0


def _problem(header: tarfile.TarInfo, extended: dict[str, str], cut_off: bool) -> Problem | None:
    if header.issym() or header.islnk():
        return LINK
    if header.isdev():
        return Problem(SkipReason.EXCLUDED, "a pipe or device, not a file")
    if header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse") for key in extended):
        return Problem(SkipReason.NEEDS_PROGRAM, "a sparse file; unpack it yourself")
    return Problem(SkipReason.DAMAGED, "is cut off") if cut_off else None
