"""An index as JSON Lines: the settings first, then each document with its content or its postings."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from chaffinch.errors import IndexTrouble, Unreadable
from chaffinch.index import adding, contents
from chaffinch.index.records import About, Batch, Settings, Stored
from chaffinch.index.store import Store
from chaffinch.types import Document

_TOGETHER = 1000


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
        with _opened(path, part, "wt") as file, store.snapshot():
            file.write(json.dumps({"chaffinch_index": store.settings.to_dict()}) + "\n")
            for line in _lines(store):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += 1
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return count


def _opened(named: Path, path: Path, mode: str) -> IO[str]:
    packed = named.suffix.lower() == ".gz"
    if packed:  # the same bytes whenever it is written
        return gzip.open(path, mode, encoding="utf-8")  # type: ignore[return-value]
    return path.open(mode, encoding="utf-8", newline="\n")


def _lines(store: Store) -> Iterator[dict[str, Any]]:
    documents = store.each()
    while some := dict(islice(documents, _TOGETHER)):
        kept = store.contents(list(some))
        postings = {n: (hashes, positions) for n, hashes, positions in store.postings_of(list(some))}
        for number, stored in some.items():
            hashes, positions = postings.get(number, (np.empty(0, np.uint64), np.empty(0, np.uint32)))
            yield asdict(stored) | {
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
    with _opened(path, path, "rt") as file:
        theirs = settings(path, file.readline())
        theirs.recipe.check(store.settings.recipe, store.where)
        if theirs != store.settings:
            raise IndexTrouble(
                f"{path}: made with other settings than {store.where}; import it into a new index"
            )
        lines = (json.loads(line) for line in file)
        while some := list(islice(lines, _TOGETHER)):
            count += _add(store, some)
    return count


def settings(path: Path, line: str) -> Settings:
    """What the first line of an export says."""
    try:
        return Settings.from_dict(json.loads(line)["chaffinch_index"], str(path))
    except (ValueError, KeyError, TypeError):
        raise Unreadable(f"{path}: not an index that was exported") from None


def settings_of(path: Path) -> Settings:
    """What an index needs to import this."""
    with _opened(path, path, "rt") as file:
        return settings(path, file.readline())


def _add(store: Store, lines: Iterable[dict[str, Any]]) -> int:
    there = store.named([line["name"] for line in lines])
    new = [line for line in lines if line["name"] not in there]
    documents, parts, packed = [], [], []
    for line in new:
        hashes = np.frombuffer(base64.b64decode(line.pop("hashes")), "<u8")
        positions = line.pop("positions")
        parts.append((hashes, None if positions is None else np.frombuffer(base64.b64decode(positions), "<u4")))
        kept = line.pop("content")
        packed.append(None if kept is None else base64.b64decode(kept))
        about = About(**line.pop("about"))
        documents.append(Stored(**line | {"digest": bytes.fromhex(line["digest"]), "about": about}))
    if documents:
        store.add(Batch(documents, adding.joined(parts), packed, []))
    return len(documents)
