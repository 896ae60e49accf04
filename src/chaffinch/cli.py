"""The command line. Exit codes: 0 something was found, 1 nothing was found, 2 an error."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from chaffinch import __version__, language
from chaffinch.errors import ChaffinchError, CoreFailure, Unreadable
from chaffinch.recipe import SCHEMES, TIES, Recipe

if TYPE_CHECKING:
    from chaffinch.types import Document, Fingerprints

FOUND, NOTHING, ERROR = 0, 1, 2
_BATCH_BYTES = 64 << 20
Command = TypeVar("Command", bound=Callable[..., Any])


class _Group(click.Group):
    """Turns errors into messages: no traceback, exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows another
                stream.reconfigure(errors="replace")
        try:
            return super().invoke(context)
        except ChaffinchError as error:
            _complain(str(error))
        except BrokenPipeError:  # the reader of our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return context.exit(FOUND)
        except OSError as error:
            _complain(f"{error.strerror or error}")
        return context.exit(ERROR)


def _complain(message: str) -> None:
    click.echo(f"chaffinch: {_printable(message)}", err=True)


def _printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _as_receipt(recipe: Recipe) -> dict[str, Any]:
    """The recipe for others to see: without its seed, which may be a secret."""
    shown = recipe.to_dict() | {"guarantee": recipe.guarantee, "seeded": bool(recipe.seed)}
    del shown["seed"]
    return shown


def recipe_options(command: Command) -> Command:
    """The options that make a Recipe."""
    default = Recipe()
    schemes, ties = click.Choice(SCHEMES), click.Choice(TIES)
    options = (
        click.option("-k", default=default.k, help="Nothing shorter than K symbols is reported."),
        click.option("-w", default=default.w, help="Window: runs of W+K-1 are always found."),
        click.option("--front", default=default.front, help="text, consonants, bytes or a language."),
        click.option("--scheme", type=schemes, default=default.scheme, help="How grams are chosen."),
        click.option("--ties", type=ties, default=default.ties, help="Which of equal grams."),
        click.option("--seed", default=default.seed, help="A secret makes the choice unpredictable."),
    )
    for option in reversed(options):  # decorators apply from the inside out
        command = option(command)
    return command


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__)
def main() -> None:
    """Chaffinch finds what was copied.

    Every shared run of t symbols is found, nothing shorter than k is reported.
    """


@main.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@recipe_options
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON on standard output.")
@click.pass_context
def fingerprint(context: click.Context, /, paths: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Fingerprint files: how many symbols and fingerprints each has.

    With --json also every fingerprint: its hash (hexadecimal), its position in the canonical stream, and the
    bytes it covers.
    """
    recipe = Recipe(**options)
    skipped: list[dict[str, str]] = []
    results = _fingerprint_files(paths, recipe, skipped)
    total = 0
    if as_json:
        click.echo(f'{{"recipe": {json.dumps(_as_receipt(recipe))}, "documents": [')
        between = ""
        for document, prints in results:
            total += len(prints)
            click.echo(between + json.dumps(_as_dict(document, prints)), nl=False)
            between = ",\n"
        click.echo(f'\n], "skipped": {json.dumps(skipped)}}}')
    else:
        click.echo(f"{'symbols':>12} {'fingerprints':>12}  document")
        for document, prints in results:
            total += len(prints)
            click.echo(f"{prints.symbols:12} {len(prints):12}  {_printable(document.name)}")
        promise = f"runs of {recipe.guarantee} symbols are always found" if recipe.guarantee else "no guarantee"
        click.echo(f"{total} fingerprints by {recipe}: {promise}")
    context.exit(ERROR if skipped else FOUND if total else NOTHING)


def _fingerprint_files(
    paths: tuple[Path, ...], recipe: Recipe, skipped: list[dict[str, str]]
) -> Iterator[tuple[Document, Fingerprints]]:
    """Reads, fingerprints and forgets: memory holds one batch. Unreadable files are told of and left out."""
    from chaffinch import api

    batch: list[Document] = []
    size = 0
    quiet = len(paths) < 2 or not (sys.stderr and sys.stderr.isatty())
    with click.progressbar(paths, label="Fingerprinting", file=sys.stderr, hidden=quiet) as bar:
        for path in bar:
            try:
                document = api.document(path)
                if size + len(document.data) > _BATCH_BYTES:
                    yield from _fingerprint_batch(batch, recipe, skipped)
                    batch, size = [], 0
                batch.append(document)
                size += len(document.data)
            except Unreadable as error:
                _skip(str(path), error, skipped)
    yield from _fingerprint_batch(batch, recipe, skipped)


def _fingerprint_batch(
    batch: list[Document], recipe: Recipe, skipped: list[dict[str, str]]
) -> Iterator[tuple[Document, Fingerprints]]:
    """One bad document never loses the others: if the batch fails, each is tried alone."""
    from chaffinch import api

    try:
        yield from zip(batch, api.fingerprint_all(batch, recipe), strict=True)
    except (Unreadable, CoreFailure):
        for document in batch:
            try:
                yield document, api.fingerprint(document, recipe)
            except (Unreadable, CoreFailure) as error:
                _skip(document.name, error, skipped)


def _skip(name: str, error: ChaffinchError, skipped: list[dict[str, str]]) -> None:
    _complain(str(error))
    skipped.append({"name": name, "why": str(error)})


def _as_dict(document: Document, prints: Fingerprints) -> dict[str, Any]:
    return {
        "name": document.name,
        "bytes": len(document.data),
        "symbols": prints.symbols,
        "hashes": [f"{h:016x}" for h in prints.hashes.tolist()],
        "positions": prints.positions.tolist(),
        "starts": prints.starts.tolist(),
        "ends": prints.ends.tolist(),
    }


@main.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
def languages(as_json: bool) -> None:
    """List the programming languages that --front can name, and the files taken for each."""
    tables = {name: language.table(name) for name in language.languages()}
    if as_json:
        keys = ("name", "version", "aliases", "extensions", "interpreters")
        click.echo(json.dumps({n: {key: t.get(key, []) for key in keys} for n, t in tables.items()}, indent=1))
        return
    for name, table in tables.items():
        extensions = " ".join("." + e for e in table.get("extensions", ()))
        click.echo(f"{name:14} {table['name']:20} {extensions}")


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@recipe_options
@click.option("--symbols", "shown", default=600, help="How much of the document to show.")
@click.option("--json", "as_json", is_flag=True, help="The canonical stream and the fingerprints, as JSON.")
@click.pass_context
def explain(context: click.Context, /, file: Path, shown: int, as_json: bool, **options: Any) -> None:
    """Show what is compared: the canonical stream, the windows, the grams chosen."""
    from chaffinch import api
    from chaffinch.explain import explain as lines

    recipe = Recipe(**options)
    document = api.document(file)
    prints = api.fingerprint(document, recipe)
    if as_json:
        stream = api.stream(document, recipe)
        columns = {
            "symbols": stream.symbols.tolist(),
            "starts": stream.starts.tolist(),
            "ends": stream.ends.tolist(),
        }
        chosen = _as_dict(document, prints)
        click.echo(json.dumps({"recipe": _as_receipt(recipe), "stream": columns, "fingerprints": chosen}))
    else:
        for line in lines(document, recipe, prints, max(1, shown)):
            click.echo(line)
    context.exit(FOUND if len(prints) else NOTHING)
