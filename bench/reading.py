"""Measure reading, bytes to symbols with spans: every front end, other lexers, long documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path

import chaffinch
from bench import damage, lexers
from bench.speed import MB, best_of
from bench.table import Row
from bench.texts import Texts, repeated
from bench.worst_inputs import WORST
from chaffinch import Document, File, Recipe, fingerprinting
from chaffinch.read.ready import ready_documents

LANGUAGES = ("c", "java", "python", "javascript")
SIZE = 16 * MB
SIZES = (1, 10, 100)  # MB

CODE_RATE = 150
PAGE_RATE = 250
GROWTH = 1.5
WORST_RATE = 5  # MB/s
# A message or a member of a ZIP can be as short as 90 bytes, and Python takes 30 microseconds for each. A
# paragraph of ODT can be as short as 8 bytes, and Python takes 2 microseconds.
WORST_RATES = {"mailbox": 2, "ZIP": 2, "ODT": 3}


@dataclass(frozen=True, slots=True)
class Front:
    """A front end, the name of a document that gives the format away, and a text to read."""

    name: str
    front: str
    document: str
    text: bytes

    def sized(self, size: int) -> File:
        return File(self.document, repeated(self.text, size))


def fronts(texts: Texts) -> Iterator[Front]:
    """Yield every front end that must read in linear time."""
    for name in ("text", "consonants", "bytes"):
        yield Front(name, name, "text.txt", texts.english)
    yield Front("html", "text", "page.html", texts.page)
    for name in LANGUAGES:
        yield Front(name, name, "program", b"\n".join(texts.programs[name]))


def rows(texts: Texts, folder: Path) -> list[Row]:
    measured = [*_rates(texts), *_growth(texts), *_worst()]
    for name in LANGUAGES:
        measured += lexers.rows(name, texts.programs[name], folder)
    for name in LANGUAGES:
        measured += damage.rows(name, texts.programs[name])
    return measured


def _worst() -> Iterator[Row]:
    """Measure files of 10 MB that cost their reader as much as possible, from bytes to symbols.

    Of a ZIP that holds one file, or of a document that is one, the size before it is packed counts.
    """
    slowest: dict[str, tuple[float, str]] = {}
    for kind, (name, make) in WORST.items():
        file = File(name, make(10 * MB))
        rate = 10 / best_of(1, {kind: partial(_read, file)})[kind]
        format, _, what = kind.partition(": ")
        slowest[format] = min(slowest.get(format, (inf, "")), (rate, what))
    for format, (rate, what) in slowest.items():
        least = WORST_RATES.get(format, WORST_RATE)
        yield Row(f"worst file of 10 MB, {format} ({what})", rate, "MB/s", least=least)


def _read(file: File) -> None:
    by_language: dict[str, list[Document]] = {}
    for item in ready_documents(file):
        if isinstance(item, Document):
            by_language.setdefault(item.language, []).append(item)
    for language, documents in by_language.items():
        fingerprinting.streams(documents, Recipe(language), threads=1)


def _rates(texts: Texts) -> Iterator[Row]:
    """Measure `chaffinch.stream` on one document and one core, including the detection of the encoding."""
    bounds = {"html": PAGE_RATE} | dict.fromkeys(LANGUAGES, CODE_RATE)
    documents = {f.name: (f.sized(SIZE), Recipe(f.front)) for f in fronts(texts)}
    took = best_of(7, {name: partial(chaffinch.stream, *what) for name, what in documents.items()})
    for name, seconds in took.items():
        rate = len(documents[name][0].data) / seconds / MB
        yield Row(f"bytes to symbols with spans, {name}", rate, "MB/s", least=bounds.get(name))


def _growth(texts: Texts) -> list[Row]:
    """Compare the time per byte of long and short documents, to fingerprints."""
    measured = []
    for front in fronts(texts):
        documents = {size: front.sized(size * MB) for size in SIZES}
        recipe = Recipe(front.front)
        works = {str(size): partial(chaffinch.fingerprint, d, recipe) for size, d in documents.items()}
        took = best_of(5, works)
        rates = {size: took[str(size)] / len(documents[size].data) for size in SIZES}
        described = ", ".join(f"{1 / MB / rates[size]:,.0f}" for size in SIZES)
        what = f"time per byte at 100 MB / at 1 MB, {front.name} ({described} MB/s at 1, 10, 100 MB)"
        measured.append(Row(what, rates[SIZES[-1]] / rates[SIZES[0]], "×", most=GROWTH))
    worst = max(row.value or 0 for row in measured)
    return [*measured, Row("time per byte at 100 MB / at 1 MB, worst front end", worst, "×", most=GROWTH)]
