"""JSON Lines -> documents: one on each line, with what is said about it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.languages.language import named
from chaffinch.types import Document, Skipped

ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_TEXT, _NAME = ("text", "content"), ("name", "id", "path", "url")
_BUFFER = 1 << 20
"""Bytes that are read together: a line is often longer than the usual few thousand."""
_LONGEST = 1 << 30
"""A line with more characters is no document's."""


def is_json_lines(path: Path, *, is_named: bool) -> bool:
    """Whether a file holds a document on each line. In a folder, its first line must hold one."""
    if not (path.name.lower().endswith(ENDINGS) and path.is_file()):
        return False
    return is_named or isinstance(next(read(path), None), tuple)


def read(path: Path) -> Iterator[tuple[Document, Mapping[str, str]] | Skipped]:
    """Each line has `text`, and `name` or `id`, `language`, `url`, `contact` and `date` if it likes."""
    packed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb", _BUFFER) as file:
            number = 0
            while line := file.readline(_LONGEST):
                number += 1
                if line.strip():
                    yield _document(path, number, line)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        yield Skipped(str(path), SkipReason.DAMAGED, f"cannot be read to the end ({reason})")


def _document(path: Path, number: int, line: bytes) -> tuple[Document, Mapping[str, str]] | Skipped:
    place = f"{path}:{number}"
    try:
        said = json.loads(line)
        text = _first(said, _TEXT)
        if text is None:
            raise Unreadable(place, SkipReason.INVALID, 'no "text" in it')
    except (ValueError, RecursionError) as error:
        return Skipped(place, SkipReason.DAMAGED, f"not JSON ({error})")
    except Unreadable as error:
        return Skipped.because(error, place)
    name = _first(said, _NAME) or place
    about = {key: str(said[key]) for key in ("url", "contact", "date") if said.get(key) is not None}
    language = named(str(said.get("language"))) or "text"  # which may also say that it is in English
    data = text.encode("utf-8", "surrogatepass")
    return Document(name, data, "utf-8", "plain", language), about


def _first(said: Any, keys: tuple[str, ...]) -> str | None:
    """What stands under the first of the keys that is there."""
    if not isinstance(said, dict):
        raise Unreadable("", SkipReason.INVALID, "not an object")
    found = next((said[key] for key in keys if said.get(key) is not None), None)
    return None if found is None else str(found)
