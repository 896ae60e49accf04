"""The commands that compare submissions: compare and demo."""

from __future__ import annotations

import json
import os
import shlex
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaffinch.cli.app import (
    ERROR,
    EXCLUDE,
    INCLUDE,
    JSON,
    OCR,
    PATH,
    PATHS,
    STUDENT_PATTERN,
    exit_code,
    in_order,
    main,
)
from chaffinch.cli.output import LISTED, counted, print_json, printable, progress, warn, warn_skipped
from chaffinch.comparison.options import SORTS
from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.rules import Rules
from chaffinch.read.skipped_groups import first_of
from chaffinch.read.submissions.sections import find_sections

if TYPE_CHECKING:
    from chaffinch.types import Receipt, Report

_REPORT = "chaffinch-report.html"
_NOT_A_REPORT = (".pdf", ".json", ".csv", ".txt", ".md", ".docx")
"""Endings that show that the user expects another kind of file."""
_NOTED_FILES = 3
"""Files that several submissions have, of which the terminal shows a line each."""
_ONE, _TWO = click.IntRange(1), click.IntRange(2)


@main.command()
@PATHS
@click.option("-l", "--language", default="auto", help="Compare only text or one language; auto compares all.")
@click.option(
    "-b",
    "--base",
    multiple=True,
    type=PATH,
    callback=in_order,
    help="Base code: what everybody was given. Repeatable.",
)
@click.option(
    "--old",
    multiple=True,
    metavar="PATH",
    callback=in_order,
    help="Earlier work, or an index of it. Repeatable.",
)
@click.option("-o", "--output", type=PATH, help=f"A .html file or a folder.  [{_REPORT}; none with --json]")
@click.option("--top", type=_ONE, default=500, metavar="N", help="List at most N pairs.")
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    metavar="FIGURE",
    help=f"Sort by {', '.join(SORTS)}.  [the report's own order]",
)
@click.option(
    "--threshold", type=click.FloatRange(0, 1), help="Lowest score to list.  [what stands out from the class]"
)
@click.option("-m", "--max-owners", type=_TWO, metavar="N", help="Ignore what more than N submissions share.")
@click.option("-k", type=int, metavar="N", help="Shortest match, in symbols.  [18; 12 for programs]")
@click.option(
    "-w", type=int, metavar="N", help="Window: finds every shared run of W+K-1.  [18; 9 for programs]"
)
@STUDENT_PATTERN
@EXCLUDE
@INCLUDE
@OCR
@click.option("--anonymize", is_flag=True, help="Replace the names of students, inside their work too.")
@click.option("--verdicts", type=PATH, help="Verdicts that a reviewer exported from an earlier report.")
@click.option("--metadata", type=PATH, help="CSV file with names and dates: when each was handed in.")
@click.option("--cases", type=_ONE, metavar="N", help="Also write case files for the first N pairs.")
@click.option("--csv", "as_csv", type=PATH, help="Also write the list of pairs, for a spreadsheet.")
@click.option("--open", "opens", is_flag=True, help="Open the report in a browser.")
@JSON
@click.pass_context
def compare(context: click.Context, /, paths: tuple[Path, ...], **options: Any) -> None:
    """Compare submissions with each other.

    The report shows who shares what with whom, and how unusual that is. PATHS are the submissions, or a folder
    or an archive with one entry for each of them.
    """
    from chaffinch.report import anonymous_report, to_csv, to_json, write

    if options["cases"] and options["as_json"] and not options["output"]:
        raise click.UsageError("--cases writes beside the report: with --json, add --output.")
    output = options["output"] or (None if options["as_json"] else Path(_REPORT))
    _check_outputs(output, options["as_csv"])
    verdicts = _read_verdicts(options["verdicts"])
    report = _without_outputs(_compare(paths, options), output, options["as_csv"])
    named = (*paths, *options["base"], *map(Path, options["old"]))
    read = [d.name for submission in (*report.submissions, *report.old) for d in submission.documents]
    rules = Rules.of(options["include"], options["exclude"])
    for pattern in rules.unused([*read, *report.receipt.base, *(s.name for s in report.skipped)], named):
        warn(f"the pattern {pattern!r} matches no file or folder")
    code = exit_code(bool(report.pairs), report.skipped, named, [*read, *report.receipt.base])
    shown = anonymous_report(report) if options["anonymize"] else report
    if options["as_json"]:
        print_json(to_json(shown))
    if code == ERROR and options["as_json"]:
        warn_skipped(shown.skipped)
    if options["as_csv"]:
        write(options["as_csv"], to_csv(shown).encode("utf-8", "replace"))
    if output:
        _write_report(report, output, verdicts, options)
    if not options["as_json"]:
        _print_summary(shown)
    _warn_of_sections(report, options["anonymize"])
    context.exit(code)


