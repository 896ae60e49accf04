"""Folders -> the files in them that someone wrote, always in the same order.

Links are never followed. A target inside the folder is read under its own name, and a target outside was not
asked for. So there are no loops, and nothing is read twice.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from chaffinch.errors import Problem, SkipReason
from chaffinch.read.own_reports import OWN_REPORT, report_entries
from chaffinch.types import Skipped

_VERSION_CONTROL = {".git", ".hg", ".svn", ".bzr", "cvs", "_darcs"}
_SYSTEM_FILES = {"__macosx", ".ds_store", "thumbs.db", "desktop.ini"}
_BUILT = {
    "__pycache__", "node_modules", "bower_components", ".ipynb_checkpoints", "site-packages", "deriveddata",
}  # fmt: skip
BUILD_OUTPUT = Problem(SkipReason.EXCLUDED, "build output")
_PYTHON = ("setup.py", "pyproject.toml")
_DOTNET = (".csproj", ".vbproj", ".fsproj", ".sln")
_BUILT_BESIDE: dict[str, tuple[str, ...]] = {
    "target": ("cargo.toml", "pom.xml", "build.sbt"),
    "build": ("build.gradle", "build.gradle.kts", "cmakelists.txt", *_PYTHON),
    "dist": ("package.json", *_PYTHON),
    "bin": _DOTNET,
    "obj": _DOTNET,
    "out": (".iml",),
}
"""Folders that are build output if a file with one of these names or endings lies beside them."""
_NEVER_TEXT = {
    ".class", ".o", ".obj", ".pyc", ".pyo", ".pyd", ".exe", ".dll", ".so", ".dylib", ".a", ".lib", ".pdb",
    ".ilk", ".wasm", ".beam", ".elf", ".gch", ".pch", ".dmg", ".iso", ".jar", ".war", ".ear", ".whl", ".egg",
    ".apk", ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ico", ".icns", ".heic",
    ".avif", ".psd", ".xcf", ".svg", ".cr2", ".nef", ".mp3", ".wav", ".flac", ".ogg", ".m4a", ".aac", ".wma",
    ".mid", ".midi", ".aif", ".aiff", ".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".wmv", ".flv", ".mpg",
    ".mpeg", ".ttf", ".otf", ".ttc", ".woff", ".woff2", ".eot",
}  # fmt: skip


def excluded(name: str, is_folder: bool, siblings: Collection[str]) -> Problem | None:
    """Return why a file or folder is not read, judged by its name and its siblings, or None if it is read."""
    lower = name.lower()
    if lower in _SYSTEM_FILES or lower.startswith("~$"):
        return Problem(SkipReason.EXCLUDED, "a system file, not the author's")
    if is_folder and lower in _VERSION_CONTROL:
        return Problem(SkipReason.EXCLUDED, "version control")
    if is_folder and _is_built(lower, siblings):
        return BUILD_OUTPUT
    if lower.startswith("."):
        return Problem(SkipReason.EXCLUDED, "hidden")
    stem, dot, ending = lower.rpartition(".")
    if stem and not is_folder and dot + ending in _NEVER_TEXT:
        return Problem(SkipReason.EXCLUDED, f".{ending} files are not text")
    return None


def is_environment(names: Collection[str]) -> bool:
    """Whether these are the contents of a Python environment, which may have any name."""
    return "pyvenv.cfg" in names


def sort_key(name: str) -> bytes:
    """Return the key that sorts names the same way everywhere, even names that are not valid text."""
    return name.encode("utf-8", "surrogatepass")


def _is_built(lower: str, siblings: Collection[str]) -> bool:
    if lower in _BUILT or lower.endswith(".egg-info") or lower.startswith("cmake-build-"):
        return True
    signs = _BUILT_BESIDE.get(lower)
    if signs is None:
        return False
    return any(PurePosixPath(name.lower()).suffix in signs or name.lower() in signs for name in siblings)


def files(root: Path) -> Iterator[Path | Skipped]:
    """Yield every file below a folder, and what is skipped. A root that is a file is always yielded."""
    try:
        target = root.resolve()
        is_folder = root.is_dir()
    except (OSError, RuntimeError):  # reading it reports the problem
        is_folder = False
    if not is_folder:
        yield root
        return
    open_folders = [_contents(root, is_root=True)]
    while open_folders:  # no recursion: folders may be nested deeper than Python's stack
        entry = next(open_folders[-1], None)
        if entry is None:
            open_folders.pop()
        elif isinstance(entry, Skipped):
            yield entry
        elif problem := _problem(entry, target):
            yield Skipped(entry.path, *problem)
        elif _is_folder(entry):
            open_folders.append(_contents(Path(entry.path)))
        else:
            yield Path(entry.path)


def _contents(folder: Path, is_root: bool = False) -> Iterator[os.DirEntry[str] | Skipped]:
    """Yield the entries of a folder in order, and what is skipped."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: sort_key(entry.name))
    except OSError as error:
        yield Skipped(str(folder), *_error_problem(error))
        return
    if not entries and not is_root:
        yield Skipped(str(folder), SkipReason.EMPTY, "an empty folder")
    names = {entry.name for entry in entries}
    if is_environment(names) and not is_root:
        yield Skipped(str(folder), *BUILD_OUTPUT)
        return
    if report := report_entries(folder, names):
        yield Skipped(str(folder if report == names else folder / "index.html"), *OWN_REPORT)
        entries = [entry for entry in entries if entry.name not in report]
    for entry in entries:
        if problem := excluded(entry.name, _is_folder(entry), names):
            yield Skipped(entry.path, *problem)
        else:
            yield entry


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:  # it was deleted meanwhile
        return False


def _problem(entry: os.DirEntry[str], root: Path) -> Problem | None:
    """Return why an entry is not read, if so."""
    try:
        if entry.is_symlink():
            return _link_problem(Path(entry.path), root)
        if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
            return None
    except OSError as error:
        return _error_problem(error)
    return Problem(SkipReason.EXCLUDED, "a pipe, socket or device, not a file")


def _link_problem(link: Path, root: Path) -> Problem:
    try:
        inside = link.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):  # Python 3.11 and 3.12 raise RuntimeError for loops
        return Problem(SkipReason.EXCLUDED, "a link that leads nowhere")
    if inside:
        return Problem(SkipReason.EXCLUDED, "a link to a file that is read under its own name")
    return Problem(SkipReason.EXCLUDED, "a link out of the folder; to read its target, name the target")


def _error_problem(error: OSError) -> Problem:
    if isinstance(error, PermissionError):
        return Problem(SkipReason.NO_PERMISSION, "no permission to read it")
    if isinstance(error, FileNotFoundError):
        return Problem(SkipReason.NOT_FOUND, "was deleted before it could be read")
    return Problem(SkipReason.DAMAGED, error.strerror or str(error))
