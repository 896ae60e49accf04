"""The commands about single documents: fingerprint, explain, submissions, languages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaffinch.cli.app import (
    ERROR,
    EXCLUDE,
    FOUND,
    INCLUDE,
    JSON,
    NOTHING,
    PATH,
    PATHS,
    STUDENT_PATTERN,
    K,
    W,
    exit_code,
    main,
)
from chaffinch.cli.output import counted, printable, progress, warn, warn_skipped
from chaffinch.languages import language
from chaffinch.read.rules import DEFAULT, Rules
from chaffinch.read.skipped_groups import grouped
from chaffinch.recipe import SCHEMES, TIES, Recipe
from chaffinch.types import Document, Skipped

if TYPE_CHECKING:
    from chaffinch.types import Fingerprints

_BATCH_SIZE = 64 << 20
"""Bytes. The documents of one batch are in memory together and are fingerprinted in parallel."""


def _recipe_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a recipe."""
    schemes, ties = click.Choice(SCHEMES), click.Choice(TIES)
    for option in (
        click.option("--skip", default=0, help="Symbols to ignore at the start, with smallest and rare."),
        click.option("--seed", default=0, help="Secret number that makes the choice unpredictable."),
        click.option("--ties", type=ties, default="robust", help="Which of equal grams to choose."),
        click.option("--scheme", type=schemes, default="open-closed", help="How to choose grams."),
        W,
        K,
        click.option(
            "-l", "--language", default="auto", help="text, consonants, bytes or a language; auto detects it."
        ),
    ):  # the help lists the last one first
        command = option(command)
    return command


class _Recipes(dict[str, Recipe]):
    """The recipe for each language, made for the first document in it."""

    def __init__(self, language: str, **options: Any) -> None:
        super().__init__()
        self._options = options
        self.fixed = None if language == "auto" else Recipe(language, **options)
        if self.fixed is None:
            Recipe(**options)  # so that an error in the options comes before anything is read

    def __missing__(self, language: str) -> Recipe:
        self[language] = self.fixed or Recipe(language, **self._options)
        return self[language]


