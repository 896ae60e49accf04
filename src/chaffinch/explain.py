"""A document's fingerprints, shown to a person: the text, its canonical stream, the windows, the choices.

Lines of styled text, ready for a terminal; the styles are dropped where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from unicodedata import east_asian_width

import click

from chaffinch import api, core
from chaffinch.recipe import FRONTS, WINDOWED, Recipe
from chaffinch.types import Document, Fingerprints, Stream

_ROW = 64
_WINDOWS = 12


def explain(document: Document, recipe: Recipe, shown: int) -> Iterator[str]:
    """What happens to a document, for the first `shown` symbols."""
    document = api.settle(document)
    found = api.stream(document, recipe)
    prints = api.fingerprint(document, recipe)
    part = min(shown, len(found))
    yield from _summary(document, recipe, prints)
    if not len(found):
        return
    yield ""
    yield _title("Your text", "chosen grams underlined, the first letter of each marked")
    yield from _marked_text(document, found, prints, recipe.k, part)
    yield ""
    yield _title("Canonical stream", "what is compared; a mark under the start of each chosen gram")
    yield from _marked_stream(found, prints, recipe, part)
    if recipe.scheme in WINDOWED and len(found) >= recipe.k:
        yield ""
        yield _title("Windows", "where the smallest gram changes: it is kept, or equals the gram kept before")
        yield from _windows(found, prints, recipe, part)
    if part < len(found):
        yield ""
        yield f"The first {part} of {len(found)} symbols; --symbols {len(found)} shows all."


def _summary(document: Document, recipe: Recipe, prints: Fingerprints) -> Iterator[str]:
    grams = max(0, prints.symbols - recipe.k + 1)
    sizes = f"{len(document.data)} bytes -> {prints.symbols} symbols -> {grams} grams of {recipe.k}"
    yield f"{_safe(document.name)}: {sizes}"
    share = f", one in {grams / len(prints):.1f} grams" if len(prints) else ""
    yield f"{click.style(str(len(prints)), bold=True)} fingerprints{share}, by {recipe}"
    promise = (
        f"every run of {recipe.guarantee} symbols shared with another document is found"
        if recipe.guarantee
        else "this scheme may miss shared runs of any length"
    )
    yield f"{promise}, nothing shorter than {recipe.k} is reported"
    if not prints.symbols:
        yield "There is nothing to compare: the document has no letters or digits."
    elif not grams:
        yield f"There is nothing to compare: the document is shorter than {recipe.k} symbols."


def _title(name: str, hint: str) -> str:
    return click.style(name, bold=True) + click.style(f"  ({hint})", dim=True)


def _safe(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _marked_text(document: Document, found: Stream, prints: Fingerprints, k: int, part: int) -> Iterator[str]:
    end = int(found.ends[part - 1])
    firsts = {int(found.starts[p]) for p in prints.positions.tolist() if p < part}
    covered = [(int(s), int(e)) for s, e in zip(prints.starts, prints.ends, strict=True) if s < end]
    # Cut where the style may change: at the ends of grams and around their first letters.
    last_byte = {int(s): int(e) for s, e in zip(found.starts[:part], found.ends[:part], strict=True)}
    cuts = {0, end} | {min(c, end) for pair in covered for c in pair}
    cuts |= firsts | {last_byte[f] for f in firsts}
    text = []
    ordered = sorted(cuts)
    for a, b in pairwise(ordered):
        piece = _safe(document.data[a:b].decode(document.encoding or "utf-8", "replace"))
        if a in firsts:
            piece = click.style(piece, fg="black", bg="yellow", bold=True)
        elif any(s <= a < e for s, e in covered):
            piece = click.style(piece, underline=True)
        text.append(piece)
    yield from "".join(text).splitlines()


def _marked_stream(found: Stream, prints: Fingerprints, recipe: Recipe, part: int) -> Iterator[str]:
    chosen = {p for p in prints.positions.tolist() if p < part}
    symbols = [_symbol(s, recipe) for s in found.symbols[:part].tolist()]
    for at in range(0, part, _ROW):
        row = range(at, min(at + _ROW, part))
        yield click.style(f"{at:7} ", dim=True) + "".join(
            click.style(symbols[i], fg="yellow", bold=True) if i in chosen else symbols[i] for i in row
        )
        if chosen.intersection(row):
            yield " " * 8 + click.style("".join("^" if i in chosen else " " for i in row).rstrip(), fg="yellow")


def _width(char: str) -> int:
    return 2 if east_asian_width(char) in "WF" else 1


def _symbol(code: int, recipe: Recipe) -> str:
    """A symbol as one character; of programs, K is a keyword, N a name, 0 a number and S a string."""
    if recipe.front not in FRONTS:
        return "K" if code >= 2**31 else {1: "N", 2: "0", 3: "S"}.get(code, chr(code))
    char = chr(code)
    return char if char.isprintable() and char != " " else "\N{MIDDLE DOT}"


def _windows(found: Stream, prints: Fingerprints, recipe: Recipe, part: int) -> Iterator[str]:
    keys = core.order_keys(found.symbols, recipe).tolist()
    kept = set(prints.positions.tolist())
    w = min(recipe.w, len(keys))
    before = None
    told = 0
    for start in range(min(len(keys) - w + 1, part)):
        window = range(start, start + w)
        smallest = min(window, key=lambda i: (keys[i], -i))
        if smallest == before:
            continue
        before = smallest
        if told == _WINDOWS:
            yield click.style("        and so on", dim=True)
            return
        told += 1
        strip = "".join("#" if i == smallest else "." for i in window) if w <= _ROW else ""
        gram = "".join(_symbol(s, recipe) for s in found.symbols[smallest : smallest + recipe.k].tolist())
        mark = click.style("kept", fg="yellow", bold=True) if smallest in kept else "equal"
        yield f"{start:7} {strip} gram {smallest} {gram} key {keys[smallest]:05x} {mark}"
