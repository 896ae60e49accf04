"""The commands of an index: create, add, search, maintain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaffinch.cli.app import ERROR, FOUND, JSON, NOTHING, PATH, PATHS, K, W, exit_code, main
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
from chaffinch.types import Document, Skipped

if TYPE_CHECKING:
    from chaffinch.index.hits import Answer
    from chaffinch.index.index import Index
    from chaffinch.index.records import DocumentRecord

_WHERE = click.argument("where", metavar="INDEX")
_EFFORT_HELP = "Share of the fingerprints to look up; lower is faster and may miss passages."


@main.group()
def index() -> None:
    """Create and maintain an archive that you can search.

    INDEX is a folder, or the address of a PostgreSQL database: postgresql://user@host/database#name.
    """


def _open(where: str) -> Index:
    from chaffinch.index.index import Index

    return Index.open(where)


@index.command()
@_WHERE
@click.option("--recipe", default="text", help="text, code, koala, or a programming language.")
@K
@W
@click.option("--no-content", is_flag=True, help="Store fingerprints only, for privacy.")
@click.option("--keep-search-set", is_flag=True, help="koala: store a set to choose from, not the text.")
@click.option("--stored", type=int, help="koala: fingerprints to store of each document.  [100]")
@click.option("--searched", type=int, help="koala: fingerprints to search with.  [1000]")
@click.option("--skip", type=int, help="koala: symbols to ignore at the start of a document.  [100]")
@JSON
def create(where: str, recipe: str, k: int | None, w: int | None, as_json: bool, **options: Any) -> None:
    """Create an empty index."""
    from chaffinch.index.index import Index
    from chaffinch.recipe import Recipe

    if options["no_content"] and options["keep_search_set"]:
        raise click.UsageError("--no-content and --keep-search-set exclude each other.")
    if recipe == "koala" and (k is not None or w is not None):
        raise click.UsageError("koala has its own -k and -w.")
    content = "none" if options["no_content"] else "search-set" if options["keep_search_set"] else "text"
    given: dict[str, Any] = {name: n for name, n in (("k", k), ("w", w)) if n is not None}
    how = recipe if recipe == "koala" else Recipe(recipe, **given)
    koala = {name: options[name] for name in ("stored", "searched", "skip")}
    with Index.create(where, how, content=content, **koala) as created:
        shown, settings = created.store.where, created.store.settings
        result = {"index": shown, "recipe": created.recipe.receipt(), "content": content}
        promise = f"stores {settings.stored} fingerprints of each document"
        if t := created.recipe.guarantee:
            promise = f"finds every shared run of {t} symbols"
        print_result(as_json, result, f"{printable(shown)}: created with {created.recipe}; {promise}")


def _adding(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that `add` and `replace` share."""
    for option in (
        JSON,
        click.option("--boilerplate", is_flag=True, help="Passages of these documents are never a match."),
        click.option("--date", help="When the documents were written or handed in."),
        click.option("--contact", help="Whom to ask about the documents."),
        click.option("--url", help="Where the documents are."),
        PATHS,
        _WHERE,
    ):
        command = option(command)
    return command


@index.command()
@_adding
@click.pass_context
def add(context: click.Context, /, **options: Any) -> None:
    """Add files, folders, archives and JSON Lines.

    Documents that the index already has are left as they are: if an add is cut off, run it again. A line of
    JSON Lines needs `text`, and can have `name`, `language`, `url`, `contact` and `date`.
    """
    _add(context, replacing=False, **options)


@index.command()
@_adding
@click.pass_context
def replace(context: click.Context, /, **options: Any) -> None:
    """Add documents, and replace those with the same names."""
    _add(context, replacing=True, **options)


def _add(
    context: click.Context,
    /,
    where: str,
    paths: tuple[Path, ...],
    replacing: bool,
    as_json: bool,
    boilerplate: bool,
    **metadata: str | None,
) -> None:
    from chaffinch.index.records import Metadata

    read: list[str] = []
    size = 0

    def show(document: Document) -> None:
        nonlocal size
        read.append(document.name)
        size += len(document.data)
        if len(read) % 100 == 1:
            progress(f"Adding: {len(read):,} documents, {size >> 20:,} MB: {document.name}")

    with _open(where) as opened:
        report = opened.add(
            paths, metadata=Metadata(**metadata), boilerplate=boilerplate, replacing=replacing, progress=show
        )
        progress("Writing ...")
    warn_skipped(report.skipped)
    result = {
        "added": report.added,
        "replaced": report.replaced,
        "already": report.already,
        "copies": [{"name": name, "of": of} for name, of in report.copies],
        "skipped": [asdict(s) for s in report.skipped],
    }
    for name, of in report.copies[:LISTED]:
        warn(f"{name}: has the same content as {of}")
    counts = f"{len(report.added)} added ({len(report.replaced)} replaced others)"
    line = f"{counts}, {len(report.already)} already in the index, {len(report.skipped)} skipped"
    print_result(as_json, result, line)
    context.exit(exit_code(bool(report.added or report.already), report.skipped, paths, read))


@index.command()
@_WHERE
@click.argument("names", nargs=-1, required=True)
@JSON
@click.pass_context
def remove(context: click.Context, /, where: str, names: tuple[str, ...], as_json: bool) -> None:
    """Remove documents by their names."""
    from chaffinch.index.ingest import plain_name

    with _open(where) as opened:
        removed = opened.remove(names)
    missing = sorted(name for name in set(names) if plain_name(name) not in removed)
    warn_skipped([Skipped(name, SkipReason.NOT_FOUND, "not in the index") for name in missing])
    print_result(as_json, {"removed": removed, "missing": missing}, f"{len(removed)} removed")
    context.exit(ERROR if missing else FOUND)


