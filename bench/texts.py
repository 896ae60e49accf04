"""Texts to measure with, the same on every run: real English and code that every Python brings along.

English is ASCII bytes. Nothing here is repeated except by `repeated`, so densities are those of real text.
"""

from __future__ import annotations

import ast
import re
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

_CODE = {".c", ".cc", ".cpp", ".h", ".java", ".pas", ".py"}
# Tests differ between distributions; the topics are prose in a literal, the encodings tables of numbers.
_NOT_CODE = {"test", "tests", "idle_test", "site-packages", "dist-packages", "pydoc_data", "encodings"}

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшы"
_GREEK = "αβγδεζηθικλμνξοπρστυφχψωάέ"


@dataclass(frozen=True, slots=True)
class Texts:
    """What the measurements read."""

    english: bytes
    code: bytes


def standard_library() -> Texts:
    """English: docstrings and the topics of help(). Code: the sources."""
    sources = list(_sources(Path(sysconfig.get_path("stdlib"))))
    from pydoc_data.topics import topics  # large, and only wanted here

    # The same docstring stands in many classes.
    prose = dict.fromkeys([doc for source in sources for doc in _docstrings(source)])
    return Texts(_ascii([*prose, *topics.values()]), "\n".join(sources).encode())


def directory(root: Path) -> Texts:
    """English: the .txt files under text/. Code: the sources under code/."""
    prose = [path.read_text("utf-8", "replace") for path in sorted((root / "text").rglob("*.txt"))]
    code = [path.read_bytes() for path in sorted((root / "code").rglob("*")) if path.suffix in _CODE]
    if not prose or not code:
        raise SystemExit(f"{root}: needs text/ with .txt files and code/ with sources; or leave out --data")
    return Texts(_ascii(prose), b"\n".join(code))


def repeated(text: bytes, size: int) -> bytes:
    """So many bytes of a text, as often over as it takes; no character is cut in half."""
    whole = text * (size // len(text) + 1)
    while whole[size] & 0xC0 == 0x80:
        size -= 1
    return whole[:size]


def scripts(english: bytes) -> dict[str, bytes]:
    """The English in other scripts: letter for letter, or a character for two; and all of them mixed."""
    text = english[: 1 << 20].decode().lower()
    found = {
        "Cyrillic": text.translate(str.maketrans(_LATIN, _CYRILLIC)),
        "Greek": text.translate(str.maketrans(_LATIN, _GREEK)),
        "Chinese": _paired(text, 0x4E00, 31, 1).replace(" ", ""),
        "Korean": _paired(text, 0xAC00, 28 * 21 // 2, 28 // 2),
    }
    return {name: written.encode() for name, written in (found | {"mixed": "\n".join(found.values())}).items()}


def _paired(text: str, first: int, left: int, right: int) -> str:
    """Two letters a character, as different as the pairs."""

    def word(match: re.Match[str]) -> str:
        letters = [ord(c) - ord("a") for c in match[0]]
        return "".join(
            chr(first + a * left + b * right) for a, b in zip_longest(letters[::2], letters[1::2], fillvalue=0)
        )

    return re.sub("[a-z]+", word, text)


def _ascii(prose: Iterable[str]) -> bytes:
    return "\n".join(prose).encode("ascii", "ignore")


def _sources(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("*.py")):
        if _NOT_CODE.isdisjoint(path.relative_to(root).parts):
            yield path.read_text("utf-8", "replace")


def _docstrings(source: str) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old modules have escapes that newer Pythons warn of
        try:
            tree = ast.parse(source)
        except SyntaxError:  # templates and deliberately bad examples
            return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
