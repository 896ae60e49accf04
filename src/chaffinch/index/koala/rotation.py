"""Chooses again which fingerprints of documents are stored. Searches work before, during and after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from chaffinch import fingerprinting
from chaffinch.errors import BadArgument, CoreFailure, Damaged, IndexTrouble, SkipReason, Unreadable
from chaffinch.index import contents
from chaffinch.index.ingest import content_digest, join_postings, plain_name
from chaffinch.index.koala import selection
from chaffinch.index.records import Batch, DocumentRecord, today
from chaffinch.index.store import Hashes, Progress, Store
from chaffinch.read.collect import Collected
from chaffinch.types import Skipped

_BATCH_DOCUMENTS = 1000


@dataclass(slots=True)
class RotationReport:
    """Documents with a new choice, and those that kept the old one."""

    rotated: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def rotate(
    store: Store, names: Iterable[str] | None, sources: Iterable[Collected | Skipped], progress: Progress
) -> RotationReport:
    """Choose again for all documents, or for those named.

    This needs the stored content of each document. Where there is none, a source with the same content is used.
    """
    if store.settings.stored is None:
        raise IndexTrouble(f"{store.where}: stores every fingerprint, so there is nothing to choose")
    report = RotationReport()
    if names is None:
        numbers = [number for number, _ in store.all_records()]
    else:
        wanted = [plain_name(name) for name in names]
        known = store.numbers_by_name(wanted)
        unknown = (name for name in wanted if name not in known)
        report.skipped += [Skipped(name, SkipReason.NOT_FOUND, "not in the index") for name in unknown]
        numbers = sorted(known.values())
    generation = store.generation() + 1
    missing: dict[bytes, list[int]] = {}
    for start in range(0, len(numbers), _BATCH_DOCUMENTS):
        some = numbers[start : start + _BATCH_DOCUMENTS]
        progress(f"Choosing again for {len(report.rotated) + len(some)} of {len(numbers)} documents ...")
        records, packed = store.records(some), store.contents(some)
        search_sets = _from_contents(store, records, packed)
        for number in records.keys() - search_sets.keys():
            missing.setdefault(records[number].digest, []).append(number)
        report.rotated += _replace(store, records, packed, search_sets, generation)
    if missing:
        for search_sets in _from_sources(store, missing, sources, report.skipped):
            progress(f"Choosing again from the sources, {len(report.rotated)} documents so far ...")
            some = list(search_sets)
            report.rotated += _replace(
                store, store.records(some), store.contents(some), search_sets, generation
            )
        rest = store.records([number for numbers in missing.values() for number in numbers])
        reason = "its text is not stored, or is damaged; give the files it was added from as sources"
        report.skipped += [Skipped(rest[n].name, SkipReason.NOT_FOUND, reason) for n in sorted(rest)]
    return report


def _from_contents(
    store: Store, records: dict[int, DocumentRecord], packed: dict[int, bytes]
) -> dict[int, Hashes]:
    """Return the search set of each document whose content is whole. Only one text is in memory at a time."""
    search_sets: dict[int, Hashes] = {}
    for number, content in packed.items():
        name = records[number].name
        with suppress(Damaged):
            if store.settings.content == "search-set":
                search_sets[number] = contents.unpack_hashes(name, content)
            else:
                text = contents.unpack(name, content)
                search_sets[number] = fingerprinting.fingerprint(text, store.settings.recipe).hashes
    return search_sets


def _from_sources(
    store: Store,
    missing: dict[bytes, list[int]],
    sources: Iterable[Collected | Skipped],
    skipped: list[Skipped],
) -> Iterator[dict[int, Hashes]]:
    """Yield batches of search sets, and take the documents that a source has from `missing`."""
    search_sets: dict[int, Hashes] = {}
    for source in sources:
        if isinstance(source, Skipped):
            skipped.append(source)
            continue
        document = source.document
        key = content_digest(document.data)
        if key not in missing:
            continue
        try:
            hashes = fingerprinting.fingerprint(document, store.settings.recipe).hashes
        except (Unreadable, BadArgument, CoreFailure) as error:
            # It was readable when it was added: a program is missing here.
            skipped.append(Skipped.because(error, document.name))
            continue
        search_sets |= dict.fromkeys(missing.pop(key), hashes)
        if len(search_sets) >= _BATCH_DOCUMENTS:
            yield search_sets
            search_sets = {}
    yield search_sets


def _replace(
    store: Store,
    records: dict[int, DocumentRecord],
    packed: dict[int, bytes],
    search_sets: dict[int, Hashes],
    generation: int,
) -> list[str]:
    """Replace documents by themselves with the choice of a generation, in one commit."""
    documents: list[DocumentRecord] = []
    chosen: list[tuple[Hashes, None]] = []
    for number, hashes in search_sets.items():
        record = records[number]
        chosen.append((hashes[selection.choose(hashes, store.settings, generation)], None))
        day = max(today(), record.registered)  # a clock can be set back
        documents.append(record._replace(chosen=day, postings=len(chosen[-1][0])))
    names = [document.name for document in documents]
    if documents:
        store.raise_generation(generation)  # first, so that it is never used by two rotations
        new_contents = [packed.get(number) for number in search_sets]
        store.add(Batch(documents, join_postings(chosen), new_contents, [*search_sets]))
        store.forget_touches(names)
    return names
