"""The public functions: any source in, results out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from chaffinch import core
from chaffinch.core import Source
from chaffinch.errors import Unreadable
from chaffinch.read import code, html, plain
from chaffinch.recipe import FRONTS, Recipe
from chaffinch.types import Document, Fingerprints, Stream

Readable = str | bytes | Path | Document
"""A `str` is text, a `Path` is a file. Byte offsets of a `str` are those of its UTF-8."""


def document(source: Readable) -> Document:
    """The bytes of a source, with a name for messages."""
    match source:
        case Document():
            found = source
        case str():
            # Half of a surrogate pair is no character; as invalid UTF-8 it is passed over.
            found = Document("text", source.encode("utf-8", "surrogatepass"), "utf-8", "plain")
        case bytes():
            found = Document("bytes", source)
        case Path():
            found = Document(str(source), _contents(source))
        case _:
            raise TypeError(f"cannot read a {type(source).__name__}; give a str, bytes, a Path or a Document")
    _refuse_large(found.name, len(found.data))
    return found


def _contents(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode):
                _refuse_large(str(path), status.st_size)
                return file.read() if status.st_size else _from_pipe(path, file)
        raise Unreadable(f"{path}: is a device, not a file; name a file or a pipe")
    except IsADirectoryError:
        raise Unreadable(f"{path}: is a directory; name the files in it") from None
    except FileNotFoundError:
        raise Unreadable(f"{path}: no such file") from None
    except PermissionError:
        raise Unreadable(f"{path}: no permission to read it") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise Unreadable(f"{path}: {why}") from None


def _from_pipe(path: Path, file: BinaryIO) -> bytes:
    """What has no size to tell beforehand."""
    parts: list[bytes] = []
    size = 0
    while part := file.read(1 << 20):
        parts.append(part)
        size += len(part)
        _refuse_large(str(path), size)
    return b"".join(parts)


def _refuse_large(name: str, size: int) -> None:
    if size > core.MAX_BYTES:
        raise Unreadable(f"{name}: longer than 4 GiB; split it")


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
    documents = [document(source) for source in sources]
    guesses = [_unsettled_source(d, recipe) for d in documents]
    batch = core.fingerprint(guesses, recipe, window=window, threads=threads)
    # The core tells which were not plain UTF-8 after all: those are looked at closely and read again.
    wrong = [i for i in batch.invalid.nonzero()[0].tolist() if documents[i].encoding is None]
    looked_at = {i: settle(documents[i]) for i in wrong}
    settled = {i: d for i, d in looked_at.items() if not _is_plain_utf8(d) or batch.invalid[i] == core.NOT_READ}
    if settled:
        sources_again = [_source(d, recipe) for d in settled.values()]
        again = core.fingerprint(sources_again, recipe, window=window, threads=threads)
        batch.again.update(zip(settled, again, strict=True))
    return batch


def stream(source: Readable, recipe: Recipe | None = None) -> Stream:
    """The canonical form of one document."""
    recipe = recipe or Recipe()
    found = document(source)
    return core.stream(_source(found if recipe.front == "bytes" else settle(found), recipe), recipe)


def settle(found: Document) -> Document:
    """The document with its format and encoding, found out by looking at all of it."""
    kind = found.format or ("html" if html.is_html(found) else "plain")
    encoding = found.encoding or plain.first_guess(found.data)
    if encoding == "utf-8" and found.encoding is None:
        encoding = plain.second_guess(
            found.data, html.declared_encoding(found.data) if kind == "html" else None
        )
    return replace(found, format=kind, encoding=encoding)


def spanned(found: Document, recipe: Recipe) -> Document:
    """The document whose bytes the spans point into: itself, or what it had to be turned into to be read."""
    found = settle(found)
    data = _source(found, recipe).data
    if isinstance(data, bytes) and data is not found.data:
        return replace(found, data=data, encoding="utf-8")
    return found


def _is_plain_utf8(found: Document) -> bool:
    return (found.format, found.encoding) == ("plain", "utf-8")


def _unsettled_source(found: Document, recipe: Recipe) -> Source:
    """Without a look at the bytes where the core can take it: this is done for every document, one by one."""
    unknown = found.encoding is None and found.format is None
    if unknown and recipe.front in ("text", "consonants") and not html.is_named_html(found.name):
        return Source.unknown(found.data)
    return _source(found, recipe)


def _source(found: Document, recipe: Recipe) -> Source:
    if recipe.front == "bytes":
        return Source(found.data)
    encoding = found.encoding or plain.first_guess(found.data)
    if recipe.front not in FRONTS:
        return code.source(found, encoding, recipe.front)
    if found.format == "html" or (found.format is None and html.is_html(found)):
        return html.source(found, encoding)
    return plain.source(found, encoding)
