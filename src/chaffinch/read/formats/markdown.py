"""Markdown -> a Source of what a reader of the rendered page sees.

Nothing is moved: markup is overwritten with spaces, so a place in what is left is that place in the file. Only
letters and digits need care, since the front end drops punctuation: emphasis, tables, escapes are left alone.
"""

from __future__ import annotations

import html
import re

from chaffinch.native.fingerprint import Source
from chaffinch.types import Document

# The set at the start is what makes the search for a token fast; its character is punctuation and may stay. No
# pattern gives back what it took, and each stops where another of its kind may begin: all are linear.
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
    """As many bytes, in UTF-8 as these, with spaces for all that a reader does not see."""
    page = _Page(b"\n" + data)  # every line then begins behind a line feed
    at: int | None = 0
    if front := _FRONT_MATTER.match(page.data):
        at = page.blank(1, front.end())
    while at is not None:
        at = page.read_on(at)
    return bytes(page.left[1:])


class _Page:
    """A file, and what has been blanked of it so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = bytearray(data)
        self.labels = {_folded(label) for label in _LABEL.findall(data)}
        self.endless: set[re.Pattern[bytes]] = set()
        self.numbered = -1
        """Behind the number of the last item, if no paragraph has begun since."""

    def blank(self, start: int, end: int, text: bytes = b"") -> int:
        """Tells where to go on."""
        self.left[start:end] = text.ljust(end - start)
        return end

    def read_on(self, at: int) -> int | None:
        """Up to something that is skipped whole; tells where to go on."""
        for token in _TOKEN.finditer(self.data, at):
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
                    # What does not fit is a sign with a mark on it: no letter, and so not read anyway.
                    self.blank(start - 1, end, text if len(text) <= len(token[0]) else b"")
                case _:
                    self.blank(start, end)
        return None

    def fence(self, start: int, line_end: int, fence: bytes) -> int:
        """Past a block of code, whose first line may name its language."""
        self.blank(start + 1, line_end)
        closing = re.compile(rb"\n[ \t>]*+%s{%d,}+[ \t\r]*+(?=\n|\Z)" % (fence[:1], len(fence)))
        found = closing.search(self.data, line_end)
        return found.end() if found else len(self.data)

    def code(self, at: int, ticks: bytes) -> int:
        """Past code within a line, if as many backticks close it in the same paragraph."""
        if len(ticks) > _MAX_BACKTICKS:
            return at
        found = _TICKS[len(ticks)].search(self.data, at)
        return found.end() if found and not _BLANK_LINE.search(self.data, at, found.start()) else at

    def raw(self, start: int, end: int, closing: re.Pattern[bytes]) -> int:
        """Past what is not shown, if it is closed; an end that was sought in vain is not sought again."""
        found = None if closing in self.endless else closing.search(self.data, end)
        if found is None:
            self.endless.add(closing)
            return self.blank(start, end)
        return self.blank(start, found.end())

    def is_item(self, start: int, number: bytes) -> bool:
        """Whether a number at the start of a line counts: in a paragraph, only 1 begins a list."""
        if int(number) == 1 or start == 0 or self.data[max(0, start - 2) : start].endswith((b"\n", b"\n\r")):
            return True
        return self.numbered >= 0 and not _BLANK_LINE.search(self.data, self.numbered, start)


def _folded(label: bytes) -> bytes:
    return b" ".join(label.lower().split())
