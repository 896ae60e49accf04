"""Who sends a request: the local user, browsers that are signed in, programs, and proxies between them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaffinch.errors import ChaffinchError
from chaffinch.service.database.tables import Run
from chaffinch.service.settings import Settings
from chaffinch.service.site import Site
from chaffinch.service.web.proxies import parse_networks
from tests.services import running_service
from tests.visitors import OWN, PASSWORD, client, new_account, signed_in, with_token

SIGN_IN = {"email": "ann@example.edu", "password": PASSWORD}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Requests are the same on every database."""
    opened = Site(tmp_path / "data")
    yield opened
    opened.close()


def _add_run(site: Site) -> str:
    with site.database.writing() as session:
        run = Run(source="api", title="test", options={})
        session.add(run)
        session.flush()
        return run.id


@pytest.mark.parametrize("url", ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"])
def test_the_only_user_of_a_machine_needs_no_account(site: Site, url: str) -> None:
    local = client(site, url=url, address="::1" if "::1" in url else "127.0.0.1")
    assert local.get("/api/v1/me").json() == {"id": None, "name": "you", "email": None, "role": "admin"}


@pytest.mark.parametrize(
    "different",
    [
        {"host": "0.0.0.0"},
        {"host": "192.0.2.1"},
        {"address": "192.0.2.9"},
        {"address": ""},
        {"url": "http://rebound.example:8080"},
        {"url": "http://localhost.example"},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"headers": {"Forwarded": "for=127.0.0.1"}},
        {"headers": {"Via": "1.1 proxy"}},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}, "proxies": ("127.0.0.1",)},
        {"headers": {"Authorization": "Bearer chf_wrong"}},
    ],
)
def test_anybody_else_has_to_sign_in(site: Site, different: dict[str, object]) -> None:
    other = client(site, **different)  # type: ignore[arg-type]
    answer = other.get("/api/v1/runs")
    assert answer.status_code == 401
    assert "detail" in answer.json()
    assert other.get("/healthz").status_code == 200


def test_once_there_is_an_account_the_local_user_signs_in_too(site: Site) -> None:
    local = client(site)
    assert local.get("/api/v1/runs").status_code == 200
    new_account(site, "ann", "admin")
    assert local.get("/api/v1/runs").status_code == 401
    assert local.post("/api/v1/session", json=SIGN_IN).status_code == 204
    assert local.get("/api/v1/runs").status_code == 200


def test_a_cookie_is_safe(site: Site) -> None:
    new_account(site, "ann", "admin")
    answer = client(site).post("/api/v1/session", json=SIGN_IN)
    name, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert name.startswith("chaffinch=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(attributes)
    assert "Secure" not in attributes


def test_a_cookie_over_https_belongs_to_this_host_alone(site: Site) -> None:
    new_account(site, "ann", "admin")
    url = "https://chaffinch.example.edu"
    answer = client(site, url=url, address="192.0.2.9").post("/api/v1/session", json=SIGN_IN)
    name, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert name.startswith("__Host-chaffinch=")
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Secure"} <= set(attributes)
    assert not any(attribute.startswith("Domain") for attribute in attributes)
    browser = signed_in(site, "ann", url=url)
    assert browser.get("/api/v1/me").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": OWN}, 204),
        ({"Sec-Fetch-Site": "same-origin"}, 204),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:9090"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": OWN}, 403),
        ({}, 403),
    ],
)
def test_another_site_cannot_use_a_session(site: Site, headers: dict[str, str], status: int) -> None:
    new_account(site, "ann", "admin")
    run_id = _add_run(site)
    browser = signed_in(site, "ann")
    del browser.headers["Origin"]
    assert browser.delete(f"/api/v1/runs/{run_id}", headers=headers).status_code == status
    assert browser.get("/api/v1/runs", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": OWN}, 204),
        ({}, 204),  # a program: browsers say where a request comes from
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_another_site_cannot_use_the_local_user(site: Site, headers: dict[str, str], status: int) -> None:
    run_id = _add_run(site)
    assert client(site).delete(f"/api/v1/runs/{run_id}", headers=headers).status_code == status


def test_another_site_cannot_sign_somebody_in(site: Site) -> None:
    new_account(site, "ann", "admin")
    answer = client(site, headers={"Origin": "http://evil.example"}).post("/api/v1/session", json=SIGN_IN)
    assert answer.status_code == 403


def test_a_token_needs_no_origin(site: Site) -> None:
    run_id = _add_run(site)
    program = with_token(site, new_account(site, "ann", "admin"), "write")
    answer = program.delete(f"/api/v1/runs/{run_id}", headers={"Origin": "http://other.example"})
    assert answer.status_code == 204


def test_only_a_trusted_proxy_is_believed(site: Site) -> None:
    new_account(site, "ann", "admin")
    forwarded = {
        "X-Forwarded-For": "203.0.113.5, 198.51.100.7, 10.0.0.2",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "chaffinch.example.edu",
        "Origin": "https://chaffinch.example.edu",
    }
    trusted = client(site, address="10.0.0.1", proxies=("10.0.0.0/8",), headers=forwarded)
    answer = trusted.post("/api/v1/session", json=SIGN_IN)
    assert answer.headers["Set-Cookie"].startswith("__Host-chaffinch=")
    untrusted = client(site, address="192.0.2.66", proxies=("10.0.0.0/8",), headers=forwarded)
    assert untrusted.post("/api/v1/session", json=SIGN_IN).status_code == 403
    del untrusted.headers["Origin"]
    answer = untrusted.post("/api/v1/session", json=SIGN_IN)
    assert answer.headers["Set-Cookie"].startswith("chaffinch=")
    entries = signed_in(site, "ann").get("/api/v1/audit").json()
    addresses = [entry["address"] for entry in entries if entry["action"] == "sign in"]
    assert addresses[1:] == ["192.0.2.66", "198.51.100.7"]  # what the client itself wrote does not count


def test_the_public_address_is_a_setting(tmp_path: Path) -> None:
    site = Site(tmp_path / "data", base_url="https://chaffinch.example.edu")
    new_account(site, "ann", "admin")
    own = {"Origin": "https://chaffinch.example.edu"}
    answer = client(site, headers=own).post("/api/v1/session", json=SIGN_IN)
    assert answer.headers["Set-Cookie"].startswith("__Host-chaffinch=")
    with site.database.writing() as session:
        Settings.change(session, base_url="http://other.example.edu")
    assert site.reload_settings().base_url == "https://chaffinch.example.edu"
    site.close()


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(ChaffinchError, match="--trusted-proxy"):
        parse_networks(["proxy.example"])


def test_a_service_for_others_says_how_to_create_the_first_account(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", "", "--host", "0.0.0.0") as service:
        assert "chaffinch account add" in service.log.read_text()
        assert service.http.get("/api/v1/runs").status_code == 401
        with socket.create_connection(("127.0.0.1", service.moss_port), 60) as moss:
            moss.sendall(b"moss 1\nlanguage python\n")
            assert moss.recv(10) == b"yes\n"
