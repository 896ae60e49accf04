"""The command line. Exit codes: 0 something was found, 1 nothing was found, 2 an error."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from chaffinch import __version__
from chaffinch.errors import ChaffinchError, SkipReason, Unreadable
from chaffinch.languages import language
from chaffinch.recipe import SCHEMES, TIES, Recipe
from chaffinch.types import Document, Skipped

if TYPE_CHECKING:
    from chaffinch.types import Fingerprints

FOUND, NOTHING, ERROR, STOPPED = 0, 1, 2, 130
_BATCH_BYTES = 64 << 20
_SHOWN = 12
_NOT_ERRORS = (SkipReason.EMPTY, SkipReason.TOO_SHORT, SkipReason.OWN_REPORT)
_LEFT_OUT = (SkipReason.EXCLUDED, SkipReason.OTHER_LANGUAGE)
Command = TypeVar("Command", bound=Callable[..., Any])
Item = TypeVar("Item")


class _Group(click.Group):
    """Turns errors into messages: no traceback, exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows another
                stream.reconfigure(errors="replace")
        try:
            return super().invoke(context)
        except ChaffinchError as error:
            warn(str(error))
        except BrokenPipeError:  # the reader of our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return context.exit(FOUND)
        except OSError as error:
            where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
            warn(f"{where}{error.strerror or error}")
        except KeyboardInterrupt:
            warn("stopped")
            return context.exit(STOPPED)
        except MemoryError:
            warn("not enough memory; compare less at once, or leave out the largest files")
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except Exception as error:  # 1 would mean that nothing was found
            place = traceback.extract_tb(error.__traceback__)[-1]
            warn(
                f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno}); "
                "this is a defect, please report it"
            )
        return context.exit(ERROR)


def warn(message: str) -> None:
    click.echo(f"chaffinch: {printable(message)}", err=True)


def printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def terminal_progress() -> Callable[[str], None] | None:
    """Return a function that shows progress on one line of the terminal, or None if there is no terminal."""
    if not (sys.stderr and sys.stderr.isatty()):
        return None
    return lambda stage: click.echo(f"\r\x1b[K{printable(stage)[:100]}", nl=False, err=True)


def recipe_options(command: Command) -> Command:
    """The options that make a Recipe for each language."""
    schemes, ties = click.Choice(SCHEMES), click.Choice(TIES)
    options = (
        click.option(
            "-l",
            "--language",
            default="auto",
            help="text, consonants, bytes or a language; by the file if auto.",
        ),
        click.option("-k", type=int, help="Nothing shorter is reported.  [25 symbols; 12 for programs]"),
        click.option("-w", type=int, help="Window: runs of W+K-1 are always found.  [26; 9 for programs]"),
        click.option("--scheme", type=schemes, default="open-closed", help="How grams are chosen."),
        click.option("--ties", type=ties, default="robust", help="Which of equal grams."),
        click.option("--seed", default=0, help="A secret makes the choice unpredictable."),
        click.option("--skip", default=0, help="Symbols to pass over at the start, with the scheme rare."),
    )
    for option in reversed(options):  # decorators apply from the inside out
        command = option(command)
    return command


