"""Accounts of the service: passwords, sessions, API tokens, administration, and the commands for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner
from sqlalchemy import select, update

from chaffinch.cli import main
from chaffinch.index.address import is_database
from chaffinch.service.accounts import administration, passwords
from chaffinch.service.accounts.administration import COMMAND_LINE
from chaffinch.service.audit import list_entries
from chaffinch.service.database.tables import Account, Session, Token, now
from chaffinch.service.limits import Limits
from chaffinch.service.refusals import BadRequest, Conflict, TooManyRequests
from chaffinch.service.site import Site
from tests.visitors import PASSWORD, client, new_account, signed_in, with_token


def _sign_in(site: Site, name: str, password: str = PASSWORD) -> int:
    body = {"email": f"{name}@example.edu", "password": password}
    return client(site).post("/api/v1/session", json=body).status_code


def test_a_password_is_stored_as_a_hash_and_checked() -> None:
    stored = passwords.hash_password(PASSWORD)
    assert PASSWORD not in stored
    assert passwords.is_right(stored, PASSWORD)
    assert not passwords.is_right(stored, PASSWORD + "x")
    assert not passwords.is_right(None, PASSWORD)
    assert not passwords.is_right("damaged", PASSWORD)
    with pytest.raises(BadRequest, match="at least 10"):
        passwords.hash_password("123456789")


def test_an_unknown_address_costs_a_hash_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []
    verify = PasswordHasher.verify

    def counting(self: PasswordHasher, stored: str, password: str) -> bool:
        checked.append(stored)
        return verify(self, stored, password)

    monkeypatch.setattr(PasswordHasher, "verify", counting)
    new_account(site, "ann", "admin")
    for email in ("ann@example.edu", "nobody@example.edu"):
        answer = client(site).post("/api/v1/session", json={"email": email, "password": "wrong password"})
        assert answer.status_code == 401
        assert answer.json() == {"detail": "the e-mail address or the password is wrong"}
    assert len(checked) == 2


def test_a_hash_with_other_parameters_is_renewed_at_sign_in(site: Site) -> None:
    ann = new_account(site, "ann", "admin")
    weak = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with site.database.writing() as session:
        session.execute(update(Account).values(password_hash=weak))
    assert _sign_in(site, "ann") == 204
    with site.database.reading() as session:
        stored = session.get_one(Account, ann.account_id).password_hash
    assert stored is not None
    assert not passwords.is_outdated(stored)
    assert _sign_in(site, "ann") == 204


def test_a_session_starts_lasts_and_ends(site: Site) -> None:
    new_account(site, "ann", "admin")
    browser = signed_in(site, "ann")
    cookie = browser.cookies["chaffinch"]
    assert browser.get("/api/v1/me").json()["email"] == "ann@example.edu"
    with site.database.writing() as session:
        stored = session.scalars(select(Session)).one()
        assert cookie.encode() not in stored.token_hash
        stored.expires = now() + 60
    assert browser.get("/api/v1/me").status_code == 200
    with site.database.writing() as session:
        stored = session.scalars(select(Session)).one()
        assert stored.expires > now() + 86_400  # it is used, so it lasts
        stored.expires = now() - 1
    assert browser.get("/api/v1/me").status_code == 401
    browser = signed_in(site, "ann")
    kept = browser.cookies["chaffinch"]
    assert browser.delete("/api/v1/session").status_code == 204
    assert "chaffinch" not in browser.cookies
    assert client(site, headers={"Cookie": f"chaffinch={kept}"}).get("/api/v1/me").status_code == 401


def test_a_new_password_ends_the_other_sessions(site: Site) -> None:
    new_account(site, "ann", "admin")
    here, there = signed_in(site, "ann"), signed_in(site, "ann")
    new = "another long password"
    wrong = here.put("/api/v1/me/password", json={"current": "wrong password", "new": new})
    assert wrong.status_code == 403
    short = here.put("/api/v1/me/password", json={"current": PASSWORD, "new": "short"})
    assert short.status_code == 400
    assert there.get("/api/v1/me").status_code == 200
    assert here.put("/api/v1/me/password", json={"current": PASSWORD, "new": new}).status_code == 204
    assert here.get("/api/v1/me").status_code == 200
    assert there.get("/api/v1/me").status_code == 401
    assert _sign_in(site, "ann") == 401
    assert _sign_in(site, "ann", new) == 204


def test_wrong_passwords_are_limited_for_each_account(site: Site) -> None:
    new_account(site, "ann", "admin")
    new_account(site, "bob", "reader")
    program = client(site)
    wrong = {"email": "ann@example.edu", "password": "wrong password"}
    statuses = [program.post("/api/v1/session", json=wrong).status_code for _ in range(11)]
    assert statuses == [401] * 10 + [429]
    refused = program.post("/api/v1/session", json=wrong | {"password": PASSWORD})
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert _sign_in(site, "bob") == 204


def test_requests_are_limited_for_each_account(site: Site) -> None:
    ann = new_account(site, "ann", "admin")
    bob = new_account(site, "bob", "reader")
    program = with_token(site, ann, "admin")
    assert program.patch("/api/v1/settings", json={"requests_per_minute": 3}).status_code == 200
    statuses = [program.get("/api/v1/me").status_code for _ in range(5)]
    assert statuses[-1] == 429
    assert with_token(site, bob, "read").get("/api/v1/me").status_code == 200
    assert program.get("/healthz").status_code == 200


def test_a_limit_is_refilled_as_time_passes() -> None:
    time = [0.0]
    limits = Limits(lambda: time[0])
    for _ in range(3):
        limits.spend("ann", 3, 6)
    with pytest.raises(TooManyRequests, match="in 10 seconds"):
        limits.spend("ann", 3, 6)
    limits.spend("bob", 3, 6)
    time[0] = 10.0
    limits.spend("ann", 3, 6)
    with pytest.raises(TooManyRequests):
        limits.spend("ann", 3, 6)


def test_a_token_is_shown_once_and_does_what_its_scope_allows(site: Site) -> None:
    new_account(site, "ann", "admin")
    browser = signed_in(site, "ann")
    made = browser.post("/api/v1/tokens", json={"name": "script", "scope": "read", "days": 7}).json()
    assert made["token"].startswith("chf_")
    (listed,) = browser.get("/api/v1/tokens").json()
    assert "token" not in listed
    assert listed["last_used"] is None
    program = client(site, address="192.0.2.1", headers={"Authorization": f"Bearer {made['token']}"})
    assert program.get("/api/v1/runs").status_code == 200
    assert browser.get("/api/v1/tokens").json()[0]["last_used"] is not None
    assert program.get("/api/v1/accounts").status_code == 403
    assert program.post("/api/v1/tokens", json={"name": "more", "scope": "write"}).status_code == 403
    assert program.put("/api/v1/me/password", json={"current": PASSWORD, "new": PASSWORD}).status_code == 403
    with site.database.writing() as session:
        session.execute(update(Token).values(expires=now() - 1))
    assert program.get("/api/v1/runs").status_code == 401
    with site.database.writing() as session:
        session.execute(update(Token).values(expires=None))
    assert program.get("/api/v1/runs").status_code == 200
    assert browser.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    refused = program.get("/api/v1/runs")
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_cannot_create_one_that_may_do_more(site: Site) -> None:
    writer = with_token(site, new_account(site, "ann", "admin"), "write")
    assert writer.post("/api/v1/tokens", json={"name": "same", "scope": "write"}).status_code == 201
    assert writer.post("/api/v1/tokens", json={"name": "more", "scope": "admin"}).status_code == 403


def test_nobody_sees_the_tokens_of_others(site: Site) -> None:
    new_account(site, "ann", "admin")
    new_account(site, "bob", "reader")
    made = signed_in(site, "bob").post("/api/v1/tokens", json={"name": "bob's"}).json()
    ann = signed_in(site, "ann")
    assert ann.get("/api/v1/tokens").json() == []
    assert ann.delete(f"/api/v1/tokens/{made['id']}").status_code == 404


def test_the_first_account_is_an_admin_and_the_last_admin_stays(site: Site) -> None:
    with pytest.raises(BadRequest, match="first account"):
        new_account(site, "bob", "reader")
    ann = new_account(site, "ann", "admin")
    assert ann.account_id is not None
    with pytest.raises(Conflict, match="already"):
        new_account(site, "ANN", "reader")
    with pytest.raises(Conflict, match="last administrator"):
        administration.delete_account(site, COMMAND_LINE, ann.account_id)
    with pytest.raises(Conflict, match="last administrator"):
        administration.change_account(site, COMMAND_LINE, ann.account_id, role="reader")
    with pytest.raises(Conflict, match="last administrator"):
        administration.change_account(site, COMMAND_LINE, ann.account_id, is_active=False)
    new_account(site, "eve", "admin")
    administration.change_account(site, COMMAND_LINE, ann.account_id, role="reader")
    administration.delete_account(site, COMMAND_LINE, ann.account_id)


def test_a_deactivated_account_is_out_at_once(site: Site) -> None:
    ann, bob = new_account(site, "ann", "admin"), new_account(site, "bob", "instructor")
    browser, program = signed_in(site, "bob"), with_token(site, bob, "write")
    admin = signed_in(site, "ann")
    assert program.get("/api/v1/me").status_code == 200
    answer = admin.patch(f"/api/v1/accounts/{bob.account_id}", json={"is_active": False})
    assert answer.json()["is_active"] is False
    assert browser.get("/api/v1/me").status_code == 401
    assert program.get("/api/v1/me").status_code == 401
    assert _sign_in(site, "bob") == 401
    actions = [(entry["action"], entry["account"]) for entry in list_entries(site, ann)]
    assert ("deactivate account", ann.account_id) in actions
    assert ("fail to sign in", bob.account_id) in actions


def test_the_audit_log_has_a_line_for_every_action_and_no_secret(site: Site) -> None:
    new_account(site, "ann", "admin")
    browser = signed_in(site, "ann")
    token = browser.post("/api/v1/tokens", json={"name": "script"}).json()["token"]
    entries = browser.get("/api/v1/audit").json()
    assert [entry["action"] for entry in entries] == ["create token", "sign in", "create account"]
    assert entries[1]["address"] == "127.0.0.1"
    assert not any(secret in json.dumps(entries) for secret in (PASSWORD, token))
    (earlier,) = browser.get("/api/v1/audit", params={"before": entries[1]["id"]}).json()
    assert earlier["action"] == "create account"


@pytest.mark.parametrize("email", ["", "no address", "a@b@c", "a@b\n", "@b", "a" * 300 + "@b"])
def test_what_is_no_address_is_refused(site: Site, email: str) -> None:
    answer = client(site).post("/api/v1/accounts", json={"email": email, "role": "admin"})
    assert answer.status_code == (201 if email == "a@b\n" else 400 if "@" in email[:4] or " " in email else 422)


def test_accounts_are_managed_on_the_command_line(tmp_path: Path, where: str) -> None:
    at = ["--database", where] if is_database(where) else []

    def run(*arguments: str, typed: str = "") -> tuple[int, str]:
        command = ["account", *arguments, "--data", str(tmp_path / "data"), *at]
        done = CliRunner().invoke(main, command, input=typed)
        return done.exit_code, done.output

    assert run("add", "ann@example.edu", typed=f"{PASSWORD}\n{PASSWORD}\n")[0] == 2  # not an admin
    assert run("add", "ann@example.edu", "--role", "admin", typed="short\nshort\n")[0] == 2
    assert run("add", "ann@example.edu", "--role", "admin", typed=f"{PASSWORD}\n{PASSWORD}\n")[0] == 0
    code, generated = run("add", "Bob@example.edu", "--name", "Bob B.", "--generate")
    assert code == 0
    site = Site(tmp_path / "data", where if at else None)
    assert _sign_in(site, "bob", generated.split()[-1]) == 204
    assert _sign_in(site, "ann") == 204
    code, renewed = run("password", "bob@example.edu", "--generate")
    assert _sign_in(site, "bob", generated.split()[-1]) == 401
    assert _sign_in(site, "bob", renewed.split()[-1]) == 204
    assert "Bob B." in run("list")[1]
    assert run("remove", "bob@example.edu", typed="n\n")[0] != 0
    assert run("remove", "bob@example.edu", "--yes")[0] == 0
    assert run("remove", "bob@example.edu", "--yes")[0] == 2
    listed = json.loads(run("list", "--json")[1])
    assert [entry["email"] for entry in listed] == ["ann@example.edu"]
    site.close()
