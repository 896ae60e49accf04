"""The one who writes to an embedded index: a lock, a connection, and a thread that merges."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from chaffinch.errors import Damaged, IndexTrouble
from chaffinch.index.background import beside
from chaffinch.index.folder import merge_policy as merging
from chaffinch.index.folder import paths as files
from chaffinch.index.folder import text_file as texts
from chaffinch.index.folder.catalogue import Catalogue, SegmentRow
from chaffinch.index.records import Batch, Settings
from chaffinch.index.store import Tell
from chaffinch.native import segment as core_index
from chaffinch.native.segment import Postings


class Writer:
    """All or nothing, in every method: what was committed stays, whatever becomes of the rest."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self._one, self._numbering = threading.RLock(), threading.Lock()
        self._merger: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._closing = False
        self._damaged: set[str] = set()
        self._failed: list[Path] = []
        with ExitStack() as undone:
            undone.callback(files.WriterLock(folder).release)
            self._catalogue = Catalogue(folder / files.CATALOGUE, write=True)
            undone.callback(self._catalogue.close)
            self._failed += files.strays(folder, {row.number for row in self._catalogue.segments()})
            self._failed += texts.others(folder, int(self._catalogue.meta("texts")))
            if self._failed:
                self._number(self._catalogue)
            self._held = undone.pop_all()

    def _number(self, catalogue: Catalogue) -> int:
        """A number for a segment.

        What failed or was cut off before is deleted only after this commit. Until then, had the system crashed,
        the catalogue could have come back in a state that needs those files.
        """
        with self._numbering:
            with catalogue.transaction("IMMEDIATE"):
                number = catalogue.take("next_segment", 1)
                alive = {files.segment_path(self.folder, row.number) for row in catalogue.segments()}
                alive.add(texts.path_of(self.folder, int(catalogue.meta("texts"))))
            failed, self._failed = self._failed, []
            for path in failed:
                if path not in alive:  # what failed after its commit, or was done at the second attempt, counts
                    files.discard(path)
        return number

    def add(self, batch: Batch) -> None:
        with self._one:
            needed = batch.postings.hashes.nbytes * 2
            if self.settings.content == "text":
                needed += sum(document.size for document in batch.documents)
            if shutil.disk_usage(self.folder).free < needed:  # before half of it is written
                raise IndexTrouble(
                    f"{self.folder}: the disk is full; make room and try again; nothing that was there is lost"
                )
            first = int(self._catalogue.meta("next"))  # nobody else takes numbers
            if first + len(batch.documents) > 2**32:
                raise IndexTrouble(
                    f"{self.folder}: 2^32 documents were ever added; export it, and import it anew"
                )
            self._write(first, batch)
            self._merge_if_due()

    def _write(self, first: int, batch: Batch) -> None:
        """The files first, side by side, for each waits for the disk; then the catalogue."""
        number = self._number(self._catalogue)
        path = files.segment_path(self.folder, number)
        generation, end = (int(self._catalogue.meta(key)) for key in ("texts", "texts_end"))
        may_count = False
        try:
            with beside(2) as submit:
                kept = submit(self._keep, generation, end, first, batch.contents)
                made = submit(self._make, number, path, first, batch.postings)
            places, segment = kept.result(), made.result()
            with self._catalogue.changing():
                self._catalogue.take("next", len(batch.documents))
                self._catalogue.insert(first, batch.documents)
                self._catalogue.place(*places)
                self._catalogue.delete(batch.gone)
                if segment:
                    self._catalogue.add_segment(segment)
                may_count = True
        except BaseException:
            if may_count:
                self._failed.append(path)
            else:
                files.discard(path)
            raise

    def _keep(
        self, generation: int, end: int, first: int, contents: Iterable[bytes | None]
    ) -> tuple[list[texts.Place], int]:
        """Where the contents were written, and the end of their file."""
        pieces = [(first + i, packed) for i, packed in enumerate(contents) if packed is not None]
        return texts.append(texts.path_of(self.folder, generation), end, pieces) if pieces else ([], end)

    def _make(self, number: int, path: Path, first: int, postings: Postings) -> SegmentRow | None:
        """A segment of them, if there are any."""
        if not len(postings.hashes):
            return None
        owners = postings.documents + np.uint32(first)
        segment = core_index.build(postings._replace(documents=owners), hash_bits=self.settings.hash_bits)
        size = files.write_segment(path, [segment])
        return SegmentRow(number, len(owners), size, int(owners.min()), int(owners.max()))

    def remove(self, documents: Sequence[int]) -> None:
        with self._one:
            with self._catalogue.changing():
                self._catalogue.delete(documents)
            self._merge_if_due()

    def _merge_if_due(self) -> None:
        if self._merger is not None and self._merger.is_alive():
            return
        if self._due(self._catalogue):
            self._failure = None  # it is tried again
            self._merger = threading.Thread(target=self._merge_what_is_due, daemon=True)
            self._merger.start()

    def _due(self, catalogue: Catalogue) -> list[SegmentRow]:
        """What to merge next: neighbours, so nothing across a damaged segment."""
        rows: list[SegmentRow] = []
        for row in catalogue.segments():
            if str(files.segment_path(self.folder, row.number)) in self._damaged and catalogue.is_alive(row):
                rows.clear()
            else:
                rows.append(row)
        return merging.due(rows, catalogue.removed())

    def _merge_what_is_due(self) -> None:
        try:
            catalogue = Catalogue(self.folder / files.CATALOGUE, write=True)
            try:
                while not self._closing and (chosen := self._due(catalogue)):
                    try:
                        self._merge(catalogue, chosen, threads=1)
                    except Damaged as error:  # told by every search, by info and by verify
                        self._damaged.add(error.name)
            finally:
                catalogue.close()
        except (OSError, sqlite3.Error):  # told to whoever adds; then this is tried again
            return
        except BaseException as error:  # told to whoever closes
            self._failure = error

    def wait(self) -> None:
        """Until no merge is under way."""
        if self._merger is not None:
            self._merger.join()

    def merge_all(self, tell: Tell) -> None:
        with self._one:
            self.wait()
            self._failure = None
            rows = self._catalogue.segments()
            if len(rows) > 1 or self._catalogue.removed():
                tell(f"Merging {len(rows)} segments ...")
                self._merge(self._catalogue, rows, threads=None)
            tell("Packing the texts ...")
            self._pack_texts()
            tell("Packing the catalogue ...")
            if trouble := self._catalogue.tidy():
                tell(f"The catalogue was not packed ({trouble}); nothing is lost by it")

    def _pack_texts(self) -> None:
        """Without those of removed documents."""
        end, generation = int(self._catalogue.meta("texts_end")), int(self._catalogue.meta("texts"))
        places = list(self._catalogue.all_places())
        if sum(place.length for place in places) == end:
            return
        old, new = (texts.path_of(self.folder, number) for number in (generation, generation + 1))
        try:
            source = texts.Texts(old)
        except FileNotFoundError:
            return  # told by whoever looks for a text
        try:
            moved, end = texts.append(new, 0, ((p.document, source.read(p)) for p in places))
            with self._catalogue.changing():
                self._catalogue.take("texts", 1)
                self._catalogue.place(moved, end)
        except BaseException:
            self._failed.append(new)
            raise
        finally:
            source.close()
        files.discard(old)

    def _merge(self, catalogue: Catalogue, rows: list[SegmentRow], threads: int | None) -> None:
        """Makes one segment of several; postings of removed documents are gone.

        A segment of nothing but removed documents is not even looked at: it may be damaged.
        """
        with catalogue.transaction():
            removed = catalogue.removed()
            alive = [row for row in rows if catalogue.is_alive(row)]
        first, last = (rows[0].first, rows[-1].last) if rows else (0, 0)
        purged = removed[bisect_left(removed, first) : bisect_right(removed, last)]
        number = self._number(catalogue)
        path = files.segment_path(self.folder, number)
        try:
            made = self._merged(path, alive, purged, threads)
            with catalogue.changing():
                catalogue.drop_segments([row.number for row in rows], purged)
                if made:
                    catalogue.add_segment(made._replace(number=number, first=first, last=last))
        except BaseException:
            self._failed.append(path)
            raise
        for row in rows:
            files.discard(files.segment_path(self.folder, row.number))

    def _merged(
        self, path: Path, rows: list[SegmentRow], purged: list[int], threads: int | None
    ) -> SegmentRow | None:
        if not rows:
            return None
        segments = []
        for row in rows:
            old = files.segment_path(self.folder, row.number)
            try:
                segments.append(files.open_segment(old))
            except FileNotFoundError:
                raise Damaged(str(old), "it is missing") from None
        size = files.write_segment(
            path, core_index.merge(segments, np.array(purged, np.uint32), threads=threads)
        )
        return SegmentRow(0, files.open_segment(path).postings, size, 0, 0)

    def close(self) -> None:
        try:
            self.wait()
        finally:
            self._closing = True
            if self._merger is None or not self._merger.is_alive():  # else the lock stays until it is done
                self._held.close()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
