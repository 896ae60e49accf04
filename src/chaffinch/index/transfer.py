"""An index as JSON Lines: the settings first, then each document with its content or its postings."""

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
from chaffinch.index import ingest as adding
from chaffinch.index.records import About, Batch, Settings, Stored
from chaffinch.index.store import Store
from chaffinch.types import Document

_TOGETHER = 1000
_SCANNED = 20_000
"""Documents whose postings are gathered at once: each time all segments are read."""


def content(store: Store, name: str) -> Document | None:
    """A document as it was read when it was added."""
    number = store.named([name]).get(name)
    if number is None or store.settings.content != "text":
        return None
    packed = store.contents([number]).get(number)
    return None if packed is None else contents.unpack(name, packed)


def export(store: Store, path: Path) -> int:
    """Whole under its name, or not there: a half-written file would look like an index."""
    part = path.with_name(path.name + ".part")
    count = 0
    try:
        with _opened(path, part, "w") as file, store.snapshot():
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
def _opened(named: Path, path: Path, mode: str) -> Iterator[IO[str]]:
    """As text; packed if it is so named, without name and time: the same bytes whenever it is written."""
    with path.open(f"{mode}b") as file, ExitStack() as layers:
        packed = named.suffix.lower() == ".gz"
        inner = layers.enter_context(GzipFile("", f"{mode}b", fileobj=file, mtime=0)) if packed else file
        yield layers.enter_context(io.TextIOWrapper(inner, "utf-8", newline="\n"))


def _lines(store: Store) -> Iterator[dict[str, Any]]:
    documents = store.each()
    while many := dict(islice(documents, _SCANNED)):
        postings = {n: (hashes, positions) for n, hashes, positions in store.postings_of(list(many))}
        numbers, kept = list(many), dict[int, bytes]()
        for i, (number, stored) in enumerate(many.items()):
            if i % _TOGETHER == 0:
                kept = store.contents(numbers[i : i + _TOGETHER])
            hashes, positions = postings.get(number, (np.empty(0, np.uint64), np.empty(0, np.uint32)))
            yield stored._asdict() | {
                "about": asdict(stored.about),
                "digest": stored.digest.hex(),
                "content": _text(kept[number]) if number in kept else None,
                "hashes": _text(hashes.astype("<u8").tobytes()),
                "positions": _text(positions.astype("<u4").tobytes()) if positions.any() else None,
            }


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def import_(store: Store, path: Path) -> int:
    """Documents that are there by name are left as they are: an import that was cut off is run again."""
    count = 0
    with _opened(path, path, "r") as file:
        lines = _numbered(path, file)
        theirs = settings(path, next(lines, (0, ""))[1])
        theirs.recipe.check(store.settings.recipe, store.where)
        if theirs != store.settings:
            raise IndexTrouble(
                f"{path}: made with other settings than {store.where}; import it into a new index"
            )
        while some := list(islice(lines, _TOGETHER)):
            count += _add(store, path, some)
    return count


def _numbered(path: Path, file: IO[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; what is before a damaged place can be used."""
    number = 0
    try:
        for number, line in enumerate(file, 1):
            yield number, line
    except (EOFError, zlib.error, UnicodeError, OSError) as error:
        raise Unreadable(
            path, SkipReason.DAMAGED, f"damaged behind line {number} ({error}); what is before was imported"
        ) from None


def settings(path: Path, line: str) -> Settings:
    """What the first line of an export says."""
    try:
        return Settings.from_dict(json.loads(line)["chaffinch_index"], str(path))
    except (ValueError, KeyError, TypeError):
        raise Unreadable(path, SkipReason.DAMAGED, "not an index that was exported") from None


def settings_of(path: Path) -> Settings:
    """What an index needs to import this."""
    with _opened(path, path, "r") as file:
        return settings(path, next(_numbered(path, file), (0, ""))[1])


def _add(store: Store, path: Path, lines: Iterable[tuple[int, str]]) -> int:
    read = {d.name: (d, prints, packed) for d, prints, packed in (_read(path, *line) for line in lines)}
    there = store.named(list(read))
    new = [found for name, found in read.items() if name not in there]
    if new:
        postings = adding.joined([prints for _, prints, _ in new])
        store.add(Batch([d for d, _, _ in new], postings, [packed for *_, packed in new], []))
    return len(new)


def _read(path: Path, number: int, line: str) -> tuple[Stored, Any, bytes | None]:
    try:
        said = json.loads(line)
        hashes = np.frombuffer(_bytes(said.pop("hashes")), "<u8")
        positions, kept = said.pop("positions"), said.pop("content")
        places = None if positions is None else np.frombuffer(_bytes(positions), "<u4")
        about = About(*(None if s is None else adding.plain_name(s) for s in said.pop("about").values()))
        digest, name = bytes.fromhex(said.pop("digest")), adding.plain_name(said.pop("name"))
        size, symbols, postings, generation = (
            int(said[key]) for key in ("size", "symbols", "postings", "generation")
        )
        boilerplate = bool(said["boilerplate"])
        stored = Stored(name, digest, size, symbols, postings, about, generation, boilerplate)
        if len(hashes) != stored.postings or (places is not None and len(places) != len(hashes)):
            raise ValueError("postings are missing")
        packed = None if kept is None else _bytes(kept)
        if packed is not None:
            contents.check(name, packed)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, Damaged) as error:
        raise Unreadable(
            f"{path}:{number}", SkipReason.DAMAGED, f"not a document that was exported ({error})"
        ) from None
    return stored, (hashes, places), packed


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
