"""A source and a recipe -> the document to compare, and how the core reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.languages.language import OTHER, family
from chaffinch.native.fingerprint import Source
from chaffinch.read import encoding, ready
from chaffinch.read.detect import ARCHIVES, detect_format
from chaffinch.read.formats import html, markdown, program, tex
from chaffinch.read.load import load, refuse_large
from chaffinch.recipe import CODE, FRONTS, Recipe
from chaffinch.types import Document, File, Readable, Skipped

_SOURCES = {"html": html.source, "tex": tex.source, "markdown": markdown.source}


def document_for(source: Readable, recipe: Recipe) -> Document:
    """Return a document that is ready for a recipe: for a notebook, its code or its prose."""
    match source:
        case Document():
            refuse_large(source.name, len(source.data))
            return ready_for(source, recipe)
        case str():
            # Half of a surrogate pair is not a character; as invalid UTF-8 it is ignored.
            file = File("text", source.encode("utf-8", "surrogatepass"), encoding.UTF8, "plain", ready.TEXT)
        case bytes():
            file = File("bytes", source)
        case Path():
            file = File(str(source), load(source))
        case File():
            file = source
        case _:
            given = type(source).__name__
            raise TypeError(f"cannot read a {given}; give a str, bytes, a Path, a File or a Document")
    refuse_large(file.name, len(file.data))
    if recipe.front == "bytes":
        return ready.raw_document(file)
    is_prose = recipe.front in FRONTS
    format = file.format or detect_format(file)
    if format in ARCHIVES:
        detail = "an archive, which may hold many documents; use chaffinch.documents"
        raise Unreadable(file.name, SkipReason.INVALID, detail)
    if format in ("plain", "binary"):  # the caller of one document knows that it is text
        # Only "code" needs the language of the file, which may have to be found by its content.
        by_name = None if recipe.front == CODE else ready.language_by_name(file)
        return ready_for(ready.text_document(file, "plain", ready.TEXT if is_prose else by_name), recipe)
    items = list(ready.ready_documents(replace(file, format=format)))
    documents = [item for item in items if isinstance(item, Document)]
    if not documents:
        first = next(item for item in items if isinstance(item, Skipped))
        raise Unreadable(first.name, first.reason, first.detail)
    fitting = (d for d in documents if (d.language == ready.TEXT) == is_prose)
    return ready_for(next(fitting, documents[0]), recipe)


def ready_for(document: Document, recipe: Recipe) -> Document:
    """Return the document in whose bytes the spans of a recipe's fingerprints lie.

    It is the document itself, except if it is compared as a program and lexers cannot read its encoding.
    """
    if recipe.front in FRONTS or document.encoding == encoding.UTF8:
        return document
    # The native lexer reads any encoding that contains ASCII; Pygments needs a byte for each character.
    contains_ascii = not document.encoding.startswith(("utf-16", "utf-32"))
    is_native = not recipe.front.startswith(OTHER)
    if contains_ascii and (is_native or encoding.single_byte_table(document.encoding) is not None):
        return document
    data = encoding.to_utf8(document.name, document.data, document.encoding)
    sha256 = document.file_sha256 or File(document.name, document.data).sha256()
    return replace(document, data=data, encoding=encoding.UTF8, file_sha256=sha256)


def native_source(document: Document, recipe: Recipe) -> Source:
    """Return a document as the core reads it, for a recipe whose front end is in the core."""
    if recipe.front == "bytes":
        return Source(document.data)
    if recipe.front not in FRONTS:
        return program.source(document, _own_language(document) if recipe.front == CODE else recipe.front)
    return _SOURCES.get(document.format, encoding.source)(document)


def _own_language(document: Document) -> str:
    """Return the language in which a program is compared."""
    if document.language in ("text", "bytes") or document.language.startswith(OTHER):
        detail = "not a program in a known language (chaffinch languages lists them)"
        raise Unreadable(document.name, SkipReason.OTHER_LANGUAGE, detail)
    return family(document.language)
