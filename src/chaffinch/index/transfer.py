"""Export and import as JSON Lines: the settings first, then each document with its content and postings."""

from __future__ import annotations

import base64
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
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
_SCANNED_DOCUMENTS = 20_000
"""Documents whose postings are gathered at once, since this reads all segments each time."""


def export(store: Store, path: Path) -> int:
    """Write the index to a file, and return the number of documents.

    The file gets its name only when it is complete, so that half an export is never taken for an index.
    """
    part = path.with_name(path.name + ".part")
    count = 0
    try:
        with _open(path, part, "w") as file, store.snapshot():
            file.write(json.dumps({"chaffinch_index": store.settings.to_dict()}) + "\n")
            for line in _lines(store):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += 1
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return count


@contextmanager
def _open(named: Path, path: Path, mode: str) -> Iterator[IO[str]]:
    """Open a text file, compressed if its name says so. It holds no time, so equal exports are equal."""
    with path.open(f"{mode}b") as file, ExitStack() as layers:
        is_compressed = named.suffix.lower() == ".gz"
        inner = layers.enter_context(GzipFile("", f"{mode}b", fileobj=file, mtime=0)) if is_compressed else file
        yield layers.enter_context(io.TextIOWrapper(inner, "utf-8", newline="\n"))


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
                "generation": record.generation,
                "boilerplate": record.boilerplate,
                "not_language": record.not_language,
                "content": _encode(packed[number]) if number in packed else None,
                "hashes": _encode(hashes.astype("<u8").tobytes()),
                "positions": _encode(positions.astype("<u4").tobytes()) if positions.any() else None,
            }


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def import_(store: Store, path: Path) -> int:
    """Add the documents of an export that the index does not have, and return how many.

    An import that was cut off can be run again.
    """
    count, exported = 0, exported_settings(path)
    exported.recipe.check(store.settings.recipe, store.where)
    if exported != store.settings:
        raise IndexTrouble(f"{path}: has other settings than {store.where}; import it into a new index")
    with _open(path, path, "r") as file:
        lines = islice(_numbered(path, file), 1, None)
        while some := list(islice(lines, _BATCH_DOCUMENTS)):
            count += _add(store, path, some)
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
    """Return the settings that an index needs to import this. They are in the first line."""
    with _open(path, path, "r") as file:
        _, line = next(_numbered(path, file), (0, ""))
    try:
        return Settings.from_dict(json.loads(line)["chaffinch_index"], str(path))
    except (ValueError, KeyError, TypeError):
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
        generation, *flags = (int(fields[key]) for key in ("generation", "boilerplate", "not_language"))
        sizes, digest = (size, symbols, postings), bytes.fromhex(fields["digest"])
        record = DocumentRecord(name, digest, *sizes, metadata, generation, *map(bool, flags))
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
