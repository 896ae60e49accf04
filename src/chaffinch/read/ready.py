"""A file as it came -> the documents in it, ready to be compared."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from math import inf

from chaffinch.errors import BadRecipe, SkipReason, Unreadable
from chaffinch.languages import by_content
from chaffinch.languages import language as languages
from chaffinch.read import encoding as encodings
from chaffinch.read.budget import Budget, begin_member, keep_time, seconds_for
from chaffinch.read.detect import ARCHIVES, detect_format
from chaffinch.read.file_kinds import may_hide_program, shows_kind
from chaffinch.read.own_reports import OWN_REPORT, is_own_report
from chaffinch.read.rules import DEFAULT, Rules
from chaffinch.types import Document, File, Skipped

TEXT = "text"
"""The language of everything that is not a program."""

# Formats whose text must be extracted, and the module that does it, imported when needed.
_READERS = {
    "pdf": "pdf", "postscript": "postscript", "rtf": "rtf", "notebook": "notebook",
    "mail": "mail", "mbox": "mail", "docx": "office.office", "odt": "office.office", "epub": "office.office",
    "doc": "office.word97",
}  # fmt: skip
_PAGES = ("pdf", "postscript")
"""Formats whose pages may be pictures."""
_REFUSED = {
    "ole": "an Office file from before 2007, or one with a password; save it as DOCX or PDF without one",
    "office": "a spreadsheet, a presentation or a drawing; save it as PDF",
    "binary": "binary, not text",
}
_FORMATS = sorted({"plain", "html", "tex", "markdown", *ARCHIVES, *_READERS, *_REFUSED})
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_LANGUAGE_HEAD_BYTES = 1 << 14


def ready_documents(
    file: File, budget: Budget | None = None, rules: Rules = DEFAULT
) -> Iterator[Document | Skipped]:
    """Read a file: yield every document in it, and an entry for whatever cannot be read.

    The rules say what to read of an archive.
    """
    if budget is None:
        # Tesseract takes seconds for a page, and has a limit for each.
        budget = Budget(seconds=inf if rules.ocr else seconds_for(len(file.data)))
        return budget.timed(_ready_documents(file, budget, rules))
    return _ready_documents(file, budget, rules)


def _ready_documents(file: File, budget: Budget, rules: Rules) -> Iterator[Document | Skipped]:
    format = file.format or detect_format(file)
    try:
        if format in _REFUSED:
            yield Skipped(file.name, SkipReason.NOT_TEXT, _REFUSED[format])
        elif format in ARCHIVES or format in _READERS:
            yield from _packed_documents(replace(file, format=format), format, budget, rules)
        elif is_own_report(format, file.data):
            yield Skipped(file.name, *OWN_REPORT)
        else:
            yield text_document(file, format)
    except Unreadable as error:
        yield Skipped.because(error, file.name)
    except Exception as error:  # one bad file must not lose the others, whatever it does to its reader
        detail = f"not a {format} file that can be read ({type(error).__name__}: {error})"
        yield Skipped(file.name, SkipReason.DAMAGED, detail)


def _packed_documents(file: File, format: str, budget: Budget, rules: Rules) -> Iterator[Document | Skipped]:
    """Yield the documents in an archive, or those that a reader extracts."""
    within = budget.within(file.name, len(file.data))
    is_empty = True
    for item in _contents(file, format, within, rules):
        is_empty = False
        if isinstance(item, File):
            begin_member(file.name)
            yield from ready_documents(item, within, rules)
        else:
            keep_time(file.name)
            yield item
    if is_empty:  # a notebook without cells
        yield Skipped(file.name, SkipReason.EMPTY, "nothing in it to compare")


def _contents(file: File, format: str, budget: Budget, rules: Rules) -> Iterator[File | Document | Skipped]:
    if format in ARCHIVES:
        from chaffinch.read.archives import tar

        return tar.members(file, budget, rules)
    reader = import_module(f"chaffinch.read.formats.{_READERS[format]}")
    read: Callable[..., Iterator[File | Document]] = reader.read
    return read(file, use_ocr=True) if rules.ocr and format in _PAGES else read(file)


def text_document(file: File, format: str, language: str | None = None) -> Document:
    """Make a document of a file whose bytes are text: find its language and encoding.

    Spans point into the document's bytes, which are the file's own wherever the core can read them. A program
    with lone carriage returns gets line feeds, and text that the core cannot read in place becomes UTF-8.
    """
    language, data = language or file.language or language_of(file, format), file.data
    encoding = file.encoding or encodings.detect(data, is_page=format == "html")
    if not encodings.is_read_in_place(data, encoding, format, is_program=language != TEXT):
        data, encoding = encodings.to_utf8(file.name, data, encoding), encodings.UTF8
    if language != TEXT:  # now that a character is no longer several bytes
        data = _with_line_feeds(data)
    sha256 = "" if data is file.data else file.sha256()
    return Document(file.name, data, encoding, format, language, (), sha256)


def check_types(item: File | Document) -> None:
    if not (isinstance(item.name, str) and isinstance(item.data, bytes)):
        given = f"{item.name!r} and {type(item.data).__name__}"
        raise TypeError(f"a {type(item).__name__} has a name and bytes, not {given}")
    if item.format and item.format not in _FORMATS:
        raise BadRecipe(
            f"{item.name}: unknown format {item.format!r}; leave it out, or use {', '.join(_FORMATS)}"
        )
    try:
        if item.encoding:
            codecs.lookup(item.encoding)
    except LookupError:
        detail = "leave it out, or use one that Python knows, such as 'utf-8'"
        raise BadRecipe(f"{item.name}: unknown encoding {item.encoding!r}; {detail}") from None
    if item.language:
        languages.checked(item.language)


def only_document(file: File) -> Document:
    """Return the document in a file that holds exactly one, or raise an error."""
    check_types(file)
    first, *others = ready_documents(file)
    if others:
        detail = f"holds {1 + len(others)} documents; give it as a chaffinch.File, or use chaffinch.documents"
        raise Unreadable(file.name, SkipReason.INVALID, detail)
    if isinstance(first, Skipped):
        raise Unreadable(first.name, first.reason, first.detail)
    return first


def raw_document(file: File) -> Document:
    """Return a file's bytes as a document that is compared byte by byte."""
    return Document(file.name, file.data, "latin-1", "binary", "bytes")


