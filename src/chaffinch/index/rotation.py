"""Chooses anew which fingerprints of a document are stored; a search is the same before, while and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from chaffinch import api
from chaffinch.errors import IndexTrouble
from chaffinch.index import adding, contents, koala
from chaffinch.index.records import Batch, Stored
from chaffinch.index.store import Store, Tell
from chaffinch.types import Document, Skipped

_TOGETHER = 1000


@dataclass(slots=True)
class Rotated:
    """What became of the documents."""

    rotated: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def rotate(store: Store, names: Iterable[str] | None, sources: Iterable[adding.Item], tell: Tell) -> Rotated:
    """All documents, or those named; from what is kept of each, or from the sources, where they lie."""
    if store.settings.stored is None:
        raise IndexTrouble(f"{store.where}: stores every fingerprint, there is nothing to choose")
    report = Rotated()
    wanted = None if names is None else [adding.plain_name(name) for name in names]
    given = _by_digest(sources, report)
    numbers = [n for n, _ in store.each()] if wanted is None else _numbers(store, wanted, report)
    waiting = iter(numbers)
    while some := list(islice(waiting, _TOGETHER)):
        tell(f"Choosing anew for {len(report.rotated) + len(some)} of {len(numbers)} documents ...")
        _rotate(store, some, given, report)
    store.forget_probes(report.rotated)
    return report


def _by_digest(sources: Iterable[adding.Item], report: Rotated) -> dict[bytes, Document]:
    found = {}
    for source in sources:
        if isinstance(source, Skipped):
            report.skipped.append(source)
        else:
            found[adding.digest(source[0].data)] = source[0]
    return found


def _numbers(store: Store, names: Sequence[str], report: Rotated) -> list[int]:
    there = store.named(names)
    report.skipped += [Skipped(name, "not in the index") for name in names if name not in there]
    return sorted(there.values())


def _rotate(store: Store, numbers: list[int], given: dict[bytes, Document], report: Rotated) -> None:
    known = store.stored(numbers)
    kept = store.contents(numbers)
    sets = dict(_search_sets(store, known, kept, given))
    report.skipped += [
        Skipped(known[n].name, "its text is not kept; name the files it was added from as sources")
        for n in known
        if n not in sets
    ]
    batch = Batch([], adding.joined([]), [], [])
    chosen: list[tuple[NDArray[np.uint64], None]] = []
    for number, hashes in sets.items():
        generation = known[number].generation + 1
        chosen.append((hashes[koala.chosen(hashes, store.settings, generation)], None))
        batch.documents.append(replace(known[number], generation=generation, postings=len(chosen[-1][0])))
        batch.contents.append(kept.get(number))
        batch.gone.append(number)
    if batch.documents:
        store.add(batch._replace(postings=adding.joined(chosen)))
        report.rotated += [document.name for document in batch.documents]


def _search_sets(
    store: Store, known: dict[int, Stored], kept: dict[int, bytes], given: dict[bytes, Document]
) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    recipe = store.settings.recipe
    for number, stored in known.items():
        if number in kept and store.settings.content == "search-set":
            yield number, contents.unpack_hashes(kept[number])
        elif number in kept:
            yield number, api.fingerprint(contents.unpack(stored.name, kept[number]), recipe).hashes
        elif stored.digest in given:
            yield number, api.fingerprint(given[stored.digest], recipe).hashes
