"""The slow, obvious twin of every native function: the specification that the core is tested against.

Read it beside the papers. Nothing here is fast, and nothing else in the package calls it.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from chaffinch.recipe import FIXED_SIZE, WINDOWED, Recipe

P61 = 2**61 - 1
M32 = 2**32 - 1
M64 = 2**64 - 1

Gram = tuple[int, ...]


# Bytes -> symbols


@cache
def folding(form: str) -> dict[int, tuple[int, ...]]:
    """Return what every code point folds to, in the "text" or the "consonants" form."""
    table: dict[int, tuple[int, ...]] = {}
    vowels: set[int] = set()
    for line in (files("chaffinch") / "folding.txt").read_text("ascii").splitlines():
        if line.startswith("#"):
            continue
        key, *values = line.split()
        if key == "vowels":
            vowels = {int(v, 16) for v in values}
            continue
        first, _, last = key.partition("-")
        for code in range(int(first, 16), int(last or first, 16) + 1):
            if values == ["hangul"]:
                table[code] = hangul(code)
            elif values[0][0] in "+-":
                table[code] = (code + int(values[0], 16),)
            else:
                table[code] = tuple(int(v, 16) for v in values)
    if form == "consonants":
        dropped = vowels | set(range(ord("0"), ord("9") + 1))
        table = {code: tuple(s for s in symbols if s not in dropped) for code, symbols in table.items()}
    return table


def hangul(code: int) -> tuple[int, ...]:
    """Return a syllable's leading consonant, vowel and, if it has one, trailing consonant."""
    lead, rest = divmod(code - 0xAC00, 588)
    vowel, trail = divmod(rest, 28)
    return (0x1100 + lead, 0x1161 + vowel) + ((0x11A7 + trail,) if trail else ())


def characters(data: bytes, encoding: str) -> Iterator[tuple[int, int, int]]:
    """Yield code point, start and end of every character. An invalid byte of UTF-8 is passed over alone."""
    at = 0
    while at < len(data):
        for size in range(1, 5):
            try:
                char = data[at : at + size].decode(encoding)
            except UnicodeDecodeError:
                continue
            if len(char) == 1:
                yield ord(char), at, at + size
                break
        else:
            size = min({"utf-8": 1, "utf-16": 2, "utf-32": 4}.get(encoding[:6].rstrip("-"), 1), len(data) - at)
        at += size


def stream(data: bytes, front: str, encoding: str = "utf-8") -> list[tuple[int, int, int]]:
    """Return the canonical stream: symbol, start and end of each symbol."""
    if front == "bytes":
        return [(byte, i, i + 1) for i, byte in enumerate(data)]
    table = folding(front)
    name = codecs.lookup(encoding).name
    return [
        (symbol, start, end) for code, start, end in characters(data, name) for symbol in table.get(code, ())
    ]


# Symbols -> hashes


def mix64(x: int) -> int:
    """Mix the bits as splitmix64 does at its end: a bijection in which every bit reaches every bit."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def identity(gram: Sequence[int], seed: int) -> int:
    """Return the hash that identifies a gram: a polynomial modulo 2^61-1 in a base given by the seed, mixed."""
    base = mix64(seed ^ 0x6964656E74697479) % (P61 - 2) + 2
    value = 0
    for symbol in gram:
        value = (value * base + symbol) % P61
    return mix64(value ^ mix64(seed ^ 0x77686974656E6564))


def order(gram: Sequence[int], seed: int) -> int:
    """Return 20 bits to order grams by: a polynomial modulo 2^32, its top bits well mixed.

    Three equal symbols come last: spaces and zeros are poor landmarks.
    """
    if len(gram) == 3 and len(set(gram)) == 1:
        return 2**20 - 1
    base = mix64(seed ^ 0x6F726465725F6261) >> 32 | 1
    value = 0
    for symbol in reversed(gram):
        value = (value * base + symbol) & M32
    return ((value ^ value >> 15) * 0x2C1B3C6D & M32) >> 12


def order_key(gram: Gram, recipe: Recipe) -> int:
    """Return the key of a gram in the recipe's order; the smallest of a window is kept."""
    k, r = recipe.k, recipe.inner
    if recipe.scheme == "winnow":
        return order(gram, recipe.seed)
    inner = [order(gram[i : i + r], recipe.seed) for i in range(k - r + 1)]
    if recipe.scheme == "mod":
        return min(inner[:: recipe.w])
    least = min(inner)
    where = max(i for i, key in enumerate(inner) if key == least)  # the rightmost
    whole = ((inner[0] << 12 ^ inner[-1]) & M32) * 0x9E3779B1 & M32
    if where == (k - r) // 2:  # open: by the inner gram, then by the gram
        return least >> 6 << 4 | whole >> 28
    closed = where in (0, k - r)
    return (1 if closed else 2) << 18 | whole >> 14


# Hashes -> fingerprints


