"""Signing in through OpenID Connect, at a real provider: oidc-provider in Node."""

from __future__ import annotations

import fcntl
import html
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from httpx import Client, Response

from chaffinch.service.accounts.administration import COMMAND_LINE, change_settings, list_accounts
from chaffinch.service.accounts.openid import SECRET_VARIABLE, Attempt
from chaffinch.service.site import Site
from tests.services import free_port
from tests.visitors import OWN, client, new_account

pytestmark = pytest.mark.node
ROOT = Path(__file__).parent.parent
CALLBACK = f"{OWN}/sign-in/openid/callback"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """Run a provider. Its package is installed on first use."""
    with (ROOT / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (ROOT / "node_modules" / "oidc-provider").exists():
            install = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
            subprocess.run(install, cwd=ROOT, check=True)
    port = free_port()
    command = ["node", "tests/openid_provider.mjs", str(port), CALLBACK]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert "ready" in process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture(autouse=True)
def _configured(site: Site, issuer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "a secret / with + signs")
    new_account(site, "ann", "admin")
    change_settings(site, COMMAND_LINE, oidc_issuer=issuer, oidc_client_id="chaffinch")


def _at_provider(address: str, name: str) -> str:
    """Sign in at the provider as a person does. Return the address that it sends the browser back to."""
    with httpx.Client(timeout=60) as browser:
        answer = browser.get(address)
        while True:
            while answer.is_redirect:
                where = answer.headers["Location"]
                if where.startswith(OWN):
                    return where
                answer = browser.get(httpx.URL(answer.url).join(where))
            assert answer.status_code == 200, answer.text
            form = re.search(r'<form[^>]* action="([^"]+)"', answer.text)
            assert form is not None, answer.text
            prompt = "consent" if 'value="consent"' in answer.text else "login"
            fields = {"prompt": prompt, "login": name, "password": "any"}
            answer = browser.post(httpx.URL(answer.url).join(html.unescape(form[1])), data=fields)


def _sign_in(browser: Client, name: str) -> Response:
    begun = browser.get("/sign-in/openid")
    assert begun.status_code == 303, begun.text
    return browser.get(_at_provider(begun.headers["Location"], name))


def test_nobody_gets_an_account_unless_that_is_allowed(site: Site) -> None:
    answer = _sign_in(client(site), "bob")
    assert answer.status_code == 403
    assert "no account for you" in answer.json()["detail"]


def test_the_first_sign_in_creates_a_reader_and_the_next_finds_it(site: Site) -> None:
    change_settings(site, COMMAND_LINE, open_registration=True)
    for _ in range(2):
        browser = client(site)
        answer = _sign_in(browser, "bob")
        assert (answer.status_code, answer.headers["Location"]) == (303, f"{OWN}/")
        own = browser.get("/api/v1/me").json()
        assert (own["email"], own["role"], own["name"]) == ("bob@example.edu", "reader", "Name of bob")
        assert "chaffinch-openid" not in browser.cookies
    assert len(list_accounts(site, COMMAND_LINE)) == 2


def test_an_address_links_an_account_only_if_it_is_verified_and_that_is_switched_on(site: Site) -> None:
    change_settings(site, COMMAND_LINE, open_registration=True)
    assert _sign_in(client(site), "ann").status_code == 403
    change_settings(site, COMMAND_LINE, oidc_links_email=True)
    stranger = client(site)
    assert _sign_in(stranger, "unverified-ann").status_code == 303
    assert stranger.get("/api/v1/me").json()["role"] == "reader"
    browser = client(site)
    assert _sign_in(browser, "ann").status_code == 303
    assert browser.get("/api/v1/me").json()["role"] == "admin"
    change_settings(site, COMMAND_LINE, oidc_links_email=False)
    assert _sign_in(client(site), "ann").status_code == 303  # now it is known by its subject


def test_an_answer_counts_once_in_the_browser_that_asked(site: Site) -> None:
    change_settings(site, COMMAND_LINE, open_registration=True)
    browser, other = client(site), client(site)
    address = _at_provider(browser.get("/sign-in/openid").headers["Location"], "bob")
    other.get("/sign-in/openid")
    assert other.get(address).status_code == 400
    assert client(site).get(address).status_code == 400
    kept = browser.cookies["chaffinch-openid"]
    assert browser.get(address).status_code == 303
    browser.cookies.set("chaffinch-openid", kept)
    assert browser.get(address).status_code == 403  # the provider takes a code once


@pytest.mark.parametrize("field", ["nonce", "verifier"])
def test_a_code_for_another_attempt_is_refused(site: Site, field: str) -> None:
    change_settings(site, COMMAND_LINE, open_registration=True)
    browser = client(site)
    begun = browser.get("/sign-in/openid")
    address = _at_provider(begun.headers["Location"], "bob")
    attempt = Attempt.from_text(browser.cookies["chaffinch-openid"])
    assert attempt is not None
    other = replace(attempt, **{field: "x" * 48})
    fresh = client(site, headers={"Cookie": f"chaffinch-openid={other.to_text()}"})
    assert fresh.get(address).status_code == 403


def test_the_request_has_a_challenge_a_state_and_a_nonce(site: Site) -> None:
    query = parse_qs(urlsplit(client(site).get("/sign-in/openid").headers["Location"]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert all(query[name][0] for name in ("state", "nonce", "code_challenge"))


def test_a_provider_that_is_not_there_or_not_set_is_a_message(site: Site, issuer: str) -> None:
    change_settings(site, COMMAND_LINE, oidc_issuer=f"http://127.0.0.1:{free_port()}")
    assert "does not answer" in client(site).get("/sign-in/openid").json()["detail"]
    change_settings(site, COMMAND_LINE, oidc_issuer=issuer + "/")
    assert "another name" in client(site).get("/sign-in/openid").json()["detail"]
    change_settings(site, COMMAND_LINE, oidc_issuer="")
    assert client(site).get("/sign-in/openid").status_code == 404
