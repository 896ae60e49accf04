"""A document and its fingerprints -> lines that show a person the text, its canonical stream and the windows.

The lines are styled for a terminal; click drops the styles when the output goes elsewhere.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import click

from chaffinch import fingerprinting
from chaffinch.cli.output import counted, printable
from chaffinch.native.fingerprint import order_keys, winnow
from chaffinch.read.for_recipe import ready_for
from chaffinch.recipe import FRONTS, WINDOWED, Recipe
from chaffinch.types import Document, Fingerprints, Stream

_COLUMNS = 64
"""Symbols in a line of the canonical stream, and in the longest window or gram that is drawn."""
_MAX_WINDOWS = 12
"""Windows that are shown."""


def explanation(document: Document, recipe: Recipe, prints: Fingerprints, shown: int) -> Iterator[str]:
    """Yield the lines that explain the first `shown` symbols of a document."""
    yield from _summary(document, recipe, prints)
    document = ready_for(document, recipe)
    stream = fingerprinting.stream(document, recipe)
    shown = min(shown, len(stream))
    if not shown:
        return
    yield ""
    yield _title("Your text", "chosen grams are underlined, and their first letters marked")
    yield from _marked_text(document, stream, prints, shown)
    yield ""
    yield _title("Canonical stream", "what is compared; a mark shows where a chosen gram starts")
    yield from _marked_stream(stream, prints, recipe, shown)
    if recipe.scheme in WINDOWED and len(stream) >= recipe.k:
        yield ""
        yield _title("Windows", "where the smallest gram changes; it is chosen, or equals the one before")
        yield from _windows(stream, prints, recipe, shown)
    if shown < len(stream):
        yield ""
        yield f"These are the first {shown} of {len(stream)} symbols; --symbols {len(stream)} shows all."


def _summary(document: Document, recipe: Recipe, prints: Fingerprints) -> Iterator[str]:
    grams = max(0, prints.symbols - recipe.k + 1)
    sizes = f"{len(document.data)} bytes -> {prints.symbols} symbols -> {grams} grams of {recipe.k}"
    yield f"{_visible(document.name)}: {sizes}"
    share = f", one in {grams / len(prints):.1f} grams" if len(prints) else ""
    yield f"{click.style(counted(len(prints), 'fingerprint'), bold=True)}{share}, by {recipe}"
    promise = (
        f"every run of {recipe.guarantee} symbols shared with another document is found"
        if recipe.guarantee
        else "this scheme can miss shared runs of any length"
    )
    yield f"{promise}, and nothing shorter than {recipe.k} is reported"
    if not grams:
        yield f"There is nothing to compare: it has {prints.symbols} symbols, and a gram needs {recipe.k}."


def _title(name: str, hint: str) -> str:
    return click.style(name, bold=True) + click.style(f"  ({hint})", dim=True)


def _marked_text(document: Document, stream: Stream, prints: Fingerprints, shown: int) -> Iterator[str]:
    end = int(stream.ends[shown - 1])
    positions = [p for p in prints.positions.tolist() if p < shown]
    firsts = {int(stream.starts[p]): int(stream.ends[p]) for p in positions}
    covered = [
        (s, min(e, end)) for s, e in zip(prints.starts.tolist(), prints.ends.tolist(), strict=True) if s < end
    ]
    # The style can change only where a gram or its first letter starts or ends.
    cuts = sorted({0, end, *firsts, *firsts.values(), *(cut for pair in covered for cut in pair)})
    end_of_gram = dict(covered)
    underlined_to = 0
    text = []
    for a, b in pairwise(cuts):
        underlined_to = max(underlined_to, end_of_gram.get(a, 0))
        raw = document.data[a:b].decode(document.encoding or "utf-8", "replace")
        for n, line in enumerate(raw.replace("\r\n", "\n").split("\n")):
            piece = _visible(line.expandtabs(4))
            if a in firsts:
                piece = click.style(piece, fg="black", bg="yellow", bold=True)
            elif a < underlined_to and piece:
                piece = click.style(piece, underline=True)
            text.append("\n" * bool(n) + piece)
    yield from "".join(text).split("\n")


def _marked_stream(stream: Stream, prints: Fingerprints, recipe: Recipe, shown: int) -> Iterator[str]:
    chosen = set(prints.positions.tolist())
    symbols = [_symbol(s, recipe) for s in stream.symbols[:shown].tolist()]
    for first in range(0, shown, _COLUMNS):
        row = range(first, min(first + _COLUMNS, shown))
        yield click.style(f"{first:7} ", dim=True) + "".join(
            click.style(symbols[i], fg="yellow", bold=True) if i in chosen else symbols[i] for i in row
        )
        marks = "".join(("^" if i in chosen else " ").ljust(_width(symbols[i])) for i in row).rstrip()
        if marks:
            yield " " * 8 + click.style(marks, fg="yellow")


def _visible(text: str) -> str:
    """Return printable text, without characters that have no shape, such as joiners."""
    return printable("".join(c for c in text if unicodedata.category(c) != "Cf"))


def _width(char: str) -> int:
    """Return how many columns of a terminal a character takes."""
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _symbol(code: int, recipe: Recipe) -> str:
    """Return a symbol as one character. In programs, K is a keyword, N a name, 0 a number and S a string."""
    if recipe.front not in FRONTS:
        return "K" if code >= 2**31 else {1: "N", 2: "0", 3: "S"}.get(code, chr(code))
    char = chr(code)
    return char if char.isprintable() and char != " " else "\N{MIDDLE DOT}"


def _windows(stream: Stream, prints: Fingerprints, recipe: Recipe, shown: int) -> Iterator[str]:
    # The smallest gram changes at least every w windows, so a short piece of the stream is enough.
    enough = min(shown, (_MAX_WINDOWS + 1) * recipe.w) + recipe.w + recipe.k
    symbols = stream.symbols[:enough]
    keys = order_keys(symbols, recipe)
    chosen = set(prints.positions.tolist())
    w = min(recipe.w, len(keys))
    minima = winnow(keys.astype("u8"), w).tolist()
    for number, (before, smallest) in enumerate(pairwise([None, *minima])):
        # A smaller or equal gram becomes the smallest when it enters, a larger one when the one before leaves.
        if before is None:
            start = 0
        elif keys[smallest] <= keys[before]:
            start = smallest + 1 - w
        else:
            start = before + 1
        if number == _MAX_WINDOWS or start >= shown:
            yield click.style("        and so on", dim=True)
            return
        strip = "".join("#" if i == smallest else "." for i in range(start, start + w)) if w <= _COLUMNS else ""
        gram = "".join(
            _symbol(s, recipe) for s in symbols[smallest : smallest + min(recipe.k, _COLUMNS)].tolist()
        )
        mark = click.style("chosen", fg="yellow", bold=True) if smallest in chosen else "equal"
        yield f"{start:7} {strip} gram {smallest} {gram} key {keys[smallest]:05x} {mark}"
