"""Export and import as JSON Lines: the settings first, then each document with its content and postings."""

from __future__ import annotations

import base64
import errno
import io
import json
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict
from datetime import date
from gzip import GzipFile
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from chaffinch.errors import Damaged, IndexTrouble, SkipReason, Unreadable
from chaffinch.index import contents
from chaffinch.index.ingest import join_postings, plain_name
from chaffinch.index.records import Batch, DocumentRecord, Metadata, Settings
from chaffinch.index.store import Store

_BATCH_DOCUMENTS = 1000
_MAX_GENERATION = 1 << 48
_SCANNED_DOCUMENTS = 20_000
"""Documents whose postings are gathered at once, since this reads all segments each time."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_VERIFY = "chaffinch index verify says what is wrong"


def export(store: Store, path: Path) -> int:
    """Write the index to a file, and return the number of documents."""
    count = 0
    with store.snapshot(), _new_file(path) as write:
        expected, generation = store.count(), store.generation()
        settings = store.settings.to_dict()
        write({"chaffinch_index": settings, "documents": expected, "generation": generation})
        lines = _lines(store)
        while line := _next(store, lines):
            write(line)
            count += 1
        if count != expected:
            raise IndexTrouble(f"{store.where}: has {count} of {expected} documents; {_VERIFY}")
    return count


@contextmanager
def _new_file(path: Path) -> Iterator[Callable[[dict[str, Any]], object]]:
    """Yield a function that writes a line to a file, compressed if its name says so.

    The file gets its name only when it is complete, so that half an export is never taken for an index. It
    holds no time, so equal exports are equal.
    """
    is_device = path.exists() and not path.is_file()  # or a pipe, which has no other name
    target = path if is_device else Path(os.path.realpath(path))
    number = f"{os.getpid()}-{threading.get_ident()}"
    part = path if is_device else target.with_name(f"{target.name[:50]}.{number}.part")
    try:
        with part.open("wb") as file:
            compressed = (
                GzipFile("", "wb", fileobj=file, mtime=0) if _is_compressed(path) else nullcontext(file)
            )
            with compressed as out:
                yield lambda line: out.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            if not is_device:
                file.flush()
                os.fsync(file.fileno())  # some disks report only here that they are full
        if not is_device:
            part.replace(target)
    except BrokenPipeError:  # its reader has seen enough
        raise
    except OSError as error:
        advice = "make room and try again" if error.errno in _FULL else "name another file"
        raise IndexTrouble(f"{path}: cannot be written ({error.strerror or error}); {advice}") from error
    finally:
        if not is_device:
            with suppress(OSError):
                part.unlink(missing_ok=True)


@contextmanager
def _open(path: Path) -> Iterator[IO[str]]:
    """Open an export, compressed if its name says so."""
    with path.open("rb") as file, ExitStack() as layers:
        inner = layers.enter_context(GzipFile("", "rb", fileobj=file)) if _is_compressed(path) else file
        yield layers.enter_context(io.TextIOWrapper(inner, "utf-8", newline="\n"))


def _is_compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _lines(store: Store) -> Iterator[dict[str, Any]]:
    documents = store.all_records()
    while records := dict(islice(documents, _SCANNED_DOCUMENTS)):
        postings = {n: (hashes, positions) for n, hashes, positions in store.postings_of(list(records))}
        numbers, packed = list(records), dict[int, bytes]()
        for i, (number, record) in enumerate(records.items()):
            if i % _BATCH_DOCUMENTS == 0:
                packed = store.contents(numbers[i : i + _BATCH_DOCUMENTS])
            hashes, positions = postings.get(number, (np.empty(0, np.uint64), np.empty(0, np.uint32)))
            if len(hashes) != record.postings:
                raise next(iter(store.damage()), Damaged(record.name, "some of its postings are missing"))
            if store.settings.content != "none":
                contents.decompress(record.name, packed.get(number))  # raises Damaged
            yield {
                "name": record.name,
                "digest": record.digest.hex(),
                "size": record.size,
                "symbols": record.symbols,
                "postings": record.postings,
                "about": asdict(record.metadata),
                "boilerplate": record.boilerplate,
                "not_language": record.not_language,
                "registered": record.registered.isoformat(),
                "chosen": record.chosen.isoformat(),
                "stream": record.stream.hex(),
                "content": _encode(packed[number]) if number in packed else None,
                "hashes": _encode(hashes.astype("<u8").tobytes()),
                "positions": _encode(positions.astype("<u4").tobytes()) if positions.any() else None,
            }


def _next(store: Store, lines: Iterator[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the next line. An error of the disk here is one of the index, not of the export."""
    try:
        return next(lines, None)
    except OSError as error:
        raise IndexTrouble(f"{store.where}: cannot be read ({error.strerror or error}); {_VERIFY}") from error


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def import_(store: Store, path: Path) -> int:
    """Add the documents of an export that the index does not have, and return how many.

    An import that was cut off can be run again.
    """
    count, (exported, expected, generation) = 0, _header(path)
    exported.recipe.check(store.settings.recipe, store.where)
    if exported != store.settings:
        raise IndexTrouble(f"{path}: has other settings than {store.where}; import it into a new index")
    store.raise_generation(generation)
    with _open(path) as file:
        lines = islice(_numbered(path, file), 1, None)
        while some := list(islice(lines, _BATCH_DOCUMENTS)):
            count += _add(store, path, some)
            expected -= len(some)
    if expected:
        detail = f"has {abs(expected)} documents too {'few' if expected > 0 else 'many'}; the rest was imported"
        raise Unreadable(path, SkipReason.DAMAGED, detail)
    return count


