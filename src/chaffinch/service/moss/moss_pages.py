"""Renders the pages of a result as MOSS does, so that programs that read MOSS's pages can read ours."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chaffinch.service.runs import member

COLOURS = ("FF0000", "00FF00", "0000FF", "00FFFF", "FF00FF")
_WIDTH, _HEIGHT = 100, 12
"""Pixels of the bar that shows a share."""


_OPEN = Markup(
    '<A NAME="{}"></A><FONT color = #{}><A HREF="{}" TARGET="{}"><IMG SRC="{}" ALT="other" BORDER="0" '
    "ALIGN=left></A>\n\n"
)
_CONTINUE = Markup("<FONT color = #{}>")
_CLOSE = Markup("</FONT>")


class _Block(NamedTuple):
    """Lines that both sides have, on one side."""

    file: int
    first: int
    last: int
    percent: int


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("chaffinch.service.moss"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(colours=COLOURS, **values)


def index_page(result: Path, url: str, report_url: str, site_url: str) -> str:
    """Return the list of pairs. `url` is the address that the client received."""
    index = json.loads(member(result, "moss/index.json"))
    date = time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime(index["created"]))
    return _render("moss_index.html", url=url, report_url=report_url, site_url=site_url, date=date, **index)


def failed_page(message: str, site_url: str) -> str:
    """Return the index page of a run that failed."""
    empty = {"options": "", "comment": "", "rows": [], "date": "", "errors": [message]}
    return _render("moss_index.html", url="", report_url="", site_url=site_url, **empty)


def frames_page(result: Path, number: int) -> str:
    """Return the page with the frames of a pair."""
    return _render("moss_frames.html", number=number, **_pair(result, number))


def top_page(result: Path, number: int, url: str, site_url: str) -> str:
    """Return the table of the blocks of a pair."""
    return _render("moss_top.html", number=number, url=url, site_url=site_url, **_pair(result, number))


def source_page(result: Path, number: int, side: int, site_url: str) -> str:
    """Return the source of one side of a pair, with its blocks marked."""
    pair = _pair(result, number)
    files = json.loads(member(result, f"moss/source{pair['sources'][side]}.json"))
    key = ("left", "right")[side]
    blocks = [_Block(*(b[key][name] for name in _Block._fields)) for b in pair["blocks"]]
    marked = [
        (PurePosixPath(file["name"]).name, _marked(file["text"], n, blocks, number, side, site_url))
        for n, file in enumerate(files)
    ]
    return _render("moss_source.html", name=pair[key], files=marked, is_directory=pair[key].endswith("/"))


def _pair(result: Path, number: int) -> dict[str, Any]:
    pair: dict[str, Any] = json.loads(member(result, f"moss/pair{number}.json"))
    return pair


def _marked(text: str, file: int, blocks: list[_Block], number: int, side: int, site_url: str) -> Markup:
    """Return the text of a file with its blocks marked. Where blocks overlap, the first has the lines.

    A block that has none of its lines left still has its link, so that links to it lead somewhere.
    """
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    owner: list[int | None] = [None] * (len(lines) + 1)
    starts: dict[int, list[int]] = {}
    for k, block in enumerate(blocks):
        if block.file == file and block.first <= len(lines):
            starts.setdefault(block.first, []).append(k)
            for line in range(block.first, min(block.last, len(lines)) + 1):
                owner[line] = k if owner[line] is None else owner[line]
    marked: list[Markup] = []
    current: int | None = None
    for line, content in enumerate(lines, 1):
        begun = starts.get(line, [])
        if current is not None and (begun or owner[line] != current):
            marked.append(_CLOSE)
            current = None
        for k in begun:
            link = f"match{number}-{1 - side}.html#{k}"
            image = f"{site_url}/bitmaps/tm_{k % len(COLOURS)}_{blocks[k].percent}.gif"
            marked.append(_OPEN.format(k, COLOURS[k % len(COLOURS)], link, 1 - side, image))
            if owner[line] == k:
                current = k
            else:
                marked.append(_CLOSE)
        if current is None and (k_here := owner[line]) is not None:  # it goes on after a block inside it
            marked.append(_CONTINUE.format(COLOURS[k_here % len(COLOURS)]))
            current = k_here
        marked.append(_escaped(content) + "\n")
    if current is not None:
        marked.append(_CLOSE)
    return Markup("").join(marked)


def _escaped(text: str) -> Markup:
    """Escape a line of source as MOSS does: quotes stay, since they are not inside a tag."""
    return Markup(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def bar(colour: int, percent: int) -> bytes:
    """Return a GIF of a bar that is filled to this percentage."""
    filled = _WIDTH * percent // 100
    palette = bytes.fromhex(COLOURS[colour % len(COLOURS)] + "D0D0D0" + "000000" * 2)
    row = bytes([0]) * filled + bytes([1]) * (_WIDTH - filled)
    head = b"GIF89a" + _WIDTH.to_bytes(2, "little") + _HEIGHT.to_bytes(2, "little") + b"\xf1\x00\x00" + palette
    frame = b"," + bytes(4) + _WIDTH.to_bytes(2, "little") + _HEIGHT.to_bytes(2, "little") + b"\x00"
    packed = _uncompressed(row * _HEIGHT)
    blocks = b"".join(
        bytes([len(packed[n : n + 255])]) + packed[n : n + 255] for n in range(0, len(packed), 255)
    )
    return head + frame + b"\x02" + blocks + b"\x00;"


def _uncompressed(pixels: bytes) -> bytes:
    """Return pixels of two bits as GIF codes of three bits, with a reset before a code would need four."""
    clear, end = 4, 5
    codes = []
    for start in range(0, len(pixels), 2):
        codes += [clear, *pixels[start : start + 2]]
    number: int = sum(code << 3 * n for n, code in enumerate([*codes, end]))
    return number.to_bytes((3 * (len(codes) + 1) + 7) // 8, "little")
