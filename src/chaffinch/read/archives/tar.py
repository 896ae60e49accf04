"""Archives -> their members, without writing any of them to disk.

A member's name is the archive's with the member's path behind it. Members come in order of their paths. What
cannot be read is told, and the others are read.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, NamedTuple, cast

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.read.archives import members as listing
from chaffinch.read.archives import sevenzip
from chaffinch.read.archives import zip as zips
from chaffinch.read.archives.members import Entry, Listing
from chaffinch.read.budget import MAX_MEMBER, Budget, too_large
from chaffinch.types import File, Skipped

_DAMAGE = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError)
_ENDINGS = re.compile(r"\.(?:gz|bz2|xz|z|tgz|tbz2?|txz)$", re.I)
_BLOCK = tarfile.BLOCKSIZE
_IN_MEMORY = 64 << 20
_MAX_HEADER = 1 << 20
"""No name or table of attributes in a TAR is longer."""


def members(file: File, budget: Budget) -> Iterator[File | Skipped]:
    """The files in an archive, which may be archives again.

    The budget is what this archive may spend: `outer.within(file.name, len(file.data))`.
    """
    with ExitStack() as open_files:
        try:
            found = _listing(file, budget, open_files)
            is_empty = True
            for member in listing.members(file.name, found, budget):
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
    """A single file, or a TAR, which is unpacked up to where it is damaged."""
    packed = _opened(file)
    unpacked = cast(BinaryIO, open_files.enter_context(SpooledTemporaryFile(_IN_MEMORY)))  # noqa: SIM115
    broken: Problem | None = None
    size, most = 0, budget.most(len(file.data))
    try:
        # read1 gives what came before damage, where read would lose it.
        while part := packed.read1(1 << 18):
            size += unpacked.write(part)
            if size > most:
                broken = too_large(most)
                break
    except _DAMAGE:
        broken = Problem(SkipReason.DAMAGED, "is cut off or damaged; the rest of it was not read")
    except MemoryError:
        broken = Problem(SkipReason.TOO_LARGE, "needs more memory than there is; unpack it yourself")
    budget.spend(size)  # so that what is taken from it costs nothing more
    unpacked.seek(0)
    if _header(unpacked.read(_BLOCK)):
        return _tar(unpacked, broken, budget, file.name)

    def read(_: int, name: str) -> bytes:
        if broken:
            raise Unreadable(name, *broken)
        if size > MAX_MEMBER:
            raise Unreadable(name, SkipReason.TOO_LARGE, f"is larger than {MAX_MEMBER >> 20} MB; split it")
        unpacked.seek(0)
        return unpacked.read()

    name = _ENDINGS.sub("", PurePosixPath(file.name.replace("\\", "/")).name)
    return Listing([Entry(name)], read)


def _opened(file: File) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    data = io.BytesIO(file.data)
    if file.format == "bzip2":
        return bz2.open(data)
    return lzma.open(data) if file.format == "xz" else gzip.open(data)


class _Place(NamedTuple):
    start: int
    size: int


def _tar(file: BinaryIO, broken: Problem | None, budget: Budget, archive: str) -> Listing:
    """All headers of a TAR; written out here since Python's reader hangs on some that are made to harm."""
    entries: list[Entry] = []
    places: list[_Place] = []
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
        if header is None:  # on to the next that is whole
            broken = broken or Problem(
                SkipReason.DAMAGED, "is damaged; only what could be found in it was read"
            )
            extended = {}
            continue
        if header.type in _EXTENSIONS:
            extended |= _extension(header, file.read(min(header.size, _MAX_HEADER)))
            position += _blocks(header.size)
            continue
        if header.type == tarfile.GNUTYPE_SPARSE:
            position += _sparse_tables(block, file)
        size = _number(extended.get("size")) or header.size
        has_data = header.isreg() or header.type not in tarfile.SUPPORTED_TYPES
        start, position = position, position + (_blocks(size) if has_data else 0)
        if not header.isdir() and header.type != tarfile.XGLTYPE:
            if len(entries) > budget.files:
                raise Unreadable(
                    archive,
                    SkipReason.TOO_LARGE,
                    "more files in one archive than are ever read; unpack it yourself",
                )
            entries.append(
                Entry(extended.get("path", header.name), _problem(header, extended, start + size > end))
            )
            places.append(_Place(start, size))
        extended = {}

    def read(number: int, name: str) -> bytes:
        place = places[number]
        if place.size > MAX_MEMBER:
            raise Unreadable(name, SkipReason.TOO_LARGE, f"is larger than {MAX_MEMBER >> 20} MB; split it")
        file.seek(place.start)
        return file.read(place.size)

    return Listing(entries, read, broken)


_EXTENSIONS = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
"""What the next header has no room for."""


def _header(block: bytes) -> tarfile.TarInfo | None:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return None
    return header if header.size >= 0 else None


def _blocks(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _sparse_tables(header: bytes, file: BinaryIO) -> int:
    """The size of the tables between the header of a sparse file and its data."""
    size, more = 0, header[482]
    while more:
        table = file.read(_BLOCK)
        size, more = size + _BLOCK, table[504] if len(table) == _BLOCK else 0
    return size


def _extension(header: tarfile.TarInfo, data: bytes) -> dict[str, str]:
    if header.type == tarfile.GNUTYPE_LONGNAME:
        return {"path": data.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")}
    if header.type == tarfile.GNUTYPE_LONGLINK:
        return {}
    found: dict[str, str] = {}
    position = 0
    while space := data.find(b" ", position, position + 12) + 1:  # each record begins with its length
        length = _number(data[position : space - 1].decode("ascii", "replace"))
        key, equals, value = data[space : position + length].removesuffix(b"\n").partition(b"=")
        if not equals:
            break
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        position += length
    return found


def _number(digits: str | None) -> int:
    return int(digits) if digits and digits.isascii() and digits.isdigit() and len(digits) < 16 else 0


def _problem(header: tarfile.TarInfo, extended: dict[str, str], cut_off: bool) -> Problem | None:
    if header.issym() or header.islnk():
        return Problem(SkipReason.EXCLUDED, "a link, not a file")
    if header.isdev():
        return Problem(SkipReason.EXCLUDED, "a pipe or device, not a file")
    if header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse") for key in extended):
        return Problem(SkipReason.NEEDS_PROGRAM, "a sparse file; unpack it yourself")
    return Problem(SkipReason.DAMAGED, "is cut off") if cut_off else None
