"""Documents -> a store, in batches: while one is read, those before are packed and written."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import astuple, dataclass, field, replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from chaffinch import fingerprinting as api
from chaffinch.errors import SkipReason
from chaffinch.index import contents
from chaffinch.index.background import Submit, beside
from chaffinch.index.koala import selection as koala
from chaffinch.index.records import About, Batch, Settings, Stored
from chaffinch.index.store import Store
from chaffinch.native.fingerprint import Batch as Prints
from chaffinch.native.fingerprint import threads_used
from chaffinch.native.segment import Postings
from chaffinch.read.collect import Collected
from chaffinch.types import Document, Fingerprints, Skipped

Item = Collected | Skipped
"""A document and what is said about it, or what was left out."""

_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of characters, but for those that stand for bytes that are no text."""
_BATCH_BYTES = 32 << 20
_BATCH_DOCUMENTS = 4096
_AHEAD = 2
"""So many batches wait to be packed and written while the next is read."""


@dataclass(slots=True)
class Added:
    """What became of the documents that were to be added, by name."""

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    """Those of them that took the place of others."""
    already: list[str] = field(default_factory=list)
    """There before, under this name and with this content."""
    copies: list[tuple[str, str]] = field(default_factory=list)
    """Added though another document has the same content: its name is the second."""
    skipped: list[Skipped] = field(default_factory=list)


def plain_name(name: str) -> str:
    """A name that every database can hold: bytes that are no text are written out."""
    if name.isascii() and "\0" not in name:
        return name
    whole = _HALVES.sub("\N{REPLACEMENT CHARACTER}", name)
    return whole.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace").replace("\0", "\\0")


def _plain(about: About) -> About:
    return About(*(said and plain_name(said) for said in astuple(about)))


def digest(data: bytes) -> bytes:
    """By which the same content is noticed."""
    return sha256(data).digest()[:10]


def add(
    store: Store,
    items: Iterable[Item],
    about: About,
    boilerplate: bool,
    replacing: bool,
    threads: int | None,
    progress: Callable[[Document], None] | None,
) -> Added:
    """Adds batch by batch; every batch that was written stays, whatever happens to the next."""
    with beside(1) as pack, beside(1) as commit:
        adding = _Adding(store, about, boilerplate, replacing, threads_used(threads), pack, commit)
        for item in items:
            if isinstance(item, Skipped):
                adding.report.skipped.append(item)
                continue
            adding.take(*item)
            if progress:
                progress(item[0])
            if adding.size >= _BATCH_BYTES or len(adding.waiting) >= _BATCH_DOCUMENTS:
                adding.write()
        adding.write()
        adding.wait(0)
    return adding.report


