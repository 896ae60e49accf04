"""The commands of an index: create, add, search, maintain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click import argument, option

from chaffinch.cli.app import (
    ERROR,
    EXCLUDE,
    FOUND,
    INCLUDE,
    JSON,
    NOTHING,
    OCR,
    PATH,
    PATHS,
    W,
    exit_code,
    in_order,
    main,
)
from chaffinch.cli.output import (
    LISTED,
    counted,
    print_result,
    printable,
    progress,
    warn,
    warn_skipped,
)
from chaffinch.errors import SkipReason
from chaffinch.read.legible import NOT_LANGUAGE
from chaffinch.recipe import FIXED_SIZE
from chaffinch.types import Document, Skipped

if TYPE_CHECKING:
    from chaffinch.index.index import Index
    from chaffinch.index.records import DocumentRecord, ProbedDocument, Settings

_flag = partial(option, is_flag=True)
WHERE = argument("where", metavar="INDEX")
_NOT_LANGUAGE = "with text that is not language, because of fonts or a bad scan; --documents names them"


@main.group()
def index() -> None:
    """Create and maintain an archive that you can search.

    INDEX is a folder, or the address of a PostgreSQL database: postgresql://user@host/database#name.
    """


def open_index(where: str) -> Index:
    from chaffinch.index.index import Index

    return Index.open(where)


class _Result(NamedTuple):
    """What a command prints, as JSON or as text, and its exit code."""

    json: dict[str, Any]
    text: str
    code: int = FOUND


def _command(
    *parameters: Callable[[Any], Any], name: str | None = None
) -> Callable[[Callable[..., _Result]], click.Command]:
    """Add a command of `index` that takes INDEX and --json, and prints the result of its function."""

    def add_command(function: Callable[..., _Result]) -> click.Command:
        @wraps(function)
        def run(as_json: bool, **options: Any) -> None:
            result = function(**options)
            print_result(as_json, result.json, result.text)
            click.get_current_context().exit(result.code)

        command: Any = run
        for parameter in (JSON, *reversed(parameters), WHERE):  # decorators apply from the inside out
            command = parameter(command)
        return index.command(name)(command)

    return add_command


@_command(
    option("--recipe", default="text", help="text, code, koala, or a programming language."),
    option("-k", type=int, help="Shortest match, in symbols.  [25; 12 for programs, 20 for koala]"),
    W,
    _flag("--no-content", help="Store fingerprints only, for privacy."),
    _flag("--keep-search-set", help="koala: store a set to choose from, not the text."),
    option("--stored", type=int, help="koala: fingerprints to store of each document.  [100]"),
    option("--searched", type=int, help="koala: fingerprints to search with.  [1000]"),
    option("--scheme", type=click.Choice(FIXED_SIZE), help="koala: how to select them.  [smallest]"),
    option("--skip", type=int, help="koala: symbols to ignore at the start of a document.  [100]"),
    option("--frequent", type=int, help="koala: documents that make a fingerprint too common.  [4]"),
    option("--ignored", type=int, help="koala: too common ones to ignore in a search, at most.  [10]"),
)
def create(where: str, recipe: str, no_content: bool, keep_search_set: bool, **options: Any) -> _Result:
    """Create an empty index."""
    from chaffinch.index.index import Index
    from chaffinch.recipe import Recipe

    window = options.pop("w")
    if no_content and keep_search_set:
        raise click.UsageError("--no-content and --keep-search-set exclude each other.")
    if recipe == "koala" and window is not None:
        raise click.UsageError("koala has no window; leave out -w, or give --searched.")
    content = "none" if no_content else "search-set" if keep_search_set else "text"
    how = recipe if recipe == "koala" else Recipe(recipe, k=options.pop("k"), w=window)
    with Index.create(where, how, content=content, **options) as created:
        shown, settings = created.store.where, created.store.settings
    promise = f"stores {settings.stored} fingerprints of each document"
    if t := settings.recipe.guarantee:
        promise = f"finds every shared run of {t} symbols"
    return _Result(
        {"index": shown, "recipe": settings.recipe.receipt(), "content": content},
        f"{printable(shown)}: created with {settings.recipe}; {promise}",
    )


_METADATA = (
    option("--url", help="Where the documents are."),
    option("--contact", help="Whom to ask about the documents."),
    option("--date", help="When the documents were written or handed in."),
)
_ADDING = (
    PATHS,
    *_METADATA,
    option(
        "--boilerplate/--no-boilerplate", default=None, help="Passages of these documents are never a match."
    ),
    EXCLUDE,
    INCLUDE,
    OCR,
)


@_command(*_ADDING)
def add(**options: Any) -> _Result:
    """Add files, folders, archives and JSON Lines.

    Documents that the index already has are left as they are: if an add is cut off, run it again. A line of
    JSON Lines needs `text`, and can have `name`, `language`, `url`, `contact` and `date`.
    """
    return _add(replacing=False, **options)


@_command(*_ADDING)
def replace(**options: Any) -> _Result:
    """Add documents, and replace those with the same names.

    A document keeps the URL, contact and date of the one it replaces, and whether it is boilerplate, unless you
    give others.
    """
    return _add(replacing=True, **options)


def _add(
    where: str,
    paths: tuple[Path, ...],
    replacing: bool,
    boilerplate: bool | None,
    exclude: tuple[str, ...],
    include: tuple[str, ...],
    ocr: bool,
    **metadata: str | None,
) -> _Result:
    from chaffinch.index.records import Metadata

    read: list[str] = []
    size = 0

    def show(document: Document) -> None:
        nonlocal size
        read.append(document.name)
        size += len(document.data)
        if len(read) % 100 == 1:
            progress(f"Adding: {len(read):,} documents, {size >> 20:,} MB: {document.name}")

    how = {
        "boilerplate": boilerplate,
        "replacing": replacing,
        "exclude": exclude,
        "include": include,
        "ocr": ocr,
    }
    with open_index(where) as opened:
        report = opened.add(paths, metadata=Metadata(**metadata), progress=show, **how)  # type: ignore[arg-type]
        progress("Writing ...")
    warn_skipped(report.skipped)
    for name, of in report.copies[:LISTED]:
        warn(f"{name}: has the same content as {of}")
    for name in report.not_language[:LISTED]:
        warn(f"{name}: {NOT_LANGUAGE}")
    counts = f"{len(report.added)} added ({len(report.replaced)} replaced others)"
    line = f"{counts}, {len(report.already)} already in the index, {len(report.skipped)} skipped"
    result = asdict(report) | {"copies": [{"name": name, "of": of} for name, of in report.copies]}
    return _Result(result, line, exit_code(bool(report.added or report.already), report.skipped, paths, read))


@_command(argument("names", nargs=-1, required=True, callback=in_order), *_METADATA, name="set")
def set_(where: str, names: tuple[str, ...], **metadata: str | None) -> _Result:
    """Change the URL, contact or date of documents. An empty text removes it."""
    if not any(text is not None for text in metadata.values()):
        raise click.UsageError("Give --url, --contact or --date.")
    with open_index(where) as opened:
        changed = opened.set(names, **metadata)
    missing = _missing(names, changed)
    return _Result({"set": changed, "missing": missing}, f"{len(changed)} set", ERROR if missing else FOUND)


def _missing(names: tuple[str, ...], known: list[str]) -> list[str]:
    """Return the names that the index does not know, and warn about them."""
    from chaffinch.index.ingest import plain_name

    missing = sorted(name for name in set(names) if plain_name(name) not in known)
    warn_skipped([Skipped(name, SkipReason.NOT_FOUND, "not in the index") for name in missing])
    return missing


@_command(argument("names", nargs=-1, required=True, callback=in_order))
def remove(where: str, names: tuple[str, ...]) -> _Result:
    """Remove documents by their names."""
    with open_index(where) as opened:
        removed = opened.remove(names)
    missing = _missing(names, removed)
    result = {"removed": removed, "missing": missing}
    return _Result(result, f"{len(removed)} removed", ERROR if missing else FOUND)


@_command(_flag("--documents", help="List every document too."))
def info(where: str, documents: bool) -> _Result:
    """Show the size, the recipe and what needs attention."""
    with open_index(where) as opened:
        size, settings, suspicious = opened.info(), opened.store.settings, opened.suspicious()
        records = [_record(document) for document in opened] if documents else []
    result = asdict(size) | {
        "recipe": settings.recipe.receipt(),
        "content": settings.content,
        "stored": settings.stored,
        **({"frequent": settings.frequent, "ignored": settings.ignored} if settings.stored else {}),
        "suspicious": [probed._asdict() for probed in suspicious],
    }
    if documents:
        result["documents_list"] = records
    lines = [
        f"{counted(size.documents, 'document')}, {counted(size.postings, 'posting')}, "
        f"{counted(size.segments, 'segment')}, {size.bytes / 1e6:,.1f} MB",
        f"recipe {settings.recipe}; content stored: {settings.content}",
        *([_koala(settings)] if settings.stored else []),
        *([f"{counted(size.removed, 'removed document')} to drop at the next merge"] if size.removed else []),
        *(f"damaged: {printable(damage)}" for damage in size.damaged),
        *map(_suspicion, suspicious),
        *([f"{counted(size.not_language, 'document')} {_NOT_LANGUAGE}"] if size.not_language else []),
        *(f"{printable(d['name'])}: {NOT_LANGUAGE}" for d in records if d["not_language"]),
        *(
            f"{d['size']:>12,} bytes  {d['date'] or d['registered']:10}  {printable(d['name'])}"
            for d in records
        ),
    ]
    return _Result(result, "\n".join(lines))


def _suspicion(probed: ProbedDocument) -> str:
    name, searches, separated, stored = probed
    return (
        f"suspicious: {searches} different searches told {separated} of {stored} stored fingerprints apart: "
        f"{printable(name)}; rotate it"
    )


def _koala(settings: Settings) -> str:
    stored, ignored = f"{settings.stored:,} of {settings.recipe.w:,} fingerprints stored", settings.ignored
    return f"{stored}; a search ignores up to {ignored:,} that {settings.frequent:,} or more documents have"


def _record(document: DocumentRecord) -> dict[str, Any]:
    return {
        "name": document.name,
        **asdict(document.metadata),
        "size": document.size,
        "symbols": document.symbols,
        "digest": document.digest.hex(),
        "boilerplate": document.boilerplate,
        "not_language": document.not_language,
        "registered": document.registered.isoformat(),
        "chosen": document.chosen.isoformat(),
    }


@_command()
def merge(where: str) -> _Result:
    """Compact the index fully; partial compaction is automatic."""
    with open_index(where) as opened:
        opened.merge(progress)
        size = opened.info()
    return _Result(asdict(size), f"{counted(size.segments, 'segment')}, {size.bytes / 1e6:,.1f} MB")


@_command()
def verify(where: str) -> _Result:
    """Read everything and report what is wrong."""
    with open_index(where) as opened:
        problems = opened.verify(progress)
    for problem in problems:
        warn(problem)
    return _Result({"problems": problems}, counted(len(problems), "problem"), ERROR if problems else FOUND)


@_command(
    argument("names", nargs=-1, callback=in_order),
    _flag("--suspicious", help="Rotate documents whose stored fingerprints searches have told apart."),
    option("--older-than", type=click.IntRange(0), metavar="DAYS", help="Rotate choices older than this."),
    option(
        "--source",
        multiple=True,
        type=PATH,
        callback=in_order,
        help="The files, if the texts are not stored.",
    ),
)
def rotate(
    where: str, names: tuple[str, ...], suspicious: bool, older_than: int | None, source: tuple[Path, ...]
) -> _Result:
    """Choose again which fingerprints are stored.

    This is for the recipe koala. It rotates the documents you name or describe, or all of them.
    """
    from chaffinch.index.records import today

    with open_index(where) as opened:
        wanted = dict.fromkeys(names)
        if suspicious:
            wanted |= dict.fromkeys(probed.name for probed in opened.suspicious())
        if older_than is not None:
            wanted |= dict.fromkeys(d.name for d in opened if (today() - d.chosen).days > older_than)
        is_all = not names and not suspicious and older_than is None
        report = opened.rotate(None if is_all else wanted, sources=source, progress=progress)
    warn_skipped(report.skipped)
    line = f"{len(report.rotated)} rotated, {len(report.skipped)} skipped"
    return _Result(asdict(report), line, ERROR if report.skipped else FOUND if report.rotated else NOTHING)


@_command(argument("path", type=PATH))
def export(where: str, path: Path) -> _Result:
    """Write the index as JSON Lines, compressed if PATH ends in .gz.

    The file contains the secret of a koala index.
    """
    with open_index(where) as opened:
        count = opened.export(path)
    result = {"documents": count, "path": str(path)}
    return _Result(result, f"{counted(count, 'document')} written to {printable(str(path))}")


@_command(argument("path", type=PATH), name="import")
def import_(where: str, path: Path) -> _Result:
    """Create an index from an export, or resume an import."""
    from chaffinch.index.index import open_for_import

    with open_for_import(where, path) as opened:
        count = opened.import_(path)
    return _Result({"documents": count}, f"{counted(count, 'document')} imported")
