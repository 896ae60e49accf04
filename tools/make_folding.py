"""Write src/chaffinch/folding.txt: what every code point folds to.

The table is frozen in the repository because fingerprints must not change with the Python or Unicode
version that happens to be installed. A new table is a new version of the text front end: raise VERSION, and
indexes made with the old one are refused rather than silently missed.

    pip install unicodedata2 && python tools/make_folding.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import unicodedata2 as unicodedata

VERSION = 1
TARGET = Path(__file__).parent.parent / "src" / "chaffinch" / "folding.txt"

# Letters that look like ASCII letters, after case folding. A letter whose capital and small form resemble
# different Latin letters follows the form that is more common in disguised text.
LOOKALIKES = {
    # Cyrillic
    "а": "a",
    "в": "b",
    "е": "e",
    "ѕ": "s",
    "і": "i",
    "ј": "j",
    "к": "k",
    "м": "m",
    "н": "h",
    "о": "o",
    "р": "p",
    "с": "c",
    "т": "t",
    "у": "y",
    "ү": "y",
    "х": "x",
    "ԁ": "d",
    "ԛ": "q",
    "ԝ": "w",
    "һ": "h",
    "ӏ": "l",
    "ѵ": "v",
    "ԍ": "g",
    # Greek
    "α": "a",
    "β": "b",
    "ε": "e",
    "ζ": "z",
    "η": "n",
    "ι": "i",
    "κ": "k",
    "μ": "m",
    "ν": "v",
    "ο": "o",
    "ρ": "p",
    "τ": "t",
    "υ": "u",
    "χ": "x",
    "γ": "y",
    "ω": "w",
    "ϳ": "j",
    "ϲ": "c",
    # Armenian
    "հ": "h",
    "ո": "n",
    "ս": "u",
    "օ": "o",
    "ց": "g",
    "զ": "q",
    "յ": "j",
    "լ": "l",
    "ք": "p",
    # Cherokee, which folds to capitals
    "Ꭺ": "a",
    "Ᏼ": "b",
    "Ꮯ": "c",
    "Ꭰ": "d",
    "Ꭼ": "e",
    "Ꮐ": "g",
    "Ꮋ": "h",
    "Ꭻ": "j",
    "Ꮶ": "k",
    "Ꮮ": "l",
    "Ꮇ": "m",
    "Ꮲ": "p",
    "Ꮢ": "r",
    "Ꮪ": "s",
    "Ꭲ": "t",
    "Ꮩ": "v",
    "Ꮃ": "w",
    "Ꮍ": "y",
    "Ꮓ": "z",
    # Lisu
    "ꓐ": "b",
    "ꓑ": "p",
    "ꓓ": "d",
    "ꓔ": "t",
    "ꓖ": "g",
    "ꓗ": "k",
    "ꓙ": "j",
    "ꓚ": "c",
    "ꓜ": "z",
    "ꓝ": "f",
    "ꓟ": "m",
    "ꓠ": "n",
    "ꓡ": "l",
    "ꓢ": "s",
    "ꓣ": "r",
    "ꓦ": "v",
    "ꓧ": "h",
    "ꓪ": "w",
    "ꓫ": "x",
    "ꓬ": "y",
    "ꓮ": "a",
    "ꓰ": "e",
    "ꓲ": "i",
    "ꓳ": "o",
    "ꓴ": "u",
    # Latin letters that are written as two, or differ by more than a mark
    "æ": "ae",
    "œ": "oe",
    "ı": "i",
    "ȷ": "j",
    "ɑ": "a",
    "ɡ": "g",
    "ſ": "s",
    "ɩ": "i",
    "ꭤ": "a",
}

# For the consonant form. Scripts whose letters are consonants, syllables or ideographs keep them all.
VOWELS = (
    "aeiou"
    "иыэюяєѣ"  # Cyrillic; the others fold to Latin letters
    + "".join(map(chr, range(0x1161, 0x1176)))  # Hangul jamo
)

NAMED_LATIN = re.compile(
    r"LATIN (?:SMALL |CAPITAL |LETTER SMALL )+(?:LETTER )?(?:CAPITAL )?([A-Z])(?: WITH .*)?$"
)


def fold(code: int) -> str:
    """Return the letters and digits that a code point stands for, or nothing if it does not matter."""
    text = chr(code)
    while (further := unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())) != text:
        text = further
    return "".join(map(symbol, text))


def symbol(char: str) -> str:
    if char.isascii():
        return char if char.isalnum() else ""
    category = unicodedata.category(char)
    if char in LOOKALIKES:
        return LOOKALIKES[char]
    if (digit := unicodedata.decimal(char, None)) is not None:
        return str(digit)
    if category[0] not in "LN" and not (category == "So" and "NEGATIVE" in unicodedata.name(char, "")):
        return ""
    if named := NAMED_LATIN.search(unicodedata.name(char, "")):
        return named[1].lower()
    return char if category[0] in "LN" else ""


def lines() -> Iterator[str]:
    made = f"Unicode {unicodedata.unidata_version}. Made by tools/make_folding.py."
    yield f"# Chaffinch folding {VERSION}, {made}"
    yield "# A line is a code point and its symbols, or first-last and the offset to the symbol. Hexadecimal."
    yield "# What is not listed is dropped. The consonant form drops the vowels and ASCII digits as well."
    yield "vowels " + " ".join(f"{ord(v):X}" for v in sorted(VOWELS))
    yield "AC00-D7A3 hangul"
    run: tuple[int, int, int] | None = None  # first, last, offset
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000 or 0xAC00 <= code <= 0xD7A3:
            continue
        folded = fold(code)
        if len(folded) == 1:
            offset = ord(folded) - code
            if run and run[1] == code - 1 and run[2] == offset:
                run = (run[0], code, offset)
                continue
        if run:
            yield line(*run)
            run = None
        if len(folded) == 1:
            run = (code, code, offset)
        elif folded:
            yield f"{code:X} " + " ".join(f"{ord(c):X}" for c in folded)
    if run:
        yield line(*run)


def line(first: int, last: int, offset: int) -> str:
    return f"{first:X} {first + offset:X}" if first == last else f"{first:X}-{last:X} {offset:+X}"


def main() -> None:
    TARGET.write_text("\n".join(lines()) + "\n", encoding="ascii")
    print(f"{TARGET}: {TARGET.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
