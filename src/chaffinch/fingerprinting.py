"""Documents -> streams and fingerprints: the public functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from chaffinch.errors import CoreFailure, SkipReason, Unreadable
from chaffinch.languages.language import OTHER, family
from chaffinch.recipe import CODE, FRONTS, Recipe
from chaffinch.types import Document, File, Fingerprints, Skipped, Stream

if TYPE_CHECKING:
    from chaffinch.native.fingerprint import Source

# The readers and the core are imported on first use: NumPy takes longer to import than most commands to run.

Readable = str | bytes | Path | File | Document
"""A `str` is text and a `Path` is a file. Byte offsets in a `str` count its UTF-8."""


def fingerprint(source: Readable, recipe: Recipe | None = None, *, window: int | None = None) -> Fingerprints:
    """Return the fingerprints of one document.

    A `window` wider than the recipe's selects a subset, which an index of that recipe still finds.
    """
    return fingerprint_all([source], recipe, window=window)[0]


def fingerprint_all(
    sources: Iterable[Readable],
    recipe: Recipe | None = None,
    *,
    window: int | None = None,
    threads: int | None = None,
) -> Sequence[Fingerprints]:
    """Return the fingerprints of many documents, in parallel. The result does not depend on `threads`."""
    recipe = recipe or Recipe()
    if isinstance(sources, str | bytes | Path | File | Document):
        raise TypeError("fingerprint_all takes several documents; for one, use fingerprint")
    return _fingerprint([document_for(source, recipe) for source in sources], recipe, window, threads)


def stream(source: Readable, recipe: Recipe | None = None) -> Stream:
    """Return the canonical form of one document."""
    return streams([source], recipe)[0]


def streams(
    sources: Iterable[Readable],
    recipe: Recipe | None = None,
    *,
    with_names: bool = False,
    threads: int | None = None,
) -> list[Stream]:
    """Return the canonical forms of many documents; `with_names` adds the named symbols of programs."""
    from chaffinch.native import fingerprint as native
    from chaffinch.read.formats import pygments_lexer

    recipe = recipe or Recipe()
    documents = [document_for(source, recipe) for source in sources]
    if recipe.front.startswith(OTHER):
        name = recipe.front.removeprefix(OTHER)
        return [pygments_lexer.tokens(d.data, d.encoding, name) for d in documents]
    native_sources = [native_source(document, recipe) for document in documents]
    return native.streams(native_sources, recipe, with_names=with_names, threads=threads)


class Prepared(NamedTuple):
    """Documents with their fingerprints, and the documents that could not be fingerprinted."""

    documents: Sequence[Document]
    prints: Sequence[Fingerprints]
    numbers: Sequence[int]
    """For each document, its number in the input."""
    skipped: list[Skipped]


def prepare(
    documents: Sequence[Document], recipe: Recipe, *, threads: int | None = None, only_starts: bool = False
) -> Prepared:
    """Fingerprint documents, and skip those that the core refuses.

    With `only_starts`, positions and ends may be empty.
    """
    documents = [ready_for(document, recipe) for document in documents]
    try:
        prints = _fingerprint(documents, recipe, None, threads, only_starts)
        return Prepared(documents, prints, range(len(documents)), [])
    except (Unreadable, CoreFailure):
        prepared: dict[int, Fingerprints] = {}
        skipped: list[Skipped] = []
        for number, document in enumerate(documents):
            try:
                prepared[number] = fingerprint(document, recipe)
            except (Unreadable, CoreFailure) as error:
                skipped.append(Skipped.because(error, document.name))
        return Prepared([documents[n] for n in prepared], [*prepared.values()], [*prepared], skipped)


def _fingerprint(
    documents: Sequence[Document],
    recipe: Recipe,
    window: int | None,
    threads: int | None,
    only_starts: bool = False,
) -> Sequence[Fingerprints]:
    from chaffinch.native import fingerprint as native

    if recipe.front.startswith(OTHER):
        return fingerprint_streams(streams(documents, recipe), recipe, window=window, threads=threads)
    sources = [native_source(document, recipe) for document in documents]
    return native.fingerprint(sources, recipe, window=window, threads=threads, only_starts=only_starts)


def fingerprint_streams(
    streams: Sequence[Stream], recipe: Recipe, *, window: int | None = None, threads: int | None = None
) -> Sequence[Fingerprints]:
    """Return the fingerprints of existing streams, with their byte ranges in the documents."""
    from chaffinch.native import fingerprint as native

    sources = [native.Source.stream(stream) for stream in streams]
    return native.fingerprint(sources, recipe, window=window, threads=threads)


def document_for(source: Readable, recipe: Recipe) -> Document:
    """Return a document that is ready for a recipe: for a notebook, its code or its prose."""
    from chaffinch.read import encoding, ready
    from chaffinch.read.detect import ARCHIVES, detect_format
    from chaffinch.read.load import load, refuse_large

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
        return ready_for(ready.text_document(file, "plain", ready.TEXT if is_prose else None), recipe)
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
    from chaffinch.read import encoding

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
    from chaffinch.native.fingerprint import Source
    from chaffinch.read import encoding

    if recipe.front == "bytes":
        return Source(document.data)
    if recipe.front in FRONTS and document.format not in ("html", "markdown", "tex"):
        return encoding.source(document)  # most documents, so nothing else is imported before
    from chaffinch.read.formats import html, markdown, program, tex

    if recipe.front not in FRONTS:
        return program.source(document, _own_language(document) if recipe.front == CODE else recipe.front)
    return {"html": html.source, "tex": tex.source, "markdown": markdown.source}[document.format](document)


def _own_language(document: Document) -> str:
    """Return the language in which a program is compared."""
    if document.language in ("text", "bytes") or document.language.startswith(OTHER):
        detail = "not a program in a known language (chaffinch languages lists them)"
        raise Unreadable(document.name, SkipReason.OTHER_LANGUAGE, detail)
    return family(document.language)
