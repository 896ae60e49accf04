"""Documents that are ZIP files of XML files: how to get at these, whoever made them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from io import BytesIO
from lzma import LZMAError
from struct import error as StructError  # noqa: N812
from typing import BinaryIO, cast
from xml.parsers import expat
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.budget import MAX_MEMBER, MAX_RATIO, RATIO_FREE, Budget
from chaffinch.types import File

_MAX_FILES = 100_000
_MAX_NAMESPACE = 1000  # every element's name is given with all of its namespace
BAD_ZIP = (BadZipFile, zlib.error, LZMAError, StructError, EOFError, OSError, RuntimeError, ValueError)
_BAD_XML = (expat.ExpatError, LookupError, ValueError)

Attributes = dict[str, str]
Unpack = Callable[[str], bytes | None]
"""The content of the file at a path in the ZIP; None if there is none."""


def open_zip(data: bytes) -> tuple[ZipFile, dict[str, ZipInfo]]:
    """A ZIP and what is in it, by path; careless programs mix case and slashes."""
    if data.count(b"PK\x01\x02") > _MAX_FILES:
        raise BadZipFile(f"more than {_MAX_FILES:,} files")
    archive = ZipFile(BytesIO(data))
    return archive, {info.filename.replace("\\", "/").lower(): info for info in archive.infolist()}


def unpacker(file: File) -> Unpack:
    """Gets at the files in a file, within what unpacking may cost."""
    name, size = file.name, len(file.data)
    budget = Budget(min(MAX_MEMBER, RATIO_FREE + MAX_RATIO * size))
    try:
        archive, files = open_zip(file.data)
    except BAD_ZIP as error:
        raise Unreadable(name, SkipReason.DAMAGED, f"is damaged ({error}); save it again") from None

    def unpack(path: str) -> bytes | None:
        info = files.get(path.lower())
        if info is None:
            return None
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # the others unpack without a bound
            raise Unreadable(
                name, SkipReason.DAMAGED, f"{path} in it is packed as no document is; save it again"
            )
        if info.flag_bits & 1:
            raise Unreadable(name, SkipReason.PROTECTED, "is protected by a password; save it without one")
        try:
            with archive.open(info) as file:
                return budget.unpack(cast(BinaryIO, file), f"{name}/{path}", min(info.compress_size, size))
        except BAD_ZIP as error:
            raise Unreadable(
                name, SkipReason.DAMAGED, f"{path} in it is damaged ({error}); save it again"
            ) from None

    return unpack


def parse(
    name: str,
    xml: bytes,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Calls back for every element ("namespace name") and text of an XML file."""

    def refuse(*_: object) -> None:
        raise Unreadable(
            name,
            SkipReason.DAMAGED,
            "its XML defines abbreviations, as bombs do and documents do not; save it again",
        )

    def check(_: str | None, namespace: str | None) -> None:
        if namespace and len(namespace) > _MAX_NAMESPACE:
            refuse()

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.EntityDeclHandler = refuse
    parser.StartNamespaceDeclHandler = check
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    try:
        parser.Parse(xml, True)
    except _BAD_XML as error:
        raise Unreadable(name, SkipReason.DAMAGED, f"its XML is damaged ({error}); save it again") from None


def elements(name: str, xml: bytes | None) -> list[tuple[str, Attributes]]:
    """The elements of a short XML file, without their namespaces."""
    found: list[tuple[str, Attributes]] = []
    if xml:
        parse(name, xml, lambda element, attributes: found.append((element.split(" ")[-1], attributes)))
    return found


def attribute(attributes: Attributes, wanted: str) -> str | None:
    """An attribute, whatever its namespace."""
    return next((value for name, value in attributes.items() if name.split(" ")[-1] == wanted), None)
