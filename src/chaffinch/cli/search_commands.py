"""The command that searches an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import argument, option

from chaffinch.cli.app import ERROR, JSON, PATH, exit_code, in_order, main
from chaffinch.cli.index_commands import WHERE, open_index
from chaffinch.cli.output import counted, print_json, printable, progress, warn, warn_skipped
from chaffinch.errors import Unreadable
from chaffinch.types import Skipped

if TYPE_CHECKING:
    from chaffinch.index.answers import Answer

_EFFORT_HELP = "Share of the fingerprints to look up; lower is faster and may miss passages."


@main.command()
@WHERE
@argument("files", nargs=-1, required=True, type=PATH, callback=in_order)
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
    with open_index(where) as opened:
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
        known = hit.document.metadata
        for line in (known.url, known.contact, hit.note):
            if line:
                click.echo(f"{'':44}{printable(line)}")
    if answer.discounted:
        passages = counted(len(answer.discounted), "passage")
        click.echo(f"{passages} that many documents share counted less; --json lists them")
