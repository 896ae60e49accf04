"""Measure how a koala index should select fingerprints: by their hash alone, or the rarest first.

A good selection meets few unrelated documents and recognises much of an edited or revised one. Every document
of a collection is searched for among the others. Then copies are searched for in which every tenth word is
another one, and, where a collection has them, documents that replace others.
"""

from __future__ import annotations

import csv
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from bench.archive import Writer
from bench.table import Row
from chaffinch import File, Recipe, fingerprint_all
from chaffinch.comparison.clusters import find_clusters
from chaffinch.index.folder.folder_store import FolderStore
from chaffinch.index.index import Index
from chaffinch.index.koala import selection
from chaffinch.recipe import FIXED_SIZE

_MADE, _REVISED, _EDITED = 300, 100, 60
"""Documents written, revisions of them, and edited copies of each collection."""
_SIZES = (6_000, 150_000)
"""Bytes of a written document, from the shortest to the longest."""
_REPLACED_WORDS = 0.1
_SECRETS = (1, 2, 3)
"""Each figure is the mean over these: it is chance which fingerprints are stored."""
_COMMON = 10
"""Groups. A gram in the documents of this many groups is boilerplate."""
_TOLERATED = 1.05
"""The default may meet this many times the unrelated documents that its rival meets, if it recognises more."""
_PIECE = 40_000
"""Bytes of a piece of a book."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents by name, each with a group: documents of different groups are unrelated."""

    name: str
    documents: dict[str, tuple[File, str]]
    replacing: list[tuple[File, str]] = field(default_factory=list)
    """Documents, each with the name of one that it replaces."""

    def files(self) -> list[File]:
        return [file for file, _ in self.documents.values()]

    def edited(self) -> list[tuple[File, str]]:
        """Return copies of some documents, with words replaced by others of the same document."""
        chance = random.Random(1)
        names = chance.sample(sorted(self.documents), min(_EDITED, len(self.documents)))
        copies = []
        for name in names:
            file = self.documents[name][0]
            words = file.data.split()
            new = [chance.choice(words) if chance.random() < _REPLACED_WORDS else word for word in words]
            copies.append((_file(name, b" ".join(new)), name))
        return copies


def rows(english: bytes, folder: Path, data: Path | None) -> Iterator[Row]:
    for collection in (_made(english), *(_given(data) if data else ())):
        figures = {scheme: _measure(collection, scheme, folder) for scheme in FIXED_SIZE}
        rival = figures[next(scheme for scheme in FIXED_SIZE if scheme != selection.SCHEME)]
        count = len(collection.documents)
        yield Row(
            f"{collection.name}: grams that {_COMMON} or more unrelated documents have",
            100 * _common_share(collection, Recipe("consonants", k=selection.K, scheme="all")),
            "%",
        )
        for scheme, found in figures.items():
            name, is_default = f"{collection.name}, {scheme}", scheme == selection.SCHEME
            yield Row(f"{name}: such grams among the selected", found.common, "%")
            most = _TOLERATED * rival.unrelated if is_default else None
            yield Row(f"{name}: unrelated documents found in {count} searches", found.unrelated, most=most)
            least = rival.edited if is_default else None
            what = f"{name}: recognised of copies with every tenth word replaced"
            yield Row(what, found.edited, "%", least=least)
            if collection.replacing:
                what = f"{name}: found of {len(collection.replacing)} documents that the searched one replaces"
                yield Row(what, found.replaced, "%")


@dataclass(frozen=True, slots=True)
class _Figures:
    """What one selection reaches with one collection."""

    unrelated: float
    edited: float
    replaced: float
    common: float


