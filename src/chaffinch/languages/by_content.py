"""Which programming language a file is in, by its content: for names that do not show it.

A file is a program if most of its lines look like code, and if it shows several signs of one language. Prose,
mail, tables and Markdown must never be taken for a program, so in doubt there is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from chaffinch.languages.language import languages, table

HEAD_BYTES = 1 << 13
"""Only the start of a file is looked at."""
_LINE_BYTES = 300
"""Longer lines are cut, so that no line takes long to match."""
_CODE_SHARE = 0.02
"""Share of brackets, semicolons and the like among all characters. Prose has less than half of this."""
_FEWEST_LINES, _MOST_LINES = 3, 300
_FEWEST_KINDS = 2
"""Different signs of a language that a file must show."""
_FEWEST_HITS = 3
"""Lines with a sign of the language."""
_CODE_LINES = 0.7
"""Share of the lines that must look like code."""
_MOST = 0.9
"""The share if fewer lines than that have a sign."""
_MANY_KINDS, _HALF = 4, 0.5
"""With this many different signs, a smaller share is enough: some languages have few brackets."""

_COMMONEST = ("c", "cc", "java", "javascript", "python")
"""Of languages that a file shows equally, these come first."""

_MARKS = b";{}()=<>[]"
_NOT_MARKS = bytes(set(range(256)) - set(_MARKS))
_WHITE_SPACE = b" \t\r\n\0"
_COMMENT = re.compile(
    rb"/\*.*?(?:\*/|\Z)|\(\*[^\n()]*\*\)|^[ \t]*\(\*(?=\*|[ \t]*[A-Z\n]).*?(?:\*\)|\Z)|\{-.*?(?:-\}|\Z)"
    rb"|\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)"
    rb"|^[ \t]*(?://|--|%|;|!|#(?!\s*(?:include|define|if|ifdef|ifndef|undef|pragma|else|elif|endif|lang)\b|!?\[))"
    rb"[^\n]*$",
    re.S | re.M,
)
"""Comments of any language. They may be prose, so they do not count."""
_NOT_A_PROGRAM = re.compile(rb"^(?:```|~~~|@@ -\d|\+\+\+ |diff |>>> )", re.M)
"""Markdown, a patch, a session with an interpreter."""
_MAKEFILE = re.compile(rb"^[\w.%$()/-]+[ \t]*:(?![:=])[^\n]*\n\t|^[A-Z_]+(?:[ \t]+[:?+]?=|[:?+]=)", re.M)
_CODE_LINE = re.compile(
    rb"[;{}()\[\]\\]\s*$|^[^\w\x80-\xff]+$|^\s*[\w.\[\]$*@&>-]+\s*(?:[-+*/|&^%<>.]?=|:=|<-)(?!=)|\w\((?!s\))"
    rb"|^\s*\(\w|[)\]]\s*[:,.]\s*$"
)
"""Ends with a bracket or a semicolon, has no words, assigns, or calls a function."""


class _Evidence(NamedTuple):
    """How many different signs of a language a file shows, on how many lines, and the share of code lines."""

    kinds: int
    hits: int
    share: float
    language: str

    @property
    def is_enough(self) -> bool:
        if self.kinds < _FEWEST_KINDS:
            return False
        if self.hits < _FEWEST_HITS:
            return self.share >= _MOST
        return self.share >= (_HALF if self.kinds >= _MANY_KINDS else _CODE_LINES)


def of_content(data: bytes) -> str | None:
    """Return the language of a program, or None if it may be something else. The encoding contains ASCII."""
    lines = _code_lines(data)
    if lines is None:
        return None
    code_lines = [bool(_CODE_LINE.search(line)) for line in lines]
    best = max(
        (_evidence(name, signs, lines, code_lines) for name, signs in _content_signs()),
        key=lambda evidence: evidence[:2],
    )
    if not best.is_enough or (best.language == "bash" and _MAKEFILE.search(data[:HEAD_BYTES])):
        return None
    return best.language


def _evidence(
    language: str, signs: Sequence[re.Pattern[bytes]], lines: Sequence[bytes], code_lines: Sequence[bool]
) -> _Evidence:
    lines_of_signs = [[bool(sign.search(line)) for line in lines] for sign in signs]
    hits = list(map(max, *lines_of_signs))
    share = sum(map(max, hits, code_lines)) / len(lines)
    return _Evidence(sum(map(any, lines_of_signs)), sum(hits), share, language)


def looks_like_code(data: bytes) -> bool:
    """Return whether a file has the characters of a program, in any language, rather than those of prose."""
    head = data[:HEAD_BYTES]
    marks = len(head.translate(None, _NOT_MARKS))
    return marks > _CODE_SHARE * len(head.translate(None, _WHITE_SPACE))


def without_comments(data: bytes) -> bytes:
    """Return a program without what is a comment in most languages."""
    return _COMMENT.sub(b"", data)


def _code_lines(data: bytes) -> Sequence[bytes] | None:
    """Return the lines at the start of a file that are not comments, or None if it cannot be a program."""
    if not looks_like_code(data):  # fast, for prose
        return None
    head = data[:HEAD_BYTES].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if len(data) > HEAD_BYTES:
        head = head[: head.rfind(b"\n") + 1] or head
    if _NOT_A_PROGRAM.search(head):
        return None
    lines = [line[:_LINE_BYTES] for line in without_comments(head).split(b"\n") if line.strip()][:_MOST_LINES]
    return lines if len(lines) >= _FEWEST_LINES else None


@cache
def _content_signs() -> tuple[tuple[str, tuple[re.Pattern[bytes], ...]], ...]:
    """Return the signs of each language that can be found by its content."""
    order = sorted(languages(), key=lambda name: name not in _COMMONEST)
    signs = ((name, table(name).get("content_signs", ())) for name in order)
    return tuple((name, tuple(re.compile(sign.encode()) for sign in of)) for name, of in signs if of)
