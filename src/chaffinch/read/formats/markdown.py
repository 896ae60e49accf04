"""Markdown -> a Source of what a reader of the rendered page sees.

Markup is overwritten with spaces, so offsets in the result are offsets in the file. The front end drops
punctuation, so only letters and digits need care: emphasis, tables and escapes stay.
"""

from __future__ import annotations

import html
import re

from chaffinch.native.fingerprint import Source
from chaffinch.types import Document

# The set at the start makes the search fast; the character it matches is punctuation and may stay. No pattern
# backtracks, and each stops where another of its kind may begin, so all take linear time.
_TOKEN = re.compile(
    rb"""[\\\n`\[\]<&{](?:
      (?<=\\)[!-/:-@\[-`{-~]  # an escape: what follows is no markup
    | (?<=\n)[ \t>]*+(?:
          (?:[-*+][ \t]++|[0-9]{1,9}[.)][ \t]++)?(?P<fence>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)[^\n]*+
        | (?P<number>[0-9]{1,9})[.)](?=[ \t\r\n])
        | [-*+][ \t]++\[(?P<task>[xX])\](?=[ \t]))
    | (?<=\n)[ ]{0,3}\[(?!\^)(?P<label>(?:[^\[\]\\\n]|\\.){1,999}+)\]:
        [ \t]*+(?:\r?\n)?[ \t]*+(?:<[^<>\n]*+>|[^\s<]\S*+)
        (?:[ \t]*+(?:\r?\n)?[ \t]*+(?:"[^"]{0,999}+"|'[^']{0,999}+'|\([^()]{0,999}+\)))?[ \t]*+(?=[\r\n]|\Z)
    | (?<=`)(?P<code>`*+)
    | (?<=\])(?P<destination>\(\s*+(?:<[^<>\n]*+>|[^\s()<]*+(?:\([^\s()]*+\)[^\s()]*+)*+)
        (?:\s++(?:"[^"]{0,999}+"|'[^']{0,999}+'|\([^()]{0,999}+\)))?\s*+\))
    | (?<=\])\[(?!\^)(?P<reference>[^\[\]]{1,999}+)\]
    | (?<=\[)(?P<footnote>\^[^\[\]\s]{1,999}+\])
    | (?<=<)(?P<comment>!--)
    | (?<=<)(?P<tag>/?(?P<name>[A-Za-z][A-Za-z0-9-]*+)(?=[\s/>])(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>)
    | (?<=<)(?P<declaration>[!?][A-Za-z\[][^<>]*+>)
    | (?<=&)(?P<entity>(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)
    | (?<={)(?P<attributes>[:#.][^{}\n]{1,200}+\})(?=[ \t\r]*+(?:\n|\Z)))""",
    re.X,
)
_FRONT_MATTER = re.compile(
    rb"""\n(?:\xef\xbb\xbf)?
    (?:---[ \t]*+\r?\n(?=\#|[\w"'.\ -]++:).*?\n(?:---|\.\.\.)|\+{3}[ \t]*+\r?\n.*?\n\+{3})[ \t\r]*(?=\n|\Z)""",
    re.S | re.X,
)
_LABEL = re.compile(rb"\n {0,3}\[(?!\^)((?:[^\[\]\\\n]|\\.){1,999}+)\]:")
_BLANK_LINE = re.compile(rb"\n[ \t\r]*+\n")
_RAW_END = {
    b"!--": re.compile(rb"-->"),
    b"script": re.compile(rb"</script\s*+>", re.I),
    b"style": re.compile(rb"</style\s*+>", re.I),
}
_MAX_BACKTICKS = 32
"""Longer runs are decoration, not code: the search for the end may read the text once for each length."""
_TICKS = [re.compile(rb"(?<!`)`{%d}(?!`)" % n) for n in range(_MAX_BACKTICKS + 1)]


def source(document: Document) -> Source:
    """Return the document as the core reads it."""
    return Source.unicode(blank(document.data), "utf-8")


