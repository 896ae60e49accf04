"""Chooses anew which fingerprints of a document are stored; a search is the same before, while and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from chaffinch import fingerprinting as api
from chaffinch.errors import CoreFailure, Damaged, IndexTrouble, SkipReason, Unreadable
from chaffinch.index import contents
from chaffinch.index import ingest as adding
from chaffinch.index.koala import selection as koala
from chaffinch.index.records import Batch, Stored
from chaffinch.index.store import Hashes, Store, Tell
from chaffinch.types import Skipped

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
    numbers = [n for n, _ in store.each()] if wanted is None else _numbers(store, wanted, report)
    missing: dict[bytes, list[int]] = {}
    waiting = iter(numbers)
    while some := list(islice(waiting, _TOGETHER)):
        tell(f"Choosing anew for {len(report.rotated) + len(some)} of {len(numbers)} documents ...")
        known, kept = store.stored(some), store.contents(some)
        sets = _from_kept(store, known, kept)
        for number in known.keys() - sets.keys():
            missing.setdefault(known[number].digest, []).append(number)
        _replace(store, known, kept, sets, report)
    if missing:
        _from_sources(store, missing, sources, report, tell)
    return report


def _numbers(store: Store, names: Sequence[str], report: Rotated) -> list[int]:
    there = store.named(names)
    report.skipped += [
        Skipped(name, SkipReason.NOT_FOUND, "not in the index") for name in names if name not in there
    ]
    return sorted(there.values())


def _from_kept(store: Store, known: dict[int, Stored], kept: dict[int, bytes]) -> dict[int, Hashes]:
    """The hashes that each is found by, of what is whole; texts are unpacked one at a time."""
    sets: dict[int, Hashes] = {}
    for number, packed in kept.items():
        name = known[number].name
        with suppress(Damaged):
            if store.settings.content == "search-set":
                sets[number] = contents.unpack_hashes(name, packed)
            else:
                sets[number] = api.fingerprint(contents.unpack(name, packed), store.settings.recipe).hashes
    return sets


def _from_sources(
    store: Store, missing: dict[bytes, list[int]], sources: Iterable[adding.Item], report: Rotated, tell: Tell
) -> None:
    """Those of which nothing is kept that is whole, as their contents come along, their texts one at a time."""
    sets: dict[int, Hashes] = {}
    for source in sources:
        if isinstance(source, Skipped):
            report.skipped.append(source)
            continue
        key = adding.digest(source[0].data)
        if key not in missing:
            continue
        try:
            hashes = api.fingerprint(source[0], store.settings.recipe).hashes
        except (Unreadable, CoreFailure) as error:  # it could be read once: something is missing here now
            report.skipped.append(Skipped.because(error, source[0].name))
            continue
        sets |= dict.fromkeys(missing.pop(key), hashes)
        if len(sets) >= _TOGETHER:
            tell(f"Choosing anew from the sources, {len(report.rotated)} documents so far ...")
            _replace(store, store.stored(list(sets)), store.contents(list(sets)), sets, report)
            sets = {}
    _replace(store, store.stored(list(sets)), store.contents(list(sets)), sets, report)
    left = store.stored([n for numbers in missing.values() for n in numbers])
    why = "its text is not kept, or damaged; name the files it was added from as sources"
    report.skipped += [Skipped(left[n].name, SkipReason.NOT_FOUND, why) for n in sorted(left)]


def _replace(
    store: Store,
    known: dict[int, Stored],
    kept: dict[int, bytes],
    sets: dict[int, Hashes],
    report: Rotated,
) -> None:
    """In one commit, each document by itself with the next choice."""
    documents: list[Stored] = []
    chosen: list[tuple[Hashes, None]] = []
    for number, hashes in sets.items():
        generation = known[number].generation + 1
        chosen.append((hashes[koala.chosen(hashes, store.settings, generation)], None))
        documents.append(known[number]._replace(generation=generation, postings=len(chosen[-1][0])))
    if documents:
        store.add(Batch(documents, adding.joined(chosen), [kept.get(number) for number in sets], [*sets]))
        names = [document.name for document in documents]
        store.forget_probes(names)
        report.rotated += names
