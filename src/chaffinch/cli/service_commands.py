"""The commands of the service: serve, worker."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import option

from chaffinch.cli.app import PATH, main
from chaffinch.errors import ChaffinchError
from chaffinch.index.address import is_database

if TYPE_CHECKING:
    from chaffinch.service.site import Site

_DATABASE_VARIABLE = "CHAFFINCH_DATABASE"
DATA = option("--data", type=PATH, default=Path("chaffinch-data"), help="Folder for everything that is kept.")
DATABASE = option(
    "--database",
    envvar=_DATABASE_VARIABLE,
    help="Keep everything in PostgreSQL: postgresql://user@host/database#name.",
)


def open_site(data: Path, database: str | None, **settings: Any) -> Site:
    """Open the service that is kept there, or create it."""
    if database and not is_database(database):
        raise click.UsageError("--database is an address: postgresql://user@host/database#name")
    try:
        from chaffinch.service.site import Site
    except ModuleNotFoundError as error:
        raise ChaffinchError(f"{error.name} is missing; pip install 'chaffinch[server]'") from None
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    site = Site(data, database, **settings)
    click.get_current_context().call_on_close(site.close)
    return site


@main.command()
@option("--host", default="127.0.0.1", help="Address to listen on.")
@option("--port", default=8080, type=click.IntRange(0, 65535), help="Port for web pages and the API.")
@option("--moss-port", default=7690, type=click.IntRange(0, 65535), help="Port for MOSS clients.")
@option("--no-moss", is_flag=True, help="Do not listen for MOSS clients.")
@option("--workers", default=1, type=click.IntRange(0), help="Processes that compare.")
@option("--base-url", help="The address that users see, such as https://chaffinch.example.edu.")
@option(
    "--trusted-proxy",
    multiple=True,
    help="Address or network of a reverse proxy whose X-Forwarded headers count. Can be repeated.",
)
@DATA
@DATABASE
def serve(
    host: str,
    port: int,
    moss_port: int,
    no_moss: bool,
    workers: int,
    base_url: str | None,
    trusted_proxy: tuple[str, ...],
    data: Path,
    database: str | None,
) -> None:
    """Run the web service.

    With a folder, one machine does everything. With PostgreSQL, any number of machines can run `chaffinch
    serve` and `chaffinch worker` on the same database.

    On a loopback address, the only user of the machine needs no account until there is one. On any other
    address everybody signs in: create the first account with `chaffinch account add`.
    """
    site = open_site(data, database, **({"base_url": base_url} if base_url else {}))
    from chaffinch.service import serve as service
    from chaffinch.service.web.proxies import parse_networks

    proxies = parse_networks(trusted_proxy)
    if database:
        os.environ[_DATABASE_VARIABLE] = database  # for the workers; the list of processes shows no password
    moss = None if no_moss else moss_port
    service.serve(site, host, port, moss, service.worker_command(data), workers, proxies)


@main.command()
@DATA
@DATABASE
@option("--until-input-ends", is_flag=True, help="Stop when standard input ends.")
def worker(data: Path, database: str | None, until_input_ends: bool) -> None:
    """Compare what others upload, on this machine.

    Workers need nothing but the database that the service uses.
    """
    site = open_site(data, database)
    from chaffinch.service import serve as service

    service.work(site, ends_with_input=until_input_ends)
