"""Rich Text Format (RTF) -> the text of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.budget import keep_time
from chaffinch.read.formats.office.paragraphs import Paragraphs
from chaffinch.types import Document, File

_TOKEN = re.compile(
    rb"""\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})?[ ]?
    | \\'(?P<hex>[0-9a-fA-F]{2})
    | \\(?P<sign>[^a-zA-Z])
    | (?P<brace>[{}])
    | (?P<text>[^\\{}\r\n]+)""",
    re.X | re.S,
)
_SKIPPED = frozenset(
    b"""colortbl filetbl stylesheet info pict header headerl headerr headerf footer footerl footerr footerf
    fldinst sp shprslt nonesttables pntext listtext xe tc private ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn
    bkmkstart bkmkend rxe template operator""".split()
)
"""First words of groups without text, or with text that occurs elsewhere in another form."""
_KEPT = (b"shpinst", b"nesttableprops")
"""First words of optional groups that hold text."""
_CHARACTERS = {
    b"tab": "\t", b"line": "\n", b"emdash": "\u2014", b"endash": "\u2013", b"lquote": "\u2018",
    b"rquote": "\u2019", b"ldblquote": "\u201c", b"rdblquote": "\u201d", b"bullet": "\u2022", b"emspace": " ",
    b"enspace": " ", b"qmspace": " ", b"~": "\u00a0", b"_": "-", b"{": "{", b"}": "}", b"\\": "\\", b"\t": "\t",
}  # fmt: skip
_PARAGRAPH_ENDS = (b"par", b"sect", b"page", b"column", b"\n", b"\r")
_CELL_ENDS = (b"cell", b"nestcell")
_ROWS = (b"trowd", b"row", b"nestrow")
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip
_CODE_PAGES = {n: f"cp{n}" for n in (*range(1250, 1259), 437, 850, 852, 855, 857, 860, 861, 862, 863, 864, 865)}
_CODE_PAGES |= {866: "cp866", 874: "cp874", 932: "cp932", 936: "gbk", 949: "cp949", 950: "cp950"}
_CODE_PAGES |= {1361: "johab", 10000: "mac_roman", 10007: "mac_cyrillic", 65001: "utf-8"}
_STEPS = 0xFFF
"""The clock is looked at after as many tokens."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Group(NamedTuple):
    """The settings within a pair of braces."""

    skipped: bool = False
    hidden: bool = False
    fonts: bool = False
    encoding: str = ""
    """The encoding of the font, or "" for the encoding of the document."""
    fallback: int = 1
    """How many characters after a Unicode character replace it in old programs."""
    is_note: bool = False


def read(file: File) -> Iterator[Document]:
    """Yield the paragraphs, then the notes, without headers, footers, comments and hidden text."""
    start = file.data[:64].find(b"{\\rtf")
    if start < 0:
        raise Unreadable(file.name, SkipReason.DAMAGED, "does not begin like RTF; save it again")
    reader = _Reader(Paragraphs(file))
    reader.read(file.data, start)
    yield reader.paragraphs.document()