class _Recipes(dict[str, Recipe]):
    """The recipe for documents of each language, made when the first comes."""

    def __init__(self, language: str, **options: Any) -> None:
        super().__init__()
        self._options = options
        self.asked = None if language == "auto" else Recipe(language, **options)
        if self.asked is None:
            Recipe(**options)  # wrong options are told before anything is read

    def __missing__(self, language: str) -> Recipe:
        self[language] = self.asked or Recipe(language, **self._options)
        return self[language]


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
    recipes = _Recipes(**options)
    skipped: list[Skipped] = []
    results = _fingerprint_files(paths, recipes, skipped)
    total = 0
    read: list[str] = []
    if as_json:
        click.echo('{"documents": [')
        between = ""
        for document, prints in results:
            total += len(prints)
            read.append(document.name)
            click.echo(between + json.dumps(_as_dict(document, prints)), nl=False)
            between = ",\n"
        receipts = {name: recipe.receipt() for name, recipe in sorted(recipes.items())}
        click.echo(f'\n], "recipes": {json.dumps(receipts)}, "skipped": {json.dumps(as_dicts(skipped))}}}')
    else:
        click.echo(f"{'symbols':>12} {'fingerprints':>12}  {'language':12} document")
        for document, prints in results:
            total += len(prints)
            read.append(document.name)
            counts = f"{prints.symbols:12} {len(prints):12}"
            click.echo(f"{counts}  {document.language:12} {printable(document.name)}")
        for recipe in dict.fromkeys(recipes.values()):
            t = recipe.guarantee
            click.echo(f"{recipe}: {f'runs of {t} symbols are always found' if t else 'no guarantee'}")
        click.echo(f"{total} fingerprints")
    context.exit(ERROR if is_error(skipped, paths, read) else FOUND if total else NOTHING)


def _fingerprint_files(
    paths: tuple[Path, ...], recipes: _Recipes, skipped: list[Skipped]
) -> Iterator[tuple[Document, Fingerprints]]:
    """Reads, fingerprints and forgets: memory holds one batch. Unreadable files are told of and left out."""
    batch: list[Document] = []
    size = 0
    with _progress(_documents(paths, recipes), "Fingerprinting") as documents:
        for document in documents:
            if not isinstance(document, Document):
                _skip(document, skipped)
                continue
            if size + len(document.data) > _BATCH_BYTES:
                yield from _fingerprint_batch(batch, recipes, skipped)
                batch, size = [], 0
            batch.append(document)
            size += len(document.data)
    yield from _fingerprint_batch(batch, recipes, skipped)


def _documents(paths: tuple[Path, ...], recipes: _Recipes) -> Iterator[Document | Skipped]:
    """What is in the paths; as bytes, files are taken as they are."""
    from chaffinch.read import collect
    from chaffinch.read.ready import raw_document

    as_bytes = recipes.asked is not None and recipes.asked.front == "bytes"
    if not as_bytes:
        return collect.documents(paths)
    return (f if isinstance(f, Skipped) else raw_document(f) for f in collect.files(paths))


def _fingerprint_batch(
    batch: list[Document], recipes: _Recipes, skipped: list[Skipped]
) -> Iterator[tuple[Document, Fingerprints]]:
    """In the order they came, whatever their languages."""
    from chaffinch import fingerprinting as api

    done: dict[int, Fingerprints] = {}
    for kind in sorted({document.language for document in batch}):
        chosen = [i for i, document in enumerate(batch) if document.language == kind]
        recipe = recipes[kind]
        prepared = api.prepare([batch[i] for i in chosen], recipe)
        done.update(zip((chosen[i] for i in prepared.numbers), prepared.prints, strict=True))
        for left_out in prepared.skipped:
            _skip(left_out, skipped)
    yield from ((batch[i], done[i]) for i in sorted(done))


def _skip(left_out: Skipped, skipped: list[Skipped]) -> None:
    warn(f"{left_out.name}: {left_out.detail}")
    skipped.append(left_out)


def _progress(items: Iterable[Item], label: str) -> Any:
    """A progress bar on a terminal, for what takes a while."""
    quiet = not (sys.stderr and sys.stderr.isatty())
    return click.progressbar(
        items, label=label, file=sys.stderr, hidden=quiet, show_eta=False, item_show_func=_name_of
    )


def _name_of(item: Any) -> str | None:
    return None if item is None else printable(item.name)[-40:]


def is_error(skipped: Iterable[Skipped], paths: tuple[Path, ...], read: Iterable[str]) -> bool:
    """Whether something that was asked for by name could not be read: a file, or anything in an archive."""
    failed = [s for s in skipped if s.reason not in _NOT_ERRORS]
    if not {str(path) for path in paths}.isdisjoint(s.name for s in failed):
        return True
    archives = {str(path) for path in paths if path.is_file()}
    broken = archives.intersection(_around(s.name for s in failed if s.reason not in _LEFT_OUT))
    return bool(broken.difference(_around(read)))


