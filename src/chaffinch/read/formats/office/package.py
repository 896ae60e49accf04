"""Documents that are ZIP files of XML files: unpack and parse these, within limits."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from io import BytesIO
from lzma import LZMAError
from struct import error as StructError  # noqa: N812
from typing import BinaryIO, cast
from xml.parsers import expat
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.read.budget import MAX_MEMBER, Budget, keep_time, unpacked_limit
from chaffinch.types import File

_MAX_FILES = 100_000
_XML_BLOCK = 1 << 18
"""Bytes that are parsed before the clock is looked at again."""
_MAX_NAMESPACE = 1000
"""Characters. The parser repeats the namespace in the name of every element."""
PASSWORD = Problem(SkipReason.PROTECTED, "is protected by a password; save it without one")
BAD_ZIP = (BadZipFile, zlib.error, LZMAError, StructError, EOFError, OSError, RuntimeError, ValueError)
_BAD_XML = (expat.ExpatError, LookupError, ValueError)

Attributes = dict[str, str]
Unpack = Callable[[str], bytes | None]
"""Returns the contents of the file at a path in the ZIP, or None if there is none."""


def damaged(name: str, detail: object) -> Unreadable:
    """Return the error for a damaged document."""
    return Unreadable(name, SkipReason.DAMAGED, f"is damaged ({detail}); save it again")


def open_zip(data: bytes) -> tuple[ZipFile, dict[str, ZipInfo]]:
    """Return a ZIP and its entries by path, in lower case with slashes, because some programs mix both."""
    if data.count(b"PK\x01\x02") > _MAX_FILES:
        raise BadZipFile(f"more than {_MAX_FILES:,} files")
    archive = ZipFile(BytesIO(data))
    return archive, {info.filename.replace("\\", "/").lower(): info for info in archive.infolist()}


def unpacker(file: File) -> Unpack:
    """Return a function that unpacks the files in a document, within a budget."""
    name, size = file.name, len(file.data)
    budget = Budget(min(MAX_MEMBER, unpacked_limit(size)))
    try:
        archive, files = open_zip(file.data)
    except BAD_ZIP as error:
        raise damaged(name, error) from None

    def unpack(path: str) -> bytes | None:
        keep_time(name)
        info = files.get(path.lower())
        if info is None:
            return None
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # Python unpacks the others without a limit
            raise damaged(name, f"{path} in it has an unusual compression")
        if info.flag_bits & 1:
            raise Unreadable(name, *PASSWORD)
        try:
            with archive.open(info) as file:
                return budget.unpack(cast(BinaryIO, file), f"{name}/{path}", min(info.compress_size, size))
        except BAD_ZIP as error:
            raise damaged(name, f"{path}: {error}") from None

    return unpack


def parse(
    name: str,
    xml: bytes,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Parse an XML file with callbacks for every element ("namespace name") and text."""

    def refuse(*_: object) -> None:
        raise damaged(name, "its XML defines entities, as bombs do")

    def check(_: str | None, namespace: str | None) -> None:
        if namespace and len(namespace) > _MAX_NAMESPACE:
            raise damaged(name, "its XML has a very long namespace")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.EntityDeclHandler = refuse
    parser.StartNamespaceDeclHandler = check
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    try:
        for position in range(0, len(xml), _XML_BLOCK):
            keep_time(name)
            parser.Parse(xml[position : position + _XML_BLOCK], False)
        parser.Parse(b"", True)
    except _BAD_XML as error:
        raise damaged(name, f"XML: {error}") from None


def elements(name: str, xml: bytes | None) -> list[tuple[str, Attributes]]:
    """Return the elements of a short XML file, without their namespaces."""
    listed: list[tuple[str, Attributes]] = []
    if xml:
        parse(name, xml, lambda element, attributes: listed.append((element.split(" ")[-1], attributes)))
    return listed


def attribute(attributes: Attributes, wanted: str) -> str | None:
    """Return an attribute, whatever its namespace."""
    for name, value in attributes.items():
        if name.rpartition(" ")[2] == wanted:
            return value
    return None