def _measure(collection: Collection, scheme: str, folder: Path) -> _Figures:
    groups = {name: group for name, (_, group) in collection.documents.items()}
    edited = collection.edited()
    results = []
    for secret in _SECRETS:
        settings = selection.settings(secret, "none", {"scheme": scheme})
        where = folder / "koala"
        with Index(FolderStore.create(where, settings)) as index:
            index.add(collection.files())
            unrelated = sum(
                groups[hit.document.name] != group
                for file, group in collection.documents.values()
                for hit in index.search(file, top=None)
            )
            recognised = mean(_shares(index, edited))
            replaced = mean(share > 0 for share in _shares(index, collection.replacing) or [0.0])
        shutil.rmtree(where)
        common = _common_share(collection, settings.recipe)
        results.append((unrelated, 100 * recognised, 100 * replaced, 100 * common))
    return _Figures(*(mean(column) for column in zip(*results, strict=True)))


def _shares(index: Index, versions: list[tuple[File, str]]) -> list[float]:
    """Return how much of each document its other version is found to have."""
    shares = []
    for file, name in versions:
        hits = {hit.document.name: hit.containment.document for hit in index.search(file, top=None)}
        shares.append(hits.get(name, 0.0))
    return shares


def _common_share(collection: Collection, recipe: Recipe) -> float:
    """Return the share of boilerplate in the grams that this recipe selects."""
    files = collection.files()
    every = fingerprint_all(files, replace(recipe, scheme="all", skip=0))
    grams: dict[str, list[Hashes]] = {}
    for prints, (_, group) in zip(every, collection.documents.values(), strict=True):
        grams.setdefault(group, []).append(prints.hashes)
    by_group = [np.unique(np.concatenate(parts)) for parts in grams.values()]
    hashes, groups = np.unique(np.concatenate(by_group), return_counts=True)
    selected = [np.unique(prints.hashes) for prints in fingerprint_all(files, recipe)]
    return float(np.isin(np.concatenate(selected), hashes[groups >= _COMMON]).mean())


def _file(name: str, data: bytes) -> File:
    return File(name, data, "utf-8", "plain", "text")


def _made(english: bytes) -> Collection:
    """Write standards documents with legal text, and revise some. None has a subject whose words it repeats."""
    writer = Writer(english, 1)
    documents, replacing = {}, []
    for number, size in enumerate(np.geomspace(*_SIZES, _MADE).astype(int).tolist()):
        work, name = writer.new_work(size, None), f"doc-{number}"
        time = float(writer.rng.random())
        documents[name] = _file(name, writer.laid_out(number, time, work)), str(work.family)
        if number % (_MADE // _REVISED) == 0:
            new = writer.laid_out(_MADE + number, min(time + 0.2, 1.0), writer.revised(work))
            replacing.append((_file(f"new-{number}", new), name))
    return Collection("made", documents, replacing)


def _given(data: Path) -> Iterator[Collection]:
    """Yield RFCs, nearly all with legal text, and pieces of books, the last of each with a licence."""
    paths = [*(data / "text" / "rfc" / "txt").glob("*.txt"), *(data / "noisy" / "rfc_pdf").glob("*.txt")]
    if paths:
        texts = {path.stem: path.read_bytes() for path in sorted(paths)}
        with (data / "text" / "rfc" / "relations.csv").open() as file:
            pairs = [(f"rfc{line['new']}", f"rfc{line['old']}") for line in csv.DictReader(file)]
        pairs = [pair for pair in pairs if texts.keys() >= set(pair)]
        clusters = find_clusters([(new, old, 1.0) for new, old in pairs])
        groups = {name: cluster.submissions[0] for cluster in clusters for name in cluster.submissions}
        documents = {name: (_file(name, text), groups.get(name, name)) for name, text in texts.items()}
        yield Collection("RFCs", documents, [(documents[new][0], old) for new, old in pairs])
    pieces = {}
    for path in sorted((data / "text" / "gutenberg").rglob("*.txt")):
        book = path.read_bytes()
        for start in range(0, len(book), _PIECE):
            name = f"{path.stem}-{start}"
            pieces[name] = _file(name, book[start : start + _PIECE]), path.stem
    if pieces:
        yield Collection("books", pieces)
