"""Documents -> a store, in batches: one is read, the one before is packed, the one before that is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from chaffinch import api
from chaffinch.core import Batch as Prints
from chaffinch.core import threads_used
from chaffinch.core_index import Postings
from chaffinch.index import contents, koala
from chaffinch.index.records import About, Batch, Settings, Stored
from chaffinch.index.store import Store
from chaffinch.types import Document, Fingerprints, Skipped

Item = tuple[Document, Mapping[str, str]] | Skipped
"""A document and what is said about it, or what was left out."""

_NOTHING = About()
_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of characters, but for those that stand for bytes that are no text."""
_BATCH_BYTES = 32 << 20
_BATCH_DOCUMENTS = 4096


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
    whole = _HALVES.sub("\N{REPLACEMENT CHARACTER}", name)
    return whole.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace").replace("\0", "\\0")


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
    adding = _Adding(store, about, boilerplate, replacing, threads_used(threads))
    with ThreadPoolExecutor(2) as behind:  # one packs while the other writes what was packed before
        for item in items:
            if isinstance(item, Skipped):
                adding.report.skipped.append(item)
                continue
            adding.take(*item)
            if progress:
                progress(item[0])
            if adding.size >= _BATCH_BYTES or len(adding.waiting) >= _BATCH_DOCUMENTS:
                adding.write(behind)
        adding.write(behind)
        adding.wait()
    return adding.report


class _Adding:
    """One run of `add`."""

    def __init__(self, store: Store, about: About, boilerplate: bool, replacing: bool, threads: int) -> None:
        self.store, self.about, self.threads = store, about, threads
        self.boilerplate, self.replacing = boilerplate, replacing
        self.report = Added()
        self.waiting: dict[str, tuple[Document, About, bytes]] = {}
        self.size = 0
        self._written: tuple[Future[None], Callable[[], None]] | None = None
        self._seen: dict[str, bytes] = {}

    def take(self, document: Document, said: Mapping[str, str]) -> None:
        name = plain_name(document.name)
        if name in self._seen:
            if self._seen[name] == digest(document.data):
                self.report.already.append(name)
            else:
                self.report.skipped.append(Skipped(name, "another document with this name was added with it"))
            return
        about = replace(self.about, **said) if said else self.about
        about = about if about == _NOTHING else About(*(s and plain_name(s) for s in astuple(about)))
        named = document if name == document.name else replace(document, name=name)
        self._seen[name] = digest(document.data)
        self.waiting[name] = named, about, self._seen[name]
        self.size += len(document.data)

    def write(self, behind: ThreadPoolExecutor) -> None:
        """Hands the batch to the thread that writes, once it has written the one before."""
        waiting, self.waiting, self.size = self.waiting, {}, 0
        documents, gone = self._new(waiting)
        prepared = api.readable(documents, self.store.settings.recipe, threads=self.threads)
        self.report.skipped += prepared.skipped
        if not prepared.documents:
            return
        kept, postings = _postings(prepared.prints, self.store.settings)
        counts = np.bincount(postings.documents, minlength=len(prepared.documents)).tolist()
        stored = []
        for d, symbols, count in zip(prepared.documents, _symbols(prepared.prints), counts, strict=True):
            given, about, content = waiting[d.name]
            stored.append(
                Stored(d.name, content, len(given.data), symbols, count, about, boilerplate=self.boilerplate)
            )
        replaced = [gone[d.name] for d in prepared.documents if d.name in gone]
        packed = behind.submit(_packed, prepared, kept, self.store.settings, self.threads)

        def written() -> None:
            self.store.add(Batch(stored, postings, packed.result(), replaced))

        self.wait()
        same = self.store.alike([s.digest for s in stored])
        for s in stored:
            same.setdefault(s.digest, s.name)
        names = [d.name for d in prepared.documents]

        def report() -> None:
            self.report.added += names
            self.report.replaced += [name for name in names if name in gone]
            self.report.copies += [
                (s.name, same[s.digest])
                for s in stored
                if same[s.digest] != s.name and same[s.digest] not in gone
            ]

        self._written = behind.submit(written), report

    def wait(self) -> None:
        if self._written is not None:
            future, report = self._written
            self._written = None
            future.result()
            report()

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
                self.report.skipped.append(Skipped(name, why))
        return documents, gone


def _symbols(prints: Sequence[Fingerprints]) -> list[int]:
    """The lengths of the documents' streams."""
    if isinstance(prints, Prints) and not prints.again:
        return [int(n) for n in prints.symbols.tolist()]
    return [p.symbols for p in prints]


def _postings(prints: Sequence[Fingerprints], settings: Settings) -> tuple[list[NDArray[np.uint64]], Postings]:
    """The hashes that find each document, where only some of them are stored; and what is stored."""
    if settings.stored is None:
        if isinstance(prints, Prints) and not prints.again:
            owners = np.repeat(
                np.arange(len(prints), dtype=np.uint32), np.diff(prints.offsets).astype(np.int64)
            )
            return [], Postings(prints.hashes, owners, prints.starts)
        return [], joined([(p.hashes, p.starts) for p in prints])
    sets = [p.hashes for p in prints]
    return sets, joined([(h[koala.chosen(h, settings, 0)], None) for h in sets])


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
