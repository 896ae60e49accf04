"""A small class with known copies: try Chaffinch on it before you trust it with your own."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from chaffinch.errors import SkipReason, Unreadable

COPIES = {
    ("anna-mueller", "ben-okafor"): "Ben copied Anna's wordcount.py, renamed everything and reformatted it.",
    ("joana-silva", "kofi-mensah"): (
        "Kofi copied Joana's textstat.c, reordered and renamed the functions, and added code that does nothing."
    ),
    ("hana-suzuki", "ibrahim-diallo"): "Ibrahim copied half of Hana's TextStatistics.java; the rest is his.",
    ("chen-wei", "grace-kim"): "Grace's notebook has three functions from Chen Wei's stats.py, renamed.",
    ("eleni-papadaki", "noah-williams"): "Noah's essay has sentences from Eleni's, lightly changed ...",
    ("lars-eriksen", "noah-williams"): "... and others from Lars's. His program is his own.",
    ("diego-fernandez", "marek-novak"): "Diego's analyse.py is Marek's words.py from last year, renamed.",
}
"""The pairs that share work, and how it came about. Everybody else worked alone."""

_FOLDERS = {"class": "class", "base": "base", "last_year": "last year"}
_MARKER = "DEMO.txt"
_FIRST_LINE = "Written by `chaffinch demo`, which may overwrite what is in this folder."
_SUFFIX = ".txt"
"""Ends the name of every file in the package, so that no tool mistakes it for a part of Chaffinch."""


def write(folder: Path) -> list[str]:
    """Write the class, its base code and last year's work, and return what was copied."""
    _check(folder)
    copies = list(COPIES.values())
    _put(folder / _MARKER, "\n".join([_FIRST_LINE, "", "Known copies:", *copies, ""]).encode())
    for source, target in _FOLDERS.items():
        for name, data in _files(files("chaffinch.cli") / "demo_class" / source):
            _put(folder / target / name, data)
    return copies


def _check(folder: Path) -> None:
    """Raise an error if the folder has files that a demo did not write."""
    marker = folder / _MARKER
    if marker.is_file() and marker.read_bytes().startswith(_FIRST_LINE.encode()):
        return
    if folder.exists() and not folder.is_dir():
        raise Unreadable(folder, SkipReason.INVALID, "a file with this name exists; name a new folder")
    if folder.is_dir() and any(folder.iterdir()):
        detail = "has files that no demo wrote; name a new or an empty folder"
        raise Unreadable(folder, SkipReason.INVALID, detail)


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the path and the contents of every file in a folder of the package."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            yield prefix + entry.name.removesuffix(_SUFFIX), entry.read_bytes()


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
