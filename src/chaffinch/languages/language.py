"""Programming languages: a TOML file each in this folder, and how to tell which one a file is in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any

from chaffinch.errors import BadRecipe, ChaffinchError

KEEP_NAMES = "+names"
"""Added to a language: names, numbers and strings are compared by what they say."""

_ALLOWED = {
    "name", "version", "aliases", "extensions", "interpreters", "keywords", "ignore_case", "starts_name",
    "inside_name", "line_comments", "first_line_comments", "block_comments", "nested_comments",
    "first_block_comments", "strings", "chars", "fenced", "tagged", "columns", "ceremony", "shared_extensions",
    "signs", "content_signs", "compared_as", "reopens", "here", "starts_number", "inside_number", "outside",
    "ceremony_ends", "literals", "patterns",
}  # fmt: skip


_COPIES = ("bak", "backup", "old", "orig", "copy", "tmp", "save")
"""Endings that programs and people add to the name of a copy."""


@cache
def languages() -> tuple[str, ...]:
    """Return the names of all languages."""
    folder = files("chaffinch") / "languages"
    return tuple(sorted(p.name.removesuffix(".toml") for p in folder.iterdir() if p.name.endswith(".toml")))


@cache
def table(language: str) -> dict[str, Any]:
    """Return the contents of a language's file."""
    if language not in languages():
        raise ChaffinchError(f"unknown language {language!r}; `chaffinch languages` lists them")
    path = files("chaffinch") / "languages" / f"{language}.toml"
    found = tomllib.loads(path.read_text("utf-8"))
    if unknown := found.keys() - _ALLOWED:
        raise ChaffinchError(f"languages/{language}.toml: unknown entries {', '.join(sorted(unknown))}")
    return found


@cache
def _index(kind: str) -> dict[str, str]:
    """Map every alias, extension or interpreter to its language."""
    return {key.lower(): language for language in languages() for key in table(language).get(kind, ())}


def named(name: str) -> str | None:
    """Return the language with this name or alias."""
    lower = name.lower()
    return lower if lower in languages() else _index("aliases").get(lower)


@cache
def _signs() -> dict[str, list[tuple[re.Pattern[bytes], str]]]:
    """For extensions that several languages share: what shows that a file is in one of the rarer ones."""
    found: dict[str, list[tuple[re.Pattern[bytes], str]]] = {}
    for language in languages():
        for extension in table(language).get("shared_extensions", ()):
            sign = re.compile(table(language)["signs"].encode(), re.M)
            found.setdefault(extension, []).append((sign, language))
    return found


def _suffix(name: str) -> str:
    """Return what follows the last dot of a file's name. It runs for every document, and a Path is too slow."""
    last = name[name.rfind("/") + 1 :].rstrip("~")
    suffix = last[last.rfind(".") + 1 :].lower() if last.rfind(".") > 0 else ""
    if suffix in _COPIES or suffix.isdecimal():  # main.c.bak, main.cpp.1
        return _suffix(last[: last.rfind(".")])
    return suffix


def inside_name(name: str) -> str | None:
    """Return the language that a name shows before its last ending: that of main.c.txt is C."""
    return _index("extensions").get(_suffix(name[: name.rfind(".")])) if "." in name else None


def of_file(name: str, head: bytes) -> str | None:
    """Return the language of a file by its extension, else by the interpreter that its first line names."""
    suffix = _suffix(name)
    for sign, language in _signs().get(suffix, ()):
        if sign.search(head):
            return language
    if (found := _index("extensions").get(suffix)) is not None:
        return found
    if not head.startswith(b"#!"):
        return None
    words = head.split(b"\n", 1)[0][2:].decode("utf-8", "replace").split()
    programs = [PurePath(word).name.rstrip("0123456789.") for word in words if not word.startswith("-")]
    asked = programs[1:] if programs[:1] == ["env"] else programs
    return _index("interpreters").get(asked[0].lower()) if asked else None


@cache
def checked(name: str) -> str:
    """Return the name of a document's language: "text", "bytes", or a programming language by name or alias."""
    if not isinstance(name, str):
        raise TypeError(f"the language of a document is a str such as 'python', not {name!r}")
    bare, keep, rest = name.partition(KEEP_NAMES)
    if name in ("text", "bytes") or name.startswith(OTHER):  # Pygments may be missing; comparing says so
        return name
    known = None if rest else named(bare)
    if known is None and (known := other(name)) is None:
        raise BadRecipe(f"unknown language {name!r} of a document; `chaffinch languages` lists them")
    return known if known.startswith(OTHER) else known + keep


