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
    main,
)
from chaffinch.cli.output import (
    LISTED,
    counted,
    print_json,
    print_result,
    printable,
    progress,
    warn,
    warn_skipped,
)
from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.legible import NOT_LANGUAGE
from chaffinch.recipe import FIXED_SIZE
from chaffinch.types import Document, Skipped

if TYPE_CHECKING:
    from chaffinch.index.answers import Answer
    from chaffinch.index.index import Index
    from chaffinch.index.records import DocumentRecord, Settings

_flag = partial(option, is_flag=True)
_WHERE = argument("where", metavar="INDEX")
_NOT_LANGUAGE = "with text that is not language, because of fonts or a bad scan; --documents names them"
_EFFORT_HELP = "Share of the fingerprints to look up; lower is faster and may miss passages."


@main.group()
def index() -> None:
    """Create and maintain an archive that you can search.

    INDEX is a folder, or the address of a PostgreSQL database: postgresql://user@host/database#name.
    """


def _open(where: str) -> Index:
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
        for parameter in (JSON, *reversed(parameters), _WHERE):  # decorators apply from the inside out
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


_ADDING = (
    PATHS,
    option("--url", help="Where the documents are."),
    option("--contact", help="Whom to ask about the documents."),
    option("--date", help="When the documents were written or handed in."),
    _flag("--boilerplate", help="Passages of these documents are never a match."),
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
    """Add documents, and replace those with the same names."""
    return _add(replacing=True, **options)


def _add(
    where: str,
    paths: tuple[Path, ...],
    replacing: bool,
    boilerplate: bool,
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
    with _open(where) as opened:
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


@_command(argument("names", nargs=-1, required=True))
def remove(where: str, names: tuple[str, ...]) -> _Result:
    """Remove documents by their names."""
    from chaffinch.index.ingest import plain_name

    with _open(where) as opened:
        removed = opened.remove(names)
    missing = sorted(name for name in set(names) if plain_name(name) not in removed)
    warn_skipped([Skipped(name, SkipReason.NOT_FOUND, "not in the index") for name in missing])
    result = {"removed": removed, "missing": missing}
    return _Result(result, f"{len(removed)} removed", ERROR if missing else FOUND)


@_command(_flag("--documents", help="List every document too."))
def info(where: str, documents: bool) -> _Result:
    """Show the size, the recipe and what needs attention."""
    with _open(where) as opened:
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
        *(f"suspicious: {n} different queries came close to {printable(name)}" for name, n in suspicious),
        *([f"{counted(size.not_language, 'document')} {_NOT_LANGUAGE}"] if size.not_language else []),
        *(f"{printable(d['name'])}: {NOT_LANGUAGE}" for d in records if d["not_language"]),
        *(f"{d['size']:>12,} bytes  {d['date'] or '':10}  {printable(d['name'])}" for d in records),
    ]
    return _Result(result, "\n".join(lines))


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
        "generation": document.generation,
        "boilerplate": document.boilerplate,
        "not_language": document.not_language,
    }


@_command()
def merge(where: str) -> _Result:
    """Compact the index fully; partial compaction is automatic."""
    with _open(where) as opened:
        opened.merge(progress)
        size = opened.info()
    return _Result(asdict(size), f"{counted(size.segments, 'segment')}, {size.bytes / 1e6:,.1f} MB")


@_command()
def verify(where: str) -> _Result:
    """Read everything and report what is wrong."""
    with _open(where) as opened:
        problems = opened.verify(progress)
    for problem in problems:
        warn(problem)
    return _Result({"problems": problems}, counted(len(problems), "problem"), ERROR if problems else FOUND)


@_command(
    argument("names", nargs=-1),
    _flag("--suspicious", help="Rotate documents that many similar queries came close to."),
    option("--source", multiple=True, type=PATH, help="The files, if the texts are not stored."),
)
def rotate(where: str, names: tuple[str, ...], suspicious: bool, source: tuple[Path, ...]) -> _Result:
    """Choose again which fingerprints are stored.

    This is for the recipe koala. It rotates the documents you name, or all of them.
    """
    with _open(where) as opened:
        chosen = [*names, *(probed.name for probed in opened.suspicious())] if suspicious else list(names)
        report = opened.rotate(chosen if names or suspicious else None, sources=source, progress=progress)
    warn_skipped(report.skipped)
    line = f"{len(report.rotated)} rotated, {len(report.skipped)} skipped"
    return _Result(asdict(report), line, ERROR if report.skipped else FOUND if report.rotated else NOTHING)


@_command(argument("path", type=PATH))
def export(where: str, path: Path) -> _Result:
    """Write the index as JSON Lines, compressed if PATH ends in .gz.

    The file contains the secret of a koala index.
    """
    with _open(where) as opened:
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


@main.command()
@_WHERE
@argument("files", nargs=-1, required=True, type=PATH)
@option("--effort", type=click.FloatRange(0, 1), default=1.0, help=_EFFORT_HELP)
@option("--window", type=int, help="Wider is faster, and still finds every shared run of WINDOW+K-1.")
@option("--top", type=click.IntRange(1), default=20, help="Hits to show for each file, at most.")
@option("-o", "--output", type=PATH, help="Write a report: a .html file or a folder.")
@JSON
def search(where: str, files: tuple[Path, ...], output: Path | None, as_json: bool, **how: Any) -> None:
    """Find indexed documents that share text with these files."""
    from chaffinch.index.answers import to_json, to_report
    from chaffinch.read import collect

    skipped: list[Skipped] = []
    read: list[str] = []
    answers: list[Answer] = []
    with _open(where) as opened:
        for document in collect.documents(files):
            if isinstance(document, Skipped):
                skipped.append(document)
                continue
            read.append(document.name)
            progress(f"Searching for {document.name} ...")
            try:
                answers.append(opened.search(document, **how))
            except Unreadable as error:
                skipped.append(Skipped.because(error, document.name))
        progress("")
        if output:
            to_report(opened, answers, skipped).save(output)
    warn_skipped(skipped)
    damaged = dict.fromkeys(damage for answer in answers for damage in answer.receipt.damaged)
    for damage in damaged:
        warn(f"not searched: {damage}")
    if as_json:
        print_json(to_json(answers, skipped))
    else:
        for answer in answers:
            _show(answer)
    if output:
        click.echo(f"Report: {printable(str(output))}", err=as_json)
    code = exit_code(any(answer.hits for answer in answers), skipped, files, read)
    click.get_current_context().exit(ERROR if damaged else code)


def _show(answer: Answer) -> None:
    click.echo(f"{printable(answer.query.name)}: shares text with {counted(answer.found, 'document')}")
    if answer.hits:
        click.echo(f"{'of this':>7} {'of theirs':>10} {'alike':>6}  {'relation':16} document")
    for hit in answer:
        share = f"{hit.containment.query:7.1%} {hit.containment.document:10.1%} {hit.resemblance:6.1%}"
        click.echo(f"{share}  {hit.relation:16} {printable(hit.document.name)}")
        if hit.note:
            click.echo(f"{'':27}{printable(hit.note)}")
    if answer.discounted:
        passages = counted(len(answer.discounted), "passage")
        click.echo(f"{passages} that many documents share counted less; --json lists them")
