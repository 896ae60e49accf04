"""Documents -> a store, in batches: while one batch is read, earlier ones are compressed and written."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import astuple, dataclass, field, replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting
from chaffinch.errors import SkipReason
from chaffinch.index import contents
from chaffinch.index.background import background
from chaffinch.index.koala import selection
from chaffinch.index.records import Batch, DocumentRecord, Metadata, Settings, today
from chaffinch.index.store import Store
from chaffinch.index.stream_digest import stream_digests
from chaffinch.native.fingerprint import Batch as FingerprintBatch
from chaffinch.native.segment import Postings
from chaffinch.read.collect import Collected
from chaffinch.read.legible import is_legible
from chaffinch.types import Document, Fingerprints, Skipped

_LONE_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Half characters, except those that Python uses for bytes that are not text."""
_BATCH_BYTES = 32 << 20
_BATCH_DOCUMENTS = 4096
_MAX_PENDING = 2
"""Batches that may wait to be compressed and written while the next one is read."""


@dataclass(slots=True)
class IngestReport:
    """What happened to the documents, by name."""

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    """Added documents that replaced others."""
    already: list[str] = field(default_factory=list)
    """Documents that were in the index before, with this name and content."""
    copies: list[tuple[str, str]] = field(default_factory=list)
    """Added documents, each with the name of another document that has the same content."""
    skipped: list[Skipped] = field(default_factory=list)
    not_language: list[str] = field(default_factory=list)
    """Added documents whose text is not language: bad scans, fonts without a map to letters."""


def plain_name(name: str) -> str:
    """Return a name that every database can hold: bytes that are not text are escaped."""
    if name.isascii() and "\0" not in name:
        return name
    whole = _LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", name)
    return whole.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace").replace("\0", "\\0")


def plain_metadata(metadata: Metadata) -> Metadata:
    """Return metadata that every database can hold."""
    return Metadata(*(text and plain_name(text) for text in astuple(metadata)))


def completed(metadata: Metadata, known: Metadata) -> Metadata:
    """Return metadata with what is known where nothing is given. An empty text removes what is known."""
    pairs = zip(astuple(metadata), astuple(known), strict=True)
    return Metadata(*((old if text is None else text) or None for text, old in pairs))


def content_digest(data: bytes) -> bytes:
    """Return a hash by which equal contents are recognised."""
    return sha256(data).digest()[:10]


@dataclass
class Ingest:
    """One run that adds documents batch by batch. Batches that were written stay, whatever happens next."""

    store: Store
    metadata: Metadata
    boilerplate: bool | None
    replacing: bool
    threads: int
    report: IngestReport = field(default_factory=IngestReport)
    _batch: dict[str, tuple[Document, Metadata, bytes]] = field(default_factory=dict)
    _size: int = 0
    _pending: deque[Future[None]] = field(default_factory=deque)
    _has_failed: bool = False
    _digests: dict[str, bytes] = field(default_factory=dict)
    _not_language: set[str] = field(default_factory=set)

    def run(
        self, items: Iterable[Collected | Skipped], progress: Callable[[Document], None] | None
    ) -> IngestReport:
        self.metadata = plain_metadata(self.metadata)
        with background(1) as self._pack, background(1) as self._commit:
            for item in items:
                if isinstance(item, Skipped):
                    self.report.skipped.append(item)
                    continue
                self._take(*item)
                if progress:
                    progress(item.document)
                if self._size >= _BATCH_BYTES or len(self._batch) >= _BATCH_DOCUMENTS:
                    self._write()
            self._write()
            self._wait(0)
        return self.report

    def _take(self, document: Document, own_metadata: Mapping[str, str]) -> None:
        name, digest = plain_name(document.name), content_digest(document.data)
        if name in self._digests:
            if self._digests[name] == digest:
                self.report.already.append(name)
            else:
                reason = "another document with this name was just added; use another name"
                self.report.skipped.append(Skipped(name, SkipReason.DUPLICATE, reason))
            return
        metadata = plain_metadata(replace(self.metadata, **own_metadata)) if own_metadata else self.metadata
        named = document if name == document.name else replace(document, name=name)
        self._digests[name] = digest
        if not is_legible(document):
            self._not_language.add(name)
        self._batch[name] = named, metadata, digest
        self._size += len(document.data)

    def _write(self) -> None:
        """Hand the batch to the background threads, and wait while too many batches are pending."""
        batch, self._batch, self._size = self._batch, {}, 0
        documents, replaced = self._new(batch)
        recipe = self.store.settings.recipe
        prepared = fingerprinting.prepare(documents, recipe, threads=self.threads, only_starts=True)
        self.report.skipped += prepared.skipped
        if not prepared.documents:
            return
        search_sets, postings, counts = _postings(prepared.prints, self.store)
        streams = [b""] * len(counts)
        if self.store.settings.content != "text":
            streams = stream_digests(prepared.documents, recipe, self.threads)
        records = []
        columns = prepared.documents, _symbols(prepared.prints), counts, streams
        for d, symbols, count, stream in zip(*columns, strict=True):
            original, metadata, digest = batch[d.name]
            sizes = len(original.data), symbols, count
            old = replaced[d.name][1] if d.name in replaced else None
            records.append(self._record(d.name, digest, sizes, metadata, old)._replace(stream=stream))
        packed = self._pack(_packed, prepared, search_sets, self.store.settings, self.threads)
        numbers = [replaced[r.name][0] for r in records if r.name in replaced]
        written = Batch(records, postings, _wait_for(packed), numbers)
        self._pending.append(self._commit(self._add, written, replaced.keys()))
        self._wait(_MAX_PENDING)

    def _record(
        self,
        name: str,
        digest: bytes,
        sizes: tuple[int, int, int],
        metadata: Metadata,
        old: DocumentRecord | None,
    ) -> DocumentRecord:
        """Describe a document. One that replaces another takes over what was not given for it."""
        boilerplate, registered = bool(self.boilerplate), today()
        if old is not None and self.boilerplate is None:
            boilerplate = old.boilerplate
        if old is not None and old.digest == digest:
            registered = old.registered
        metadata = completed(metadata, old.metadata if old else Metadata())
        flags = boilerplate, name in self._not_language
        chosen = max(today(), registered)  # a clock can be set back
        return DocumentRecord(name, digest, *sizes, metadata, *flags, registered, chosen)

    def _add(self, batch: Batch, replaced: Collection[str]) -> None:
        """Write one batch. After a batch that failed, none is written."""
        if self._has_failed:
            return
        self._has_failed = True  # until everything below is done
        names = [r.name for r in batch.documents]
        first_names = self.store.names_by_digest([r.digest for r in batch.documents])
        for r in batch.documents:
            first_names.setdefault(r.digest, r.name)
        self.store.add(batch)
        self.report.added += names
        self.report.not_language += [r.name for r in batch.documents if r.not_language]
        self.report.replaced += [name for name in names if name in replaced]
        copies = [(r.name, first_names[r.digest]) for r in batch.documents]
        self.report.copies += [(name, of) for name, of in copies if of != name and of not in replaced]
        self._has_failed = False

    def _wait(self, most: int) -> None:
        """Wait until at most this many batches are pending."""
        while len(self._pending) > most:
            self._pending[0].result()
            self._pending.popleft()

    def _new(
        self, batch: Mapping[str, tuple[Document, Metadata, bytes]]
    ) -> tuple[list[Document], dict[str, tuple[int, DocumentRecord]]]:
        """Return the documents to add, and by name the numbers and records of those they replace."""
        numbers = self.store.numbers_by_name(list(batch))
        known = self.store.records(list(numbers.values()))
        documents, replaced = [], {}
        for name, (document, metadata, digest) in batch.items():
            old = known.get(numbers.get(name, -1))
            if old is None:
                documents.append(document)
                continue
            keeps_flag = self.replacing and self.boilerplate is None
            is_same = old.digest == digest and (keeps_flag or old.boilerplate == bool(self.boilerplate))
            if is_same and (completed(metadata, old.metadata) == old.metadata or not self.replacing):
                self.report.already.append(name)
            elif self.replacing:
                documents.append(document)
                replaced[name] = numbers[name], old
            else:
                if old.digest != digest:
                    difference = "with another content"
                else:
                    difference = "as boilerplate" if old.boilerplate else "and not as boilerplate"
                reason = f"already in the index {difference}; use replace, or another name"
                self.report.skipped.append(Skipped(name, SkipReason.DUPLICATE, reason))
        return documents, replaced


