"""A reader of an embedded index: a connection to the catalogue, and the files of the state that it shows."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chaffinch.errors import Damaged
from chaffinch.index.folder import paths
from chaffinch.index.folder.catalogue import Catalogue, SegmentRow
from chaffinch.index.store import Hashes
from chaffinch.native.segment import LookupResult, Postings, Segment, lookup

_NAMED_DOCUMENTS = 5
"""Documents of a damaged segment that a message names, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The open files of one state. A reader that holds them can read them even after a merge deletes them."""

    version: object
    rows: dict[int, SegmentRow]
    segments: dict[int, Segment]
    """Without the damaged ones."""
    damaged: dict[int, Damaged]
    removed: NDArray[np.uint32]
    generation: int
    texts: paths.TextFile | None


class OpenFiles:
    """The files of the newest state that a reader saw. Readers share them, so each file is open once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opening = threading.Lock()
        nothing = np.empty(0, np.uint32)
        self._newest = State(None, {}, {}, {}, nothing, -1, None)

    def of(self, catalogue: Catalogue) -> State | None:
        """Return the files of the state that a transaction shows, or None if a merge has deleted some."""
        version = catalogue.version()
        if (newest := self._newest).version == version:
            return newest
        with self._opening:
            if self._newest.version != version:
                state = self._open(catalogue, version)
                if state is None:
                    return None
                self._newest = state
            return self._newest

    def _open(self, catalogue: Catalogue, version: object) -> State | None:
        known, rows = self._newest, {row.number: row for row in catalogue.segments()}
        segments: dict[int, Segment] = {}
        damaged: dict[int, Damaged] = {}
        for number, row in rows.items():
            if number in known.segments:
                segments[number] = known.segments[number]
                continue
            path = paths.segment_path(self.folder, number)
            try:
                segments[number] = paths.open_segment(path, row.checksum)
            except FileNotFoundError:
                if _is_outdated(catalogue):
                    return None
                damaged[number] = _describe_damage(catalogue, row, Damaged(str(path), "it is missing"))
            except Damaged as error:
                damaged[number] = _describe_damage(catalogue, row, error)
            except OSError as error:
                unreadable = Damaged(str(path), f"it cannot be read ({error.strerror})")
                damaged[number] = _describe_damage(catalogue, row, unreadable)
        generation, texts = catalogue.number("texts"), known.texts
        if generation != known.generation or texts is None:
            try:
                has_texts = catalogue.number("texts_end") > 0
                texts = paths.TextFile(paths.text_path(self.folder, generation)) if has_texts else None
            except FileNotFoundError:
                if _is_outdated(catalogue):
                    return None
                texts = None  # lost; this is reported when a text is read
        removed = np.array(catalogue.removed(), np.uint32)
        return State(version, rows, segments, damaged, removed, generation, texts)

    def without(self, state: State, number: int, damage: Damaged) -> State:
        """Return the state without a segment that turned out to be damaged, for later searches too."""
        segments = {n: segment for n, segment in state.segments.items() if n != number}
        rest = replace(state, segments=segments, damaged=state.damaged | {number: damage})
        with self._opening:
            if self._newest is state:
                self._newest = rest
        return rest

    def close(self) -> None:
        """Let go of the files. Those that a reader still uses stay open until it is done."""
        with self._opening:
            self._newest = State(None, {}, {}, {}, self._newest.removed, -1, None)


def _is_outdated(catalogue: Catalogue) -> bool:
    """Return whether there is a newer state, whose files a merge may have replaced."""
    with closing(Catalogue(catalogue.path)) as newest:
        return newest.number("version") != catalogue.number("version")


def _describe_damage(catalogue: Catalogue, row: SegmentRow, error: Damaged) -> Damaged:
    """Add the names of the documents that cannot be found because of it."""
    names = list(catalogue.names_in(row))
    listed = names[:_NAMED_DOCUMENTS]
    if len(names) > len(listed):
        listed.append(f"and {len(names) - len(listed)} more")
    return Damaged(error.name, error.detail, f" ({len(names)} documents: {', '.join(listed)})")


class FolderReader:
    """Reads one state inside `snapshot`. One thread uses it at a time."""

    def __init__(self, files: OpenFiles) -> None:
        self.catalogue = Catalogue(files.folder / paths.CATALOGUE)
        self._files = files
        self._state: State | None = None

    @property
    def state(self) -> State:
        assert self._state is not None, "there is a state inside a snapshot only"
        return self._state

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        while True:
            if self.catalogue.is_stale():
                self.catalogue.close()
                self.catalogue = Catalogue(self.catalogue.path)
            with self.catalogue.transaction():
                try:
                    self._state = self._files.of(self.catalogue)
                except sqlite3.DatabaseError:
                    if not self.catalogue.is_stale():  # the file did not change under an immutable connection
                        raise
                    continue
                if self._state is None:
                    continue  # a merge has deleted files of this state; there is a newer one
                try:
                    yield
                finally:
                    self._state = None
            return

    def lookup(self, hashes: Hashes) -> LookupResult:
        while True:
            state = self.state
            try:
                return lookup(list(state.segments.values()), hashes, state.removed)
            except Damaged as error:
                number = next(n for n, segment in state.segments.items() if segment.name == error.name)
                damage = _describe_damage(self.catalogue, state.rows[number], error)
                self._state = self._files.without(state, number, damage)

    def postings_of(self, wanted: NDArray[np.uint32]) -> Iterator[tuple[int, Hashes, NDArray[np.uint32]]]:
        """Yield the number, hashes and positions of each of these documents, which are sorted."""
        pieces: list[Postings] = []
        for segment in self.state.segments.values():
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

    def contents(self, documents: Sequence[int]) -> dict[int, bytes]:
        if (texts := self.state.texts) is None:
            return {}
        return {span.document: texts.read(span) for span in self.catalogue.content_spans(documents)}

    def close(self) -> None:
        self.catalogue.close()
