"""The writer of an embedded index: a lock, a connection, and a thread that merges."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np

from chaffinch.errors import Damaged, IndexTrouble
from chaffinch.index.background import background
from chaffinch.index.folder import merge_policy, paths
from chaffinch.index.folder.catalogue import Catalogue, SegmentRow
from chaffinch.index.records import Batch, DocumentRecord, Settings
from chaffinch.index.store import CLOSED, NO_NUMBERS_LEFT, Progress
from chaffinch.native import segment
from chaffinch.native.segment import Postings


class Writer:
    """Every method does all of its work or nothing. What was committed stays, whatever fails later."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self._writing, self._numbering = threading.RLock(), threading.Lock()
        self._merger: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._closing = False
        self._damaged: set[str] = set()
        self._leftovers: list[Path] = []
        """Files of failed or interrupted changes, to delete unless the catalogue uses them after all."""
        with ExitStack() as resources:
            resources.enter_context(closing(paths.WriterLock(folder)))
            catalogue = Catalogue(folder / paths.CATALOGUE, write=True)
            self._catalogue = resources.enter_context(closing(catalogue))
            in_use = {row.number for row in self._catalogue.segments()}
            self._leftovers = paths.unused_files(folder, in_use, self._catalogue.number("texts"))
            if self._leftovers:
                self._new_number(self._catalogue)
            self._resources = resources.pop_all()

    def _new_number(self, catalogue: Catalogue) -> int:
        """Return a number for a new segment, and delete leftovers.

        They are deleted only after this commit. Before it, a crash of the system could bring the catalogue back
        in a state that needs these files.
        """
        with self._numbering:
            with catalogue.transaction("IMMEDIATE"):
                number = catalogue.take("next_segment", 1)
                in_use = {paths.segment_path(self.folder, row.number) for row in catalogue.segments()}
                in_use.add(paths.text_path(self.folder, catalogue.number("texts")))
            leftovers, self._leftovers = self._leftovers, []
            for path in leftovers:
                if path not in in_use:  # a change may fail after its commit, or succeed at the second attempt
                    paths.discard(path)
        return number

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let one thread change the index at a time, and none after it was closed."""
        with self._writing:
            if self._closing:
                raise IndexTrouble(f"{self.folder}: {CLOSED}")
            yield

    def add(self, batch: Batch) -> None:
        with self._changing():
            needed = batch.postings.hashes.nbytes * 2
            if self.settings.content == "text":
                needed += sum(document.size for document in batch.documents)
            if shutil.disk_usage(self.folder).free < needed:  # rather than fail when half of it is written
                raise IndexTrouble(f"{self.folder}: {paths.DISK_FULL}; {paths.STILL_THERE}")
            first = self._catalogue.number("next")  # only this writer takes numbers
            if first + len(batch.documents) > 2**32:
                raise IndexTrouble(f"{self.folder}: 2^32 {NO_NUMBERS_LEFT}")
            self._write(first, batch)
            self._merge_if_due()

    def _write(self, first: int, batch: Batch) -> None:
        """Write the files, in parallel because each waits for the disk, and then the catalogue."""
        number = self._new_number(self._catalogue)
        path = paths.segment_path(self.folder, number)
        generation, end = (self._catalogue.number(key) for key in ("texts", "texts_end"))
        may_be_committed = False
        try:
            with background(2) as submit:
                spans = submit(self._write_contents, generation, end, first, batch.contents)
                row = submit(self._write_segment, number, path, first, batch.postings)
            with self._catalogue.change():
                self._catalogue.take("next", len(batch.documents))
                self._catalogue.insert(first, batch.documents)
                self._catalogue.set_contents(*spans.result())
                self._catalogue.delete(batch.replaced)
                if row.result():
                    self._catalogue.add_segment(row.result())
                may_be_committed = True
        except BaseException:
            if may_be_committed:
                self._leftovers.append(path)
            else:
                paths.discard(path)
            raise

    def _write_contents(
        self, generation: int, end: int, first: int, contents: Iterable[bytes | None]
    ) -> tuple[list[paths.ContentSpan], int]:
        """Return where the contents were written, and the end of their file."""
        pieces = [(first + i, packed) for i, packed in enumerate(contents) if packed is not None]
        if not pieces:
            return [], end
        return paths.append_contents(paths.text_path(self.folder, generation), end, pieces)

    def _write_segment(self, number: int, path: Path, first: int, postings: Postings) -> SegmentRow | None:
        if not len(postings.hashes):
            return None
        documents = postings.documents + np.uint32(first)
        data = segment.build(postings._replace(documents=documents), hash_bits=self.settings.hash_bits)
        size = paths.write_segment(path, [data])
        numbers = np.unique(documents).tolist()
        return SegmentRow(number, len(documents), size, numbers[0], numbers[-1], len(numbers))

    def update(self, documents: Mapping[int, DocumentRecord]) -> None:
        with self._changing(), self._catalogue.change():
            self._catalogue.update(documents)

    def raise_generation(self, generation: int) -> None:
        with self._changing(), self._catalogue.change():
            self._catalogue.take("generation", max(generation - self._catalogue.number("generation"), 0))

    def remove(self, documents: Sequence[int]) -> None:
        with self._changing():
            with self._catalogue.change():
                self._catalogue.delete(documents)
            self._merge_if_due()

    def _merge_if_due(self) -> None:
        if self._merger is not None and self._merger.is_alive():
            return
        if self._due(self._catalogue):
            self._failure = None  # try again
            self._merger = threading.Thread(target=self._merge_in_background, daemon=True)
            self._merger.start()

    def _due(self, catalogue: Catalogue) -> list[SegmentRow]:
        """Return what to merge next. Only neighbours are merged, so nothing across a damaged segment."""
        rows: list[SegmentRow] = []
        removed = catalogue.removed()
        for row in catalogue.segments():
            is_damaged = str(paths.segment_path(self.folder, row.number)) in self._damaged
            if is_damaged and merge_policy.is_needed(row, removed):
                rows.clear()
            else:
                rows.append(row)
        return merge_policy.due(rows, removed)

    def _merge_in_background(self) -> None:
        try:
            with closing(Catalogue(self.folder / paths.CATALOGUE, write=True)) as catalogue:
                while not self._closing and (rows := self._due(catalogue)):
                    try:
                        self._merge(catalogue, rows, threads=1)
                    except Damaged as error:  # search, info and verify report it
                        self._damaged.add(error.name)
        except (OSError, sqlite3.Error):  # the next add fails in the same way, and this is tried again
            return
        except BaseException as error:  # close() raises it
            self._failure = error

    def wait(self) -> None:
        """Wait until no merge is running."""
        if self._merger is not None:
            self._merger.join()

    def merge_all(self, progress: Progress) -> None:
        with self._changing():
            self.wait()
            self._failure = None
            rows = self._catalogue.segments()
            if len(rows) > 1 or self._catalogue.removed():
                progress(f"Merging {len(rows)} segments ...")
                self._merge(self._catalogue, rows, threads=None)
            progress("Compacting the texts ...")
            self._compact_texts()
            progress("Compacting the catalogue ...")
            if reason := self._catalogue.compact():
                progress(f"The catalogue was not compacted ({reason}); the index works as before")

    def _compact_texts(self) -> None:
        """Write a new text file without the contents of removed documents."""
        end, generation = self._catalogue.number("texts_end"), self._catalogue.number("texts")
        spans = self._catalogue.all_content_spans()
        if sum(span.length for span in spans) == end:
            return
        old, new = (paths.text_path(self.folder, number) for number in (generation, generation + 1))
        if not old.exists():
            return  # searches and verify report the missing texts
        try:
            with closing(paths.TextFile(old)) as source:
                moved, end = paths.append_contents(new, 0, _read_all(source, old, spans))
            with self._catalogue.change():
                self._catalogue.move_contents(moved, end)
        except BaseException:
            self._leftovers.append(new)
            raise
        paths.discard(old)

    def _merge(self, catalogue: Catalogue, rows: list[SegmentRow], threads: int | None) -> None:
        """Merge several segments into one, without the postings of removed documents.

        A segment of removed documents only is dropped without reading it, since it may be damaged.
        """
        removed = catalogue.removed()
        needed = [row for row in rows if merge_policy.is_needed(row, removed)]
        first, last = (rows[0].first, rows[-1].last) if rows else (0, 0)
        purged = removed[bisect_left(removed, first) : bisect_right(removed, last)]
        number = self._new_number(catalogue)
        path = paths.segment_path(self.folder, number)
        try:
            merged = self._write_merged(path, needed, purged, threads)
            with catalogue.change():
                catalogue.drop_segments([row.number for row in rows], purged)
                if merged:
                    documents = sum(row.documents for row in rows) - len(purged)
                    catalogue.add_segment(SegmentRow(number, *merged, first, last, documents))
        except BaseException:
            self._leftovers.append(path)
            raise
        for row in rows:
            paths.discard(paths.segment_path(self.folder, row.number))

    def _write_merged(
        self, path: Path, rows: list[SegmentRow], purged: list[int], threads: int | None
    ) -> tuple[int, int] | None:
        """Return the number of postings and of bytes that were written, if any."""
        if not rows:
            return None
        segments = []
        for row in rows:
            old = paths.segment_path(self.folder, row.number)
            try:
                segments.append(paths.open_segment(old))
            except FileNotFoundError:
                raise Damaged(str(old), "it is missing") from None
        merged = segment.merge(segments, np.array(purged, np.uint32), threads=threads)
        size = paths.write_segment(path, merged)
        return paths.open_segment(path).postings, size

    def close(self) -> None:
        """Wait for the change that another thread is making, and for merges."""
        with self._writing:
            try:
                self.wait()
            finally:
                self._closing = True
                if self._merger is None or not self._merger.is_alive():  # otherwise keep the lock until it ends
                    self._resources.close()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure


def _read_all(
    source: paths.TextFile, path: Path, spans: Iterable[paths.ContentSpan]
) -> Iterator[tuple[int, bytes]]:
    """Yield each document and its content. Raise Damaged if a content is not as it was written."""
    for span in spans:
        if not (packed := source.read(span)):
            raise Damaged(str(path), f"damaged in bytes {span.offset} to {span.offset + span.length}")
        yield span.document, packed
