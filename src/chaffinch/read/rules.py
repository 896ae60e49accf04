"""Which files and folders are read: what nobody wrote is skipped, and patterns of the user decide first."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from chaffinch.errors import BadPattern, Problem, SkipReason
from chaffinch.languages import language

_VERSION_CONTROL = {".git", ".hg", ".svn", ".bzr", "cvs", "_darcs"}
_SYSTEM_FILES = {"__macosx", ".ds_store", "thumbs.db", "desktop.ini"}
_BUILT = {
    "__pycache__", "node_modules", "bower_components", ".ipynb_checkpoints", "site-packages", "deriveddata",
}  # fmt: skip
BUILD_OUTPUT = Problem(SkipReason.EXCLUDED, "build output")
_THIRD_PARTY = Problem(SkipReason.EXCLUDED, "third-party code")
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
_USUALLY_NOT_WRITTEN = {
    **dict.fromkeys(("build", "dist", "venv", "virtualenv"), BUILD_OUTPUT),
    **dict.fromkeys(("third_party", "third-party", "thirdparty", "vendor", "external", "extern"), _THIRD_PARTY),
}
"""Folders that a student did not write if there is enough code outside. A student may have such a name."""
_PROJECT_FILES = {
    "package.json", "package-lock.json", "yarn.lock", "bower.json", "index.html", "requirements.txt",
    "pyvenv.cfg", *_PYTHON,
}  # fmt: skip
_ENVIRONMENT = {
    "pyvenv.cfg", "bin", "scripts", "lib", "lib64", "include", "share", "etc", "man", ".gitignore", ".lock",
    "cachedir.tag", "pip-selfcheck.json", ".ds_store",
}  # fmt: skip
"""All that is in a Python environment."""
_CONDA_FOLDERS = {"bin", "lib", "include", "share", "ssl", "etc", "man", "scripts", "library", "dlls"}
_FEWEST_CONDA_FOLDERS = 3
_LOCK_FILES = {
    "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json", "bun.lockb", "go.sum",
    "go.work.sum", "gradle.lockfile", "package.resolved",
}  # fmt: skip
_GENERATED = (
    (re.compile(r".+[.-]min\.(?:m?js|css|html)"), Problem(SkipReason.EXCLUDED, "minified")),
    (re.compile(r".+\.(?:bundle|chunk)\.(?:m?js|css)"), Problem(SkipReason.EXCLUDED, "a bundle")),
    (re.compile(r".+\.(?:m?js|cjs|css|tsx?)\.map"), Problem(SkipReason.EXCLUDED, "a source map")),
)
_NEVER_TEXT = {
    ".class", ".o", ".obj", ".pyc", ".pyo", ".pyd", ".exe", ".dll", ".so", ".dylib", ".a", ".lib", ".pdb",
    ".ilk", ".wasm", ".beam", ".elf", ".gch", ".pch", ".dmg", ".iso", ".jar", ".war", ".ear", ".whl", ".egg",
    ".apk", ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ico", ".icns", ".heic",
    ".avif", ".psd", ".xcf", ".svg", ".cr2", ".nef", ".mp3", ".wav", ".flac", ".ogg", ".m4a", ".aac", ".wma",
    ".mid", ".midi", ".aif", ".aiff", ".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".wmv", ".flv", ".mpg",
    ".mpeg", ".ttf", ".otf", ".ttc", ".woff", ".woff2", ".eot",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rules:
    """What to read of a folder or an archive besides the default.

    `*` and `?` match within one part of a path, `**` matches any number of parts. A pattern without a slash
    matches any file or folder of that name. A pattern with a slash matches parts that follow each other,
    anywhere in the path, which may be written as messages show it. If it begins with a slash, it matches from
    the named folder or archive on. If it ends with a slash, it matches folders only. A folder stands for
    everything in it. `include` wins over `exclude` and over the default.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    root: str = ""
    """The folder or archive that the user named, with slashes."""
    ocr: bool = False
    """Whether pages without text that can be read are recognized by Tesseract."""

    def __post_init__(self) -> None:
        if self.ocr:
            import_module("chaffinch.read.formats.ocr").require_program()
        for pattern in (*self.include, *self.exclude):
            _compiled(pattern)

    @classmethod
    def of(
        cls, include: str | Iterable[str] = (), exclude: str | Iterable[str] = (), ocr: bool = False
    ) -> Rules:
        """Return the rules for one pattern or several of each kind."""
        for given in (include, exclude):
            if isinstance(given, bytes) or not isinstance(given, Iterable):
                raise BadPattern(f"the pattern {given!r} is not a str, such as '*.txt'")
        included, excluded = ((p,) if isinstance(p, str) else tuple(p) for p in (include, exclude))
        return cls(included, excluded, ocr=ocr)

    def below(self, root: str | Path) -> Rules:
        """Return the same rules for what is in this folder or archive."""
        path = Path(root)
        return replace(self, root="" if path == Path() else _with_slashes(str(path)))

    def is_root(self, name: str) -> bool:
        """Whether this is the folder or archive that the user named."""
        return self.root == _with_slashes(name)

    def excludes(self, name: str) -> bool:
        """Whether a pattern says that this file or folder is not read."""
        return self._match(self.exclude, name, True) is not None

    def includes(self, name: str, is_folder: bool) -> bool:
        """Whether a pattern says that this is read. `name` is a path that begins with the root."""
        return self._match(self.include, name, is_folder) is not None

    def problem(self, name: str, is_folder: bool, siblings: Collection[str]) -> Problem | None:
        """Return why something is not read, or None if it is read. A root is never asked about."""
        if self.includes(name, is_folder):
            return None
        if (pattern := self._match(self.exclude, name, is_folder)) is not None:
            return Problem(SkipReason.EXCLUDED, f"excluded by the pattern {pattern!r}")
        return excluded(_with_slashes(name).rpartition("/")[2], is_folder, siblings)

    def unused(self, names: Collection[str], roots: Iterable[str | Path]) -> list[str]:
        """Return the patterns that match none of these paths, which begin with one of the roots."""
        each = [self.below(root) for root in roots]
        of_root = [(rules, [n for n in names if _with_slashes(n).startswith(rules.root)]) for rules in each]
        return [
            pattern
            for pattern in dict.fromkeys((*self.include, *self.exclude))
            if not any(rules._match((pattern,), name, True) for rules, below in of_root for name in below)
        ]

    def _match(self, patterns: Sequence[str], name: str, is_folder: bool) -> str | None:
        """Return the first pattern that matches the path below the root, or the path as it is shown."""
        if not patterns:
            return None
        end = "/" if is_folder else ""
        below = _with_slashes(name).removeprefix(self.root).removeprefix("./").lstrip("/")
        # A name from a Mac has its accents apart from the letters.
        below, root = normalize("NFC", below) + end, normalize("NFC", self.root).lstrip("/")
        shown = f"{root}/{below}"
        for pattern in patterns:
            compiled = _compiled(pattern)
            if compiled.search(below):
                return pattern
            if "/" in pattern.strip("/") and any(m.end() > len(root) + 1 for m in compiled.finditer(shown)):
                return pattern
        return None


