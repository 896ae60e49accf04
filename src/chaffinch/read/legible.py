"""Is the text of a PDF language? Fonts without a map and bad scans give letters that mean nothing."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from chaffinch.types import Document, Note

NOT_LANGUAGE = (
    "its text is not language, because of its fonts or a bad scan; matches may be missing (see --ocr)"
)
_FORMATS = ("pdf", "postscript")
_SAMPLE = 1 << 18
_FEWEST_CHARACTERS, _FEWEST_WORDS = 100, 40
"""Shorter texts say too little."""
_MOST_ODD = 0.05
"""Share of control characters, replacement characters and those without a meaning of their own."""
_FEWEST_LETTERS = 0.5
"""Share of letters and digits in what is not white space. Formulas and tables have more."""
_MOST_SINGLE = 0.45
"""Share of words of one letter. Formulas and programs have fewer; bad scans fall apart into letters."""
_MOST_WITHOUT_VOWEL = 0.15
"""Share of words of at least four Latin letters without a vowel. Abbreviations stay below it."""
_ODD = ("Cc", "Cn", "Co", "Cs")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN_WORD = re.compile(r"\b[a-z]{4,}\b", re.I)
_VOWEL = re.compile(r"[aeiouy]", re.I)


def is_language(text: str) -> bool:
    """Return whether a text may be in some language. In doubt it is."""
    characters = Counter("".join(text[:_SAMPLE].split()))
    solid = characters.total()
    if solid < _FEWEST_CHARACTERS:
        return True
    odd = sum(n for c, n in characters.items() if c == "\ufffd" or unicodedata.category(c) in _ODD)
    # Marks are part of letters in many scripts.
    letters = sum(n for c, n in characters.items() if unicodedata.category(c)[0] in "LNM")
    if odd > _MOST_ODD * solid or letters < _FEWEST_LETTERS * solid:
        return False
    words = _WORD.findall(text[:_SAMPLE])
    single = sum(len(word) == 1 and word < "\u0250" for word in words)  # Chinese has words of one letter
    latin = _LATIN_WORD.findall(text[:_SAMPLE])
    without_vowel = sum(_VOWEL.search(word) is None for word in latin)
    return not (
        (len(words) >= _FEWEST_WORDS and single > _MOST_SINGLE * len(words))
        or (len(latin) >= _FEWEST_WORDS and without_vowel > _MOST_WITHOUT_VOWEL * len(latin))
    )


def is_legible(document: Document) -> bool:
    """Return whether a document that was taken out of pages is in some language; others always are."""
    return document.format not in _FORMATS or is_language(document.data.decode("utf-8", "replace"))


def notes(documents: Iterable[Document]) -> tuple[Note, ...]:
    """Return a note that names the documents that are not language, if there are any."""
    names = tuple(document.name for document in documents if not is_legible(document))
    return (Note(NOT_LANGUAGE, names),) if names else ()