def _around(names: Iterable[str]) -> Iterator[str]:
    """The archives and folders that these are in."""
    return (name[: slash.start()] for name in names for slash in re.finditer("/", name))


def print_json(value: Any) -> None:
    """Write JSON in UTF-8, whatever the encoding of the terminal, since a program reads it."""
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def warn_skipped(skipped: Sequence[Skipped], rest: str) -> None:
    """Print the first entries, and where the others are listed."""
    for left_out in skipped[:_SHOWN]:
        warn(f"{left_out.name}: {left_out.detail}")
    if len(skipped) > _SHOWN:
        warn(f"and {len(skipped) - _SHOWN} more left out; {rest}")


def as_dicts(skipped: Iterable[Skipped]) -> list[dict[str, str]]:
    return [{"name": s.name, "reason": s.reason, "detail": s.detail} for s in skipped]


def _description(document: Document) -> dict[str, Any]:
    return {
        "name": document.name,
        "format": document.format,
        "language": document.language,
        "bytes": len(document.data),
    }


def _as_dict(document: Document, prints: Fingerprints) -> dict[str, Any]:
    return _description(document) | {
        "symbols": prints.symbols,
        "hashes": [f"{h:016x}" for h in prints.hashes.tolist()],
        "positions": prints.positions.tolist(),
        "starts": prints.starts.tolist(),
        "ends": prints.ends.tolist(),
    }


@main.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--student-pattern", metavar="REGEX", help="Finds the student's name in a path.")
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
@click.pass_context
def submissions(
    context: click.Context, /, paths: tuple[Path, ...], student_pattern: str | None, as_json: bool
) -> None:
    """Show what each student handed in, as it will be compared, and what is left out.

    Folders, archives and files for each student are told apart by themselves, and so are the exports of Moodle,
    Canvas, Gradescope, GitHub Classroom and Blackboard.
    """
    from chaffinch.read import collect

    found, skipped = collect.submissions(paths, student_pattern)
    if as_json:
        described = [{"name": s.name, "documents": [_description(d) for d in s.documents]} for s in found]
        click.echo(json.dumps({"submissions": described, "skipped": as_dicts(skipped)}, indent=1))
    else:
        for submission in found:
            click.echo(printable(submission.name))
            for document in submission.documents:
                click.echo(
                    f"    {document.language:12} {len(document.data):>10} bytes  {printable(document.name)}"
                )
        for left_out in skipped:
            warn(f"{left_out.name}: {left_out.detail}")
        click.echo(f"{len(found)} submissions, {len(skipped)} files or folders left out")
    read = (d.name for submission in found for d in submission.documents)
    context.exit(ERROR if is_error(skipped, paths, read) else FOUND if found else NOTHING)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
def languages(as_json: bool) -> None:
    """List the programming languages that --language can name, and the files taken for each."""
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
    from chaffinch import fingerprinting as api
    from chaffinch.cli.explain import explain as lines

    recipes = _Recipes(**options)
    found = list(islice(_documents((file,), recipes), 1))
    if not isinstance(found[0], Document):
        raise Unreadable(found[0].name, found[0].reason, found[0].detail)
    document = found[0]
    recipe = recipes[document.language]
    prints = api.fingerprint(document, recipe)
    if as_json:
        stream = api.stream(document, recipe)
        columns = {
            "symbols": stream.symbols.tolist(),
            "starts": stream.starts.tolist(),
            "ends": stream.ends.tolist(),
        }
        chosen = _as_dict(document, prints)
        receipts = {document.language: recipe.receipt()}
        click.echo(json.dumps({"recipes": receipts, "stream": columns, "fingerprints": chosen}))
    else:
        for line in lines(document, recipe, prints, max(1, shown)):
            click.echo(line)
    context.exit(FOUND if len(prints) else NOTHING)
