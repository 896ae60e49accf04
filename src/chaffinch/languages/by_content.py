"""Which programming language a file is in, by its content: for names that do not show it.

A file is a program if most of its lines look like code, and if it shows several signs of one language. Prose,
mail, tables and Markdown must never be taken for a program, so in doubt there is no answer.
"""

from __future__ import annotations

import json
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

_PLAIN_LANGUAGES = {
    "c", "cc", "java", "csharp", "python", "javascript", "typescript", "go", "rust", "kotlin", "swift", "scala",
    "php", "haskell", "ruby", "pascal",
}  # fmt: skip
"""Languages that nothing else looks like, if enough lines do."""
_PLAIN_KINDS = 3
_NEVER_PROGRAMS = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:<(?!\?php)|[\[{][\s\"\[{]|---)")
"""How markup, JSON and YAML begin."""
_TEX_COMMAND = re.compile(rb"^[ \t]*\\[A-Za-z]{2,}", re.M)

_LETTERS = bytes(c for c in range(256) if c >= 0x80 or chr(c).isalpha())
_SENTENCE_END = re.compile(rb"[^\W\d_]{2,}[.!?][\"')]*(?=\s|\Z)|\xe3\x80\x82")
_MOST_NOT_LETTERS = 0.08
"""Share of digits and marks among what is not white space. Tables, logs and programs have more."""
_FEWEST_SENTENCES, _FEWEST_PER_SENTENCE, _MOST_PER_SENTENCE = 5, 5, 60
_MOST_CODE_LINES = 0.2
"""Share of lines in prose that may look like code: a formula, a word before a bracket."""


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
    best = _best(lines) if lines is not None else None
    if best is None or not best.is_enough:
        return None
    return None if best.language == "bash" and _MAKEFILE.search(data[:HEAD_BYTES]) else best.language


def plain_program(data: bytes) -> str | None:
    """Return the language of a file that is plainly a program, whatever its name says, or None."""
    if _NEVER_PROGRAMS.match(data) or len(_TEX_COMMAND.findall(data[:HEAD_BYTES])) >= _FEWEST_LINES:
        return None
    lines = _code_lines(data)
    best = _best(lines) if lines is not None else None
    if lines is None or best is None or best.language not in _PLAIN_LANGUAGES or _is_notation(data):
        return None
    signs = dict(_content_signs())[best.language]
    is_clear = best.kinds >= _PLAIN_KINDS and best.hits >= _FEWEST_HITS and best.share >= _MOST
    begins = not lines[0][:1].isspace() and any(sign.search(lines[0]) for sign in (*signs, _CODE_LINE))
    return best.language if is_clear and begins and looks_like_code(data[-HEAD_BYTES:]) else None


def is_prose(data: bytes, language: str | None = None) -> bool:
    """Return whether a file is plainly prose: sentences, and no code in the language outside of comments."""
    text = without_comments(data[:HEAD_BYTES])
    solid = len(text.translate(None, _WHITE_SPACE))
    others = len(text.translate(None, _WHITE_SPACE + _LETTERS))
    if not solid or others > _MOST_NOT_LETTERS * solid or looks_like_code(text):
        return False
    words, sentences = len(text.split()), len(_SENTENCE_END.findall(text))
    if sentences < _FEWEST_SENTENCES or not _FEWEST_PER_SENTENCE <= words / sentences <= _MOST_PER_SENTENCE:
        return False
    signs = (_CODE_LINE, *dict(_content_signs()).get(language or "", ()))
    lines = [line[:_LINE_BYTES] for line in text.splitlines() if line.strip()]
    return sum(any(sign.search(line) for sign in signs) for line in lines) <= _MOST_CODE_LINES * len(lines)


def _is_notation(data: bytes) -> bool:
    """Return whether this is JSON, which has many brackets too."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _best(lines: Sequence[bytes]) -> _Evidence:
    """Return the language with most signs in these lines."""
    code_lines = [bool(_CODE_LINE.search(line)) for line in lines]
    return max(
        (_evidence(name, signs, lines, code_lines) for name, signs in _content_signs()),
        key=lambda evidence: evidence[:2],
    )


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
