"""Measure searches in an archive of standards documents: whether the document that a new one replaces is found.

The archive is made, and behaves like a real one: lengths are log-normal, nearly all documents carry the legal
text of their time, pages have running headers, headings, definitions and references recur, and documents are
revised, split and merged.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from bench import texts
from bench.table import Row
from chaffinch import File, Recipe
from chaffinch.index.folder.folder_store import FolderStore
from chaffinch.index.index import Index
from chaffinch.index.koala import selection
from chaffinch.index.records import Settings

DOCUMENTS = 6000
QUERIES = 400
_MEAN_SIZE, _SPREAD, _SIZES = 45_000, 1.0, (3_000, 2_000_000)
"""Bytes of a document without what is added to it: the mean, the deviation of the logarithm, and the bounds."""
_REPLACING = 0.25
"""Share of the documents that replace an earlier one."""
_KINDS, _KIND_SHARES = ("revision", "split", "merge"), (0.76, 0.12, 0.12)
_REWRITTEN, _NEARLY_NEW = (0.05, 0.60), (0.92, 0.998)
"""Share of a replaced document that is rewritten: usually, and in a quarter of the cases."""
_OFTEN_NEARLY_NEW = 0.25
_SIBLINGS = 0.15
"""Share of the new works that take sections from another one, as the parts of a series do."""
_FAMILIES, _DEFINITIONS, _REFERENCES = 150, 60, 4000
_LEGAL_BYTES = 1_600, 3_200, 5_600
"""Legal text of each generation. A generation keeps half of the sentences of the one before."""
_WITH_LEGAL = 0.97
_RUN_LENGTH = 2.2
"""Words, on average, that stand together as in the English the words are drawn from: its idioms recur."""
_SENTENCE, _PARAGRAPH, _SECTION, _PAGE = 20, 6, 30, 2_800
"""Words of a sentence, sentences of a paragraph and of a section, bytes of a page."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a document is written from, before it is laid out."""

    family: int
    title: bytes
    authors: bytes
    sections: list[list[bytes]]
    """The sentences of each section. The first is its heading."""
    references: list[int]


@dataclass(frozen=True, slots=True)
class Archive:
    """Documents, and new ones that replace some of them: each with the names of the replaced."""

    documents: list[File]
    queries: list[tuple[File, tuple[str, ...]]]


