"""The embedded store: immutable segments, a catalogue of those in use, one writer, many readers."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import Damaged, IndexTrouble
from chaffinch.index import contents
from chaffinch.index.folder import paths
from chaffinch.index.folder.catalogue import Catalogue
from chaffinch.index.folder.paths import REMEDY
from chaffinch.index.folder.reader import FolderReader, OpenFiles
from chaffinch.index.folder.writer import Writer
from chaffinch.index.koala.probes import ProbeFile
from chaffinch.index.reader_pool import ReaderPool
from chaffinch.index.records import Batch, DocumentRecord, IndexInfo, Settings
from chaffinch.index.store import Hashes, Progress, Store, close_on_error
from chaffinch.native.segment import LookupResult

_SCANNED_DOCUMENTS = 20_000
"""Documents whose postings are gathered in one scan of the segments, and held in memory."""


class FolderStore(ProbeFile, Store):
    """An index in a folder."""

    def __init__(self, where: str | Path) -> None:
        ProbeFile.__init__(self)
        self.where = str(where)
        self.folder = Path(where)
        self._files = OpenFiles(self.folder)
        self._readers = ReaderPool(self.where, lambda: FolderReader(self._files))
        self._opening = threading.Lock()
        self._writer: Writer | None = None
        with close_on_error(self), self._readable(), self._readers.take() as reader:
            self.settings = reader.catalogue.settings()

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
        with self._reader() as reader, self._readers.keep(reader):
            yield

    @contextmanager
    def _reader(self) -> Iterator[FolderReader]:
        """Yield the reader of the snapshot that this thread is in, or one in a snapshot of its own."""
        if (current := self._readers.current) is not None:
            yield current
            return
        with self._readable(), self._readers.take() as reader, reader.snapshot():
            yield reader

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Raise errors of the catalogue as IndexTrouble, with what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise IndexTrouble(f"{self.where}: its catalogue cannot be read ({error}); {REMEDY}") from error

    def lookup(self, hashes: Hashes) -> LookupResult:
        with self._reader() as reader:
            return reader.lookup(hashes)

    def count(self) -> int:
        with self._reader() as reader:
            return reader.catalogue.number("documents")

    def records(self, documents: Sequence[int]) -> dict[int, DocumentRecord]:
        with self._reader() as reader:
            return reader.catalogue.records(documents)

    def sizes(self, documents: Sequence[int]) -> dict[int, tuple[int, str]]:
        with self._reader() as reader:
            return reader.catalogue.sizes(documents)

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        with self._reader() as reader:
            return reader.contents(documents)

    def numbers_by_name(self, names: Sequence[str]) -> dict[str, int]:
        with self._reader() as reader:
            return reader.catalogue.numbers_by_name(names)

    def names_by_digest(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        with self._reader() as reader:
            return reader.catalogue.names_by_digest(digests)

    def boilerplate(self) -> frozenset[int]:
        with self._reader() as reader:
            return reader.catalogue.boilerplate()

    def all_records(self, after: int = -1) -> Iterator[tuple[int, DocumentRecord]]:
        self._readers.refuse_closed()
        return self._all_records(after)

    def _all_records(self, after: int) -> Iterator[tuple[int, DocumentRecord]]:
        with self._reader() as reader:
            yield from reader.catalogue.all_records(after)

    def postings_of(self, documents: Sequence[int]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        wanted = sorted(documents)
        with self._reader() as reader:
            for start in range(0, len(wanted), _SCANNED_DOCUMENTS):
                yield from reader.postings_of(np.array(wanted[start : start + _SCANNED_DOCUMENTS], np.uint32))

    def damage(self) -> tuple[Damaged, ...]:
        with self._reader() as reader:
            return tuple(reader.state.damaged.values())

    def info(self) -> IndexInfo:
        with self._reader() as reader:
            state, catalogue = reader.state, reader.catalogue
            documents, not_language = catalogue.number("documents"), catalogue.number("not_language")
        postings = sum(row.postings for row in state.rows.values())
        size = sum(map(_size, self.folder.rglob("*")))
        sizes = documents, postings, len(state.rows), size, len(state.removed)
        return IndexInfo(*sizes, not_language, tuple(map(str, state.damaged.values())))

    def begin_writing(self) -> None:
        with paths.wrap_errors(self.where):
            _ = self.writer

    @property
    def writer(self) -> Writer:
        with self._opening:
            self._readers.refuse_closed()
            if self._writer is None:
                self._writer = Writer(self.folder, self.settings)
            return self._writer

    def add(self, batch: Batch) -> None:
        with paths.wrap_errors(self.where):
            self.writer.add(batch)

    def update(self, documents: Mapping[int, DocumentRecord]) -> None:
        with paths.wrap_errors(self.where):
            self.writer.update(documents)

    def remove(self, documents: Sequence[int]) -> None:
        with paths.wrap_errors(self.where):
            self.writer.remove(documents)

    def merge(self, progress: Progress) -> None:
        with paths.wrap_errors(self.where):
            self.writer.merge_all(progress)
        names = self.touched_names()
        known = self.numbers_by_name(names)
        self.forget_touches([name for name in names if name not in known])

    def generation(self) -> int:
        with self._reader() as reader:
            return reader.catalogue.number("generation")

    def raise_generation(self, generation: int) -> None:
        with paths.wrap_errors(self.where):
            self.writer.raise_generation(generation)

    def verify(self, progress: Progress) -> list[str]:
        with self._reader() as reader:
            state, catalogue = reader.state, reader.catalogue
            in_catalogue = catalogue.check()
            problems = [*in_catalogue, *map(str, state.damaged.values())]
            counted = np.zeros(catalogue.number("next"), np.int64)
            for segment in state.segments.values():
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
            removed = set(state.removed.tolist())
            progress("Checking the documents ...")
            for document, record in catalogue.all_records():
                if segments_are_whole and counted[document] != record.postings:
                    problems.append(f"{record.name}: {counted[document]} of {record.postings} postings")
                counted[document] = 0
                packed = reader.contents([document]).get(document)
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
            self._readers.close()
            writer, self._writer = self._writer, None
        self._files.close()
        if writer is not None:  # last, because it writes the log of the catalogue into the catalogue
            with paths.wrap_errors(self.where):
                writer.close()


def _size(path: Path) -> int:
    """Return the size of a file, or 0 if a merge has just deleted it."""
    with suppress(FileNotFoundError):
        stat = path.stat()
        return stat.st_size if S_ISREG(stat.st_mode) else 0
    return 0
