"""Typed wrappers over the native functions that find the text in files of some formats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chaffinch._native import lib
from chaffinch.native.call import call, columns


def tex_page(text: bytes) -> bytes:
    """Return a text of TeX in UTF-8 with spaces for what is not on the page, as long as before."""
    return columns(call(lib.chf_tex_page, text))[0].tobytes()


def markdown_page(text: bytes) -> bytes:
    """Return a text of Markdown in UTF-8 with spaces for what a reader does not see, as long as before."""
    return columns(call(lib.chf_markdown_page, text))[0].tobytes()


def rtf_text(
    data: bytes, start: int, code_pages: Mapping[int, NDArray[np.uint32]]
) -> tuple[bytes, NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the text of RTF in UTF-8, where its sections begin, and their numbers.

    Numbers of notes have the highest bit set. A table has the code point of every byte, and perhaps those of
    every pair of bytes.
    """
    pages = np.array([(page, len(table)) for page, table in code_pages.items()], np.uint32).reshape(-1)
    tables = np.concatenate([*code_pages.values(), np.empty(0, np.uint32)])
    text, starts, sections = columns(call(lib.chf_rtf_text, data, start, pages, tables))
    return text.tobytes(), starts, sections