def minima(hashes: Sequence[int], w: int) -> Iterator[tuple[int, int]]:
    """Yield the start of each window and the position of its minimum, the rightmost of equal ones."""
    w = min(w, len(hashes))
    for start in range(len(hashes) - w + 1 if hashes else 0):
        window = range(start, start + w)
        least = min(hashes[i] for i in window)
        yield start, max(i for i in window if hashes[i] == least)


def winnow(hashes: Sequence[int], w: int) -> list[int]:
    """Definition 1: select the rightmost minimum of each window, once."""
    chosen: list[int] = []
    for _, position in minima(hashes, w):
        if not chosen or chosen[-1] != position:
            chosen.append(position)
    return chosen


def robust_winnow(hashes: Sequence[int], w: int, grams: Sequence[object] | None = None) -> list[int]:
    """Definition 3: select the same gram as the window to the left if possible, else the rightmost minimum.

    With order keys in place of hashes, different grams may have equal keys: then the grams decide.
    """
    grams = hashes if grams is None else grams
    chosen: list[int] = []
    for start, position in minima(hashes, w):
        if chosen and chosen[-1] >= start and grams[chosen[-1]] == grams[position]:
            continue
        chosen.append(position)
    return chosen


def select(symbols: Sequence[int], recipe: Recipe, window: int | None = None) -> list[tuple[int, int]]:
    """Return (hash, position) of every fingerprint."""
    k = recipe.k
    w = recipe.w if window is None else window
    grams = [tuple(symbols[i : i + k]) for i in range(len(symbols) - k + 1)]
    if recipe.scheme in WINDOWED:
        keys = [order_key(gram, recipe) for gram in grams]
        positions = robust_winnow(keys, w, grams) if recipe.ties == "robust" else winnow(keys, w)
    elif recipe.scheme in FIXED_SIZE:
        positions = fixed_size(symbols, recipe)
    else:
        positions = _select_by_hash([identity(gram, recipe.seed) for gram in grams], recipe, w)
    return [(identity(grams[p], recipe.seed), p) for p in positions]


def fixed_size(symbols: Sequence[int], recipe: Recipe) -> list[int]:
    """Koala: select the w distinct grams with the smallest hashes.

    The scheme "rare" prefers grams whose first five symbols occur least often in the document, and among
    equally rare grams the hash decides. The start of the document is passed over, but no more than a tenth of
    it, and never its last gram.
    """
    k, opening = recipe.k, min(5, recipe.k)
    times = Counter(tuple(symbols[i : i + opening]) for i in range(len(symbols) - opening + 1))
    skip = max(0, min(recipe.skip, len(symbols) // 10, len(symbols) - k))
    first: dict[Gram, int] = {}
    for i in range(skip, len(symbols) - k + 1):
        first.setdefault(tuple(symbols[i : i + k]), i)

    def rank(gram: Gram) -> tuple[int, int, int]:
        rarity = times[gram[:opening]] if recipe.scheme == "rare" else 0
        return rarity, identity(gram, recipe.seed), first[gram]

    return sorted(first[gram] for gram in sorted(first, key=rank)[: recipe.w])


def _select_by_hash(hashes: list[int], recipe: Recipe, w: int) -> list[int]:
    everywhere = range(len(hashes))
    good = [h % recipe.modulus == 0 for h in hashes]
    match recipe.scheme:
        case "all":
            return list(everywhere)
        case "every":
            return list(everywhere[::w])
        case "mod-p":
            return [i for i in everywhere if good[i]]
        case _:  # safe-mod-p
            bad = [i >= w - 1 and not any(good[i - w + 1 : i + 1]) for i in everywhere]
            return [i for i in everywhere if good[i] or bad[i]]


def fingerprint(
    data: bytes, recipe: Recipe, encoding: str = "utf-8", window: int | None = None
) -> list[tuple[int, int, int, int]]:
    """Return (hash, position, start, end) of every fingerprint of a document."""
    found = stream(data, recipe.front, encoding)
    chosen = select([symbol for symbol, _, _ in found], recipe, window)
    return [(h, p, found[p][1], found[p + recipe.k - 1][2]) for h, p in chosen]


def runs(left: Sequence[int], right: Sequence[int], k: int) -> set[tuple[int, int, int]]:
    """Return (left start, right start, length) of every maximal equal run of at least k symbols."""
    found = set()
    for i in range(len(left)):
        for j in range(len(right)):
            if left[i] != right[j] or (i and j and left[i - 1] == right[j - 1]):
                continue
            n = 0
            while i + n < len(left) and j + n < len(right) and left[i + n] == right[j + n]:
                n += 1
            if n >= k:
                found.add((i, j, n))
    return found


def share(left: Sequence[int], right: Sequence[int], n: int, weights: dict[Gram, float]) -> float:
    """Return the weighted share of the left's grams of n symbols that the right has too, equally often."""
    ours, theirs = (Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1)) for s in (left, right))
    total = sum(weights[gram] * times for gram, times in ours.items())
    common = sum(weights[gram] * times for gram, times in (ours & theirs).items())
    return common / total if total else 0.0