def blank(data: bytes) -> bytes:
    """Return a text in UTF-8 with spaces for everything a reader does not see, as long as before."""
    page = _Page(b"\n" + data)  # so that every line begins after a line feed
    position: int | None = 0
    if front := _FRONT_MATTER.match(page.data):
        position = page.blank(1, front.end())
    while position is not None:
        position = page.read_on(position)
    return bytes(page.left[1:])


class _Page:
    """A file, and the text of it that is not blanked so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = bytearray(data)
        self.labels = {_folded(label) for label in _LABEL.findall(data)}
        self.endless: set[re.Pattern[bytes]] = set()
        self.numbered = -1
        """The end of the number of the last list item, if no paragraph has begun since, else -1."""

    def blank(self, start: int, end: int, text: bytes = b"") -> int:
        """Overwrite a range and return its end."""
        self.left[start:end] = text.ljust(end - start)
        return end

    def read_on(self, position: int) -> int | None:
        """Read up to something that is skipped whole. Return where to continue, or None at the end."""
        for token in _TOKEN.finditer(self.data, position):
            kind = token.lastgroup
            if kind is None:
                continue
            start, end = token.span(kind)
            match kind:
                case "fence":
                    return self.fence(*token.span(), token["fence"])
                case "code":
                    if (then := self.code(end, token[0])) != end:
                        return then
                case "label":
                    self.blank(token.start() + 1, token.end())
                case "number":
                    is_item = self.is_item(token.start(), token["number"])
                    self.numbered = self.blank(start, end) if is_item else -1
                case "reference":
                    if _folded(token["reference"]) in self.labels:
                        self.blank(start, end)
                case "comment" | "tag":
                    closing = _RAW_END.get((token["name"] or token["comment"]).lower())
                    then = self.raw(start, end, closing) if closing else self.blank(start, end)
                    if then != end:
                        return then
                case "entity":
                    text = html.unescape(token[0].decode()).encode("utf-8", "replace")
                    # A character that does not fit is a sign with a mark, not a letter, and is not read anyway.
                    self.blank(start - 1, end, text if len(text) <= len(token[0]) else b"")
                case _:
                    self.blank(start, end)
        return None

    def fence(self, start: int, line_end: int, fence: bytes) -> int:
        """Blank the first line of a block of code, which may name its language, and return the block's end."""
        self.blank(start + 1, line_end)
        pattern = re.compile(rb"\n[ \t>]*+%s{%d,}+[ \t\r]*+(?=\n|\Z)" % (fence[:1], len(fence)))
        closing = pattern.search(self.data, line_end)
        return closing.end() if closing else len(self.data)

    def code(self, start: int, ticks: bytes) -> int:
        """Return the end of code within a line, if as many backticks close it in the same paragraph."""
        if len(ticks) > _MAX_BACKTICKS:
            return start
        closing = _TICKS[len(ticks)].search(self.data, start)
        is_code = closing and not _BLANK_LINE.search(self.data, start, closing.start())
        return closing.end() if closing and is_code else start

    def raw(self, start: int, end: int, pattern: re.Pattern[bytes]) -> int:
        """Blank something that is not shown, up to its end. An end that does not occur is searched for once."""
        closing = None if pattern in self.endless else pattern.search(self.data, end)
        if closing is None:
            self.endless.add(pattern)
        return self.blank(start, closing.end() if closing else end)

    def is_item(self, start: int, number: bytes) -> bool:
        """Return whether a number at the start of a line begins a list item: in a paragraph, only 1 does."""
        if int(number) == 1 or start == 0 or self.data[max(0, start - 2) : start].endswith((b"\n", b"\n\r")):
            return True
        return self.numbered >= 0 and not _BLANK_LINE.search(self.data, self.numbered, start)


def _folded(label: bytes) -> bytes:
    return b" ".join(label.lower().split())