class Writer:
    """Writes sentences with the words of real English, as often as they stand there."""

    def __init__(self, english: bytes, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self._words = english.split()
        self._word_size = 1 + sum(map(len, self._words)) / len(self._words)
        self.headings = [s.title() for s in self.sentences(60, 3)]
        self.definitions = [self.sentences(_DEFINITIONS) for _ in range(_FAMILIES)]
        self.customary = [[self.sentences(24) for _ in range(4)] for _ in range(_FAMILIES)]
        """Sections that about half of the works of a family have word for word."""
        self.topics = [self.sentences(40, 4) for _ in range(_FAMILIES)]
        self.references = self.sentences(_REFERENCES, 14)
        self.legal: list[list[bytes]] = []
        for size in _LEGAL_BYTES:
            kept = self.legal[-1][::2] if self.legal else []
            fresh = self.sentences((size - sum(map(len, kept))) // (7 * _SENTENCE) + 1)
            self.legal.append([*kept, *fresh])

    def sentences(self, count: int, words: int = _SENTENCE) -> list[bytes]:
        """Return sentences of about this many words."""
        lengths = np.maximum(self.rng.normal(words, words / 3, count), 2).astype(np.int64)
        ends = np.cumsum(lengths)
        drawn = self._draw(int(ends[-1])) if count else []
        return [
            b" ".join(drawn[e - n : e]) + b"." for n, e in zip(lengths.tolist(), ends.tolist(), strict=True)
        ]

    def _draw(self, count: int) -> list[bytes]:
        """Draw words from anywhere in the text, in runs of words that stand together there."""
        begins = self.rng.random(count) < 1 / _RUN_LENGTH
        begins[0] = True
        run = np.cumsum(begins) - 1
        starts = self.rng.integers(0, len(self._words), int(run[-1]) + 1)
        first = np.flatnonzero(begins)
        places = (starts[run] + np.arange(count) - first[run]) % len(self._words)
        words = self._words
        return [words[i] for i in places.tolist()]

    def often(self, choices: Sequence[bytes], count: int) -> list[bytes]:
        """Choose some, the first ones more often: the weight falls with the number in the list."""
        return [choices[i] for i in self.often_numbers(len(choices), count)]

    def often_numbers(self, limit: int, count: int) -> list[int]:
        numbers: NDArray[np.float64] = np.floor((limit + 1) ** self.rng.random(count)) - 1
        return [int(i) for i in numbers]

    def section(self, family: int, sentences: int) -> list[bytes]:
        """Write a section: mostly new sentences, some that works of the family share."""
        heading = self.often(self.headings if self.rng.random() < 0.4 else self.topics[family], 1)
        shared = self.rng.binomial(sentences, 0.04)
        body = self.sentences(sentences - shared)
        for sentence in self.often(self.definitions[family], shared):
            body.insert(int(self.rng.integers(0, len(body) + 1)), sentence)
        return [*heading, *body]

    def new_work(self, size: int, sibling: Work | None) -> Work:
        """Write a work. It takes up to half of its sections from its sibling."""
        family = sibling.family if sibling else self.often_numbers(_FAMILIES, 1)[0]
        count = max(int(size / (self._word_size * _SENTENCE)), 4)
        full, rest = divmod(count, _SECTION)
        sections = [self.section(family, n) for n in [*[_SECTION] * full, rest] if n]
        sections += [section for section in self.customary[family] if self.rng.random() < 0.5]
        if sibling:
            share = self.rng.uniform(0, 0.5)
            pairs = zip(self.revised(sibling).sections, sections, strict=False)
            sections[: len(sibling.sections)] = [a if self.rng.random() < share else b for a, b in pairs]
        title, authors = (self.sentences(1, n)[0].title() for n in (6, 3))
        references = self.often_numbers(_REFERENCES, 4 + int(self.rng.integers(0, 8 + count // 20)))
        return Work(family, title, authors, sections, references)

    def revised(self, work: Work) -> Work:
        """Rewrite a share of a work: whole sections, sentences and words; a new section now and then."""
        share = self.rng.uniform(*(_NEARLY_NEW if self.rng.random() < _OFTEN_NEARLY_NEW else _REWRITTEN))
        whole = share * self.rng.uniform(0, 0.8)  # of the rewriting, as whole sections
        rest = (share - whole) / (1 - whole)
        sections = []
        for old in work.sections:
            if self.rng.random() < whole:
                sections.append(self.section(work.family, len(old)))
                continue
            fate = self.rng.random(len(old))
            fresh = iter(self.sentences(int((fate < rest).sum())))
            new = [next(fresh) if f < rest else s for f, s in zip(fate.tolist(), old, strict=True)]
            changed = np.flatnonzero((fate >= rest) & (fate < rest + 0.2)).tolist()
            for i, word in zip(changed, self._draw(len(changed)) if changed else [], strict=True):
                words = new[i].split()
                words[int(self.rng.integers(0, len(words)))] = word
                new[i] = b" ".join(words)
            sections.append(new)
        if self.rng.random() < 0.5:
            place = int(self.rng.integers(0, len(sections) + 1))
            sections.insert(place, self.section(work.family, _SECTION // 2))
        kept = [n for n in work.references if self.rng.random() < 0.7]
        return Work(work.family, work.title, work.authors, sections, kept + self.often_numbers(_REFERENCES, 4))

    def laid_out(self, number: int, time: float, work: Work) -> bytes:
        """Return the text of a work: legal text of its time, sections, references, a header on every page."""
        generation = min(int(3 * np.clip(time + self.rng.normal(0, 0.03), 0, 1)), 2)
        legal = self.legal[generation] if self.rng.random() < _WITH_LEGAL else []
        lines = [work.title, work.authors, b" ".join(legal[: len(legal) // 3])]
        for position, (heading, *body) in enumerate(work.sections, 1):
            lines.append(b"%d. %s" % (position, heading))
            for start in range(0, len(body), _PARAGRAPH):
                lines.append(b" ".join(body[start : start + _PARAGRAPH]))
        lines += [b"References", *(b"[%d] %s" % (n, self.references[n]) for n in sorted(set(work.references)))]
        lines += [b"Legal Notices", b" ".join(legal[len(legal) // 3 :])]
        pages = [end // _PAGE for end in accumulate(map(len, lines))]
        parts = []
        for line, page, before in zip(lines, pages, [0, *pages[:-1]], strict=True):
            if page > before:
                parts.append(b"%s Standards Track [Page %d]" % (work.authors, page))
                parts.append(b"Document %d %s" % (number, work.title))
            parts.append(line)
        return b"\n\n".join(parts)


def made(english: bytes, count: int = DOCUMENTS, asked: int = QUERIES, seed: int = 1) -> Archive:
    """Write an archive of `count` documents, and keep out `asked` of those that replace an earlier one."""
    writer = Writer(english, seed)
    rng = writer.rng
    total = count + asked
    sizes = rng.lognormal(np.log(_MEAN_SIZE) - _SPREAD**2 / 2, _SPREAD, total).clip(*_SIZES).astype(int)
    kinds = rng.choice(_KINDS, total, p=_KIND_SHARES)
    replacing = np.flatnonzero((rng.random(total) < _REPLACING) & (np.arange(total) > total // 10))
    queries = set(rng.choice(replacing, asked, replace=False).tolist())
    archived = np.array([n for n in range(total) if n not in queries])
    earlier: dict[int, tuple[int, ...]] = {}
    for number in replacing.tolist():
        known = archived[: np.searchsorted(archived, number)]
        # Young documents are replaced more often than old ones.
        places = (len(known) * np.sqrt(rng.random(3 if kinds[number] == "merge" else 1))).astype(int)
        earlier[number] = tuple(sorted({int(known[p]) for p in places}))
    is_sibling = (rng.random(total) < _SIBLINGS) & (np.arange(total) > total // 10)
    siblings = {n: int(rng.integers(0, n)) for n in np.flatnonzero(is_sibling).tolist() if n not in earlier}
    needed = {number for numbers in earlier.values() for number in numbers} | set(siblings.values())
    works: dict[int, Work] = {}
    archive = Archive([], [])
    for number in range(total):
        if number in earlier:
            work = _replacement(writer, [works[n] for n in earlier[number]], kinds[number])
        else:
            sibling = works[siblings[number]] if number in siblings else None
            work = writer.new_work(int(sizes[number]), sibling)
        if number in needed:
            works[number] = work
        data = writer.laid_out(number, number / total, work)
        file = File(f"doc-{number:05}", data, "utf-8", "plain", "text")
        if number in queries:
            archive.queries.append((file, tuple(f"doc-{n:05}" for n in earlier[number])))
        else:
            archive.documents.append(file)
    return archive


def _replacement(writer: Writer, replaced: list[Work], kind: str) -> Work:
    """Return a revision of a work, a part of one, or a merge of several."""
    works = [writer.revised(work) for work in replaced]
    first = works[0]
    sections = [section for work in works for section in work.sections]
    if kind == "split" and len(sections) > 1:
        half = len(sections) // 2
        sections = sections[:half] if writer.rng.random() < 0.5 else sections[half:]
    references = [n for work in works for n in work.references]
    title = first.title if kind == "revision" else writer.sentences(1, 6)[0].title()
    return Work(first.family, title, first.authors, sections, references)


def rows(english: bytes, folder: Path) -> Iterator[Row]:
    archive = made(english)
    size = sum(len(file.data) for file in archive.documents)
    searching = f"searching {len(archive.documents):,} documents, {size / 1e6:,.0f} MB, median"
    koala = selection.settings(1, "text", {})
    for name, settings, least in (("text", Settings(Recipe("text")), 97), ("Koala", koala, 88)):
        where = folder / f"archive-{name}"
        with Index(FolderStore.create(where, settings)) as index:
            index.add(archive.documents)
            for file, _ in archive.queries:
                index.search(file)
            times, found, firsts = [], [], 0
            for file, replaced in archive.queries:
                start = perf_counter()
                answer = index.search(file)
                times.append(perf_counter() - start)
                names = [hit.document.name for hit in answer]
                found += [name in names for name in replaced]
                firsts += bool(names) and names[0] in replaced
        shutil.rmtree(where)
        yield Row(f"archive, {name}: {searching}", median(times) * 1e3, "ms", most=10)
        yield Row(f"archive, {name}: 99 of 100 searches", quantiles(times, n=100)[98] * 1e3, "ms", most=50)
        among, first = 100 * sum(found) / len(found), 100 * firsts / len(archive.queries)
        yield Row(f"archive, {name}: replaced documents among the first 20 hits", among, "%", least=least)
        yield Row(f"archive, {name}: the first hit is a replaced document", first, "%")


def main() -> None:
    with TemporaryDirectory() as folder:
        for row in rows(texts.standard_library().english, Path(folder)):
            print("  ".join(row.cells()), flush=True)


if __name__ == "__main__":
    main()