DEFAULT = Rules()
"""What is read if the user gives no pattern."""


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
    return None if is_folder else _excluded_file(lower)


def _excluded_file(lower: str) -> Problem | None:
    stem, dot, ending = lower.rpartition(".")
    if stem and dot + ending in _NEVER_TEXT:
        return Problem(SkipReason.EXCLUDED, f".{ending} files are not text")
    if lower in _LOCK_FILES or (stem and ending == "lock"):
        return Problem(SkipReason.EXCLUDED, "a lock file")
    if ending in ("js", "mjs", "css", "html", "map"):
        return next((problem for pattern, problem in _GENERATED if pattern.fullmatch(lower)), None)
    return None


def is_environment(names: Collection[str], inside: Callable[[str], Collection[str]]) -> bool:
    """Whether a folder is a Python environment, which may have any name.

    `names` are its contents, and `inside` returns those of a folder in it. A lone file or folder with the name
    of what an environment has does not make a student's work one.
    """
    lower = {name.lower(): name for name in names}
    if "conda-meta" in lower and "history" in inside(lower["conda-meta"]):
        return len(lower.keys() & _CONDA_FOLDERS) >= _FEWEST_CONDA_FOLDERS
    if "pyvenv.cfg" not in lower or not lower.keys() <= _ENVIRONMENT:
        return False
    return any(
        name.lower().startswith(("activate", "python", "site-packages"))
        for folder in ("bin", "scripts", "lib")
        if folder in lower
        for name in inside(lower[folder])
    )