def _numbered(path: Path, file: IO[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers. The lines before a damaged one can be used."""
    number = 0
    try:
        for number, line in enumerate(file, 1):
            yield number, line
    except (EOFError, zlib.error, UnicodeError, OSError) as error:
        detail = f"damaged after line {number} ({error}); the lines before were imported"
        raise Unreadable(path, SkipReason.DAMAGED, detail) from None


def exported_settings(path: Path) -> Settings:
    """Return the settings that an index needs to import this."""
    return _header(path)[0]


def _header(path: Path) -> tuple[Settings, int, int]:
    """Return the settings, the number of documents and the generation of an export, from its first line."""
    with _open(path) as file:
        _, line = next(_numbered(path, file), (0, ""))
    try:
        header = json.loads(line)
        documents, generation = (int(header[key]) for key in ("documents", "generation"))
        if not 0 <= generation < _MAX_GENERATION:
            raise ValueError("the generation is out of range")
        return Settings.from_dict(header["chaffinch_index"], str(path)), documents, generation
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unreadable(path, SkipReason.DAMAGED, "not an index export") from None


def _add(store: Store, path: Path, lines: Iterable[tuple[int, str]]) -> int:
    read = {d.name: (d, prints, packed) for d, prints, packed in (_read(path, *line) for line in lines)}
    known = store.numbers_by_name(list(read))
    new = [document for name, document in read.items() if name not in known]
    if new:
        postings = join_postings([prints for _, prints, _ in new])
        store.add(Batch([d for d, _, _ in new], postings, [packed for *_, packed in new], []))
    return len(new)


def _read(path: Path, number: int, line: str) -> tuple[DocumentRecord, Any, bytes | None]:
    try:
        fields = json.loads(line)
        name, hashes = plain_name(fields["name"]), np.frombuffer(_decode(fields["hashes"]), "<u8")
        positions = None
        if fields["positions"] is not None:
            positions = np.frombuffer(_decode(fields["positions"]), "<u4")
        size, symbols, postings = (int(fields[key]) for key in ("size", "symbols", "postings"))
        metadata = Metadata(*(None if s is None else plain_name(s) for s in fields["about"].values()))
        flags = bool(fields["boilerplate"]), bool(fields["not_language"])
        registered, chosen = (date.fromisoformat(fields[key]) for key in ("registered", "chosen"))
        if chosen < registered:
            raise ValueError("chosen before it was registered")
        digest, stream = (bytes.fromhex(fields[key]) for key in ("digest", "stream"))
        sizes = size, symbols, postings
        record = DocumentRecord(name, digest, *sizes, metadata, *flags, registered, chosen, stream)
        if len(hashes) != postings or (positions is not None and len(positions) != postings):
            raise ValueError("postings are missing")
        packed = None if fields["content"] is None else _decode(fields["content"])
        if packed is not None:
            contents.decompress(name, packed)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, Damaged) as error:
        detail = f"not an exported document ({error})"
        raise Unreadable(f"{path}:{number}", SkipReason.DAMAGED, detail) from None
    return record, (hashes, positions), packed


def _decode(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
