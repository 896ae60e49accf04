"""The embedded store: immutable segments, a catalogue that says which count, one writer, many readers."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chaffinch import core_index
from chaffinch.core_index import Found, Postings, Segment
from chaffinch.errors import Damaged, IndexTrouble
from chaffinch.index import files, merging, probes
from chaffinch.index.catalogue import Catalogue, SegmentRow
from chaffinch.index.records import Batch, Info, Probed, Settings, Stored
from chaffinch.index.store import Hashes, Tell

_FEW_DOCUMENTS = 20_000
"""So many documents' postings are held in memory when they are given one after another."""


class Embedded:
    """An index in a folder."""

    def __init__(self, where: str | Path) -> None:
        self.where = str(where)
        self.folder = folder = Path(where)
        self._reader = Catalogue(folder / files.CATALOGUE)
        self._reading = threading.RLock()
        self._depth = 0
        self._writer: _Writer | None = None
        self._version = -1
        self._segments: dict[int, Segment] = {}
        self._damaged: dict[int, str] = {}
        self._removed = np.empty(0, np.uint32)
        try:
            self.settings = self._reader.settings()
        except BaseException:
            self._reader.close()
            raise

    @classmethod
    def create(cls, where: str | Path, settings: Settings) -> Embedded:
        folder = Path(where)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise IndexTrouble(f"{folder}: something is there already; name a folder that does not exist")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / files.SEGMENTS).mkdir()
        # Under its name only when it is whole: a crash leaves no half of an index.
        part = folder / "catalogue.part"
        Catalogue.create(part, settings)
        part.replace(folder / files.CATALOGUE)
        return cls(folder)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._reading:
            if self._depth:  # within another
                yield
                return
            while True:
                with self._reader.transaction():
                    if not self._refresh():
                        continue  # a merge was faster; there is a newer state
                    self._depth = 1
                    try:
                        yield
                    finally:
                        self._depth = 0
                return

    def _refresh(self) -> bool:
        """Opens the segments of the state that is read; false if that state is gone."""
        version = int(self._reader.meta("version"))
        if version == self._version:
            return True
        rows = self._reader.segments()
        opened: dict[int, Segment] = {}
        damaged: dict[int, str] = {}
        for row in rows:
            if row.number in self._segments:
                opened[row.number] = self._segments[row.number]
                continue
            try:
                opened[row.number] = files.open_segment(files.segment_path(self.folder, row.number))
            except FileNotFoundError as error:
                if self._merged_away(row.number):
                    return False
                damaged[row.number] = f"{error.filename}: is missing; restore it, or index its documents again"
            except (Damaged, OSError) as error:
                damaged[row.number] = str(error)
        self._segments, self._damaged, self._version = opened, damaged, version
        self._removed = np.array(self._reader.removed(), np.uint32)
        return True

    def _merged_away(self, number: int) -> bool:
        """Whether a newer state no longer has the segment."""
        now = Catalogue(self.folder / files.CATALOGUE)
        try:
            return all(row.number != number for row in now.segments())
        finally:
            now.close()

    def lookup(self, hashes: Hashes) -> Found:
        with self.snapshot():
            while True:
                try:
                    return core_index.lookup(list(self._segments.values()), hashes, self._removed)
                except Damaged as error:
                    bad = next(n for n, s in self._segments.items() if s.name == error.name)
                    self._damaged[bad] = str(error)
                    del self._segments[bad]

    def count(self) -> int:
        with self.snapshot():
            return int(self._reader.meta("documents"))

    def stored(self, documents: Sequence[int]) -> dict[int, Stored]:
        with self.snapshot():
            return self._reader.stored(documents)

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        with self.snapshot():
            return self._reader.contents(documents)

    def named(self, names: Sequence[str]) -> dict[str, int]:
        with self.snapshot():
            return self._reader.named(names)

    def alike(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        with self.snapshot():
            return self._reader.alike(digests)

    def boilerplate(self) -> frozenset[int]:
        with self.snapshot():
            return self._reader.boilerplate()

    def each(self) -> Iterator[tuple[int, Stored]]:
        return self._reader.each()

    def postings_of(self, documents: Sequence[int]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        wanted = sorted(documents)
        with self.snapshot():
            for start in range(0, len(wanted), _FEW_DOCUMENTS):
                yield from self._gathered(np.array(wanted[start : start + _FEW_DOCUMENTS], np.uint32))

    def _gathered(self, wanted: NDArray[np.uint32]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        pieces: list[Postings] = []
        for segment in self._segments.values():
            if segment.first_document <= wanted[-1] and segment.last_document >= wanted[0]:
                for postings in segment.scan():
                    chosen = np.isin(postings.documents, wanted)
                    pieces.append(
                        Postings(
                            postings.hashes[chosen], postings.documents[chosen], postings.positions[chosen]
                        )
                    )
        if not pieces:
            return
        hashes = np.concatenate([p.hashes for p in pieces])
        owners = np.concatenate([p.documents for p in pieces])
        positions = np.concatenate([p.positions for p in pieces])
        order = np.lexsort((hashes, positions, owners))
        bounds = np.searchsorted(owners[order], wanted)
        ends = np.searchsorted(owners[order], wanted, "right")
        for document, start, end in zip(wanted.tolist(), bounds, ends, strict=True):
            yield document, hashes[order[start:end]], positions[order[start:end]]

    def damaged(self) -> tuple[str, ...]:
        with self.snapshot():
            return tuple(self._damaged.values())

    def info(self) -> Info:
        with self.snapshot():
            rows = self._reader.segments()
            size = sum(f.stat().st_size for f in self.folder.rglob("*") if f.is_file())
            postings = sum(row.postings for row in rows)
            return Info(self.count(), postings, len(rows), size, len(self._removed), self.damaged())

    @property
    def writer(self) -> _Writer:
        if self._writer is None:
            self._writer = _Writer(self.folder, self.settings)
        return self._writer

    def add(self, batch: Batch) -> None:
        with _told(self.where):
            self.writer.add(batch)

    def remove(self, documents: Sequence[int]) -> None:
        with _told(self.where):
            self.writer.remove(documents)

    def merge(self, tell: Tell) -> None:
        with _told(self.where):
            self.writer.merge_all(tell)

    def verify(self, tell: Tell) -> list[str]:
        with self.snapshot():
            problems = [*self._reader.check(), *self._damaged.values()]
            counted = np.zeros(int(self._reader.meta("next")), np.int64)
            for segment in self._segments.values():
                tell(f"Checking {Path(segment.name).name} ...")
                try:
                    segment.check()
                    for postings in segment.scan():
                        counted[: segment.last_document + 1] += np.bincount(
                            postings.documents, minlength=segment.last_document + 1
                        )
                except Damaged as error:
                    problems.append(str(error))
            whole = not problems
            gone = set(self._removed.tolist())
            for document, known in self._reader.each():
                if whole and counted[document] != known.postings:
                    problems.append(f"{known.name}: {counted[document]} postings, {known.postings} were stored")
                counted[document] = 0
            if whole and (strays := set(counted.nonzero()[0].tolist()) - gone):
                problems.append(f"postings of {len(strays)} documents that are not in the catalogue")
        return problems

    def probed(self, query: bytes, names: Sequence[str]) -> None:
        probes.record(self.folder, query, names)

    def suspicious(self) -> list[Probed]:
        return probes.suspicious(self.folder)

    def forget_probes(self, names: Sequence[str]) -> None:
        probes.forget(self.folder, names)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._segments.clear()
        self._reader.close()


class _Writer:
    """What the one process that writes has: the lock, a connection, and a thread that merges."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self._lock = files.WriterLock(folder)
        try:
            self._catalogue = Catalogue(folder / files.CATALOGUE, write=True)
            files.sweep(folder, {row.number for row in self._catalogue.segments()})
        except BaseException:
            self._lock.release()
            raise
        self._merger: threading.Thread | None = None
        self._one_merge = threading.Lock()
        self._failure: BaseException | None = None
        self._closing = False

    def add(self, batch: Batch) -> None:
        self._raise_failure()
        needed = batch.postings.hashes.nbytes * 2 + sum(len(c) for c in batch.contents if c)
        if shutil.disk_usage(self.folder).free < needed:  # before half of it is written
            raise IndexTrouble(f"{self.folder}: the disk is full; make room and add again, nothing is lost")
        first = int(self._catalogue.meta("next"))  # nobody else takes numbers
        if first + len(batch.documents) > 2**32:
            raise IndexTrouble(f"{self.folder}: 2^32 documents were ever added; export it, and import it anew")
        row = None
        if len(batch.postings.hashes):
            numbered = batch.postings._replace(documents=batch.postings.documents + np.uint32(first))
            row = self._written([core_index.build(numbered, hash_bits=self.settings.hash_bits)], numbered)
        with self._catalogue.changing():
            self._catalogue.take("next", len(batch.documents))
            self._catalogue.insert(first, batch)
            self._catalogue.delete(batch.gone)
            if row:
                self._catalogue.add_segment(row)
        self._merge_if_due()

    def _written(self, pieces: list[NDArray[np.uint8]], postings: Postings) -> SegmentRow:
        with self._catalogue.transaction("IMMEDIATE"):
            number = self._catalogue.take("next_segment", 1)
        size = files.write_segment(files.segment_path(self.folder, number), pieces)
        owners = postings.documents
        return SegmentRow(number, len(owners), size, int(owners.min()), int(owners.max()))

    def remove(self, documents: Sequence[int]) -> None:
        self._raise_failure()
        with self._catalogue.changing():
            self._catalogue.delete(documents)
        self._merge_if_due()

    def _merge_if_due(self) -> None:
        if self._merger is not None and self._merger.is_alive():
            return
        if merging.due(self._catalogue.segments(), self._catalogue.removed()):
            self._merger = threading.Thread(target=self._merge_what_is_due, daemon=True)
            self._merger.start()

    def _merge_what_is_due(self) -> None:
        catalogue = Catalogue(self.folder / files.CATALOGUE, write=True)
        try:
            while not self._closing:
                with self._one_merge:
                    removed = catalogue.removed()
                    chosen = merging.due(catalogue.segments(), removed)
                    if not chosen:
                        return
                    _merge(self.folder, catalogue, chosen, removed, threads=1)
        except Damaged:  # told by every search, by info and by verify; what is whole can still be added to
            return
        except BaseException as error:  # told to whoever writes next
            self._failure = error
        finally:
            catalogue.close()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def wait(self) -> None:
        """Until no merge is under way."""
        if self._merger is not None:
            self._merger.join()

    def merge_all(self, tell: Tell) -> None:
        tell("Merging ...")
        self.merge_into_one(threads=None)
        tell("Packing the catalogue ...")
        self._catalogue.tidy()

    def merge_into_one(self, threads: int | None) -> None:
        """All that is there now; more can be added meanwhile."""
        self.wait()
        self._raise_failure()
        catalogue = Catalogue(self.folder / files.CATALOGUE, write=True)
        try:
            with self._one_merge:
                rows, removed = catalogue.segments(), catalogue.removed()
                if len(rows) > 1 or removed:
                    _merge(self.folder, catalogue, rows, removed, threads)
        finally:
            catalogue.close()

    def close(self) -> None:
        self.wait()
        self._closing = True
        self._catalogue.close()
        self._lock.release()
        self._raise_failure()


def _merge(
    folder: Path, catalogue: Catalogue, rows: list[SegmentRow], removed: list[int], threads: int | None
) -> None:
    """Makes one segment of several; postings of removed documents are gone."""
    segments = [files.open_segment(files.segment_path(folder, row.number)) for row in rows]
    first, last = (rows[0].first, rows[-1].last) if rows else (0, 0)
    purged = removed[bisect_left(removed, first) : bisect_right(removed, last)]
    with catalogue.transaction("IMMEDIATE"):
        number = catalogue.take("next_segment", 1)
    path = files.segment_path(folder, number)
    size = files.write_segment(path, core_index.merge(segments, np.array(purged, np.uint32), threads=threads))
    merged = files.open_segment(path)
    with catalogue.changing():
        catalogue.drop_segments([row.number for row in rows], purged)
        if merged.postings:
            catalogue.add_segment(SegmentRow(number, merged.postings, size, first, last))
    for row in rows:
        files.segment_path(folder, row.number).unlink(missing_ok=True)
    if not merged.postings:
        path.unlink(missing_ok=True)


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Trouble with the disk, in words."""
    try:
        yield
    except sqlite3.Error as error:
        raise IndexTrouble(
            f"{where}: cannot be written to ({error}); nothing that was there is lost"
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise IndexTrouble(
            f"{where}: cannot be written to ({reason}); nothing that was there is lost"
        ) from error
