"""Documents -> streams and fingerprints: the public functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from chaffinch.errors import BadArgument, CoreFailure, Unreadable
from chaffinch.languages.language import OTHER
from chaffinch.recipe import Recipe
from chaffinch.types import Document, Fingerprints, Readable, Skipped, Stream

# The readers and the core are imported on first use: NumPy takes longer to import than most commands to run.


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
    from chaffinch.read.for_recipe import document_for

    recipe = recipe or Recipe()
    if isinstance(sources, Readable):
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
    skipped: list[Skipped] | None = None,
) -> list[Stream]:
    """Return the canonical forms of many documents; `with_names` adds the named symbols of programs.

    With `skipped`, a document that Pygments cannot read is added to it and has an empty stream.
    """
    from chaffinch.native import fingerprint as native
    from chaffinch.read.for_recipe import document_for, native_source
    from chaffinch.read.formats import pygments_lexer

    recipe = recipe or Recipe()
    documents = [document_for(source, recipe) for source in sources]
    if recipe.front.startswith(OTHER):
        name = recipe.front.removeprefix(OTHER)
        return [pygments_lexer.tokens(document, name, skipped) for document in documents]
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
    from chaffinch.read.for_recipe import ready_for

    documents = [ready_for(document, recipe) for document in documents]
    if not recipe.front.startswith(OTHER):  # Pygments reads one by one, and what it cannot read takes long
        with suppress(Unreadable, BadArgument, CoreFailure):
            prints = _fingerprint(documents, recipe, None, threads, only_starts)
            return Prepared(documents, prints, range(len(documents)), [])
    prepared: dict[int, Fingerprints] = {}
    skipped: list[Skipped] = []
    for number, document in enumerate(documents):
        try:
            prepared[number] = fingerprint(document, recipe)
        except (Unreadable, BadArgument, CoreFailure) as error:
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
    from chaffinch.read.for_recipe import native_source

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