@index.command()
@_WHERE
@click.option("--documents", is_flag=True, help="List every document too.")
@JSON
def info(where: str, documents: bool, as_json: bool) -> None:
    """Show the size, the recipe and what needs attention."""
    with _open(where) as opened:
        size, settings = opened.info(), opened.store.settings
        result = asdict(size) | {
            "recipe": settings.recipe.receipt(),
            "content": settings.content,
            "stored": settings.stored,
            "suspicious": [probed._asdict() for probed in opened.suspicious()],
        }
        records = [_record(document) for document in opened] if documents else []
    if documents:
        result["documents_list"] = records
    lines = [
        f"{counted(size.documents, 'document')}, {counted(size.postings, 'posting')}, "
        f"{counted(size.segments, 'segment')}, {size.bytes / 1e6:,.1f} MB",
        f"recipe {settings.recipe}; content stored: {settings.content}",
        *([f"{settings.stored:,} of {settings.recipe.w:,} fingerprints stored"] if settings.stored else []),
        *([f"{counted(size.removed, 'removed document')} to drop at the next merge"] if size.removed else []),
        *(f"damaged: {printable(damage)}" for damage in size.damaged),
        *(
            f"suspicious: {probed['queries']} different queries came close to {printable(probed['name'])}"
            for probed in result["suspicious"]
        ),
        *(f"{d['size']:>12,} bytes  {d['date'] or '':10}  {printable(d['name'])}" for d in records),
    ]
    print_result(as_json, result, "\n".join(lines))


def _record(document: DocumentRecord) -> dict[str, Any]:
    return {
        "name": document.name,
        **asdict(document.metadata),
        "size": document.size,
        "symbols": document.symbols,
        "digest": document.digest.hex(),
        "generation": document.generation,
        "boilerplate": document.boilerplate,
    }


@index.command()
@_WHERE
@JSON
def merge(where: str, as_json: bool) -> None:
    """Compact the index fully; partial compaction is automatic."""
    with _open(where) as opened:
        opened.merge(progress)
        size = opened.info()
    print_result(as_json, asdict(size), f"{counted(size.segments, 'segment')}, {size.bytes / 1e6:,.1f} MB")


@index.command()
@_WHERE
@JSON
@click.pass_context
def verify(context: click.Context, /, where: str, as_json: bool) -> None:
    """Read everything and report what is wrong."""
    with _open(where) as opened:
        problems = opened.verify(progress)
    for problem in problems:
        warn(problem)
    print_result(as_json, {"problems": problems}, counted(len(problems), "problem"))
    context.exit(ERROR if problems else FOUND)


@index.command()
@_WHERE
@click.argument("names", nargs=-1)
@click.option("--suspicious", is_flag=True, help="Rotate documents that many similar queries came close to.")
@click.option("--source", "sources", multiple=True, type=PATH, help="The files, if the texts are not stored.")
@JSON
@click.pass_context
def rotate(
    context: click.Context,
    /,
    where: str,
    names: tuple[str, ...],
    suspicious: bool,
    sources: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Choose again which fingerprints are stored.

    This is for the recipe koala. It rotates the documents you name, or all of them.
    """
    with _open(where) as opened:
        chosen = [*names, *(probed.name for probed in opened.suspicious())] if suspicious else list(names)
        report = opened.rotate(chosen if names or suspicious else None, sources=sources, progress=progress)
    warn_skipped(report.skipped)
    result = {"rotated": report.rotated, "skipped": [asdict(s) for s in report.skipped]}
    print_result(as_json, result, f"{len(report.rotated)} rotated, {len(report.skipped)} skipped")
    context.exit(ERROR if report.skipped else FOUND if report.rotated else NOTHING)


@index.command()
@_WHERE
@click.argument("path", type=PATH)
@JSON
def export(where: str, path: Path, as_json: bool) -> None:
    """Write the index as JSON Lines, compressed if PATH ends in .gz.

    The file contains the secret of a koala index.
    """
    with _open(where) as opened:
        count = opened.export(path)
    result = {"documents": count, "path": str(path)}
    print_result(as_json, result, f"{counted(count, 'document')} written to {printable(str(path))}")


@index.command("import")
@_WHERE
@click.argument("path", type=PATH)
@JSON
def import_(where: str, path: Path, as_json: bool) -> None:
    """Create an index from an export, or resume an import."""
    from chaffinch.index.index import open_for_import

    with open_for_import(where, path) as opened:
        count = opened.import_(path)
    print_result(as_json, {"documents": count}, f"{counted(count, 'document')} imported")


@main.command()
@_WHERE
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option("--effort", type=click.FloatRange(0, 1), default=1.0, help=_EFFORT_HELP)
@click.option("--window", type=int, help="Wider is faster, and still finds every shared run of WINDOW+K-1.")
@click.option("--top", type=click.IntRange(1), default=20, help="Hits to show for each file, at most.")
@click.option("-o", "--output", type=PATH, help="Write a report: a .html file or a folder.")
@JSON
@click.pass_context
def search(
    context: click.Context,
    /,
    where: str,
    files: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
    **how: Any,
) -> None:
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
    if as_json:
        print_json(to_json(answers, skipped))
    else:
        for answer in answers:
            _show(answer)
    if output:
        click.echo(f"Report: {printable(str(output))}", err=as_json)
    context.exit(exit_code(any(answer.hits for answer in answers), skipped, files, read))


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
    for damage in answer.receipt.damaged:
        warn(f"not searched: {damage}")
