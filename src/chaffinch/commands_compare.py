"""The commands that compare."""

from __future__ import annotations

import json
import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaffinch.commands import (
    ERROR,
    FOUND,
    NOTHING,
    counted,
    is_error,
    main,
    on_terminal,
    printable,
    tell_skipped,
)
from chaffinch.errors import Unreadable

if TYPE_CHECKING:
    from chaffinch.types import Report

_REPORT = "chaffinch-report.html"
_SHOWN = 12
_PATHS = click.Path(path_type=Path)


@main.command()
@click.argument("paths", nargs=-1, required=True, type=_PATHS)
@click.option("-l", "--language", default="auto", help="text or a language; by the file if auto.")
@click.option("-b", "--base", multiple=True, type=_PATHS, help="What everybody was given. May be repeated.")
@click.option(
    "--old", multiple=True, help="Earlier work or an index of it, compared with the new only. May be repeated."
)
@click.option("-o", "--output", type=_PATHS, help=f"A .html file or a folder.  [{_REPORT}; none with --json]")
@click.option("--top", type=click.IntRange(1), default=500, help="At most so many pairs are listed.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="The lowest score listed.  [0.2; long runs too]")
@click.option("-m", "--max-owners", type=click.IntRange(2), help="Ignore what more submissions than this have.")
@click.option("--student-pattern", metavar="REGEX", help="Finds the student's name in a path.")
@click.option("--anonymize", is_flag=True, help="No names in the report, not even inside the work.")
@click.option("--verdicts", type=_PATHS, help="A reviewer's verdicts, exported from an earlier report.")
@click.option("--metadata", type=_PATHS, help="A CSV of names and dates: when each was handed in.")
@click.option("--cases", type=click.IntRange(1), help="Also case files of so many pairs, beside the report.")
@click.option("--csv", "as_csv", type=_PATHS, help="Also the list of pairs, for a spreadsheet.")
@click.option("--open", "opens", is_flag=True, help="Open the report when it is done.")
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON on standard output.")
@click.pass_context
def compare(context: click.Context, /, paths: tuple[Path, ...], **options: Any) -> None:
    """Compare submissions: who shares what with whom, and how unusual that is.

    PATHS are a folder or an archive with a submission in each of its entries, or the submissions themselves.
    """
    if options["cases"] and options["as_json"] and not options["output"]:
        raise click.UsageError("--cases are written beside the report: with --json, name its --output.")
    report = _run(paths, options)
    _hand_out(report, options)
    if not options["as_json"]:
        _summarize(report)
    context.exit(ERROR if is_error(list(report.skipped), paths) else FOUND if report.pairs else NOTHING)


def _run(paths: tuple[Path, ...], options: dict[str, Any]) -> Report:
    from chaffinch.comparison import compare as run
    from chaffinch.read.dates import dated, from_csv

    rows = from_csv(options["metadata"]) if options["metadata"] else []
    given = ("base", "old", "language", "top", "threshold", "max_owners", "student_pattern")
    stage = on_terminal()
    report = run(paths, **{name: options[name] for name in given}, progress=stage)
    if stage:
        stage("")
    return dated(report, rows)


def _hand_out(report: Report, options: dict[str, Any]) -> None:
    from chaffinch.report import case_files, save, to_csv, to_json

    if options["as_json"]:
        click.echo(json.dumps(to_json(report), ensure_ascii=False, indent=1))
    output = options["output"] or (None if options["as_json"] else Path(_REPORT))
    if options["as_csv"]:
        options["as_csv"].write_text(to_csv(report), "utf-8", newline="")
    if output:
        verdicts = _verdicts(options["verdicts"])
        save(report, output, anonymize=options["anonymize"], verdicts=verdicts)
        is_file = output.suffix.lower() in (".html", ".htm")
        page = output if is_file else output / "index.html"
        click.echo(f"The report: {printable(str(page))}", err=options["as_json"])
        if options["cases"]:
            folder = output.with_name(f"{output.stem}-cases") if is_file else output / "cases"
            case_files(report, folder, options["cases"], redact=options["anonymize"], verdicts=verdicts)
            click.echo(f"Case files: {printable(str(folder))}", err=options["as_json"])
        if options["opens"]:
            webbrowser.open(page.resolve().as_uri())


def _verdicts(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise Unreadable(f"{path}: not verdicts that a report exported: {error}") from None
    if not isinstance(found, dict):
        raise Unreadable(f"{path}: not verdicts that a report exported")
    return found


def _summarize(report: Report) -> None:
    """A short table, and what was left out."""
    tell_skipped(report.skipped, "the report has them all")
    everyone = len(report.submissions)
    if not report.pairs:
        click.echo(f"Nothing in common among {counted(everyone, 'submission')}.")
        if everyone + len(report.old) < 2:
            click.echo("Name the folder that has a file, folder or archive for each student, or several paths.")
        return
    click.echo(f"{'score':>6} {'surprise':>9} {'longest':>8}  submissions")
    for pair in report.pairs[:_SHOWN]:
        names = f"{printable(pair.left)}  -  {printable(pair.right)}"
        click.echo(f"{pair.score:6.0%} {pair.surprise:9.1f} {pair.longest:8}  {names}")
    listed = f"{counted(len(report.pairs), 'pair')} of {counted(everyone, 'submission')} listed"
    click.echo(f"{listed}, {counted(len(report.clusters), 'cluster')}, {len(report.skipped)} left out")


@main.command()
@click.argument("folder", required=False, default="chaffinch-demo", type=_PATHS)
@click.option("--open/--no-open", "opens", default=None, help="Open the report.  [if there is a screen]")
@click.pass_context
def demo(context: click.Context, /, folder: Path, opens: bool | None) -> None:
    """Write a small class with known copies into FOLDER, compare it, and show the report."""
    from chaffinch.demo import write

    copies = write(folder)
    click.echo(f"A class of students, in {printable(str(folder / 'class'))}. Copied were:")
    for copied in copies:
        click.echo(f"  {copied}")
    context.invoke(
        compare,
        paths=(folder / "class",),
        base=(folder / "given",),
        old=(folder / "last year",),
        output=folder / "report.html",
        opens=_has_screen() if opens is None else opens,
    )


def _has_screen() -> bool:
    """Whether someone sits before a desktop."""
    return sys.stdout.isatty() and (sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY")))