def _without_outputs(report: Report, output: Path | None, as_csv: Path | None) -> Report:
    """Remove what this run overwrites from the skipped entries, so that the next run gives the same report."""
    outputs = {path.resolve() for path in (output, output and _case_folder(output), as_csv) if path}
    skipped = tuple(
        s
        for s in report.skipped
        if s.reason != SkipReason.OWN_REPORT
        or outputs.isdisjoint((Path(s.name).resolve(), *Path(s.name).resolve().parents))
    )
    return replace(report, skipped=skipped)


def _case_folder(output: Path) -> Path:
    """Return the folder for the case files of a report."""
    from chaffinch.report import is_file

    return output.with_name(f"{output.stem}-cases") if is_file(output) else output / "cases"


def _check_outputs(output: Path | None, as_csv: Path | None) -> None:
    """Raise an error for what cannot be written, before all the work."""
    from chaffinch.report import is_file, refuse_foreign

    if output and output.suffix.lower() in _NOT_A_REPORT:
        raise click.UsageError(f"--output {output}: a report is a .html file or a folder.")
    if output and as_csv and output.absolute() == as_csv.absolute():
        raise click.UsageError("--output and --csv are the same file.")
    for path in filter(None, (output, as_csv)):
        is_page = path is as_csv or is_file(path)
        if is_page and path.is_dir():
            raise Unreadable(path, SkipReason.INVALID, "is a folder; name a file")
        if not is_page and path.exists() and not path.is_dir():
            raise Unreadable(path, SkipReason.INVALID, "is a file; a report is a .html file or a folder")
        parent = next(p for p in path.absolute().parents if p.exists())
        if not parent.is_dir():
            raise Unreadable(parent, SkipReason.INVALID, "is a file, not a folder")
        if not os.access(path if path.is_dir() else parent, os.W_OK):
            raise Unreadable(parent, SkipReason.NO_PERMISSION, "no permission to write there")
    if output and not is_file(output):
        refuse_foreign(output)


def _compare(paths: tuple[Path, ...], options: dict[str, Any]) -> Report:
    from chaffinch.comparison.compare import compare
    from chaffinch.comparison.dates import dated, from_csv

    rows = from_csv(options["metadata"]) if options["metadata"] else []
    names = (
        "base",
        "old",
        "language",
        "top",
        "threshold",
        "max_owners",
        "k",
        "w",
        "sort",
        "student_pattern",
        "exclude",
        "include",
        "ocr",
    )
    report = compare(paths, **{name: options[name] for name in names}, progress=progress)
    progress("")
    return dated(report, rows)


def _write_report(report: Report, output: Path, verdicts: dict[str, Any] | None, options: Any) -> None:
    from chaffinch.report import case_files, is_file, save

    anonymize, count = options["anonymize"], options["cases"] or 0
    progress("Writing the report ...")
    save(report, output, anonymize=anonymize, verdicts=verdicts)
    progress("")
    page = output if is_file(output) else output / "index.html"
    click.echo(f"Report: {printable(str(page))}", err=options["as_json"])
    if count or anonymize:  # without a count, this removes the case files of an earlier run: they have names
        case_files(report, _case_folder(output), count, redact=anonymize, verdicts=verdicts)
    if count:
        click.echo(f"Case files: {printable(str(_case_folder(output)))}", err=options["as_json"])
    if options["opens"]:
        webbrowser.open(page.resolve().as_uri())


