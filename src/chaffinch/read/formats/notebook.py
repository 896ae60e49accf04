"""Jupyter notebooks -> one document of the code cells, one of the prose."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.languages import language
from chaffinch.read.budget import keep_time
from chaffinch.read.formats.extract import Extract
from chaffinch.types import Document, File

_END_BYTES = 1 << 12
# Commands to the notebook, not Python: %matplotlib, %%bash, !pip install. An indented % is an operator.
_MAGIC = re.compile(r"^(?:%|[ \t]*+!).*", re.M)
_PROSE = ("markdown", "heading", "raw", "html")


def is_notebook(data: bytes) -> bool:
    """Return whether the first and last bytes are those of a notebook: its version is at one of the ends."""
    if not data[:64].removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
        return False
    ends = data[:_END_BYTES] + data[-_END_BYTES:]
    return b'"nbformat"' in ends and (b'"cells"' in data or b'"worksheets"' in data)


def read(file: File) -> Iterator[Document]:
    """Yield a document of the code and one of the prose, if there is any. Sections are cells, from 1."""
    notebook = _parsed(file)
    cells = _cells(notebook)
    code_language = _language(notebook, cells)
    code, prose = Extract(file), Extract(file)
    for number, cell in enumerate(cells, 1):
        keep_time(file.name)
        text = _text(cell.get("source", cell.get("input")))
        cell_type = cell.get("cell_type")
        if not text.strip() or cell_type not in ("code", *_PROSE):
            continue
        extract = code if cell_type == "code" else prose
        is_python = cell_type == "code" and code_language == "python"
        extract.section(f"cell {number}")
        extract.write((_MAGIC.sub("", text) if is_python else text) + "\n\n")  # an empty line ends a paragraph
    if not code.is_empty:
        yield replace(code.document(code_language), name=f"{file.name}#code", format="plain")
    if not prose.is_empty:
        yield replace(prose.document(), name=f"{file.name}#prose", format="markdown")


def _parsed(file: File) -> dict[str, Any]:
    try:
        notebook = json.loads(file.data.decode("utf-8-sig", "replace"))
    except RecursionError:
        detail = "a notebook nested too deeply; save it again"
        raise Unreadable(file.name, SkipReason.TOO_LARGE, detail) from None
    except ValueError as error:  # invalid JSON, or a number with too many digits
        raise Unreadable(file.name, SkipReason.DAMAGED, f"not a notebook: {error}") from None
    if not isinstance(notebook, dict):
        raise Unreadable(file.name, SkipReason.DAMAGED, "not a notebook: its JSON is not an object")
    return notebook


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all cells; version 3 has them on sheets. Anything that is not a cell counts as an empty one."""
    sheets = [notebook, *map(_dict, _list(notebook.get("worksheets")))]
    return [_dict(cell) for sheet in sheets for cell in _list(sheet.get("cells"))]


def _language(notebook: dict[str, Any], cells: list[dict[str, Any]]) -> str:
    """Return the language of the code: Python if none is named, text if it is not a known language."""
    metadata = _dict(notebook.get("metadata"))
    kernel, info = _dict(metadata.get("kernelspec")), _dict(metadata.get("language_info"))
    entries = [kernel.get("language"), info.get("name"), *(cell.get("language") for cell in cells)]
    names = [name for name in entries if isinstance(name, str)]
    return next(filter(None, map(language.named, names)), "text" if names else "python")


def _text(source: object) -> str:
    """Return the text of a cell, given as a string or as a list of lines."""
    if isinstance(source, str):
        return source
    return "".join(line for line in _list(source) if isinstance(line, str))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