def family(language: str) -> str:
    """Return the language that programs in this one are compared in: renaming .c to .cpp hides nothing."""
    return str(table(language).get("compared_as", language)) if language in languages() else language


def shown_name(language: str) -> str:
    """Return what a person calls a language, with the one that it is compared with first: "C or C++"."""
    bare = language.removesuffix(KEEP_NAMES)
    if bare not in languages():
        return bare.removeprefix(OTHER)
    relatives = (name for name in languages() if family(name) == family(bare))
    together = list(dict.fromkeys((bare, family(bare), *relatives)))[:2]
    return " or ".join(sorted(table(name)["name"] for name in together))


OTHER = "pygments:"
"""Prefix of a language that has no table here and is lexed by Pygments."""


def other(name: str) -> str | None:
    """Return the one name of a language that Pygments knows by this name or alias; None without Pygments."""
    try:
        lexer = pygments("pygments.lexers").find_lexer_class_by_name(name.removeprefix(OTHER))
    except (ChaffinchError, ValueError):  # Pygments' own error is a ValueError
        return None
    short = lexer.name.lower() if lexer.name.lower() in lexer.aliases else next(iter(lexer.aliases), None)
    return short and OTHER + short


def has_pygments() -> bool:
    return find_spec("pygments") is not None


def other_version() -> int:
    """Return the release of Pygments, 2021000 for 2.21.0, because another may give other tokens."""
    numbers = [int(n) for n in re.findall(r"\d+", pygments("pygments").__version__)[:3]]
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return major * 1_000_000 + minor * 1000 + patch


def pygments(module: str) -> Any:
    """Import a module of Pygments, which is an optional dependency."""
    try:
        return import_module(module)
    except ImportError:
        raise ChaffinchError("this language needs Pygments; pip install 'chaffinch[languages]'") from None


def records(language: str) -> Iterator[tuple[str, ...]]:
    """Yield one record for each thing the core must know; core/src/read/language.rs parses them."""
    entries = table(language)
    if entries.get("ignore_case"):
        yield ("ignore-case",)
    for kind in ("starts_name", "inside_name", "starts_number", "inside_number"):
        if kind in entries:
            yield kind.replace("_", "-"), entries[kind]
    for word in entries.get("keywords", "").split():
        yield "keyword", word
    for kind, first in (("line_comments", ""), ("first_line_comments", "1")):
        for opening in entries.get(kind, ()):
            yield "line-comment", opening, first
    nested = _flag(entries.get("nested_comments"))
    for kind, first in (("block_comments", ""), ("first_block_comments", "1")):
        for opening, closing in entries.get(kind, ()):
            yield "block-comment", opening, closing, nested, first
    for string in entries.get("strings", ()):
        close, escape = string.get("close", string["open"]), string.get("escape", "")
        flags = _flag(string.get("doubled")), _flag(string.get("lines"))
        for prefix in ("", *string.get("prefixes", ())):
            yield "string", prefix + string["open"], close, escape, *flags
    for char in entries.get("chars", ()):
        for prefix in ("", *char.get("prefixes", ())):
            yield "char", prefix + char["open"], char.get("escape", "")
    for fenced in entries.get("fenced", ()):
        yield "fenced", fenced["open"], fenced["fence"], fenced["quote"], fenced.get("close", fenced["quote"])
    for literal in entries.get("literals", ()):
        yield "literal", literal
    for pattern in entries.get("patterns", ()):
        yield "pattern", pattern["open"], pattern["after"], *pattern["words"].split()
    for opening in entries.get("tagged", ()):
        yield "tagged", opening
    for opening in entries.get("here", ()):
        yield "here", opening
    if "outside" in entries:
        yield "outside", *entries["outside"]
    for mark in entries.get("reopens", ()):  # behind all that it may close
        yield "reopens", mark
    if columns := entries.get("columns"):
        yield "columns", columns["comment"], str(columns["continuation"]), str(columns["last"])
    for opening in entries.get("ceremony", ()):
        yield "ceremony", opening
    for mark in entries.get("ceremony_ends", (";",)):
        yield "ceremony-end", mark


@cache
def tables_hash() -> int:
    """Return a hash of everything the core knows about all languages: the version of the front end "code"."""
    from hashlib import sha256  # slow to import, and most commands need none

    rows = (
        b"\x1f".join(field.encode() for field in (name, *record))
        for name in languages()
        for record in records(name)
    )
    return int.from_bytes(sha256(b"\x1e".join(rows)).digest()[:6])


def _flag(value: object) -> str:
    return "1" if value else ""
