"""The commands for accounts of the service: account add, list, password, remove."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click import argument, option

from chaffinch.cli.app import main
from chaffinch.cli.output import print_json, printable
from chaffinch.cli.service_commands import DATA, DATABASE, open_site

_EMAIL = argument("email")
_GENERATE = option("--generate", is_flag=True, help="Make up a password and print it.")
_ROLES = ("admin", "instructor", "reviewer", "reader")


@main.group()
def account() -> None:
    """Manage the accounts of the service.

    They work on the same --data or --database as `chaffinch serve`, also while it runs.
    """


@account.command()
@_EMAIL
@option("--role", type=click.Choice(_ROLES), default="instructor", help="What the account may do.")
@option("--name", default="", help="Name that others see.")
@_GENERATE
@DATA
@DATABASE
def add(email: str, role: str, name: str, generate: bool, data: Path, database: str | None) -> None:
    """Create an account. Asks for its password.

    The first account has to be an admin.
    """
    site = open_site(data, database)
    from chaffinch.service.accounts import administration

    password = _password(generate)
    administration.create_account(site, administration.COMMAND_LINE, email, role, name=name, password=password)
    _print_password(password, generate)


@account.command()
@_EMAIL
@_GENERATE
@DATA
@DATABASE
def password(email: str, generate: bool, data: Path, database: str | None) -> None:
    """Set the password of an account. It ends all its sessions."""
    site = open_site(data, database)
    from chaffinch.service.accounts import administration

    found = administration.find_account(site, administration.COMMAND_LINE, email)
    new = _password(generate)
    administration.change_account(site, administration.COMMAND_LINE, found, password=new)
    _print_password(new, generate)


@account.command(name="list")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
@DATA
@DATABASE
def list_accounts(as_json: bool, data: Path, database: str | None) -> None:
    """List the accounts."""
    site = open_site(data, database)
    from chaffinch.service.accounts import administration

    accounts = administration.list_accounts(site, administration.COMMAND_LINE)
    if as_json:
        print_json(accounts)
        return
    for entry in accounts:
        click.echo(printable(_line(entry)))


def _line(entry: dict[str, Any]) -> str:
    state = "" if entry["is_active"] else "  deactivated"
    return f"{entry['email']:40} {entry['role']:10} MOSS user id {entry['moss_id']}  {entry['name']}{state}"


@account.command()
@_EMAIL
@option("--yes", is_flag=True, help="Do not ask.")
@DATA
@DATABASE
def remove(email: str, yes: bool, data: Path, database: str | None) -> None:
    """Delete an account with its runs and their reports."""
    site = open_site(data, database)
    from chaffinch.service.accounts import administration

    found = administration.find_account(site, administration.COMMAND_LINE, email)
    if not yes:
        click.confirm(f"Delete {printable(email)} with all its runs and reports?", abort=True)
    administration.delete_account(site, administration.COMMAND_LINE, found)


def _password(generate: bool) -> str:
    """Return a new password, made up or typed twice."""
    from chaffinch.service.accounts import passwords

    if generate:
        return passwords.generate()
    typed: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return typed


def _print_password(password: str, generate: bool) -> None:
    if generate:
        click.echo(password)
