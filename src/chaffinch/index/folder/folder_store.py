"""The embedded store: immutable segments, a catalogue of those in use, one writer, many readers."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import Damaged, IndexTrouble
from chaffinch.index import contents
from chaffinch.index.folder import paths
from chaffinch.index.folder.catalogue import Catalogue, SegmentRow
from chaffinch.index.folder.paths import REMEDY
from chaffinch.index.folder.writer import Writer
from chaffinch.index.koala.probes import ProbeFile
from chaffinch.index.records import Batch, DocumentRecord, IndexInfo, Settings
from chaffinch.index.store import CLOSED, Hashes, Progress, Store, close_on_error
from chaffinch.native.segment import LookupResult, Postings, Segment, lookup

_SCANNED_DOCUMENTS = 20_000
"""Documents whose postings are gathered in one scan of the segments, and held in memory."""
_NAMED_DOCUMENTS = 5
"""Documents of a damaged segment that a message names, at most."""


class FolderStore(ProbeFile, Store):
    """An index in a folder."""

    def __init__(self, where: str | Path) -> None:
        self.where = str(where)
        self.folder = Path(where)
        self._reader = Catalogue(self.folder / paths.CATALOGUE)
        self._reading, self._opening = threading.RLock(), threading.Lock()
        self._in_snapshot = self._closed = False
        self._writer: Writer | None = None
        self._version = -1
        self._segments: dict[int, Segment] = {}
        self._texts: paths.TextFile | None = None
        self._generation = -1
        self._rows: dict[int, SegmentRow] = {}
        self._damaged: dict[int, Damaged] = {}
        self._removed = np.empty(0, np.uint32)
        with close_on_error(self._reader), self._readable():
            self.settings = self._reader.settings()

    @classmethod
    def create(cls, where: str | Path, settings: Settings) -> Self:
        folder = Path(where)
        taken = IndexTrouble(f"{folder}: already exists; name a folder that does not exist")
        with paths.wrap_errors(folder):
            if folder.is_symlink() and not folder.exists():
                raise IndexTrouble(f"{folder}: a broken link; name a folder that does not exist")
            if folder.exists() and not (folder.is_dir() and paths.is_free(folder)):
                raise taken
            folder.mkdir(parents=True, exist_ok=True)
            with closing(paths.WriterLock(folder)):
                if not paths.is_free(folder):  # another process was faster
                    raise taken
                for leftover in folder.glob(f"{paths.PART}*"):
                    leftover.unlink()
                (folder / paths.SEGMENTS).mkdir(exist_ok=True)
                # It gets its name when it is complete, so that a crash leaves no half of an index.
                Catalogue.create(folder / paths.PART, settings)
                (folder / paths.PART).replace(folder / paths.CATALOGUE)
                paths.sync_folder(folder)
        return cls(folder)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._reading, self._readable():
            self._refuse_closed()
            if self._in_snapshot:
                yield
                return
            while True:
                if self._reader.is_stale():
                    self._reader.close()
                    self._reader, self._version = Catalogue(self._reader.path), -1
                with self._reader.transaction():
                    try:
                        if not self._refresh():
                            continue  # a merge has deleted segments of this state; there is a newer one
                    except sqlite3.DatabaseError:
                        if not self._reader.is_stale():  # the file did not change under an immutable connection
                            raise
                        continue
                    self._in_snapshot = True
                    try:
                        yield
                    finally:
                        self._in_snapshot = False
                return

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Raise errors of the catalogue as IndexTrouble, with what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise IndexTrouble(f"{self.where}: its catalogue cannot be read ({error}); {REMEDY}") from error

    def _refuse_closed(self) -> None:
        if self._closed:
            raise IndexTrouble(f"{self.where}: {CLOSED}")

    def _refresh(self) -> bool:
        """Open the segments of the current state. Return False if a merge has deleted some of them."""
        version = self._reader.number("version")
        if version == self._version:
            return True
        self._rows = {row.number: row for row in self._reader.segments()}
        opened: dict[int, Segment] = {}
        damaged: dict[int, Damaged] = {}
        for number in self._rows:
            if number in self._segments:
                opened[number] = self._segments[number]
                continue
            path = paths.segment_path(self.folder, number)
            try:
                opened[number] = paths.open_segment(path)
            except FileNotFoundError:
                if self._is_outdated():
                    return False
                damaged[number] = self._describe_damage(number, Damaged(str(path), "it is missing"))
            except Damaged as error:
                damaged[number] = self._describe_damage(number, error)
            except OSError as error:
                unreadable = Damaged(str(path), f"it cannot be read ({error.strerror})")
                damaged[number] = self._describe_damage(number, unreadable)
        if not self._open_texts(self._reader.number("texts")):
            return False
        self._segments, self._damaged, self._version = opened, damaged, version
        self._removed = np.array(self._reader.removed(), np.uint32)
        return True

    def _describe_damage(self, number: int, error: Damaged) -> Damaged:
        """Add the names of the documents that cannot be found because of it."""
        names = list(self._reader.names_in(self._rows[number]))
        listed = names[:_NAMED_DOCUMENTS]
        if len(names) > len(listed):
            listed.append(f"and {len(names) - len(listed)} more")
        return Damaged(error.name, error.detail, f" ({len(names)} documents: {', '.join(listed)})")

    def _open_texts(self, generation: int) -> bool:
        """Open the text file of this state. Return False if a merge has replaced it."""
        if generation == self._generation and self._texts:
            return True
        opened = None
        try:
            if self._reader.number("texts_end"):
                opened = paths.TextFile(paths.text_path(self.folder, generation))
        except FileNotFoundError:
            if self._is_outdated():
                return False  # otherwise it is lost, and reported when a text is read
        if self._texts:
            self._texts.close()
        self._texts, self._generation = opened, generation
        return True

    def _is_outdated(self) -> bool:
        """Return whether there is a newer state, whose files a merge may have replaced."""
        with closing(Catalogue(self._reader.path)) as newest:
            return newest.number("version") != self._reader.number("version")

    def lookup(self, hashes: Hashes) -> LookupResult:
        with self.snapshot():
            while True:
                try:
                    return lookup(list(self._segments.values()), hashes, self._removed)
                except Damaged as error:
                    bad = next(n for n, s in self._segments.items() if s.name == error.name)
                    self._damaged[bad] = self._describe_damage(bad, error)
                    del self._segments[bad]

    def count(self) -> int:
        with self.snapshot():
            return self._reader.number("documents")

    def records(self, documents: Sequence[int]) -> dict[int, DocumentRecord]:
        with self.snapshot():
            return self._reader.records(documents)

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        with self.snapshot():
            return self._reader.sizes(documents)

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        with self.snapshot():
            if (texts := self._texts) is None:
                return {}
            return {span.document: texts.read(span) for span in self._reader.content_spans(documents)}

    def numbers_by_name(self, names: Sequence[str]) -> dict[str, int]:
        with self.snapshot():
            return self._reader.numbers_by_name(names)

    def names_by_digest(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        with self.snapshot():
            return self._reader.names_by_digest(digests)

    def boilerplate(self) -> frozenset[int]:
        with self.snapshot():
            return self._reader.boilerplate()

    def all_records(self) -> Iterator[tuple[int, DocumentRecord]]:
        with self._reading:
            self._refuse_closed()
            if self._in_snapshot:  # of the caller
                return self._reader.all_records()
        return self._all_records()

    def _all_records(self) -> Iterator[tuple[int, DocumentRecord]]:
        """Yield the documents of one state over a connection of their own, so that others need not wait."""
        with self._readable(), closing(Catalogue(self._reader.path)) as catalogue, catalogue.transaction():
            yield from catalogue.all_records()

    def postings_of(self, documents: Sequence[int]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        wanted = sorted(documents)
        with self.snapshot():
            for start in range(0, len(wanted), _SCANNED_DOCUMENTS):
                yield from self._gather(np.array(wanted[start : start + _SCANNED_DOCUMENTS], np.uint32))

    def _gather(self, wanted: NDArray[np.uint32]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        pieces: list[Postings] = []
        for segment in self._segments.values():
            if segment.first_document <= wanted[-1] and segment.last_document >= wanted[0]:
                for postings in segment.scan():
                    chosen = np.isin(postings.documents, wanted)
                    columns = (column[chosen] for column in postings)
                    pieces.append(Postings(*columns))  # type: ignore[arg-type]
        if not pieces:
            return
        hashes, documents, positions = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
        order = np.lexsort((hashes, positions, documents))
        starts = np.searchsorted(documents[order], wanted)
        ends = np.searchsorted(documents[order], wanted, "right")
        for document, start, end in zip(wanted.tolist(), starts, ends, strict=True):
            yield document, hashes[order[start:end]], positions[order[start:end]]

    def damage(self) -> tuple[Damaged, ...]:
        with self.snapshot():
            return tuple(self._damaged.values())

    def info(self) -> IndexInfo:
        with self.snapshot():
            postings = sum(row.postings for row in self._rows.values())
            size = sum(map(_size, self.folder.rglob("*")))
            damaged = tuple(map(str, self.damage()))
            sizes = self.count(), postings, len(self._rows), size, len(self._removed)
            return IndexInfo(*sizes, self._reader.number("not_language"), damaged)

    def begin_writing(self) -> None:
        with paths.wrap_errors(self.where):
            _ = self.writer

    @property
    def writer(self) -> Writer:
        with self._opening:
            self._refuse_closed()
            if self._writer is None:
                self._writer = Writer(self.folder, self.settings)
            return self._writer

    def add(self, batch: Batch) -> None:
        with paths.wrap_errors(self.where):
            self.writer.add(batch)

    def remove(self, documents: Sequence[int]) -> None:
        with paths.wrap_errors(self.where):
            self.writer.remove(documents)

    def merge(self, progress: Progress) -> None:
        with paths.wrap_errors(self.where):
            self.writer.merge_all(progress)

    def verify(self, progress: Progress) -> list[str]:
        with self.snapshot():
            in_catalogue = self._reader.check()
            problems = [*in_catalogue, *map(str, self._damaged.values())]
            counted = np.zeros(self._reader.number("next"), np.int64)
            for segment in self._segments.values():
                progress(f"Checking {Path(segment.name).name} ...")
                try:
                    segment.check()
                    end = segment.last_document + 1
                    if end > len(counted):
                        raise Damaged(segment.name, "it belongs to another index")
                    for postings in segment.scan():
                        counted[:end] += np.bincount(postings.documents, minlength=end)
                except Damaged as error:
                    problems.append(str(error))
            if in_catalogue:  # what it says about documents cannot be compared with anything
                return problems
            segments_are_whole = not problems
            removed = set(self._removed.tolist())
            progress("Checking the documents ...")
            for document, record in self._reader.all_records():
                if segments_are_whole and counted[document] != record.postings:
                    problems.append(f"{record.name}: {counted[document]} of {record.postings} postings")
                counted[document] = 0
                packed = self.contents([document]).get(document)
                try:
                    if packed is not None or self.settings.content != "none":
                        contents.decompress(record.name, packed)
                except Damaged as error:
                    problems.append(str(error))
            unknown = set(counted.nonzero()[0].tolist()) - removed
            if segments_are_whole and unknown:
                problems.append(f"postings of {len(unknown)} documents that are not in the catalogue")
        return problems

    def close(self) -> None:
        with self._opening:
            self._closed = True
            writer, self._writer = self._writer, None
        with self._reading:
            self._segments.clear()
            if self._texts:
                self._texts.close()
            self._reader.close()
        if writer is not None:  # last, because it writes the log of the catalogue into the catalogue
            with paths.wrap_errors(self.where):
                writer.close()


def _size(path: Path) -> int:
    """Return the size of a file, or 0 if a merge has just deleted it."""
    with suppress(FileNotFoundError):
        stat = path.stat()
        return stat.st_size if S_ISREG(stat.st_mode) else 0
    return 0
