"""The commands that compare."""

from __future__ import annotations

import json
import os
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaffinch.cli.commands import (
    ERROR,
    FOUND,
    NOTHING,
    counted,
    is_error,
    main,
    print_json,
    printable,
    terminal_progress,
    warn_skipped,
)
from chaffinch.errors import SkipReason, Unreadable

if TYPE_CHECKING:
    from chaffinch.types import Report

_REPORT = "chaffinch-report.html"
_NO_REPORTS = (".pdf", ".json", ".csv", ".txt", ".md", ".docx")
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
    from chaffinch.report import anonymous_report, to_csv, to_json, write

    if options["cases"] and options["as_json"] and not options["output"]:
        raise click.UsageError("--cases are written beside the report: with --json, name its --output.")
    output = options["output"] or (None if options["as_json"] else Path(_REPORT))
    _check_outputs(output, options["as_csv"])
    verdicts = _verdicts(options["verdicts"])
    report = _without_outputs(_run(paths, options), output, options["as_csv"])
    named = (*paths, *options["base"], *map(Path, options["old"]))
    read = [d.name for submission in (*report.submissions, *report.old) for d in submission.documents]
    is_bad = is_error(report.skipped, named, [*read, *report.receipt.base])
    shown = anonymous_report(report) if options["anonymize"] else report
    if options["as_json"]:
        print_json(to_json(shown))
    if is_bad and not report.submissions:  # a report of nothing must not take the place of a good one
        warn_skipped(shown.skipped, "--json has them all")
        context.exit(ERROR)
    if options["as_csv"]:
        write(options["as_csv"], to_csv(shown).encode("utf-8", "replace"))
    if output:
        _write(report, output, verdicts, options)
    if not options["as_json"]:
        _summarize(shown)
    context.exit(ERROR if is_bad else FOUND if report.pairs else NOTHING)


def _without_outputs(report: Report, output: Path | None, as_csv: Path | None) -> Report:
    """What this run writes anew is not told as left out, so that the next run writes the same."""
    written = {path.resolve() for path in (output, output and _cases(output), as_csv) if path}
    kept = tuple(
        s
        for s in report.skipped
        if s.reason != SkipReason.OWN_REPORT
        or written.isdisjoint((Path(s.name).resolve(), *Path(s.name).resolve().parents))
    )
    return replace(report, skipped=kept)


def _cases(output: Path) -> Path:
    """Where the case files of a report are."""
    from chaffinch.report import is_file

    return output.with_name(f"{output.stem}-cases") if is_file(output) else output / "cases"


def _check_outputs(output: Path | None, as_csv: Path | None) -> None:
    """What could not be written is told before all the work."""
    from chaffinch.report import is_file, refuse_foreign

    if output and output.suffix.lower() in _NO_REPORTS:
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


def _run(paths: tuple[Path, ...], options: dict[str, Any]) -> Report:
    from chaffinch.comparison.compare import compare as run
    from chaffinch.comparison.dates import dated, from_csv

    rows = from_csv(options["metadata"]) if options["metadata"] else []
    given = ("base", "old", "language", "top", "threshold", "max_owners", "student_pattern")
    stage = terminal_progress()
    report = run(paths, **{name: options[name] for name in given}, progress=stage)
    if stage:
        stage("")
    return dated(report, rows)


def _write(report: Report, output: Path, verdicts: dict[str, Any] | None, options: dict[str, Any]) -> None:
    from chaffinch.report import case_files, is_file, save

    save(report, output, anonymize=options["anonymize"], verdicts=verdicts)
    page = output if is_file(output) else output / "index.html"
    click.echo(f"The report: {printable(str(page))}", err=options["as_json"])
    folder = _cases(output)
    if options["cases"] or options["anonymize"]:  # those of an earlier run may have names
        count = options["cases"] or 0
        case_files(report, folder, count, redact=options["anonymize"], verdicts=verdicts)
    if options["cases"]:
        click.echo(f"Case files: {printable(str(folder))}", err=options["as_json"])
    if options["opens"]:
        webbrowser.open(page.resolve().as_uri())


def _verdicts(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise Unreadable(path, SkipReason.INVALID, f"not verdicts that a report exported: {error}") from None
    if not isinstance(found, dict):
        raise Unreadable(path, SkipReason.INVALID, "not verdicts that a report exported")
    return found


def _summarize(report: Report) -> None:
    """A short table, what was compared, and what was left out."""
    from chaffinch.report.figures import shown_surprise

    warn_skipped(report.skipped, "the report has them all")
    everyone = len(report.submissions)
    compared = [
        counted(everyone, "submission"),
        counted(len(report.old), "older one") if report.old else "",
        counted(len(report.receipt.base), "file") + " of base code" if report.receipt.base else "",
        f"{len(report.skipped)} left out" if report.skipped else "",
    ]
    click.echo(f"Compared: {', '.join(filter(None, compared))}.")
    if not report.pairs:
        shares = any(report.receipt.pairs_with_anything_in_common.values()) and report.receipt.threshold != 0
        little = "No pair has enough in common to be listed; --threshold 0 lists those with anything in common."
        click.echo(little if shares else "Nothing in common.")
        if everyone + len(report.old) < 2:
            click.echo("Name the folder that has a file, folder or archive for each student, or several paths.")
        return
    click.echo(f"{'score':>6} {'surprise':>9} {'longest':>8}  submissions")
    for pair in report.pairs[:_SHOWN]:
        names = f"{printable(pair.left)}  -  {printable(pair.right)}"
        unusual = "-" if (known := shown_surprise(report, pair)) is None else f"{known:.1f}"
        click.echo(f"{pair.score:6.0%} {unusual:>9} {pair.longest:8}  {names}")
    first = f"The first {_SHOWN} of " if len(report.pairs) > _SHOWN else ""
    click.echo(
        f"{first}{counted(len(report.pairs), 'pair')} listed, {counted(len(report.clusters), 'cluster')}"
    )
    if report.common and not report.receipt.base:
        these = counted(len(report.common), "passage")
        click.echo(f"At least half have {these} in common; if everybody was given that, name it with --base.")


@main.command()
@click.argument("folder", required=False, default="chaffinch-demo", type=_PATHS)
@click.option("--open/--no-open", "opens", default=None, help="Open the report.  [if there is a screen]")
@click.pass_context
def demo(context: click.Context, /, folder: Path, opens: bool | None) -> None:
    """Write a small class with known copies into FOLDER, compare it, and show the report."""
    from chaffinch.cli.demo import write

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
