"""Paths, files and documents -> every document in them: the one way in."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read import walk
from chaffinch.read.detect import ARCHIVES, detect_format
from chaffinch.read.formats import jsonl
from chaffinch.read.load import load
from chaffinch.read.ready import check_types, ready_documents
from chaffinch.read.rules import DEFAULT, Rules
from chaffinch.read.submissions.grouping import LocatedSkip, group, plain_name
from chaffinch.read.submissions.layout import Located
from chaffinch.read.submissions.platforms import without_archive
from chaffinch.types import Document, File, Skipped, Submission

Item = str | Path | File | Document
"""A file, a folder or an archive by its path; bytes under a name; or a document that is ready."""


class Collected(NamedTuple):
    """A document, and its URL, contact and date if a line of JSON Lines gives them."""

    document: Document
    about: Mapping[str, str]


def as_list(items: Item | Iterable[Item]) -> list[Item]:
    """Return a list of items, whether one or several were given."""
    if isinstance(items, str | Path | File | Document):
        return [items]
    listed: list[Any] = [items] if isinstance(items, bytes) or not isinstance(items, Iterable) else [*items]
    for item in listed:
        if not isinstance(item, str | Path | File | Document):
            given = type(item).__name__
            raise TypeError(f"paths are str or Path, and documents are File or Document, not {given}")
    return listed


def collect(
    items: Item | Iterable[Item], *, json_lines: bool = False, rules: Rules = DEFAULT
) -> Iterator[Collected | Skipped]:
    """Yield every document in the items, and an entry for whatever is skipped.

    With `json_lines`, a file of JSON Lines holds a document on each line; otherwise it is a text. The rules say
    what to read of folders and archives.
    """
    # Not as_list: an index takes more documents than fit in memory.
    for item in [items] if isinstance(items, str | Path | File | Document) else items:
        if isinstance(item, File | Document):
            check_types(item)
        if isinstance(item, Document):
            yield Collected(item, {})
        elif isinstance(item, File):
            yield from _from_file(item, rules.below(item.name))
        else:
            yield from _from_path(Path(item), json_lines, rules.below(item))


def _from_path(root: Path, json_lines: bool, rules: Rules) -> Iterator[Collected | Skipped]:
    for path in walk.files(root, rules):
        if isinstance(path, Skipped):
            yield path
            yield from _included(path, rules)
        elif json_lines and jsonl.is_json_lines(path, is_named=path == root):
            yield from (item if isinstance(item, Skipped) else Collected(*item) for item in jsonl.read(path))
        else:
            yield from _from_file(load_file(path), rules)


def _included(skipped: Skipped, rules: Rules) -> Iterator[Collected | Skipped]:
    """Yield what a pattern includes of an archive that another one excludes."""
    if not (rules.include and without_archive(skipped.name) != skipped.name and rules.excludes(skipped.name)):
        return
    archive = load_file(Path(skipped.name))
    if isinstance(archive, File) and detect_format(archive) in ARCHIVES:
        yield from (item for item in _from_file(archive, rules) if isinstance(item, Collected))


def _from_file(file: File | Skipped, rules: Rules) -> Iterator[Collected | Skipped]:
    items = [file] if isinstance(file, Skipped) else ready_documents(file, rules=rules)
    return (item if isinstance(item, Skipped) else Collected(item, {}) for item in items)


def files(paths: Iterable[str | Path], rules: Rules = DEFAULT) -> Iterator[File | Skipped]:
    """Yield every file in the paths as it is; folders are walked in order of names."""
    for path in paths:
        for item in walk.files(Path(path), rules):
            yield item if isinstance(item, Skipped) else load_file(item)


def documents(
    paths: Item | Iterable[Item],
    *,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    ocr: bool = False,
) -> Iterator[Document | Skipped]:
    """Yield every document in files, folders and archives, and an entry for whatever is skipped.

    `include` and `exclude` are patterns such as "*.txt" or "tests/": what else to read, and what not to read.
    With `ocr`, Tesseract reads the pages of PDF and PostScript that have no text, or none that is language.
    """
    collected = collect(paths, rules=Rules.of(include, exclude, ocr))
    return (item if isinstance(item, Skipped) else item.document for item in collected)


def submissions(
    items: Item | Iterable[Item],
    pattern: str | None = None,
    *,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
) -> tuple[list[Submission], list[Skipped]]:
    """Return what every student handed in, and what is skipped.

    `pattern` is a regular expression that finds a student's name in a path. A `File` or a `Document` is a
    submission of its own, named like a path: "ann" for ann.py, unless there is another "ann"; only a `File`
    that is an archive and the only item is a class. `include` and `exclude` are patterns such as "*.txt" or
    "tests/": what else to read of folders and archives, and what not to read.
    """
    return by_rules(items, Rules.of(include, exclude), pattern)


def by_rules(
    items: Item | Iterable[Item], rules: Rules, pattern: str | None = None
) -> tuple[list[Submission], list[Skipped]]:
    """Return what every student handed in, and what is skipped, as `submissions` does."""
    from_paths: list[Located] = []
    given: list[tuple[str, list[Document]]] = []
    skipped: list[Skipped] = []
    skips: list[LocatedSkip] = []
    listed = sorted(as_list(items), key=_item_name)  # so that the order of the items changes no result
    for item in listed:
        found = list(collect(item, rules=rules))
        if not found and len(listed) > 1:
            found = [Skipped(str(item), SkipReason.EMPTY, "an empty folder")]
        skipped_here = [entry for entry in found if isinstance(entry, Skipped)]
        documents_here = [entry.document for entry in found if isinstance(entry, Collected)]
        skipped += skipped_here
        is_class = isinstance(item, File) and len(listed) == 1 and detect_format(item) in ARCHIVES
        if isinstance(item, File | Document) and not is_class:
            given.append((item.name, documents_here))
            continue
        root = item.name if isinstance(item, File | Document) else str(Path(item))
        from_paths += [Located(root, _below(root, document.name), document) for document in documents_here]
        skips += [LocatedSkip(root, _below(root, entry.name), entry) for entry in skipped_here]
    grouped, unmatched = group(from_paths, pattern, rules, skips)
    return [*grouped, *_given_submissions(given, {s.name for s in grouped})], skipped + unmatched


def _item_name(item: Item) -> str:
    return str(item.name if isinstance(item, File | Document) else item)


def _below(root: str, name: str) -> str:
    """Return the path below a root, with slashes."""
    return name.removeprefix(root).replace(os.sep, "/").lstrip("/")


def _given_submissions(
    given: Sequence[tuple[str, Sequence[Document]]], taken: Collection[str]
) -> Iterator[Submission]:
    """Yield files and documents as submissions, named like those from paths unless two would have one name."""
    names = [plain_name(name, is_archive=any(d.name != name for d in documents)) for name, documents in given]
    counts = Counter((*names, *taken))
    for name, (full_name, documents) in zip(names, given, strict=True):
        yield Submission(name if name and counts[name] == 1 else full_name, tuple(documents))


def load_file(path: Path) -> File | Skipped:
    """Return a file's bytes, or why they cannot be read."""
    try:
        return File(str(path), load(path))
    except Unreadable as error:
        return Skipped.because(error)
