"""Measure documents: pages a second, how much of a PDF is read, and growth in every format."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import chaffinch
from bench.speed import MB, best_of
from bench.table import Row
from bench.texts import repeated
from chaffinch import Document, File
from chaffinch.read.ready import ready_documents
from tests import made

SIZES = (1, 10, 100)  # MB of text
PAGE_RATE = 400
RECALL = 0.95
GROWTH = 3  # fast readers spend most of their time on new memory for large documents
_PAGES = 400
_PARAGRAPH = 600


def rows(english: bytes, data: Path | None) -> list[Row]:
    """Measure the PDF files in noisy/rfc_pdf of the data, or one made of the English text."""
    pairs = list(_given(data)) if data else []
    return [*_pdf(pairs or [_made(english)], "given" if pairs else "made"), *_growth(english)]


def _given(data: Path) -> Iterator[tuple[bytes, str]]:
    """Yield digital PDF files with their text. Scans and files without a character map lack words."""
    for path in sorted((data / "noisy" / "rfc_pdf").glob("*.pdf")):
        text = path.with_suffix(".txt").read_text("utf-8", "replace")
        extracted = _words(_text(path.read_bytes(), path.name))
        words = set(_words(text))
        if extracted and sum(word in words for word in extracted) > 0.97 * len(extracted):
            yield path.read_bytes(), text


def _made(english: bytes) -> tuple[bytes, str]:
    text = english[: _PAGES * 40 * 60].decode()
    return made.pdf(_paragraphs(text)), text


def _pdf(pairs: list[tuple[bytes, str]], kind: str) -> Iterator[Row]:
    pages = sum(len(document.sections) for data, _ in pairs for document in _documents(data, "x.pdf"))
    took = best_of(3, {"": lambda: [_text(data, "x.pdf") for data, _ in pairs]})[""]
    yield Row(f"PDF, {len(pairs)} {kind}, {pages} pages", pages / took, "pages/s", least=PAGE_RATE)
    shared = total = 0
    for data, text in pairs:
        theirs, ours = _grams(_body(text)), _grams(_text(data, "x.pdf"))
        shared += (theirs & ours).total()
        total += theirs.total()
    yield Row("share of the word 5-grams of a text that its PDF yields", shared / total, least=RECALL)


def _body(text: str) -> str:
    """Remove what only one edition has: heads and feet of pages, and lines that end in a page number."""
    text = re.sub(r"\n*[^\n]*\[Page \d+\]\s*\n\f?\n?(?:[^\n]*\n)?", "\n", text)
    lines = [line for line in text.split("\n") if not re.search(r"(?:\. ?){4,}|\s{8,}\d+\s*$", line)]
    return re.sub(r"(?<=[a-z])-\n\s*(?=[a-z])", "", "\n".join(lines))


def _grams(text: str) -> Counter[tuple[str, ...]]:
    words = _words(text)
    return Counter(zip(*(words[i:] for i in range(5)), strict=False))


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _documents(data: bytes, name: str) -> list[Document]:
    return [item for item in ready_documents(File(name, data)) if isinstance(item, Document)]


def _text(data: bytes, name: str) -> str:
    return "".join(document.data.decode() for document in _documents(data, name))


def _paragraphs(text: str) -> list[str]:
    return [text[i : i + _PARAGRAPH].replace("\n", " ") for i in range(0, len(text), _PARAGRAPH)]


def _notebook(paragraphs: list[str]) -> bytes:
    cells = [{"cell_type": "markdown", "source": [text]} for text in paragraphs]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()


def _mail(paragraphs: list[str]) -> bytes:
    return b"From: a@example.org\nTo: b@example.org\nSubject: words\n\n" + "\n".join(paragraphs).encode()


def _growth(english: bytes) -> Iterator[Row]:
    """Compare the time per byte of long and short documents, to symbols; Ghostscript is not measured."""
    makers: dict[str, Callable[[list[str]], bytes]] = {
        **{name: make for name, make in made.FORMATS.items() if name not in ("txt", "html", "ps")},
        "ipynb": _notebook,
        "eml": _mail,
    }
    for name, make in makers.items():
        rates = []
        for size in SIZES:
            document = File(f"x.{name}", make(_paragraphs(repeated(english, size * MB).decode())))
            took = best_of(1 if name == "pdf" else 3, {"": partial(_symbols, document)})[""]
            rates.append(took / size)
        described = ", ".join(f"{1 / rate:,.0f}" for rate in rates)
        what = f"time per byte at 100 MB / at 1 MB, {name} ({described} MB/s at 1, 10, 100 MB of text)"
        yield Row(what, rates[-1] / rates[0], "×", most=GROWTH)


def _symbols(document: File) -> int:
    return sum(len(chaffinch.stream(item)) for item in ready_documents(document) if isinstance(item, Document))
