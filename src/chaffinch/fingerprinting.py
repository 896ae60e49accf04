"""The public functions: any source in, results out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from chaffinch.errors import CoreFailure, SkipReason, Unreadable
from chaffinch.languages.language import OTHER, family
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source
from chaffinch.read import encoding as plain
from chaffinch.read.detect import ARCHIVES, by_name, format_of
from chaffinch.read.formats import html, markdown, tex
from chaffinch.read.formats import program as code
from chaffinch.read.formats import pygments_lexer as other
from chaffinch.read.load import contents, refuse_large
from chaffinch.read.ready import expand
from chaffinch.recipe import CODE, FRONTS, Recipe
from chaffinch.types import Document, Fingerprints, Skipped, Stream

Readable = str | bytes | Path | Document
"""A `str` is text, a `Path` is a file. Byte offsets of a `str` are those of its UTF-8."""

_SOURCES = {"html": html.source, "tex": tex.source, "markdown": markdown.source}


def document(source: Readable) -> Document:
    """The bytes of a source, with a name for messages."""
    match source:
        case Document():
            found = source
        case str():
            # Half of a surrogate pair is no character; as invalid UTF-8 it is passed over.
            found = Document("text", source.encode("utf-8", "surrogatepass"), "utf-8", "plain", "text")
        case bytes():
            found = Document("bytes", source)
        case Path():
            found = Document(str(source), contents(source))
        case _:
            raise TypeError(f"cannot read a {type(source).__name__}; give a str, bytes, a Path or a Document")
    refuse_large(found.name, len(found.data))
    return found


def fingerprint(source: Readable, recipe: Recipe | None = None, *, window: int | None = None) -> Fingerprints:
    """The fingerprints of one document.

    A `window` wider than the recipe's selects fewer of them, whose hashes an index of that recipe holds all.
    """
    return fingerprint_all([source], recipe, window=window)[0]


def fingerprint_all(
    sources: Iterable[Readable],
    recipe: Recipe | None = None,
    *,
    window: int | None = None,
    threads: int | None = None,
) -> Sequence[Fingerprints]:
    """The fingerprints of many documents, made in parallel; the same whatever the number of threads."""
    recipe = recipe or Recipe()
    if isinstance(sources, str | bytes | Path | Document):
        raise TypeError("fingerprint_all takes several documents; for one, use fingerprint")
    return _fingerprinted([document(source) for source in sources], recipe, window, threads)[0]


def _fingerprinted(
    documents: Sequence[Document],
    recipe: Recipe,
    window: int | None,
    threads: int | None,
    only_starts: bool = False,
) -> tuple[Sequence[Fingerprints], dict[int, Document]]:
    """Also those that had to be looked at closely, as they can be read."""
    if recipe.front.startswith(OTHER):
        return _fingerprint_streams([stream(d, recipe) for d in documents], recipe, window, threads), {}
    guesses = [_unsettled_source(d, recipe) for d in documents]
    batch = core.fingerprint(guesses, recipe, window=window, threads=threads, only_starts=only_starts)
    # The core tells which were not plain UTF-8 after all: those are looked at closely and read again.
    wrong = [i for i in batch.invalid.nonzero()[0].tolist() if documents[i].encoding is None]
    looked_at = {i: settle(documents[i], recipe) for i in wrong}
    settled = {i: d for i, d in looked_at.items() if not _is_plain_utf8(d) or batch.invalid[i] == core.NOT_READ}
    if settled:
        sources_again = [_source(d, recipe) for d in settled.values()]
        again = core.fingerprint(sources_again, recipe, window=window, threads=threads)
        batch.again.update(zip(settled, again, strict=True))
    return batch, looked_at


def readable(documents: Sequence[Document], recipe: Recipe, *, threads: int | None = None) -> Prepared:
    """Documents as their spans point into them, with their fingerprints, of which only the starts need be told;
    what cannot be read is told."""
    skipped: list[Skipped] = []
    spanned_all = list(_spanned_all(documents, recipe, skipped))
    found = prepared(spanned_all, recipe, threads=threads, only_starts=True)
    return found._replace(skipped=[*skipped, *found.skipped])


def prepared(
    documents: Sequence[Document], recipe: Recipe, *, threads: int | None = None, only_starts: bool = False
) -> Prepared:
    """Documents with their fingerprints, plain text as its spans point into it; what cannot be read is told.

    Where `only_starts` are asked for, positions and ends may be empty.
    """
    try:
        prints, looked_at = _fingerprinted(documents, recipe, None, threads, only_starts)
    except (Unreadable, CoreFailure):  # one bad document never loses the others: each is tried alone
        good: dict[int, tuple[Document, Fingerprints]] = {}
        skipped: list[Skipped] = []
        for i, found in enumerate(documents):
            try:
                good[i] = spanned(found, recipe), fingerprint(found, recipe)
            except (Unreadable, CoreFailure) as error:
                skipped.append(Skipped.because(error, found.name))
        return Prepared([d for d, _ in good.values()], [p for _, p in good.values()], [*good], skipped)
    settled = [_utf8(d) if _is_unknown(d, recipe) else d for d in documents]
    for i, found in looked_at.items():
        settled[i] = _spanned(found, recipe)
    return Prepared(settled, prints, range(len(documents)), [])


def _utf8(found: Document) -> Document:
    """Not dataclasses.replace, which takes longer than the fingerprints of a page."""
    return Document(
        found.name, found.data, "utf-8", found.format, found.language, found.sections, found.file_sha256
    )


class Prepared(NamedTuple):
    """Documents and their fingerprints, and those that have none."""

    documents: list[Document]
    prints: Sequence[Fingerprints]
    places: Sequence[int]
    """Which of those that were given each of them was."""
    skipped: list[Skipped]


def _spanned_all(documents: Sequence[Document], recipe: Recipe, skipped: list[Skipped]) -> Iterator[Document]:
    for found in documents:
        if _is_unknown(found, recipe):  # by far the most: the core tells whether a closer look is needed
            yield found
            continue
        try:
            yield spanned(found, recipe)
        except Unreadable as error:
            skipped.append(Skipped.because(error, found.name))


def _is_unknown(found: Document, recipe: Recipe) -> bool:
    """Whether the core takes it as it is: text in any encoding, which is UTF-8 most of the time."""
    return found.encoding is None and found.format == "plain" and recipe.front in ("text", "consonants")


def _fingerprint_streams(
    streams: Sequence[Stream], recipe: Recipe, window: int | None, threads: int | None
) -> Sequence[Fingerprints]:
    """Those of streams that were not made in the core, with their ranges in the original."""
    return core.fingerprint([Source.stream(s) for s in streams], recipe, window=window, threads=threads)


def stream(source: Readable, recipe: Recipe | None = None) -> Stream:
    """The canonical form of one document."""
    return streams([source], recipe)[0]


def streams(
    sources: Iterable[Readable],
    recipe: Recipe | None = None,
    *,
    with_names: bool = False,
    threads: int | None = None,
) -> list[Stream]:
    """Return the canonical forms of many documents; `with_names` adds the named symbols of programs."""
    recipe = recipe or Recipe()
    if recipe.front.startswith(OTHER):
        name = recipe.front.removeprefix(OTHER)
        found = [settle(document(source), recipe) for source in sources]
        return [other.tokens(d.data, d.encoding or "utf-8", name) for d in found]
    native_sources = [native(source, recipe) for source in sources]
    return core.streams(native_sources, recipe, with_names=with_names, threads=threads)


def native(source: Readable, recipe: Recipe) -> Source:
    """A document as the core takes it, for a recipe whose front end is there."""
    return _source(settle(document(source), recipe), recipe)


def settle(found: Document, recipe: Recipe) -> Document:
    """The document as it can be read, its format and encoding found out by looking at all of it."""
    if recipe.front == "bytes":
        return found
    if found.language is None:
        found = _readable(found, recipe)
    if found.encoding == "utf-8":
        return found
    encoding = found.encoding or plain.first_guess(found.data)
    if encoding == "utf-8" and found.encoding is None:
        declared = html.declared_encoding(found.data) if found.format == "html" else None
        encoding = plain.second_guess(found.data, declared)
    return replace(found, encoding=encoding)


def _readable(found: Document, recipe: Recipe) -> Document:
    """Of what is in a file that which the recipe is for: of a notebook, the code or the prose."""
    kind = found.format or format_of(found)
    if kind in ARCHIVES:
        raise Unreadable(
            found.name, SkipReason.INVALID, "an archive, which may hold many documents; use chaffinch.documents"
        )
    if kind == "binary":  # whoever gives a single document knows what it is
        return replace(found, format="plain")
    inside = list(expand(replace(found, format=kind)))
    documents = [d for d in inside if isinstance(d, Document)]
    if not documents:
        first = next(s for s in inside if isinstance(s, Skipped))
        raise Unreadable(first.name, first.reason, first.detail)
    prose = recipe.front in FRONTS
    return next((d for d in documents if (d.language == "text") == prose), documents[0])


def spanned(found: Document, recipe: Recipe) -> Document:
    """The document whose bytes the spans point into: itself, or what it had to be turned into to be read."""
    return _spanned(settle(found, recipe), recipe)


def _spanned(found: Document, recipe: Recipe) -> Document:
    if found.encoding in (None, "utf-8"):
        return found
    data = found.data if recipe.front.startswith(OTHER) else _source(found, recipe).data
    if data is found.data or not isinstance(data, bytes):
        return found
    return found.reread(plain.as_utf8(found, found.encoding), encoding="utf-8")


def _own_language(found: Document) -> str:
    """The language that a program is in."""
    if found.language in (None, "text") or str(found.language).startswith(OTHER):
        raise Unreadable(
            found.name,
            SkipReason.INVALID,
            "not a program in a language known here (chaffinch languages lists them)",
        )
    return family(str(found.language))


def _is_plain_utf8(found: Document) -> bool:
    return (found.format, found.encoding) == ("plain", "utf-8")


def _unsettled_source(found: Document, recipe: Recipe) -> Source:
    """Without a look at the bytes where the core can take it: this is done for every document, one by one."""
    if recipe.front in ("text", "consonants") and found.encoding is None:
        if found.format == "plain" and plain.first_guess(found.data) == "utf-8":
            return Source.unicode(found.data, "utf-8")
        if found.format == "plain" or (found.format is None and by_name(found.name) is None):
            return Source.unknown(found.data)
    return _source(settle(found, recipe), recipe)


def _source(found: Document, recipe: Recipe) -> Source:
    if recipe.front == "bytes":
        return Source(found.data)
    encoding = found.encoding or plain.first_guess(found.data)
    if recipe.front not in FRONTS:
        return code.source(found, encoding, _own_language(found) if recipe.front == CODE else recipe.front)
    return _SOURCES.get(found.format or "plain", plain.source)(found, encoding)