class _Reader:
    """The state of the parser at one position of the file."""

    def __init__(self, paragraphs: Paragraphs) -> None:
        self.paragraphs = paragraphs
        self.group = _Group()
        self.outer: list[_Group] = []
        self.encoding = "cp1252"
        self.fonts: dict[int, str] = {}  # their encodings
        self.font = 0  # the font being defined
        self.bytes = bytearray()  # not decoded yet: a character may consist of an escape and a letter
        self.bytes_encoding = ""
        self.pieces: list[str] = []  # of the paragraph
        self.interrupted: list[str] = []  # the paragraph that a note is in
        self.note: list[str] = []
        self.stand_ins = 0  # characters still to skip, because a Unicode character came before them
        self.optional = False  # after \\*: skip the group if its word is unknown

    def read(self, data: bytes, position: int) -> None:
        for step in count():
            if not step & _STEPS:
                keep_time(self.paragraphs.name)
            if (token := _TOKEN.search(data, position)) is None:
                break
            position = token.end()
            kind = token.lastgroup
            if kind == "text":
                self.characters(token[0])
            elif kind == "number" or kind == "word":
                number = int(token["number"]) if token["number"] else None
                if token["word"] == b"bin":
                    position += max(number or 0, 0)
                else:
                    self.control(token["word"], number)
            elif kind == "hex":
                self.characters(bytes.fromhex(token["hex"].decode()))
            elif kind == "sign":
                self.sign(token["sign"])
            elif token[0] == b"{":
                self.stand_ins = 0
                self.outer.append(self.group)
            else:
                self.close()
                if not self.outer:
                    break
        while self.outer:  # groups left open by a file that is cut off
            self.close()
        self.end_paragraph()

    def close(self) -> None:
        self.stand_ins = 0
        inner, self.group = self.group, self.outer.pop()
        if inner.is_note and not self.group.is_note:
            self.note.append(self.paragraph())
            self.paragraphs.add_note("\n".join(self.note))
            self.note, self.pieces = [], self.interrupted

    def characters(self, text: bytes) -> None:
        if self.stand_ins:
            skipped = min(self.stand_ins, len(text))
            self.stand_ins -= skipped
            text = text[skipped:]
        self.optional = False
        if not (self.group.skipped or self.group.hidden):
            encoding = self.group.encoding or self.encoding
            if encoding != self.bytes_encoding:
                self.decode()
                self.bytes_encoding = encoding
            self.bytes += text

    def decode(self) -> None:
        if self.bytes:
            self.pieces.append(self.bytes.decode(self.bytes_encoding, "replace"))
            self.bytes.clear()

    def write(self, text: str) -> None:
        if not (self.group.skipped or self.group.hidden):
            self.decode()
            self.pieces.append(text)

    def sign(self, sign: bytes) -> None:
        if sign == b"*":
            self.optional = True
        else:
            self.control(sign, None)

    def control(self, word: bytes, number: int | None) -> None:
        optional, self.optional = self.optional, False
        if word == b"u" and number is not None:
            self.write(chr(number & 0xFFFF))
            self.stand_ins = self.group.fallback
        elif self.stand_ins and word != b"uc":
            self.stand_ins -= 1
        elif self.group.skipped:
            if self.group.fonts:
                self.define_font(word, number or 0)
        elif word in _CHARACTERS:
            self.write(_CHARACTERS[word])
        elif word in _PARAGRAPH_ENDS:
            self.end_paragraph()
        elif word in _CELL_ENDS:
            self.end_paragraph()
            self.paragraphs.end_cell()
        elif word in _ROWS:
            self.paragraphs.row()
        elif word == b"fonttbl":
            self.group = self.group._replace(skipped=True, fonts=True)
        elif word == b"footnote":
            self.begin_note()
        elif word in _SKIPPED or (optional and word not in _KEPT):
            self.group = self.group._replace(skipped=True)
        else:
            self.set_property(word, number)

    def set_property(self, word: bytes, number: int | None) -> None:
        if word == b"f":
            self.group = self.group._replace(encoding=self.fonts.get(number or 0, ""))
        elif word in (b"v", b"deleted"):
            self.group = self.group._replace(hidden=number != 0)
        elif word == b"plain":
            self.group = self.group._replace(hidden=False, encoding="")
        elif word == b"uc":
            self.group = self.group._replace(fallback=max(number or 0, 0))
        elif word == b"ansicpg":
            self.encoding = _CODE_PAGES.get(number or 0, self.encoding)
        elif word in (b"mac", b"pc", b"pca"):
            self.encoding = {b"mac": "mac_roman", b"pc": "cp437", b"pca": "cp850"}[word]

    def define_font(self, word: bytes, number: int) -> None:
        if word == b"f":
            self.font = number
        elif word == b"fcharset" and number in _CHARSETS:
            self.fonts[self.font] = _CHARSETS[number]
        elif word == b"cpg" and number in _CODE_PAGES:
            self.fonts[self.font] = _CODE_PAGES[number]

    def begin_note(self) -> None:
        if not (self.group.is_note or self.group.hidden):
            self.decode()
            self.interrupted, self.pieces = self.pieces, []
        self.group = self.group._replace(is_note=not self.group.hidden)

    def end_paragraph(self) -> None:
        if self.group.skipped or self.group.hidden:
            return
        if self.group.is_note:
            self.note.append(self.paragraph())
        else:
            self.paragraphs.add(self.paragraph())

    def paragraph(self) -> str:
        """Return the text since the last paragraph, and start a new one."""
        self.decode()
        text = "".join(self.pieces)
        self.pieces.clear()
        if _SURROGATE.search(text):  # characters beyond the first 65,536 come in two halves
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text
