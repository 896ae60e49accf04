"""Texts to measure with, the same on every run: real English and code that come with every Python.

English is ASCII bytes. Only `repeated` repeats text, so densities are those of real text.
"""

from __future__ import annotations

import ast
import re
import sysconfig
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from pathlib import Path

from bench.translated import STYLES, translated

_CODE = {".c", ".cc", ".cpp", ".h", ".java", ".pas", ".py"}
# Tests differ between distributions; the topics are prose in a literal; the encodings are tables of numbers.
_NOT_CODE = {"test", "tests", "idle_test", "site-packages", "dist-packages", "pydoc_data", "encodings"}

_ENOUGH = 500_000  # bytes; with less of a language, the standard library is used

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшы"
_GREEK = "αβγδεζηθικλμνξοπρστυφχψωάέ"


_EXTENSIONS = {"c": ".c", "java": ".java", "python": ".py", "javascript": ".js"}


@dataclass(frozen=True, slots=True)
class Texts:
    """What the measurements read: prose, code of all kinds, a web page, and programs by language."""

    english: bytes
    code: bytes
    page: bytes
    programs: Mapping[str, Sequence[bytes]]


def standard_library() -> Texts:
    """Return docstrings and the topics of help() as English, and the sources as code."""
    sources = list(_sources(Path(sysconfig.get_path("stdlib"))))
    from pydoc_data.topics import topics  # large, and needed only here

    # The same docstring stands in many classes.
    prose = dict.fromkeys([doc for source in sources for doc in _docstrings(source)])
    english = _ascii([*prose, *topics.values()])
    return Texts(english, "\n".join(sources).encode(), _page(english), _programs(sources))


def directory(root: Path) -> Texts:
    """Return the .txt files under text/, the sources under code/, and any pages under html/."""
    prose = [path.read_text("utf-8", "replace") for path in sorted((root / "text").rglob("*.txt"))]
    code = [path.read_bytes() for path in sorted((root / "code").rglob("*")) if path.suffix in _CODE]
    if not prose or not code:
        raise SystemExit(
            f"{root}: needs text/ with .txt files and code/ with sources; add them or leave out --data"
        )
    english = _ascii(prose)
    pages = [path.read_bytes() for path in sorted((root / "html").rglob("*.html"))]
    programs = {
        language: [path.read_bytes() for path in sorted((root / "code").rglob("*" + extension))]
        for language, extension in _EXTENSIONS.items()
    }
    # A language with little code gets that of the standard library.
    usual = _programs(list(_sources(Path(sysconfig.get_path("stdlib")))))
    enough = {name: files for name, files in programs.items() if sum(map(len, files)) >= _ENOUGH}
    page = b"<!doctype html>" + b"\n".join(pages) if pages else _page(english)
    return Texts(english, b"\n".join(code), page, usual | enough)


def _programs(sources: Sequence[str]) -> dict[str, Sequence[bytes]]:
    """Return every fourth source as it is and translated to the other languages."""
    sources = sources[::4]
    others = {name: [translated(source, name) for source in sources] for name in STYLES}
    return {
        name: [file.encode() for file in files if file]
        for name, files in ({"python": list(sources)} | others).items()
    }


def _page(english: bytes) -> bytes:
    """Return the text as a web page, with about as much markup as real pages have."""
    head = "<!doctype html><html><head><title>Text</title><style>p { margin: 1em }</style></head><body>\n"
    parts = [head]
    for i, paragraph in enumerate(english.decode().split("\n\n")):
        words = escape(paragraph).replace(" the ", f' <a href="/page/{i}?from=index" class="link">the</a> ')
        parts.append(f'<div class="entry" id="entry-{i}"><p>{words.replace(" - ", " &ndash; ")}</p></div>\n')
        if i % 50 == 0:
            parts.append(f"<script>track('entry', {i}, function (seen) {{ return seen < {i}; }});</script>\n")
    return "".join(parts).encode()


def repeated(text: bytes, size: int) -> bytes:
    """Repeat a text up to `size` bytes, without cutting a character in half."""
    whole = text * (size // len(text) + 1)
    while whole[size] & 0xC0 == 0x80:
        size -= 1
    return whole[:size]


def scripts(english: bytes) -> dict[str, bytes]:
    """Return the English in other scripts, one character for each letter or pair of letters, and all mixed."""
    text = english[: 1 << 20].decode().lower()
    found = {
        "Cyrillic": text.translate(str.maketrans(_LATIN, _CYRILLIC)),
        "Greek": text.translate(str.maketrans(_LATIN, _GREEK)),
        "Chinese": _paired(text, 0x4E00, 31, 1).replace(" ", ""),
        "Korean": _paired(text, 0xAC00, 28 * 21 // 2, 28 // 2),
    }
    return {name: written.encode() for name, written in (found | {"mixed": "\n".join(found.values())}).items()}


def _paired(text: str, first: int, left: int, right: int) -> str:
    """Replace each pair of letters by one character of its own."""

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
        warnings.simplefilter("ignore")  # newer Pythons warn about escapes in old modules
        try:
            tree = ast.parse(source)
        except SyntaxError:  # templates and deliberately bad examples
            return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