@main.command()
@PATHS
@_recipe_options
@EXCLUDE
@INCLUDE
@JSON
@click.pass_context
def fingerprint(
    context: click.Context,
    /,
    paths: tuple[Path, ...],
    exclude: tuple[str, ...],
    include: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Count the symbols and fingerprints of each document.

    With --json, list every fingerprint: its hash (hexadecimal), its position in the canonical stream, and the
    bytes it covers.
    """
    recipes = _Recipes(**options)
    skipped: list[Skipped] = []
    names: list[str] = []
    total = 0
    header = f"{'symbols':>12} {'fingerprints':>12}  {'language':12} document"
    click.echo('{"documents": [' if as_json else header)
    documents = _documents(paths, recipes, Rules(include, exclude))
    for document, prints in _fingerprint_documents(documents, recipes, skipped):
        if as_json:
            click.echo((",\n" if names else "") + json.dumps(_with_fingerprints(document, prints)), nl=False)
        else:
            counts = f"{prints.symbols:12} {len(prints):12}"
            click.echo(f"{counts}  {document.language:12} {printable(document.name)}")
        names.append(document.name)
        total += len(prints)
    if as_json:
        receipts = {name: recipe.receipt() for name, recipe in sorted(recipes.items())}
        entries = json.dumps([asdict(s) for s in skipped])
        click.echo(f'\n], "recipes": {json.dumps(receipts)}, "skipped": {entries}}}')
    else:
        for recipe in dict.fromkeys(recipes.values()):
            t = recipe.guarantee
            click.echo(f"{recipe}: {f'every shared run of {t} symbols is found' if t else 'no guarantee'}")
        click.echo(counted(total, "fingerprint"))
    context.exit(exit_code(total > 0, skipped, paths, names))


def _fingerprint_documents(
    documents: Iterator[Document | Skipped], recipes: _Recipes, skipped: list[Skipped]
) -> Iterator[tuple[Document, Fingerprints]]:
    """Read and fingerprint one batch after the other, so that memory holds only one."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        if isinstance(document, Skipped):
            _skip(document, skipped)
            continue
        if size + len(document.data) > _BATCH_SIZE:
            yield from _fingerprint_batch(batch, recipes, skipped)
            batch, size = [], 0
        progress(f"Reading {document.name} ...")
        batch.append(document)
        size += len(document.data)
    yield from _fingerprint_batch(batch, recipes, skipped)


def _documents(
    paths: tuple[Path, ...], recipes: _Recipes, rules: Rules = DEFAULT
) -> Iterator[Document | Skipped]:
    """Yield the documents in the paths; if bytes are compared, every file as it is."""
    from chaffinch.read import collect
    from chaffinch.read.ready import raw_document

    if recipes.fixed is None or recipes.fixed.front != "bytes":
        return collect.documents(paths, include=rules.include, exclude=rules.exclude)
    return (f if isinstance(f, Skipped) else raw_document(f) for f in collect.files(paths, rules))


def _fingerprint_batch(
    batch: list[Document], recipes: _Recipes, skipped: list[Skipped]
) -> Iterator[tuple[Document, Fingerprints]]:
    """Yield the documents with their fingerprints, in the same order."""
    from chaffinch import fingerprinting

    prints: dict[int, Fingerprints] = {}
    for name in sorted({document.language for document in batch}):
        numbers = [i for i, document in enumerate(batch) if document.language == name]
        prepared = fingerprinting.prepare([batch[i] for i in numbers], recipes[name])
        prints.update(zip((numbers[i] for i in prepared.numbers), prepared.prints, strict=True))
        for entry in prepared.skipped:
            _skip(entry, skipped)
    progress("")
    yield from ((batch[i], prints[i]) for i in sorted(prints))


def _skip(entry: Skipped, skipped: list[Skipped]) -> None:
    warn(f"{entry.name}: {entry.detail}")
    skipped.append(entry)


def _description(document: Document) -> dict[str, Any]:
    described = {key: getattr(document, key) for key in ("name", "format", "language")}
    return described | {"bytes": len(document.data)}


def _with_fingerprints(document: Document, prints: Fingerprints) -> dict[str, Any]:
    columns = {key: getattr(prints, key).tolist() for key in ("positions", "starts", "ends")}
    hashes = [f"{h:016x}" for h in prints.hashes.tolist()]
    return _description(document) | {"symbols": prints.symbols, "hashes": hashes} | columns


@main.command()
@click.argument("file", type=PATH)
@_recipe_options
@click.option("--symbols", "shown", default=600, help="How many symbols of the document to show.")
@JSON
@click.pass_context
def explain(context: click.Context, /, file: Path, shown: int, as_json: bool, **options: Any) -> None:
    """Show how a document is fingerprinted.

    You see its canonical stream, which is what is compared, the windows, and the chosen grams. If FILE is a
    folder or an archive, you see its first document.
    """
    from chaffinch import fingerprinting
    from chaffinch.cli.explain import explanation

    recipes = _Recipes(**options)
    document = _first_document(file, recipes)
    if document is None:
        context.exit(ERROR)
    recipe = recipes[document.language]
    prints = fingerprinting.fingerprint(document, recipe)
    if as_json:
        stream = fingerprinting.stream(document, recipe)
        columns = {name: getattr(stream, name).tolist() for name in ("symbols", "starts", "ends")}
        receipts = {document.language: recipe.receipt()}
        result = {"recipes": receipts, "stream": columns, "fingerprints": _with_fingerprints(document, prints)}
        click.echo(json.dumps(result))
    else:
        for line in explanation(document, recipe, prints, max(1, shown)):
            click.echo(line)
    context.exit(FOUND if len(prints) else NOTHING)


def _first_document(path: Path, recipes: _Recipes) -> Document | None:
    """Return the first document in a path, and warn if there are others or none."""
    first: Document | None = None
    skipped: list[Skipped] = []
    for document in _documents((path,), recipes):
        if isinstance(document, Skipped):
            skipped.append(document)
        elif first is not None:
            warn(f"{path}: has several documents; this is the first: {first.name}")
            break
        else:
            first = document
    warn_skipped(skipped, "`chaffinch submissions` lists them")
    if first is None and str(path) not in (entry.name for entry in skipped):
        warn(f"{path}: has no document that can be read; name a file with text or a program")
    return first


@main.command()
@PATHS
@STUDENT_PATTERN
@EXCLUDE
@INCLUDE
@JSON
@click.pass_context
def submissions(
    context: click.Context,
    /,
    paths: tuple[Path, ...],
    student_pattern: str | None,
    exclude: tuple[str, ...],
    include: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show what each student handed in, and what is skipped.

    The work of a student is a file, a folder or an archive. The exports of Moodle, Canvas, Gradescope, GitHub
    Classroom and Blackboard are recognised.
    """
    from chaffinch.read import collect

    progress("Reading ...")
    collected, skipped = collect.submissions(paths, student_pattern, include=include, exclude=exclude)
    progress("")
    if as_json:
        described = [
            {"name": s.name, "documents": [_description(d) for d in s.documents]}
            | ({"skipped": [asdict(entry) for entry in s.skipped]} if s.skipped else {})
            for s in collected
        ]
        click.echo(json.dumps({"submissions": described, "skipped": [asdict(s) for s in skipped]}, indent=1))
    else:
        for submission in collected:
            click.echo(printable(submission.name))
            for d in submission.documents:
                click.echo(f"    {d.language:12} {len(d.data):>10} bytes  {printable(d.name)}")
            for group in grouped(submission.skipped):
                click.echo(f"    nothing to compare: {printable(f'{group.title}: {group.detail}')}")
        for group in grouped(skipped):
            warn(f"{group.title}: {group.detail}")
        click.echo(f"{counted(len(collected), 'submission')}, {len(skipped)} skipped")
    read = (document.name for submission in collected for document in submission.documents)
    context.exit(exit_code(bool(collected), skipped, paths, read))


@main.command()
@JSON
def languages(as_json: bool) -> None:
    """List the programming languages and their file extensions."""
    tables = {name: language.table(name) for name in language.languages()}
    if as_json:
        keys = ("name", "version", "aliases", "extensions", "interpreters")
        click.echo(json.dumps({n: {key: t.get(key, []) for key in keys} for n, t in tables.items()}, indent=1))
        return
    for name, table in tables.items():
        extensions = " ".join("." + e for e in table.get("extensions", ()))
        click.echo(f"{name:14} {table['name']:20} {extensions}")