def _with_line_feeds(data: bytes) -> bytes:
    """Return a program with line feeds for lone carriage returns, as compilers read it. No byte moves."""
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
        return data
    return _LONE_RETURN.sub(b"\n", data)


def language_by_name(file: File) -> str:
    """Return the language that a file is given or that its name shows, or "text"."""
    return file.language or languages.of_file(file.name, file.data[:_LANGUAGE_HEAD_BYTES]) or TEXT


def language_of(file: File, format: str) -> str:
    """Return the language a file is compared in: a programming language, or "text".

    The name decides if it shows the language, or that this is no program, unless the content is plainly
    something else: prose, or a program. Otherwise the content decides.
    """
    head = file.data[:_LANGUAGE_HEAD_BYTES]
    by_name = languages.of_file(file.name, head)
    if format != "plain":
        return by_name or TEXT
    if (encoding := encodings.by_first_bytes(head)).startswith(("utf-16", "utf-32")):
        head = head.decode(encoding, "replace").encode()
    if by_name is not None:
        return TEXT if by_content.is_prose(head, by_name) else by_name
    if shows_kind(file.name):
        return (by_content.plain_program(head) if may_hide_program(file.name) else None) or TEXT
    if not by_content.looks_like_code(head):
        return TEXT
    return languages.inside_name(file.name) or by_content.of_content(head) or TEXT
