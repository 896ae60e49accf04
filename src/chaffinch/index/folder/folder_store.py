"""The embedded store: immutable segments, a catalogue that says which count, one writer, many readers."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from stat import S_ISREG

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import Damaged, IndexTrouble
from chaffinch.index import contents
from chaffinch.index.folder import paths as files
from chaffinch.index.folder import text_file as texts
from chaffinch.index.folder.catalogue import Catalogue, SegmentRow
from chaffinch.index.folder.writer import Writer
from chaffinch.index.koala import probes
from chaffinch.index.records import Batch, Info, Probed, Settings, Stored
from chaffinch.index.store import Hashes, Tell
from chaffinch.native import segment as core_index
from chaffinch.native.segment import LookupResult, Postings, Segment

_FEW_DOCUMENTS = 20_000
"""So many documents' postings are held in memory when they are given one after another."""
_NAMED = 5
"""So many documents of a damaged segment are named."""


class Embedded:
    """An index in a folder."""

    def __init__(self, where: str | Path) -> None:
        self.where = str(where)
        self.folder = folder = Path(where)
        self._reader = Catalogue(folder / files.CATALOGUE)
        self._reading, self._opening = threading.RLock(), threading.Lock()
        self._depth = 0
        self._closed = False
        self._writer: Writer | None = None
        self._version = -1
        self._segments: dict[int, Segment] = {}
        self._texts: texts.Texts | None = None
        self._generation = -1
        self._rows: dict[int, SegmentRow] = {}
        self._damaged: dict[int, str] = {}
        self._removed = np.empty(0, np.uint32)
        try:
            with self._readable():
                self.settings = self._reader.settings()
        except BaseException:
            self._reader.close()
            raise

    @classmethod
    def create(cls, where: str | Path, settings: Settings) -> Embedded:
        folder = Path(where)
        taken = IndexTrouble(f"{folder}: something is there already; name a folder that does not exist")
        with files.told(folder):
            if folder.is_symlink() and not folder.exists():
                raise IndexTrouble(f"{folder}: a link to nothing; name a folder that does not exist")
            if folder.exists() and not (folder.is_dir() and files.unfinished(folder)):
                raise taken
            folder.mkdir(parents=True, exist_ok=True)
            lock = files.WriterLock(folder)
            try:
                if not files.unfinished(folder):  # somebody was faster
                    raise taken
                for left in folder.glob(f"{files.PART}*"):
                    left.unlink()
                (folder / files.SEGMENTS).mkdir(exist_ok=True)
                # Under its name only when it is whole: a crash leaves no half of an index.
                Catalogue.create(folder / files.PART, settings)
                (folder / files.PART).replace(folder / files.CATALOGUE)
                files.sync_folder(folder)
            finally:
                lock.release()
        return cls(folder)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._reading, self._readable():
            self._refuse_closed()
            if self._depth:  # within another
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                return
            while True:
                if self._reader.stale():
                    self._reader.close()
                    self._reader, self._version = Catalogue(self._reader.path), -1
                with self._reader.transaction():
                    if not self._refreshed():
                        continue  # a merge was faster; there is a newer state
                    self._depth = 1
                    try:
                        yield
                    finally:
                        self._depth = 0
                return

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Trouble with the catalogue, in words."""
        try:
            yield
        except sqlite3.Error as error:
            raise IndexTrouble(
                f"{self.where}: its catalogue cannot be read ({error}); put back a copy of it, "
                "or import what was exported"
            ) from error

    def _refuse_closed(self) -> None:
        if self._closed:
            raise IndexTrouble(f"{self.where}: was closed; open it again")

    def _refreshed(self) -> bool:
        """False also if the catalogue was changed under a connection that does not look for changes."""
        try:
            return self._refresh()
        except sqlite3.DatabaseError:
            if self._reader.stale():
                return False
            raise

    def _refresh(self) -> bool:
        """Opens the segments of the state that is read; false if that state is gone."""
        version = int(self._reader.meta("version"))
        if version == self._version:
            return True
        self._rows = {row.number: row for row in self._reader.segments()}
        opened: dict[int, Segment] = {}
        damaged: dict[int, str] = {}
        for number in self._rows:
            if number in self._segments:
                opened[number] = self._segments[number]
                continue
            path = files.segment_path(self.folder, number)
            try:
                opened[number] = files.open_segment(path)
            except FileNotFoundError:
                if self._merged_away(number):
                    return False
                damaged[number] = self._tell_damage(number, Damaged(str(path), "it is missing"))
            except Damaged as error:
                damaged[number] = self._tell_damage(number, error)
            except OSError as error:
                why = Damaged(str(path), f"it cannot be read ({error.strerror})")
                damaged[number] = self._tell_damage(number, why)
        if not self._open_texts(int(self._reader.meta("texts"))):
            return False
        self._segments, self._damaged, self._version = opened, damaged, version
        self._removed = np.array(self._reader.removed(), np.uint32)
        return True

    def _tell_damage(self, number: int, error: Damaged) -> str:
        """With the documents that are not found because of it."""
        row = self._rows[number]
        names = self._reader.between(row.first, row.last)
        more = [f"and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
        return f"{error} ({len(names)} documents: {', '.join([*names[:_NAMED], *more])})"

    def _open_texts(self, generation: int) -> bool:
        """False if a merge has put another file in the place of the one that is read."""
        if generation == self._generation and self._texts:
            return True
        held = None
        try:
            if self._reader.meta("texts_end"):
                held = texts.Texts(texts.path_of(self.folder, generation))
        except FileNotFoundError:
            with closing(Catalogue(self.folder / files.CATALOGUE)) as now:
                if int(now.meta("texts")) != generation:
                    return False  # else it is lost: told when a text is looked for
        if self._texts:
            self._texts.close()
        self._texts, self._generation = held, generation
        return True

    def _merged_away(self, number: int) -> bool:
        """Whether a newer state no longer has the segment."""
        with closing(Catalogue(self.folder / files.CATALOGUE)) as now:
            return all(row.number != number for row in now.segments())

    def lookup(self, hashes: Hashes) -> LookupResult:
        with self.snapshot():
            while True:
                try:
                    return core_index.lookup(list(self._segments.values()), hashes, self._removed)
                except Damaged as error:
                    bad = next(n for n, s in self._segments.items() if s.name == error.name)
                    self._damaged[bad] = self._tell_damage(bad, error)
                    del self._segments[bad]

    def count(self) -> int:
        with self.snapshot():
            return int(self._reader.meta("documents"))

    def stored(self, documents: Sequence[int]) -> dict[int, Stored]:
        with self.snapshot():
            return self._reader.stored(documents)

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        with self.snapshot():
            return self._reader.sizes(documents)

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        with self.snapshot():
            opened = self._texts
            return {p.document: opened.read(p) for p in self._reader.places(documents)} if opened else {}

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
        with self.snapshot():
            if self._depth > 1:  # of the state that is looked at
                return self._reader.each()
        return self._each()

    def _each(self) -> Iterator[tuple[int, Stored]]:
        """Of one state, which nobody who reads or writes meanwhile has to wait for."""
        with self._readable():
            catalogue = Catalogue(self.folder / files.CATALOGUE)
            try:
                with catalogue.transaction():
                    yield from catalogue.each()
            finally:
                catalogue.close()

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
            postings = sum(row.postings for row in self._rows.values())
            size = sum(map(_size, self.folder.rglob("*")))
            return Info(self.count(), postings, len(self._rows), size, len(self._removed), self.damaged())

    def begin(self) -> None:
        with files.told(self.where):
            _ = self.writer

    @property
    def writer(self) -> Writer:
        with self._opening:
            self._refuse_closed()
            if self._writer is None:
                self._writer = Writer(self.folder, self.settings)
            return self._writer

    def add(self, batch: Batch) -> None:
        with files.told(self.where):
            self.writer.add(batch)

    def remove(self, documents: Sequence[int]) -> None:
        with files.told(self.where):
            self.writer.remove(documents)

    def merge(self, tell: Tell) -> None:
        with files.told(self.where):
            self.writer.merge_all(tell)

    def verify(self, tell: Tell) -> list[str]:
        with self.snapshot():
            problems = [*self._reader.check(), *self._damaged.values()]
            counted = np.zeros(int(self._reader.meta("next")), np.int64)
            for segment in self._segments.values():
                tell(f"Checking {Path(segment.name).name} ...")
                try:
                    segment.check()
                    if segment.last_document >= len(counted):
                        raise Damaged(segment.name, "it belongs to another index")
                    for postings in segment.scan():
                        counted[: segment.last_document + 1] += np.bincount(
                            postings.documents, minlength=segment.last_document + 1
                        )
                except Damaged as error:
                    problems.append(str(error))
            whole = not problems
            gone = set(self._removed.tolist())
            tell("Checking the documents ...")
            for document, known in self._reader.each():
                if whole and counted[document] != known.postings:
                    problems.append(f"{known.name}: {counted[document]} postings, {known.postings} were stored")
                counted[document] = 0
                if trouble := self._content_trouble(document, known):
                    problems.append(trouble)
            if whole and (strays := set(counted.nonzero()[0].tolist()) - gone):
                problems.append(f"postings of {len(strays)} documents that are not in the catalogue")
        return problems

    def _content_trouble(self, document: int, known: Stored) -> str | None:
        packed = self.contents([document]).get(document)
        if packed is None and self.settings.content == "none":
            return None
        try:
            contents.check(known.name, packed)
        except Damaged as error:
            return str(error)
        return None

    def probed(self, query: bytes, names: Sequence[str]) -> None:
        probes.record(self.folder, query, names)

    def suspicious(self) -> list[Probed]:
        return probes.suspicious(self.folder)

    def forget_probes(self, names: Sequence[str]) -> None:
        probes.forget(self.folder, names)

    def close(self) -> None:
        with self._opening:
            self._closed = True
            writer, self._writer = self._writer, None
        with self._reading:
            self._segments.clear()
            if self._texts:
                self._texts.close()
            self._reader.close()
        if writer is not None:  # the last: it packs what waits beside the catalogue into it
            with files.told(self.where):
                writer.close()


def _size(path: Path) -> int:
    """A file's; that of one that was just merged away is nothing."""
    with suppress(FileNotFoundError):
        seen = path.stat()
        return seen.st_size if S_ISREG(seen.st_mode) else 0
    return 0
