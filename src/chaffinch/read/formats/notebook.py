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
from chaffinch.read.formats.extract import Extract
from chaffinch.types import Document, File

_LOOK = 4096
# Commands to the notebook, not to Python: %matplotlib, %%bash, !pip install. An indented % is an operator.
_MAGIC = re.compile(r"^(?:%|[ \t]*+!).*", re.M)
_PROSE = ("markdown", "heading", "raw", "html")


def is_notebook(data: bytes) -> bool:
    """By its first and last bytes: the version stands at one end or the other, whatever the size."""
    if not data[:64].removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
        return False
    ends = data[:_LOOK] + data[-_LOOK:]
    return b'"nbformat"' in ends and (b'"cells"' in data or b'"worksheets"' in data)


def read(file: File) -> Iterator[Document]:
    """The code, then the prose, as far as there are any; the parts are cells, counted from 1."""
    notebook = _parsed(file)
    cells = _cells(notebook)
    tongue = _language(notebook, cells)
    code, prose = Extract(file), Extract(file)
    has_code = has_prose = False
    for number, cell in enumerate(cells, 1):
        kind = cell.get("cell_type")
        text = _text(cell.get("source", cell.get("input")))
        if not text.strip():
            continue
        if kind == "code":
            has_code = True
            _write(code, number, _MAGIC.sub("", text) if tongue == "python" else text)
        elif kind in _PROSE:
            has_prose = True
            _write(prose, number, text)
    if has_code:
        yield replace(code.document(tongue), name=f"{file.name}#code", format="plain")
    if has_prose:
        yield replace(prose.document(), name=f"{file.name}#prose", format="markdown")


def _write(extract: Extract, number: int, text: str) -> None:
    extract.section(f"cell {number}")
    extract.write(text)
    extract.write("\n\n")  # an empty line ends a paragraph


def _parsed(file: File) -> dict[str, Any]:
    try:
        found = json.loads(file.data.decode("utf-8-sig", "replace"))
    except RecursionError:
        raise Unreadable(
            file.name, SkipReason.TOO_LARGE, "a notebook nested too deeply; save it again"
        ) from None
    except ValueError as error:  # of all kinds, very long numbers included
        raise Unreadable(file.name, SkipReason.DAMAGED, f"not a notebook: {error}") from None
    if not isinstance(found, dict):
        raise Unreadable(file.name, SkipReason.DAMAGED, "not a notebook: its JSON is not an object")
    return found


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """All cells; in version 3 they are on sheets. What is not a cell counts as an empty one."""
    found = _list(notebook.get("cells"))
    for sheet in _list(notebook.get("worksheets")):
        found = found + _list(_dict(sheet).get("cells"))
    return [_dict(cell) for cell in found]


def _language(notebook: dict[str, Any], cells: list[dict[str, Any]]) -> str:
    """What the kernel runs; Python if it does not say, plain text if no such language is known."""
    metadata = _dict(notebook.get("metadata"))
    kernel, info = _dict(metadata.get("kernelspec")), _dict(metadata.get("language_info"))
    said = [kernel.get("language"), info.get("name"), *(cell.get("language") for cell in cells)]
    names = [name for name in said if isinstance(name, str)]
    known = (found for name in names if (found := language.named(name)))
    return next(known, "text" if names else "python")


def _text(source: object) -> str:
    """A string, or the lines of one."""
    if isinstance(source, str):
        return source
    return "".join(line for line in _list(source) if isinstance(line, str))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
