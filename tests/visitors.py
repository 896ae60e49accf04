"""Browsers and programs that talk to the application of a service, in this process."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

import httpx
from httpx import Client
from sqlalchemy import select

from chaffinch.service.accounts.administration import COMMAND_LINE, create_account
from chaffinch.service.accounts.api_tokens import create_token
from chaffinch.service.accounts.passwords import hash_password
from chaffinch.service.accounts.sessions import start_session
from chaffinch.service.accounts.visitor import Visitor
from chaffinch.service.database.tables import Account
from chaffinch.service.site import Site
from chaffinch.service.web.application import create_app
from chaffinch.service.web.proxies import parse_networks

OWN = "http://localhost:8080"
PASSWORD = "a long enough password"


class _InProcess(httpx.BaseTransport):
    """Passes requests to an application as if they came from `address`."""

    def __init__(self, app: Any, address: str) -> None:
        self._app, self._address = app, address

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = request.read()

        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, client=(self._address, 50_000))
            sent = httpx.Request(request.method, request.url, headers=request.headers, content=body)
            received = await transport.handle_async_request(sent)
            content = await received.aread()
            return httpx.Response(received.status_code, headers=received.headers, content=content)

        return asyncio.run(answer())


def client(
    site: Site,
    *,
    host: str = "127.0.0.1",
    address: str = "127.0.0.1",
    url: str = OWN,
    proxies: tuple[str, ...] = (),
    headers: dict[str, str] | None = None,
) -> Client:
    """Return somebody at `address` who talks to a service that listens on `host`."""
    application = _InProcess(create_app(site, host, parse_networks(proxies)), address)
    return Client(transport=application, base_url=url, headers=headers)


def new_account(site: Site, name: str, role: str) -> Visitor:
    """Create an account with the e-mail address NAME@example.edu. The first has to be an admin."""
    made = create_account(site, COMMAND_LINE, f"{name}@example.edu", role)
    with site.database.writing() as session:  # hashing every time would be slow
        session.get_one(Account, made["id"]).password_hash = _password_hash()
    return Visitor(role, made["id"], made["name"])


@cache
def _password_hash() -> str:
    return hash_password(PASSWORD)


def signed_in(site: Site, name: str, *, url: str = OWN) -> Client:
    """Return a browser that is signed in as NAME@example.edu."""
    with site.database.reading() as session:
        account = session.scalars(select(Account).where(Account.email == f"{name}@example.edu")).one()
    cookie = "__Host-chaffinch" if url.startswith("https") else "chaffinch"
    browser = client(site, url=url, headers={"Origin": url})
    domain = browser.base_url.host if "." in browser.base_url.host else f"{browser.base_url.host}.local"
    browser.cookies.set(cookie, start_session(site, account, "127.0.0.1"), domain)
    return browser


def with_token(site: Site, visitor: Visitor, scope: str, *, address: str = "192.0.2.7") -> Client:
    """Return a program with an API token."""
    _, secret = create_token(site, visitor, "test", scope, None)
    return client(site, address=address, headers={"Authorization": f"Bearer {secret}"})
