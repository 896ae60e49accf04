"""A document's fingerprints, shown to a person: the text, its canonical stream, the windows, the choices.

Lines of styled text, ready for a terminal; the styles are dropped where there is none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import click

from chaffinch import fingerprinting as api
from chaffinch.native import fingerprint as core
from chaffinch.read.for_recipe import ready_for
from chaffinch.recipe import FRONTS, WINDOWED, Recipe
from chaffinch.types import Document, Fingerprints, Stream

_ROW = 64
_WINDOWS = 12


def printable(text: str) -> str:
    """Text that cannot steer a terminal; characters without a shape, such as joiners, are left out."""
    shown = (c for c in text if unicodedata.category(c) != "Cf")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)


def explain(document: Document, recipe: Recipe, prints: Fingerprints, shown: int) -> Iterator[str]:
    """What happens to a document, for the first `shown` symbols."""
    yield from _summary(document, recipe, prints)
    document = ready_for(document, recipe)
    found = api.stream(document, recipe)
    part = min(shown, len(found))
    if not part:
        return
    yield ""
    yield _title("Your text", "chosen grams underlined, the first letter of each marked")
    yield from _marked_text(document, found, prints, part)
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
    yield f"{printable(document.name)}: {sizes}"
    share = f", one in {grams / len(prints):.1f} grams" if len(prints) else ""
    yield f"{click.style(str(len(prints)), bold=True)} fingerprints{share}, by {recipe}"
    promise = (
        f"every run of {recipe.guarantee} symbols shared with another document is found"
        if recipe.guarantee
        else "this scheme may miss shared runs of any length"
    )
    yield f"{promise}, nothing shorter than {recipe.k} is reported"
    if not grams:
        yield f"There is nothing to compare: {prints.symbols} symbols are fewer than {recipe.k}."


def _title(name: str, hint: str) -> str:
    return click.style(name, bold=True) + click.style(f"  ({hint})", dim=True)


def _marked_text(document: Document, found: Stream, prints: Fingerprints, part: int) -> Iterator[str]:
    end = int(found.ends[part - 1])
    positions = [p for p in prints.positions.tolist() if p < part]
    firsts = {int(found.starts[p]): int(found.ends[p]) for p in positions}
    covered = [
        (s, min(e, end)) for s, e in zip(prints.starts.tolist(), prints.ends.tolist(), strict=True) if s < end
    ]
    # The style may change where a gram or its first letter starts or ends.
    cuts = sorted({0, end, *firsts, *firsts.values(), *(cut for pair in covered for cut in pair)})
    reach = dict(covered)
    under = 0  # end of the grams begun so far
    text = []
    for a, b in pairwise(cuts):
        under = max(under, reach.get(a, 0))
        raw = document.data[a:b].decode(document.encoding or "utf-8", "replace")
        for n, line in enumerate(raw.replace("\r\n", "\n").split("\n")):
            piece = printable(line.expandtabs(4))
            if a in firsts:
                piece = click.style(piece, fg="black", bg="yellow", bold=True)
            elif a < under and piece:
                piece = click.style(piece, underline=True)
            text.append("\n" * bool(n) + piece)
    yield from "".join(text).split("\n")


def _marked_stream(found: Stream, prints: Fingerprints, recipe: Recipe, part: int) -> Iterator[str]:
    chosen = {p for p in prints.positions.tolist() if p < part}
    symbols = [_symbol(s, recipe) for s in found.symbols[:part].tolist()]
    for at in range(0, part, _ROW):
        row = range(at, min(at + _ROW, part))
        yield click.style(f"{at:7} ", dim=True) + "".join(
            click.style(symbols[i], fg="yellow", bold=True) if i in chosen else symbols[i] for i in row
        )
        marks = "".join(("^" if i in chosen else " ").ljust(_width(symbols[i])) for i in row).rstrip()
        if marks:
            yield " " * 8 + click.style(marks, fg="yellow")


def _width(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _symbol(code: int, recipe: Recipe) -> str:
    """A symbol as one character; of programs, K is a keyword, N a name, 0 a number and S a string."""
    if recipe.front not in FRONTS:
        return "K" if code >= 2**31 else {1: "N", 2: "0", 3: "S"}.get(code, chr(code))
    char = chr(code)
    return char if char.isprintable() and char != " " else "\N{MIDDLE DOT}"


def _windows(found: Stream, prints: Fingerprints, recipe: Recipe, part: int) -> Iterator[str]:
    # Changes of minimum come at most w windows apart; what lies behind those shown is not needed.
    enough = min(part, (_WINDOWS + 1) * recipe.w) + recipe.w + recipe.k
    symbols = found.symbols[:enough]
    keys = core.order_keys(symbols, recipe)
    kept = set(prints.positions.tolist())
    w = min(recipe.w, len(keys))
    minima = core.winnow(keys.astype("u8"), w).tolist()
    for told, (before, smallest) in enumerate(pairwise([None, *minima])):
        # A gram that is no larger becomes the minimum as it enters, a larger one as the old one leaves.
        if before is None:
            start = 0
        elif keys[smallest] <= keys[before]:
            start = smallest + 1 - w
        else:
            start = before + 1
        if told == _WINDOWS or start >= part:
            yield click.style("        and so on", dim=True)
            return
        strip = "".join("#" if i == smallest else "." for i in range(start, start + w)) if w <= _ROW else ""
        gram = "".join(_symbol(s, recipe) for s in symbols[smallest : smallest + min(recipe.k, _ROW)].tolist())
        mark = click.style("kept", fg="yellow", bold=True) if smallest in kept else "equal"
        yield f"{start:7} {strip} gram {smallest} {gram} key {keys[smallest]:05x} {mark}"