def may_be_student(name: str, siblings: Collection[str], inside: Collection[str]) -> bool:
    """Whether a folder on the level of the class with the name of build output may be a student's.

    A student may have such a name, or choose it. Build output lies beside the files of a project.
    """
    others = {sibling.lower() for sibling in siblings} - {name.lower(), *_SYSTEM_FILES}
    is_compiled = all(inner.endswith((".pyc", ".pyo")) for inner in inside)
    if name.lower() not in _BUILT or is_compiled or not others:
        return False
    return others.isdisjoint(_PROJECT_FILES) and not any(language.of_file(other, b"") for other in others)


def usually_not_written(path: str) -> tuple[str, Problem] | None:
    """Return the outermost folder whose name shows that others or programs wrote what is in it, and why.

    The path is relative to a student's work.
    """
    *folders, _ = path.split("/")
    for number, name in enumerate(folders, 1):
        if problem := _USUALLY_NOT_WRITTEN.get(name.lower()):
            return "/".join(folders[:number]), problem
    return None


def _is_built(lower: str, siblings: Collection[str]) -> bool:
    if lower in _BUILT or lower.endswith(".egg-info") or lower.startswith("cmake-build-"):
        return True
    signs = _BUILT_BESIDE.get(lower)
    if signs is None:
        return False
    return any(PurePosixPath(name.lower()).suffix in signs or name.lower() in signs for name in siblings)


def _with_slashes(path: str) -> str:
    return path.replace(os.sep, "/")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return the regular expression that finds a pattern in a path, where a folder ends with a slash."""
    if not isinstance(pattern, str):
        raise BadPattern(f"the pattern {pattern!r} is not a str, such as '*.txt'")
    pattern = normalize("NFC", pattern)
    is_anchored, is_folder = pattern.startswith(("/", "./")), pattern.endswith("/")
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if not parts:
        raise BadPattern(f"the pattern {pattern!r} matches nothing; name a file or a folder, such as '*.txt'")
    found = "^" if is_anchored else "(?:^|/)"
    for part in parts[:-1]:
        found += "(?:[^/]+/)*" if part == "**" else f"{_part(part)}/"
    found += "[^/]+" if parts[-1] == "**" else _part(parts[-1])
    try:
        return re.compile(found + ("/" if is_folder else "(?:/|$)"), re.S)
    except re.error as error:
        raise BadPattern(f"the pattern {pattern!r} is not valid: {error}") from None


def _part(pattern: str) -> str:
    """Return the regular expression for one part of a path."""
    pieces = re.findall(r"\[!?\]?[^\]]*\]|\*+|.", pattern, re.S)
    return "".join(map(_piece, pieces))


def _piece(piece: str) -> str:
    if piece[0] == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if len(piece) > 2:  # characters in brackets
        inner = piece[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return (
            f"[^/{inner[1:]}]"
            if inner[0] == "!" and len(inner) > 1
            else f"[{inner.replace('^', chr(92) + '^')}]"
        )
    return re.escape(piece)
