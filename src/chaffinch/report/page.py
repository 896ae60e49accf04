"""Pages out of templates and data: one file with everything, or a folder that loads its parts when needed."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.own_reports import GENERATOR
from chaffinch.report.view import View

_MARK = re.compile(r"\{\{(\w+)\}\}")
_CHUNK = re.compile(r"[ps]\d+\.js")
_STYLES = ("matches", "style", "lists", "pair", "dates", "small")
_SCRIPTS = ("base", "verdicts", "charts", "overview", "pages", "highlight", "pane", "pair", "dates", "start")


@cache
def static(name: str) -> str:
    """A template, style or script of this package."""
    return (files("chaffinch.report") / "static" / name).read_text("utf-8")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with {{name}} replaced, once: what is put in is not looked at again."""
    return _MARK.sub(lambda mark: values[mark[1]], template)


def escaped(text: object) -> str:
    """Text as HTML, between tags and in attributes."""
    return html.escape(str(text), quote=True)


def script_json(value: Any) -> str:
    """JSON that is safe inside a script: no tag, comment or line separator can be in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def encoded(page: str) -> bytes:
    """UTF-8; names of files may have bytes that are no characters."""
    return page.encode("utf-8", "replace")


def is_file(path: Path) -> bool:
    """Whether a report there is one file; else it is a folder."""
    return path.suffix.lower() in (".html", ".htm")


def write(path: Path, data: bytes) -> None:
    """All or nothing: what was there stays until the new is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_bytes(data)
        return
    part = path.with_name(f".{path.name[:100]}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def refuse_foreign(folder: Path) -> None:
    """A folder whose pages are not a report's is not written over."""
    page = folder / "index.html"
    if page.is_file() and GENERATOR not in page.read_bytes()[:1000]:
        raise Unreadable(
            page, SkipReason.INVALID, "not a report of Chaffinch's; name another folder, or remove it"
        )


def _packed(value: Any) -> str:
    """JSON, compressed, as letters; without the time, so that it is the same again."""
    return b64encode(gzip.compress(script_json(value).encode("ascii"), 9, mtime=0)).decode("ascii")


def _page(index: dict[str, Any], chunks: Iterator[str]) -> bytes:
    left_out = () if "dates" in index else ("dates",)
    values = {
        "style": "\n".join(static(f"{name}.css") for name in _STYLES if name not in left_out),
        "index": script_json(index),
        "chunks": "".join(chunks),
        "script": "\n".join(static(f"{name}.js") for name in _SCRIPTS if name not in left_out),
    }
    return encoded(fill(static("report.html"), values))


def write_file(view: View, path: Path) -> None:
    """Everything in one file; what a pair needs is unpacked when it is opened."""
    chunks = (
        f'<script type="text/plain" id="{key}">{_packed(value)}</script>\n' for key, value in view.chunks()
    )
    write(path, _page({**view.index(), "inside": True}, chunks))


def write_folder(view: View, path: Path) -> None:
    """index.html and a script for each submission and pair: from disk browsers load scripts, but no data."""
    refuse_foreign(path)
    data = path / "data"
    data.mkdir(parents=True, exist_ok=True)
    for left_over in data.iterdir():
        if _CHUNK.fullmatch(left_over.name) and left_over.read_bytes().startswith(b"chaffinchChunk("):
            left_over.unlink()
    for key, value in view.chunks():
        (data / f"{key}.js").write_bytes(encoded(f'chaffinchChunk("{key}",{script_json(value)});\n'))
    write(path / "index.html", _page({**view.index(), "inside": False}, iter(())))