def _wait_for(packed: Future[list[bytes | None]]) -> Iterator[bytes | None]:
    """Wait for the compressed contents only when they are needed; the store writes the postings meanwhile."""
    yield from packed.result()


def _symbols(prints: Sequence[Fingerprints]) -> list[int]:
    """Return the lengths of the documents' streams."""
    if isinstance(prints, FingerprintBatch):
        return [int(n) for n in prints.symbols.tolist()]
    return [p.symbols for p in prints]


def _postings(
    prints: Sequence[Fingerprints], store: Store
) -> tuple[list[NDArray[np.uint64]], Postings, list[int]]:
    """Return the search sets (if not all fingerprints are stored), the postings, and how many each has."""
    settings, generation = store.settings, store.generation()
    if settings.stored is None and isinstance(prints, FingerprintBatch):
        counts = np.diff(prints.offsets).astype(np.int64)
        documents = np.repeat(np.arange(len(prints), dtype=np.uint32), counts)
        return [], Postings(prints.hashes, documents, prints.starts), counts.tolist()
    search_sets: list[NDArray[np.uint64]] = []
    parts: list[tuple[NDArray[np.uint64], NDArray[np.uint32] | None]] = []
    for p in prints:
        if settings.stored is None:
            parts.append((p.hashes, p.starts))
        else:
            search_sets.append(p.hashes)
            parts.append((p.hashes[selection.choose(p.hashes, settings, generation)], None))
    return search_sets, join_postings(parts), [len(hashes) for hashes, _ in parts]


def join_postings(parts: Sequence[tuple[NDArray[np.uint64], NDArray[np.uint32] | None]]) -> Postings:
    """Join the hashes and positions of documents. Positions that are None become 0."""
    hashes = np.concatenate([*(h for h, _ in parts), np.empty(0, np.uint64)])
    documents = np.repeat(np.arange(len(parts), dtype=np.uint32), [len(h) for h, _ in parts])
    positions = [np.zeros(len(h), np.uint32) if p is None else p for h, p in parts]
    return Postings(hashes, documents, np.concatenate([*positions, np.empty(0, np.uint32)]))


def _packed(
    prepared: fingerprinting.Prepared, search_sets: list[NDArray[np.uint64]], settings: Settings, threads: int
) -> list[bytes | None]:
    if settings.content == "text":
        return [*contents.pack(prepared.documents, threads)]
    if settings.content == "search-set":
        return [*contents.pack_hashes(search_sets, threads)]
    return [None] * len(prepared.documents)
