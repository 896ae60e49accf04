"""The commands of the service: serve, worker."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click import option

from chaffinch.cli.app import PATH, main
from chaffinch.errors import ChaffinchError
from chaffinch.index.address import is_database

if TYPE_CHECKING:
    from chaffinch.service.site import Site

_DATABASE_VARIABLE = "CHAFFINCH_DATABASE"
_DATA = option("--data", type=PATH, default=Path("chaffinch-data"), help="Folder for everything that is kept.")
_DATABASE = option(
    "--database",
    envvar=_DATABASE_VARIABLE,
    help="Keep everything in PostgreSQL: postgresql://user@host/database#name.",
)


def _site(data: Path, database: str | None) -> Site:
    if database and not is_database(database):
        raise click.UsageError("--database is an address: postgresql://user@host/database#name")
    try:
        from chaffinch.service.site import Site
    except ModuleNotFoundError as error:
        raise ChaffinchError(f"{error.name} is missing; pip install 'chaffinch[server]'") from None
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return Site(data, database)


@main.command()
@option("--host", default="127.0.0.1", help="Address to listen on.")
@option("--port", default=8080, type=click.IntRange(0, 65535), help="Port for web pages and the API.")
@option("--moss-port", default=7690, type=click.IntRange(0, 65535), help="Port for MOSS clients.")
@option("--no-moss", is_flag=True, help="Do not listen for MOSS clients.")
@option("--workers", default=1, type=click.IntRange(0), help="Processes that compare.")
@_DATA
@_DATABASE
def serve(
    host: str, port: int, moss_port: int, no_moss: bool, workers: int, data: Path, database: str | None
) -> None:
    """Run the web service.

    With a folder, one machine does everything. With PostgreSQL, any number of machines can run `chaffinch
    serve` and `chaffinch worker` on the same database.
    """
    site = _site(data, database)
    from chaffinch.service import serve as service

    if database:
        os.environ[_DATABASE_VARIABLE] = database  # for the workers; the list of processes shows no password
    service.serve(site, host, port, None if no_moss else moss_port, service.worker_command(data), workers)


@main.command()
@_DATA
@_DATABASE
@option("--until-input-ends", is_flag=True, help="Stop when standard input ends.")
def worker(data: Path, database: str | None, until_input_ends: bool) -> None:
    """Compare what others upload, on this machine.

    Workers need nothing but the database that the service uses.
    """
    site = _site(data, database)
    from chaffinch.service import serve as service

    service.work(site, ends_with_input=until_input_ends)