def _read_verdicts(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        verdicts = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise Unreadable(path, SkipReason.INVALID, f"not verdicts from a report: {error}") from None
    if not isinstance(verdicts, dict):
        raise Unreadable(path, SkipReason.INVALID, "not verdicts from a report")
    return verdicts


def _print_summary(report: Report) -> None:
    """Print what was compared, what was skipped, and the first pairs."""
    warn_skipped(report.skipped, "the report lists all of them")
    same = [note for note in report.notes if note.is_one_file]
    for note in (*(note for note in report.notes if not note.is_one_file), *same[:_NOTED_FILES]):
        warn(f"{first_of(note.names)}: {note.detail}")
    if len(same) > _NOTED_FILES:
        more = counted(len(same) - _NOTED_FILES, "more file")
        warn(f"{more} that several submissions have; the report lists all of them")
    empty = len(report.nothing_to_compare)
    compared = [
        counted(len(report.submissions) - empty, "submission"),
        f"{len(report.old):,} of earlier work" if report.old else "",
        counted(len(report.receipt.base), "file") + " of base code" if report.receipt.base else "",
    ]
    skipped = f" Skipped: {len(report.skipped):,}." if report.skipped else ""
    have = f"{empty:,}{' more' if empty < len(report.submissions) else ''} {'has' if empty == 1 else 'have'}"
    rest = f"; {have} nothing to compare" if empty else ""
    click.echo(f"Compared: {', '.join(filter(None, compared))}{rest}.{skipped}")
    _print_common_files(report)
    if not report.pairs:
        click.echo(_why_no_pair(report.receipt))
        return
    click.echo(f"{'score':>6} {'surprise':>9} {'longest':>8} {'symbols':>8}  submissions")
    for pair in report.pairs[:LISTED]:
        names = f"{printable(pair.left)}  -  {printable(pair.right)}"
        surprise = "-" if pair.surprise is None else f"{pair.surprise:.1f}"
        click.echo(f"{pair.score:6.0%} {surprise:>9} {pair.longest:8} {pair.symbols:8}  {names}")
    first = f"The first {LISTED} of " if len(report.pairs) > LISTED else ""
    clusters = counted(len(report.clusters), "cluster")
    click.echo(f"{first}{counted(len(report.pairs), 'pair')} listed, {clusters}")
    if report.common and not report.receipt.base:
        passages = counted(len(report.common), "passage")
        click.echo(f"Common code: at least half share {passages}. If it was handed out, name it with --base.")


def _warn_of_sections(report: Report, anonymize: bool) -> None:
    """Print how to compare all students of a class if it seems to come in sections."""
    sections = find_sections(report.submissions)
    if not sections:
        return
    can_be_named = all(Path(section).exists() for section in sections)
    unpack = "" if can_be_named else "unpack the archive and "
    command = f": chaffinch compare {shlex.join(sections)}" if can_be_named and not anonymize else ""
    each = f"each of the {len(sections)} submissions holds several folders with programs"
    warn(f"{each}; if they are sections of a class, {unpack}name each of them as a path{command}")


def _why_no_pair(receipt: Receipt) -> str:
    if receipt.threshold == 0 or not any(receipt.pairs_with_anything_in_common.values()):
        return "Nothing in common."
    if receipt.threshold is None:
        return "No pair stands out from what the class shares; --threshold 0 lists all that share anything."
    return f"No pair scores {100 * receipt.threshold:g}% or more; a lower --threshold lists more."


def _print_common_files(report: Report) -> None:
    """Print which files were taken as base code because most have them, and who has nothing else."""
    if not report.common_files:
        return
    total = len(report.submissions)
    shown = [f"{printable(file.name)} ({file.owners} of {total})" for file in report.common_files[:LISTED]]
    more = len(report.common_files) - len(shown)
    rest = f" and {more} more" if more else ""
    click.echo(f"Taken as base code, because at least half have it: {', '.join(shown)}{rest}.")
    only = {name for file in report.common_files for name in file.only}
    if only:
        have = "1 submission has" if len(only) == 1 else f"{len(only):,} submissions have"
        click.echo(f"{have} nothing else. If it was not handed out, they copied it; the report names them.")


@main.command()
@click.argument("folder", required=False, default="chaffinch-demo", type=PATH)
@click.option("--open/--no-open", "opens", default=None, help="Open the report.  [if there is a screen]")
@click.pass_context
def demo(context: click.Context, /, folder: Path, opens: bool | None) -> None:
    """Compare a small class with known copies.

    The class is written to FOLDER, beside its base code, last year's work and the report.
    """
    from chaffinch.cli.demo import write

    if opens is None:
        opens = sys.stdout.isatty() and (sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY")))
    copies = write(folder)
    click.echo(f"Wrote a class to {printable(str(folder / 'class'))}. Known copies:")
    click.echo("\n".join(f"  {copy}" for copy in copies))
    context.invoke(
        compare,
        paths=(folder / "class",),
        base=(folder / "base",),
        old=(folder / "last year",),
        output=folder / "report.html",
        opens=opens,
    )
