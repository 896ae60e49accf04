"""A document as it comes -> the documents in it that the core can take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.languages import language
from chaffinch.read.budget import Budget
from chaffinch.read.detect import ARCHIVES, format_of
from chaffinch.read.own_reports import OWN_REPORT, is_own_report
from chaffinch.types import Document, Skipped

# Formats whose text must be taken out, and the module that does it, imported when needed.
_READERS = {
    "pdf": "pdf",
    "postscript": "postscript",
    "docx": "office.office",
    "odt": "office.office",
    "epub": "office.office",
    "rtf": "rtf",
    "notebook": "notebook",
    "mail": "mail",
    "mbox": "mail",
}
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_REFUSED = {
    "ole": Problem(
        SkipReason.NOT_TEXT,
        "an Office file from before 2007, or one with a password; save it as DOCX or PDF without one",
    ),
    "office": Problem(SkipReason.NOT_TEXT, "a spreadsheet, a presentation or a drawing; save it as PDF"),
    "binary": Problem(SkipReason.NOT_TEXT, "binary, not text"),
}


def expand(document: Document, budget: Budget | None = None) -> Iterator[Document | Skipped]:
    """Every document in it, with its format and language; what cannot be read is told, and that is all."""
    kind = document.format or format_of(document)
    if kind in _REFUSED:
        yield Skipped(document.name, *_REFUSED[kind])
    elif kind in ARCHIVES or kind in _READERS:
        document = replace(document, format=kind)
        try:
            inner = (budget or Budget()).within(document.name, len(document.data))
            is_empty = True
            for found in _contents(document, kind, inner):
                is_empty = False
                if isinstance(found, Document) and found.format is None:
                    yield from expand(found, inner)
                else:
                    yield found
            if is_empty:  # a notebook without cells
                yield Skipped(document.name, SkipReason.EMPTY, "nothing in it to compare")
        except Unreadable as error:
            yield Skipped.because(error, document.name)
        except Exception as error:  # one bad file must not lose the others, whatever it does to its reader
            yield Skipped(
                document.name,
                SkipReason.DAMAGED,
                f"not a {kind} file that can be read ({type(error).__name__}: {error})",
            )
    elif is_own_report(document.data):
        yield Skipped(document.name, *OWN_REPORT)
    else:
        written_in = document.language or language_of(document)
        found = document if written_in == "text" else _with_lines(document)
        yield replace(found, format=kind, language=written_in)


def _with_lines(document: Document) -> Document:
    """A program whose lines end with a return alone, as compilers take it: no byte moves."""
    data = document.data
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
        return document
    return document.reread(_LONE_RETURN.sub(b"\n", data))


def language_of(document: Document) -> str:
    """The language a document is compared in: a programming language, or "text"."""
    return language.of_file(document.name, document.data[: 1 << 14]) or "text"


def _contents(document: Document, kind: str, budget: Budget) -> Iterator[Document | Skipped]:
    if kind in ARCHIVES:
        from chaffinch.read.archives import tar as archive

        return archive.members(document, budget)
    read: Callable[[Document], Iterator[Document]] = import_module(
        f"chaffinch.read.formats.{_READERS[kind]}"
    ).read
    return read(document)
