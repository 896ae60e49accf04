"""A small class with known copies, to see what Chaffinch does before one trusts it with one's own."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from chaffinch.errors import SkipReason, Unreadable

COPIES = {
    ("anna-mueller", "ben-okafor"): "Ben copied Anna's wordcount.py, renamed everything and laid it out anew.",
    ("joana-silva", "kofi-mensah"): (
        "Kofi copied Joana's textstat.c, put the functions in another order, renamed them and added code"
        " that does nothing."
    ),
    ("hana-suzuki", "ibrahim-diallo"): "Ibrahim copied half of Hana's TextStatistics.java; the rest is his.",
    ("chen-wei", "grace-kim"): "Grace's notebook has three functions of Chen Wei's stats.py, renamed.",
    ("eleni-papadaki", "noah-williams"): "Noah's essay took sentences from Eleni's, lightly changed ...",
    ("lars-eriksen", "noah-williams"): "... and others from Lars's. His program is his own.",
    ("diego-fernandez", "marek-novak"): "Diego's analyse.py is Marek's words.py of last year, renamed.",
}
"""Who has the same as whom, and how that came about. All other pairs worked alone."""

_FOLDERS = {"class": "class", "given": "given", "last_year": "last year"}
_MARKER = "DEMO.txt"
_FIRST_LINE = "Written by `chaffinch demo`, which may overwrite what is in this folder."
_SUFFIX = ".txt"
"""Added to the name of every file in the package, so that no tool takes it for a part of Chaffinch."""


def write(folder: Path) -> list[str]:
    """Writes the class, what it was given and last year's work; says what was copied."""
    _check(folder)
    copies = list(COPIES.values())
    _put(folder / _MARKER, "\n".join([_FIRST_LINE, "", "Copied were:", *copies, ""]).encode())
    for source, target in _FOLDERS.items():
        for name, data in _files(files("chaffinch.cli") / "demo_class" / source):
            _put(folder / target / name, data)
    return copies


def _check(folder: Path) -> None:
    """Nobody's own files are overwritten."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise Unreadable(
            folder, SkipReason.INVALID, "a file of this name is there; name a new folder for the demo"
        )
    marker = folder / _MARKER
    if marker.is_file() and marker.read_bytes().startswith(_FIRST_LINE.encode()):
        return
    if any(folder.iterdir()):
        raise Unreadable(
            folder, SkipReason.INVALID, "has files that are no earlier demo's; name a new or an empty folder"
        )


def _files(place: Traversable, below: str = "") -> Iterator[tuple[str, bytes]]:
    """The paths and contents of all that is in a folder of the package."""
    for found in sorted(place.iterdir(), key=lambda f: f.name):
        if found.is_dir():
            yield from _files(found, f"{below}{found.name}/")
        elif found.name.endswith(_SUFFIX):
            yield below + found.name.removesuffix(_SUFFIX), found.read_bytes()


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