class _Adding:
    """One run of `add`."""

    def __init__(
        self,
        store: Store,
        about: About,
        boilerplate: bool,
        replacing: bool,
        threads: int,
        pack: Submit,
        commit: Submit,
    ) -> None:
        self.store, self.about, self.threads = store, _plain(about), threads
        self._pack, self._commit = pack, commit
        self.boilerplate, self.replacing = boilerplate, replacing
        self.report = Added()
        self.waiting: dict[str, tuple[Document, About, bytes]] = {}
        self.size = 0
        self._behind: deque[Future[None]] = deque()
        self._failed = False
        self._seen: dict[str, bytes] = {}

    def take(self, document: Document, said: Mapping[str, str]) -> None:
        name = plain_name(document.name)
        if name in self._seen:
            if self._seen[name] == digest(document.data):
                self.report.already.append(name)
            else:
                self.report.skipped.append(
                    Skipped(name, SkipReason.DUPLICATE, "another document with this name was added with it")
                )
            return
        about = _plain(replace(self.about, **said)) if said else self.about
        named = document if name == document.name else replace(document, name=name)
        self._seen[name] = digest(document.data)
        self.waiting[name] = named, about, self._seen[name]
        self.size += len(document.data)

    def write(self) -> None:
        """Hands the batch to those who pack and write, and waits if they have too many."""
        waiting, self.waiting, self.size = self.waiting, {}, 0
        documents, gone = self._new(waiting)
        prepared = api.prepare(documents, self.store.settings.recipe, threads=self.threads, only_starts=True)
        self.report.skipped += prepared.skipped
        if not prepared.documents:
            return
        kept, postings, counts = _postings(prepared.prints, self.store.settings)
        stored = []
        for d, symbols, count in zip(prepared.documents, _symbols(prepared.prints), counts, strict=True):
            given, about, content = waiting[d.name]
            stored.append(
                Stored(d.name, content, len(given.data), symbols, count, about, boilerplate=self.boilerplate)
            )
        packed = self._pack(_packed, prepared, kept, self.store.settings, self.threads)
        self._behind.append(self._commit(self._add, stored, postings, packed, gone))
        self.wait(_AHEAD)

    def _add(
        self,
        stored: list[Stored],
        postings: Postings,
        packed: Future[list[bytes | None]],
        gone: Mapping[str, int],
    ) -> None:
        """One batch after the other, and none behind one that failed."""
        if self._failed:
            return
        self._failed = True  # unless all of this is done
        same = self.store.alike([s.digest for s in stored])
        for s in stored:
            same.setdefault(s.digest, s.name)
        replaced = [gone[s.name] for s in stored if s.name in gone]
        self.store.add(Batch(stored, postings, _awaited(packed), replaced))
        self.report.added += [s.name for s in stored]
        self.report.replaced += [s.name for s in stored if s.name in gone]
        self.report.copies += [
            (s.name, same[s.digest]) for s in stored if same[s.digest] != s.name and same[s.digest] not in gone
        ]
        self._failed = False

    def wait(self, most: int) -> None:
        """Until at most so many batches are not yet written."""
        while len(self._behind) > most:
            self._behind[0].result()
            self._behind.popleft()

    def _new(
        self, waiting: Mapping[str, tuple[Document, About, bytes]]
    ) -> tuple[list[Document], dict[str, int]]:
        """Those that are not there yet, and the numbers of those they take the place of."""
        there = self.store.named(list(waiting))
        known = self.store.stored(list(there.values()))
        documents, gone = [], {}
        for name, (document, about, content) in waiting.items():
            former = known.get(there.get(name, -1))
            if former is None:
                documents.append(document)
                continue
            same = former.digest == content and former.boilerplate == self.boilerplate
            if same and (former.about == about or not self.replacing):
                self.report.already.append(name)
            elif self.replacing:
                documents.append(document)
                gone[name] = there[name]
            else:
                other = "as boilerplate, or not as such" if former.digest == content else "with another content"
                why = f"there already {other}; use replace, or another name"
                self.report.skipped.append(Skipped(name, SkipReason.DUPLICATE, why))
        return documents, gone


def _awaited(packed: Future[list[bytes | None]]) -> Iterator[bytes | None]:
    """Whoever needs them waits for them; the rest of a batch is written meanwhile."""
    yield from packed.result()


def _symbols(prints: Sequence[Fingerprints]) -> list[int]:
    """The lengths of the documents' streams."""
    if isinstance(prints, Prints) and not prints.again:
        return [int(n) for n in prints.symbols.tolist()]
    return [p.symbols for p in prints]


def _postings(
    prints: Sequence[Fingerprints], settings: Settings
) -> tuple[list[NDArray[np.uint64]], Postings, list[int]]:
    """The hashes that find each document, where not all are stored; what is stored, and how much of each."""
    if settings.stored is None and isinstance(prints, Prints) and not prints.again:
        counts = np.diff(prints.offsets).astype(np.int64)
        owners = np.repeat(np.arange(len(prints), dtype=np.uint32), counts)
        return [], Postings(prints.hashes, owners, prints.starts), counts.tolist()
    sets: list[NDArray[np.uint64]] = []
    parts: list[tuple[NDArray[np.uint64], NDArray[np.uint32] | None]] = []
    for p in prints:
        if settings.stored is None:
            parts.append((p.hashes, p.starts))
        else:
            sets.append(p.hashes)
            parts.append((p.hashes[koala.chosen(p.hashes, settings, 0)], None))
    return sets, joined(parts), [len(hashes) for hashes, _ in parts]


def joined(parts: Sequence[tuple[NDArray[np.uint64], NDArray[np.uint32] | None]]) -> Postings:
    """Hashes and positions of documents one after another; without positions, all are 0."""
    hashes = np.concatenate([*(h for h, _ in parts), np.empty(0, np.uint64)])
    owners = np.repeat(np.arange(len(parts), dtype=np.uint32), [len(h) for h, _ in parts])
    places = [np.zeros(len(h), np.uint32) if p is None else p for h, p in parts]
    return Postings(hashes, owners, np.concatenate([*places, np.empty(0, np.uint32)]))


def _packed(
    prepared: api.Prepared, sets: list[NDArray[np.uint64]], settings: Settings, threads: int
) -> list[bytes | None]:
    if settings.content == "text":
        return [*contents.pack(prepared.documents, threads)]
    if settings.content == "search-set":
        return [*contents.pack_hashes(sets, threads)]
    return [None] * len(prepared.documents)
