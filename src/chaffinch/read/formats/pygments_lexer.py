"""Programs in any language that Pygments knows -> tokens. It runs in a process of its own with limits.

Pygments is optional: pip install 'chaffinch[languages]'. Its lexers are regular expressions in Python, about
four hundred times slower than the native ones, and some take forever on a few odd bytes.
"""

from __future__ import annotations

import json

import numpy as np

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.languages.language import pygments
from chaffinch.read.budget import seconds_for
from chaffinch.read.formats import lexer_worker
from chaffinch.read.worker import Worker, WorkerEnded
from chaffinch.types import Document, Skipped, Stream

SECONDS = 2
"""CPU time for the shortest program, including the start of the process."""
_BYTES_PER_SECOND = 50_000
"""The slowest lexers read ordinary programs at several times this rate."""
_MEMORY_BYTES, _MEMORY_PER_BYTE = 2 << 30, 200

_worker = Worker(lexer_worker.__name__)


def tokens(document: Document, language: str, skipped: list[Skipped] | None = None) -> Stream:
    """Return a program's tokens. In an encoding of several bytes a character, offsets count its UTF-8.

    If Pygments cannot read it, this raises an error, or adds to `skipped` and returns an empty stream.
    """
    pygments("pygments")  # raises an error if it is not installed
    try:
        columns = np.frombuffer(_columns(document, language), np.uint32).reshape(3, -1)
    except Unreadable as error:
        if skipped is None:
            raise
        skipped.append(Skipped.because(error, document.name))
        columns = np.empty((3, 0), np.uint32)
    return Stream(*columns)


def _columns(document: Document, language: str) -> bytes:
    size = len(document.data)
    head = json.dumps({"encoding": document.encoding, "name": language}).encode()
    try:
        answer = _worker.ask(
            lexer_worker.LENGTH.pack(len(head)),
            head,
            document.data,
            seconds=min(seconds_for(size), SECONDS + size / _BYTES_PER_SECOND),
            memory=_MEMORY_BYTES + _MEMORY_PER_BYTE * size,
        )
    except WorkerEnded:
        detail = f"takes Pygments too much time or memory to read as {language}; compare it as text"
        raise Unreadable(document.name, SkipReason.TOO_LARGE, detail) from None
    if answer.startswith(lexer_worker.GOOD):
        return answer[len(lexer_worker.GOOD) :]
    problem = answer[len(lexer_worker.BAD) :].decode("utf-8", "replace")
    detail = f"Pygments cannot read it as {language} ({problem}); compare it as text"
    raise Unreadable(document.name, SkipReason.DAMAGED, detail)
