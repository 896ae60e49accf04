"""JSON Lines -> documents: one on each line, with its URL, contact and date."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chaffinch.errors import SkipReason
from chaffinch.languages.language import named
from chaffinch.types import Document, Skipped

ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_TEXT, _NAME = ("text", "content"), ("name", "id", "path", "url")
_BUFFER_BYTES = 1 << 20
"""More than the default, because a line holds a whole document."""
_MAX_LINE = 1 << 30
"""Bytes. Longer lines are not documents."""


def is_json_lines(path: Path, *, is_named: bool) -> bool:
    """Return whether a file holds a document on each line. In a folder, its first line must hold one."""
    if not (path.name.lower().endswith(ENDINGS) and path.is_file()):
        return False
    return is_named or isinstance(next(read(path), None), tuple)


def read(path: Path) -> Iterator[tuple[Document, Mapping[str, str]] | Skipped]:
    """Yield a document for each line, which has `text` and may have `name`, `language`, `url` and so on."""
    packed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb", _BUFFER_BYTES) as file:
            lines = iter(lambda: file.readline(_MAX_LINE), b"")
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _document(f"{path}:{number}", line)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        yield Skipped(str(path), SkipReason.DAMAGED, f"cannot be read to the end ({reason})")


def _document(place: str, line: bytes) -> tuple[Document, Mapping[str, str]] | Skipped:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Skipped(place, SkipReason.DAMAGED, f"not JSON ({error})")
    if not isinstance(fields, dict):
        return Skipped(place, SkipReason.INVALID, "not a JSON object")
    text = _first(fields, _TEXT)
    if text is None:
        return Skipped(place, SkipReason.INVALID, 'no "text" in it')
    name = _first(fields, _NAME) or place
    about = {key: str(fields[key]) for key in ("url", "contact", "date") if fields.get(key) is not None}
    language = named(str(fields.get("language"))) or "text"  # it may name a natural language
    return Document(name, text.encode("utf-8", "surrogatepass"), "utf-8", "plain", language), about


def _first(fields: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    """Return the value of the first of these keys that has one."""
    return next((str(fields[key]) for key in keys if fields.get(key) is not None), None)
