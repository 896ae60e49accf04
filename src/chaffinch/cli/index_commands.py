"""The commands of an index: create it, add to it, search it, keep it in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaffinch.cli.commands import (
    ERROR,
    FOUND,
    NOTHING,
    as_dicts,
    complain,
    is_error,
    main,
    on_terminal,
    printable,
    tell_json,
    tell_skipped,
)
from chaffinch.errors import SkipReason, Unreadable
from chaffinch.types import Document, Skipped

if TYPE_CHECKING:
    from chaffinch.index.hits import Answer
    from chaffinch.index.index import Index
    from chaffinch.index.records import Stored

_PATHS = click.Path(path_type=Path)
_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
_WHERE = click.argument("where", metavar="INDEX")
_SHOWN = 12


@main.group()
def index() -> None:
    """Keep an index: an archive that grows and can be searched.

    INDEX is a folder, or the address of a PostgreSQL database: postgresql://user@host/database#name.
    """


def _opened(where: str) -> Index:
    from chaffinch.index.index import Index

    return Index.open(where)


def _tell(line: str) -> None:
    if (show := on_terminal()) is not None:
        show(line)


def _say(as_json: bool, told: dict[str, Any], line: str) -> None:
    """The one result of a command."""
    _tell("")
    if as_json:
        tell_json(told)
    else:
        click.echo(line)


@index.command()
@_WHERE
@click.option("--recipe", default="text", help="text, code, koala, or one language.")
@click.option("-k", type=int, help="Nothing shorter is reported.  [25 symbols; 12 for programs]")
@click.option("-w", type=int, help="Window: runs of W+K-1 are always found.  [26; 9 for programs]")
@click.option("--no-content", is_flag=True, help="Keep fingerprints alone, for privacy.")
@click.option("--keep-search-set", is_flag=True, help="koala: keep what can be stored, not the text.")
@click.option("--stored", type=int, help="koala: fingerprints stored of each document.  [100]")
@click.option("--searched", type=int, help="koala: fingerprints searched with.  [1000]")
@click.option("--skip", type=int, help="koala: symbols passed over at the start of a document.  [100]")
@_JSON
def create(where: str, recipe: str, k: int | None, w: int | None, as_json: bool, **options: Any) -> None:
    """Make a new, empty index."""
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
    with Index.create(where, how, content=content, **koala) as made:
        told = {"index": where, "recipe": made.recipe.receipt(), "content": content}
        t = made.recipe.guarantee
        promise = (
            f"runs of {t} symbols are always found"
            if t
            else f"{made.store.settings.stored} fingerprints of each"
        )
        _say(as_json, told, f"{printable(where)}: made, with {made.recipe}: {promise}")


def _adding(command: Callable[..., None]) -> Callable[..., None]:
    """The options of those that add."""
    for option in (
        _JSON,
        click.option("--boilerplate", is_flag=True, help="What is in these is never a match."),
        click.option("--date", help="When it was written or handed in."),
        click.option("--contact", help="Whom to ask about it."),
        click.option("--url", help="Where it is."),
        click.argument("paths", nargs=-1, required=True, type=_PATHS),
        _WHERE,
    ):
        command = option(command)
    return command


@index.command()
@_adding
@click.pass_context
def add(context: click.Context, /, **options: Any) -> None:
    """Add files, folders, archives and JSON Lines.

    What is there already is passed over: an add that was cut off is simply run again. A line of JSON Lines has
    `text`, and `name`, `url`, `contact` and `date` if it likes.
    """
    _add(context, replacing=False, **options)


@index.command()
@_adding
@click.pass_context
def replace(context: click.Context, /, **options: Any) -> None:
    """Add, in the place of documents of the same names."""
    _add(context, replacing=True, **options)


def _add(
    context: click.Context,
    /,
    where: str,
    paths: tuple[Path, ...],
    replacing: bool,
    as_json: bool,
    boilerplate: bool,
    **about: str | None,
) -> None:
    from chaffinch.index.records import About

    read: list[str] = []
    size = 0

    def progress(document: Document) -> None:
        nonlocal size
        read.append(document.name)
        size += len(document.data)
        if len(read) % 100 == 1:
            _tell(f"Adding: {len(read):,} documents, {size >> 20:,} MB: {document.name}")

    with _opened(where) as opened:
        report = opened.add(
            paths, about=About(**about), boilerplate=boilerplate, replacing=replacing, progress=progress
        )
        _tell("Writing ...")
    _complain(report.skipped)
    told = {
        "added": report.added,
        "replaced": report.replaced,
        "already": report.already,
        "copies": [{"name": name, "of": of} for name, of in report.copies],
        "skipped": as_dicts(report.skipped),
    }
    for name, of in report.copies[:_SHOWN]:
        complain(f"{name}: has the same content as {of}")
    counts = f"{len(report.added)} added ({len(report.replaced)} in the place of others)"
    _say(as_json, told, f"{counts}, {len(report.already)} there already, {len(report.skipped)} left out")
    wrong = is_error(report.skipped, paths, read)
    context.exit(ERROR if wrong else FOUND if report.added or report.already else NOTHING)


def _complain(skipped: Iterable[Skipped]) -> None:
    tell_skipped(list(skipped), "--json has them all")


@index.command()
@_WHERE
@click.argument("names", nargs=-1, required=True)
@_JSON
@click.pass_context
def remove(context: click.Context, /, where: str, names: tuple[str, ...], as_json: bool) -> None:
    """Remove documents by their names."""
    from chaffinch.index.ingest import plain_name

    with _opened(where) as opened:
        gone = opened.remove(names)
    missing = sorted(name for name in set(names) if plain_name(name) not in gone)
    _complain(Skipped(name, SkipReason.NOT_FOUND, "not in the index") for name in missing)
    _say(as_json, {"removed": gone, "missing": missing}, f"{len(gone)} removed")
    context.exit(ERROR if missing else FOUND)


@index.command()
@_WHERE
@click.option("--documents", is_flag=True, help="Also every document.")
@_JSON
def info(where: str, documents: bool, as_json: bool) -> None:
    """How large it is, with what recipe, and what needs a look."""
    with _opened(where) as opened:
        about = opened.info()
        settings = opened.store.settings
        told = asdict(about) | {
            "recipe": settings.recipe.receipt(),
            "content": settings.content,
            "stored": settings.stored,
            "suspicious": [probed._asdict() for probed in opened.suspicious()],
        }
        everything = [_stored(document) for document in opened] if documents else []
    if documents:
        told["documents_list"] = everything
    lines = [
        f"{about.documents:,} documents, {about.postings:,} postings in {about.segments} segments, "
        f"{about.bytes / 1e6:,.1f} MB",
        f"recipe {settings.recipe}; content kept: {settings.content}",
        *([f"{settings.stored:,} of {settings.recipe.w:,} stored of each"] if settings.stored else []),
        *([f"{about.removed:,} removed documents wait for a merge"] if about.removed else []),
        *(f"damaged: {printable(trouble)}" for trouble in about.damaged),
        *(
            f"suspicious: {probed['queries']} different queries came close to {printable(probed['name'])}"
            for probed in told["suspicious"]
        ),
        *(f"{d['size']:>12,} bytes  {d['date'] or '':10}  {printable(d['name'])}" for d in everything),
    ]
    _say(as_json, told, "\n".join(lines))


def _stored(document: Stored) -> dict[str, Any]:
    return {
        "name": document.name,
        **asdict(document.about),
        "size": document.size,
        "symbols": document.symbols,
        "digest": document.digest.hex(),
        "generation": document.generation,
        "boilerplate": document.boilerplate,
    }


@index.command()
@_WHERE
@_JSON
def merge(where: str, as_json: bool) -> None:
    """Make it as small and fast as it can be. It happens by itself, but not all of it."""
    with _opened(where) as opened:
        opened.merge(_tell)
        about = opened.info()
    _say(as_json, asdict(about), f"{about.segments} segments, {about.bytes / 1e6:,.1f} MB")


@index.command()
@_WHERE
@_JSON
@click.pass_context
def verify(context: click.Context, /, where: str, as_json: bool) -> None:
    """Read everything and say what is wrong, if anything is."""
    with _opened(where) as opened:
        problems = opened.verify(_tell)
    for problem in problems:
        complain(problem)
    _say(as_json, {"problems": problems}, f"{len(problems)} problems" if problems else "all is well")
    context.exit(ERROR if problems else FOUND)


@index.command()
@_WHERE
@click.argument("names", nargs=-1)
@click.option("--suspicious", is_flag=True, help="Those that many slightly different queries came close to.")
@click.option(
    "--source", "sources", multiple=True, type=_PATHS, help="Where the texts are, if they are not kept."
)
@_JSON
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
    """Choose anew which fingerprints are stored: of the documents named, or of all. For the recipe koala."""
    with _opened(where) as opened:
        chosen = [*names, *(probed.name for probed in opened.suspicious())] if suspicious else list(names)
        report = opened.rotate(chosen if names or suspicious else None, sources=sources, progress=_tell)
    _complain(report.skipped)
    told = {"rotated": report.rotated, "skipped": as_dicts(report.skipped)}
    _say(as_json, told, f"{len(report.rotated)} chosen anew, {len(report.skipped)} left as they were")
    context.exit(ERROR if report.skipped else FOUND if report.rotated else NOTHING)


@index.command()
@_WHERE
@click.argument("path", type=_PATHS)
@_JSON
def export(where: str, path: Path, as_json: bool) -> None:
    """Write all of it as JSON Lines (.gz packs it), for another store. It has the secret of a koala index."""
    with _opened(where) as opened:
        count = opened.export(path)
    _say(
        as_json, {"documents": count, "path": str(path)}, f"{count} documents written to {printable(str(path))}"
    )


@index.command("import")
@_WHERE
@click.argument("path", type=_PATHS)
@_JSON
def import_(where: str, path: Path, as_json: bool) -> None:
    """Make an index of what export wrote, or go on with an import that was cut off."""
    from chaffinch.index.index import imported

    with imported(where, path) as opened:
        count = opened.import_(path)
    _say(as_json, {"documents": count}, f"{count} documents imported")


@main.command()
@_WHERE
@click.argument("files", nargs=-1, required=True, type=_PATHS)
@click.option("--effort", type=click.FloatRange(0, 1), default=1.0, help="Less looks up fewer fingerprints.")
@click.option("--window", type=int, help="A wider one looks up fewer too, and finds longer runs only.")
@click.option("--top", type=click.IntRange(1), default=20, help="At most so many hits for each file.")
@click.option("-o", "--output", type=_PATHS, help="A report: a .html file or a folder.")
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON on standard output.")
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
    """Search INDEX for what FILES share with the documents in it."""
    from chaffinch.index.answers import to_json, to_report
    from chaffinch.read import collect

    skipped: list[Skipped] = []
    read: list[str] = []
    answers: list[Answer] = []
    with _opened(where) as opened:
        for document in collect.documents(files):
            if isinstance(document, Skipped):
                skipped.append(document)
                continue
            read.append(document.name)
            _tell(f"Searching for {document.name} ...")
            try:
                answers.append(opened.search(document, **how))
            except Unreadable as error:
                skipped.append(Skipped.because(error, document.name))
        _tell("")
        if output:
            to_report(opened, answers, skipped).save(output)
    _complain(skipped)
    if as_json:
        tell_json(to_json(answers, skipped))
    else:
        for answer in answers:
            _show(answer)
    if output:
        click.echo(f"The report: {printable(str(output))}", err=as_json)
    found = any(answer.hits for answer in answers)
    context.exit(ERROR if is_error(skipped, files, read) else FOUND if found else NOTHING)


def _show(answer: Answer) -> None:
    click.echo(f"{printable(answer.query.name)}: {answer.found} documents with something in common")
    if answer.hits:
        click.echo(f"{'of it':>7} {'of theirs':>10} {'alike':>6}  {'relation':16} document")
    for hit in answer:
        share = f"{hit.containment.query:7.1%} {hit.containment.document:10.1%} {hit.resemblance:6.1%}"
        click.echo(f"{share}  {hit.relation:16} {printable(hit.document.name)}")
        if hit.note:
            click.echo(f"{'':27}{printable(hit.note)}")
    if answer.discounted:
        click.echo(f"{len(answer.discounted)} passages that many documents share counted less; --json has them")
    for trouble in answer.receipt["damaged"]:
        complain(f"not searched: {trouble}")
