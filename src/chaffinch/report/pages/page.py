"""Write the pages of a report: one file with everything, or a folder whose parts load when they are needed."""

from __future__ import annotations

import json
import os
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.own_reports import PART, is_own_page
from chaffinch.report.pages.bundle import bundle
from chaffinch.report.pages.view import View

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_DATA_FILE = re.compile(r"[ps]\d+\.js")
_DATA_FILE_SIZE = 200_000
"""Characters after which the next data file of a folder begins. A pair needs two or three files."""
_GZIP = 31
"""zlib's window size for the gzip format, which browsers unpack."""
_STYLES = ("match_colours.css", "common.css", "lists.css", "pair.css", "dates.css", "narrow_and_print.css")
_SCRIPTS = ("dates.js", "main.js")


@cache
def _static(name: str) -> str:
    return (files("chaffinch.report") / "static" / name).read_text("utf-8")


def styles(*names: str) -> str:
    """Return the named style sheets, marked as safe for a page."""
    return _safe("\n".join(map(_static, names)))


@cache
def script(*entries: str) -> str:
    """Return the named modules and everything they import as one script, marked as safe for a page."""
    return _safe(bundle(entries, _static))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only commands that write pages need it

    environment = Environment(
        loader=PackageLoader("chaffinch.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"grouped": "{:,}".format, "percent": "{:.0%}".format}
    return environment


def template(name: str) -> Template:
    """Return a page template; it escapes every value that is not marked as safe."""
    return _environment().get_template(name)


def _safe(text: str) -> str:
    """Mark a text as one that templates do not escape."""
    from markupsafe import Markup

    return Markup(text)


def script_json(value: Any) -> str:
    """Return JSON that is safe inside a script: it cannot contain a tag, a comment or a line separator."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def encoded(page: str) -> bytes:
    """Return UTF-8; file names may contain bytes that are no characters."""
    return page.encode("utf-8", "replace")


def is_file(path: Path) -> bool:
    """Tell whether a report with this path is one file; otherwise it is a folder."""
    return path.suffix.lower() in (".html", ".htm")


def write(path: Path, data: bytes) -> None:
    """Write all or nothing: an existing file stays until the new one is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_bytes(data)
        return
    part = path.with_name(f".{path.name[:100]}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def refuse_foreign(folder: Path) -> None:
    """Raise an error if the folder holds a page that is not a report."""
    page = folder / "index.html"
    if page.is_file() and not is_own_page(page.read_bytes()):
        detail = "not a Chaffinch report; name another folder, or remove this file"
        raise Unreadable(page, SkipReason.INVALID, detail)


def write_file(view: View, path: Path) -> None:
    """Write everything into one file; the browser unpacks a pair when you open it."""
    index = {**view.index(), "files": None}
    style, code = _styles_and_script(index)
    write(path, _page(index, ((key, _packed(data)) for key, data in view.chunks()), style, code))


def write_folder(view: View, path: Path) -> None:
    """Write index.html, its style and script, and the data of submissions and pairs.

    The data are scripts too, because browsers load no JSON from disk. No script is inside the page, so that a
    web server can forbid those.
    """
    refuse_foreign(path)
    data = path / "data"
    data.mkdir(parents=True, exist_ok=True)
    names = []
    for name, text in _data_files(view.chunks()):
        (data / f"{name}.js").write_bytes(encoded(text))
        names.append(name)
    for file in data.iterdir():  # an earlier report may have left more
        is_old = _DATA_FILE.fullmatch(file.name) and file.stem not in names
        if is_old and file.read_bytes().startswith(b"chaffinchChunk("):
            file.unlink()
    index = {**view.index(), "files": names}
    style, code = _styles_and_script(index)
    write(data / "report.css", PART + encoded(style))
    write(data / "report.js", PART + encoded(code))
    write(path / "index.html", _page(index, ()))


def _data_files(chunks: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Join chunks of the same kind into files, each named after its first chunk: many small files are slow."""
    for _, same_kind in groupby(chunks, key=lambda chunk: chunk[0][0]):
        name = text = ""
        for key, value in same_kind:
            name = name or key
            text += f'chaffinchChunk("{key}",{script_json(value)});\n'
            if len(text) >= _DATA_FILE_SIZE:
                yield name, text
                name = text = ""
        if text:
            yield name, text


def _packed(value: Any) -> str:
    """Return JSON, compressed and in base64."""
    return b64encode(zlib.compress(script_json(value).encode("ascii"), wbits=_GZIP)).decode("ascii")


def _styles_and_script(index: dict[str, Any]) -> tuple[str, str]:
    """Return the style sheet and the script that the pages of this report need."""
    unused = () if "dates" in index else ("dates.css", "dates.js")
    return (
        styles(*(name for name in _STYLES if name not in unused)),
        script(*(name for name in _SCRIPTS if name not in unused)),
    )


def _page(
    index: dict[str, Any], chunks: Iterable[tuple[str, str]], style: str | None = None, code: str | None = None
) -> bytes:
    """Return the page. Without a style and a script inside, it loads those beside it."""
    page = template("report.html").render(
        style=style, script=code, index=_safe(script_json(index)), chunks=chunks
    )
    return encoded(page)
