"""Write documents of Word 97: an OLE file with the text in one stream and a table of its pieces in another."""

from __future__ import annotations

import struct

SECTOR = 512
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_TEXT_START = 1024
_IDENT, _WORD_97, _ENCRYPTED, _TABLE_1, _WIDE = 0xA5EC, 193, 0x100, 0x200, 0x1000


def doc(paragraphs: list[str], *, is_encrypted: bool = False) -> bytes:
    """Return a document with these paragraphs."""
    text = "".join(f"{paragraph}\r" for paragraph in paragraphs)
    stored = text.encode("utf-16-le")
    pieces = struct.pack("<2I HIH", 0, len(text), 0, _TEXT_START, 0)
    table = struct.pack("<BI", 2, len(pieces)) + pieces
    styles = _styles()
    head = bytearray(_TEXT_START)
    flags = _TABLE_1 | _WIDE | (_ENCRYPTED if is_encrypted else 0)
    struct.pack_into("<HH", head, 0, _IDENT, _WORD_97)
    struct.pack_into("<H", head, 0x0A, flags)
    struct.pack_into("<H", head, 0x0C, _WORD_97 - 2)  # the oldest version that can read it
    struct.pack_into("<II", head, 0x18, _TEXT_START, _TEXT_START + len(stored))
    struct.pack_into("<H", head, 0x20, 14)
    struct.pack_into("<H", head, 0x3E, 22)
    struct.pack_into("<I", head, 0x4C, len(text))
    struct.pack_into("<H", head, 0x98, 93)
    struct.pack_into("<II", head, 0xA2, len(table), len(styles))
    struct.pack_into("<II", head, 0x1A2, 0, len(table))
    whole = bytes(head) + stored
    padded = whole.ljust(-(-len(whole) // SECTOR) * SECTOR, b"\0")  # as Word does, and catdoc expects
    return _ole({"WordDocument": padded, "1Table": table + styles})


def _styles() -> bytes:
    """Return a sheet of one style. Without any, antiword reads memory that it did not write."""
    name = "Normal".encode("utf-16-le")
    style = struct.pack("<6H", 0, 0xFFF1, 2, 0, 0, len(name) // 2) + name + struct.pack("<4H", 0, 2, 0, 0)
    return struct.pack("<10H", 18, 1, 10, 1, 91, 15, 0, 0, 0, 0) + struct.pack("<H", len(style)) + style


def _ole(streams: dict[str, bytes]) -> bytes:
    """Return an OLE file; short streams are padded so that all are stored in ordinary sectors."""
    sectors: list[bytes] = []
    links: list[int] = []
    entries = [_entry("Root Entry", 5, child=1, start=_END, size=0)]
    for number, (name, data) in enumerate(streams.items(), 1):
        data = data.ljust(4096, b"\0")
        follows = number + 1 if number < len(streams) else _FREE
        entries.append(_entry(name, 2, right=follows, start=len(sectors), size=len(data)))
        _store(data, sectors, links)
    directory = len(sectors)
    _store(b"".join(entries).ljust(SECTOR, b"\0"), sectors, links)
    fat_start = len(sectors)
    count = 1
    while 4 * (fat_start + count) > count * SECTOR:
        count += 1
    table = struct.pack(f"<{fat_start + count}I", *links, *[_FAT] * count)
    fat = table + b"\xff" * (count * SECTOR - len(table))
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16)
    header += struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, count, directory, 0, 4096, _END, 0, _END, 0)
    header += struct.pack("<109I", *range(fat_start, fat_start + count), *[_FREE] * (109 - count))
    return header + b"".join(sectors) + fat


def _store(data: bytes, sectors: list[bytes], links: list[int]) -> None:
    """Add a stream: its sectors, and for each the number of the next."""
    count = -(-len(data) // SECTOR)
    first = len(sectors)
    sectors += [data[SECTOR * i : SECTOR * (i + 1)].ljust(SECTOR, b"\0") for i in range(count)]
    links += [*range(first + 1, first + count), _END]


def _entry(name: str, kind: int, *, start: int, size: int, right: int = _FREE, child: int = _FREE) -> bytes:
    written = (name + "\0").encode("utf-16-le")
    links = struct.pack("<HBB3I", len(written), kind, 1, _FREE, right, child)
    return written.ljust(64, b"\0") + links + bytes(36) + struct.pack("<III", start, size, 0)
