"""Every route of the API, tried by everybody: a table says who may use it. Nobody sees what is not theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from httpx import Client, Response

from chaffinch.index.index import Index
from chaffinch.service import archive_documents, archives, courses, memberships, runs
from chaffinch.service.accounts.administration import COMMAND_LINE, create_account
from chaffinch.service.accounts.api_tokens import create_token, list_tokens, revoke_token
from chaffinch.service.accounts.visitor import Visitor
from chaffinch.service.database.tables import Job, Run, new_id
from chaffinch.service.shares import create_share
from chaffinch.service.site import Site
from chaffinch.service.uploads import SUBMISSION
from chaffinch.service.web.application import create_app
from chaffinch.types import File
from tests.made import zipped
from tests.visitors import PASSWORD, client, new_account, signed_in, with_token

WHO = {
    "A": "an admin",
    "O": "the instructor who owns the course and the run",
    "I": "an instructor of another course",
    "V": "a reviewer of the course",
    "R": "a reader of the course",
    "S": "a reader of nothing",
    "r": "the owner's token that may only read",
    "w": "the owner's token that may write",
    "-": "nobody",
}
ALL = "AOIVRSrw-"
SIGNED_IN = "AOIVRSrw"
WRITERS = "AOIVRSw"
INSTRUCTORS = "AOIw"
COURSE = "AOVRrw"
COURSE_WRITERS = "AOw"
OWNERS = "AOrw"
FILE = [("submission", ("a.py", b"x = 1"))]
MEMBER = {"email": "member@example.edu", "role": "reader"}


@dataclass(frozen=True)
class Rule:
    """Who may use a route, and what to send there."""

    allowed: str
    json: Any = None
    files: Any = None


RULES = {
    "POST /api/v1/session": Rule(ALL, {"email": "owner@example.edu", "password": PASSWORD}),
    "DELETE /api/v1/session": Rule(ALL),
    "GET /api/v1/me": Rule(SIGNED_IN),
    "PUT /api/v1/me/password": Rule("AOIVRS", {"current": PASSWORD, "new": PASSWORD}),
    "GET /api/v1/tokens": Rule(SIGNED_IN),
    "POST /api/v1/tokens": Rule(WRITERS, {"name": "mine"}),
    "DELETE /api/v1/tokens/{token_id}": Rule("Ow"),
    "GET /api/v1/accounts": Rule("A"),
    "POST /api/v1/accounts": Rule("A", {"email": "{new}@example.edu", "role": "reader"}),
    "PATCH /api/v1/accounts/{account_id}": Rule("A", {"name": "Other"}),
    "DELETE /api/v1/accounts/{account_id}": Rule("A"),
    "GET /api/v1/settings": Rule("A"),
    "PATCH /api/v1/settings": Rule("A", {"keep_moss_days": 7}),
    "GET /api/v1/audit": Rule("A"),
    "GET /api/v1/courses": Rule(SIGNED_IN),
    "POST /api/v1/courses": Rule(INSTRUCTORS, {"name": "C"}),
    "GET /api/v1/courses/{course_id}": Rule(COURSE),
    "PATCH /api/v1/courses/{course_id}": Rule(COURSE_WRITERS, {"name": "C"}),
    "DELETE /api/v1/courses/{course_id}": Rule(COURSE_WRITERS),
    "POST /api/v1/courses/{course_id}/assignments": Rule(COURSE_WRITERS, {"name": "A"}),
    "GET /api/v1/courses/{course_id}/members": Rule(OWNERS),
    "PUT /api/v1/courses/{course_id}/members": Rule(COURSE_WRITERS, MEMBER),
    "DELETE /api/v1/courses/{course_id}/members/{member_id}": Rule(COURSE_WRITERS),
    "GET /api/v1/assignments/{assignment_id}": Rule(COURSE),
    "PATCH /api/v1/assignments/{assignment_id}": Rule(COURSE_WRITERS, {"name": "A"}),
    "DELETE /api/v1/assignments/{assignment_id}": Rule(COURSE_WRITERS),
    "PUT /api/v1/assignments/{assignment_id}/base": Rule(COURSE_WRITERS, files=[("base", ("b.py", b"x"))]),
    "DELETE /api/v1/assignments/{assignment_id}/base": Rule(COURSE_WRITERS),
    "GET /api/v1/archives": Rule(SIGNED_IN),
    "POST /api/v1/archives": Rule(INSTRUCTORS, {"name": "A"}),
    "GET /api/v1/archives/{archive_id}": Rule(COURSE),
    "PATCH /api/v1/archives/{archive_id}": Rule(COURSE_WRITERS, {"name": "A"}),
    "DELETE /api/v1/archives/{archive_id}": Rule(COURSE_WRITERS),
    "GET /api/v1/archives/{archive_id}/documents": Rule(COURSE),
    "POST /api/v1/archives/{archive_id}/documents": Rule(COURSE_WRITERS, files=[("document", ("a.txt", b"x"))]),
    "PATCH /api/v1/archives/{archive_id}/documents": Rule(COURSE_WRITERS, {"names": ["a"], "date": "1999"}),
    "POST /api/v1/archives/{archive_id}/documents/remove": Rule(COURSE_WRITERS, {"names": ["a"]}),
    "GET /api/v1/archives/{archive_id}/documents/{name}": Rule(COURSE),
    "GET /api/v1/archives/{archive_id}/documents/{name}/relatives": Rule(COURSE),
    "POST /api/v1/archives/{archive_id}/search": Rule(COURSE, {"text": "some text"}),
    "GET /api/v1/archives/{archive_id}/suspicious": Rule(OWNERS),
    "POST /api/v1/archives/{archive_id}/rotate": Rule(COURSE_WRITERS, {}),
    "POST /api/v1/archives/{archive_id}/merge": Rule(COURSE_WRITERS),
    "POST /api/v1/archives/{archive_id}/check-urls": Rule(COURSE_WRITERS),
    "GET /api/v1/archives/{archive_id}/jobs": Rule(OWNERS),
    "GET /api/v1/archives/{archive_id}/jobs/{job_id}": Rule(OWNERS),
    "GET /api/v1/archives/{archive_id}/jobs/{job_id}/events": Rule(OWNERS),
    "GET /api/v1/archives/{archive_id}/members": Rule(OWNERS),
    "PUT /api/v1/archives/{archive_id}/members": Rule(COURSE_WRITERS, MEMBER),
    "DELETE /api/v1/archives/{archive_id}/members/{member_id}": Rule(COURSE_WRITERS),
    "GET /api/v1/runs": Rule(SIGNED_IN),
    "POST /api/v1/runs": Rule(INSTRUCTORS, files=FILE),
    "GET /api/v1/runs/{run_id}": Rule(COURSE),
    "GET /api/v1/runs/{run_id}/events": Rule(COURSE),
    "GET /api/v1/runs/{run_id}/report.{form}": Rule(COURSE),
    "DELETE /api/v1/runs/{run_id}": Rule(COURSE_WRITERS),
    "GET /api/v1/runs/{run_id}/verdicts": Rule(COURSE),
    "PUT /api/v1/runs/{run_id}/verdicts": Rule("AOVw", {"verdicts": {"0" * 32: {"verdict": "no"}}}),
    "GET /api/v1/runs/{run_id}/shares": Rule(OWNERS),
    "POST /api/v1/runs/{run_id}/shares": Rule(COURSE_WRITERS, {"days": 1}),
    "DELETE /api/v1/runs/{run_id}/shares/{share_id}": Rule(COURSE_WRITERS),
    "GET /shared/{token}/{name}": Rule(ALL),
}
"""A route without a line here fails a test: decide who may use it."""


class World:
    """A service with accounts, and things that belong to the owner."""

    def __init__(self, site: Site) -> None:
        self.site = site
        roles = {
            "admin": "admin", "owner": "instructor", "other": "instructor", "reviewer": "reviewer",
            "reader": "reader", "stranger": "reader", "member": "reader",
        }  # fmt: skip
        self.accounts = {name: new_account(site, name, role) for name, role in roles.items()}
        self.visitors: dict[str, Client] = {}
        self.sign_everybody_in()

    def sign_everybody_in(self) -> None:
        site = self.site
        names = dict(zip("AOIVRS", ["admin", "owner", "other", "reviewer", "reader", "stranger"], strict=True))
        self.visitors = {who: signed_in(site, name) for who, name in names.items()}
        self.visitors["r"] = with_token(site, self.accounts["owner"], "read")
        self.visitors["w"] = with_token(site, self.accounts["owner"], "write")
        self.visitors["-"] = client(site)

    def new_token(self) -> str:
        """Replace the owner's extra token: an account cannot have many."""
        site, owner = self.site, self.accounts["owner"]
        for token in list_tokens(site, owner):
            if token["name"] == "extra":
                revoke_token(site, owner, token["id"])
        return str(create_token(site, owner, "extra", "read", None)[0]["id"])

    def things(self) -> dict[str, str]:
        """Create one of everything for the owner. Return their ids."""
        site, owner = self.site, self.accounts["owner"]
        course_id = courses.create_course(site, owner, "Course")["id"]
        for name in ("reviewer", "reader", "member"):
            role = self.accounts[name].role
            memberships.set_member(site, owner, memberships.COURSE, course_id, f"{name}@example.edu", role)
        assignment_id = courses.create_assignment(site, owner, course_id, "Assignment", {})["id"]
        run_id = _finished_run(site, owner, assignment_id)
        share, token = create_share(site, owner, run_id, 1)
        archive_id, job_id = _archive(site, owner)
        for name in ("reviewer", "reader", "member"):
            memberships.set_member(
                site, owner, memberships.ARCHIVE, archive_id, f"{name}@example.edu", "reader"
            )
        extra = create_account(site, COMMAND_LINE, f"{new_id()}@example.edu", "reader")
        return {
            "course_id": course_id,
            "assignment_id": assignment_id,
            "run_id": run_id,
            "archive_id": archive_id,
            "job_id": job_id,
            "share_id": share["id"],
            "token": token,
            "token_id": self.new_token(),
            "account_id": extra["id"],
            "member_id": str(self.accounts["member"].account_id),
            "form": "json",
            "name": "index.html",
            "new": new_id(),
        }


def _archive(site: Site, owner: Visitor) -> tuple[str, str]:
    """Create an archive with a document and a finished job. Return the ids of archive and job."""
    archive_id = archives.create_archive(site, owner, "Archive", recipe="koala").archive.id
    with Index.open(site.indexes.where(archive_id)) as index:
        index.add([File("index.html", b"A text of a few words.")])
    job_id = archive_documents.merge(site, owner, archive_id).id
    with site.database.writing() as session:
        session.get_one(Job, job_id).state = "done"
    return archive_id, job_id


def _finished_run(site: Site, owner: Visitor, assignment_id: str) -> str:
    with runs.upload(site) as (file, writer):
        writer.add(SUBMISSION, "a.py", BytesIO(b"x"))
        state = runs.start_run(
            site, owner, file, writer, title="Run", source="api", options={}, assignment_id=assignment_id
        )
    with site.blobs.spooled() as file, site.database.writing() as session:
        file.write(zipped({"report.json": "{}", "report/index.html": "the report"}))
        run = session.get_one(Run, state.run.id)
        session.get_one(Job, state.job.id).state = "done"
        run.result_id, run.summary = site.blobs.keep(session, file), {"pairs": 3}
    return state.run.id


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    site = Site(tmp_path_factory.mktemp("rights") / "data", requests_per_minute=100_000, fetch_urls=True)
    yield World(site)
    site.close()


def test_every_route_is_in_the_table(tmp_path: Path) -> None:
    site = Site(tmp_path / "data")
    paths = create_app(site).openapi()["paths"]
    site.close()
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    known = {rule.replace("{member_id}", "{account_id}") for rule in RULES}
    assert routes == known


@pytest.mark.parametrize("route", RULES)
def test_only_those_may_use_a_route(world: World, route: str) -> None:
    rule = RULES[route]
    method, path = route.split(" ")
    things = world.things()
    for who, visitor in world.visitors.items():
        if method == "DELETE":
            things = world.things()
        answer = _ask(visitor, method, path, rule, things)
        is_allowed = answer.status_code < 400
        assert is_allowed == (who in rule.allowed), f"{WHO[who]}: {answer.status_code} {answer.text}"
        if not is_allowed:
            assert answer.status_code in (401, 403, 404), answer.text
        if (
            who in "IS"
            and not is_allowed
            and any(f"{kind}_id" in path for kind in ("run", "course", "archive"))
        ):
            assert answer.status_code == 404, f"{WHO[who]} learns that it exists"
    if path == "/api/v1/session":
        world.sign_everybody_in()


def _ask(visitor: Client, method: str, path: str, rule: Rule, things: dict[str, str]) -> Response:
    body = rule.json
    if isinstance(body, dict) and "{new}" in str(body.get("email")):
        body = body | {"email": f"{new_id()}@example.edu"}
    return visitor.request(method, path.format(**things), json=body, files=rule.files)


def test_lists_show_only_what_is_ones_own(world: World) -> None:
    things = world.things()
    for who, visitor in world.visitors.items():
        if who == "-":
            continue
        seen_runs = {run["id"] for run in visitor.get("/api/v1/runs").json()}
        seen_courses = {course["id"] for course in visitor.get("/api/v1/courses").json()}
        assert (things["run_id"] in seen_runs) == (who in COURSE), WHO[who]
        assert (things["course_id"] in seen_courses) == (who in COURSE), WHO[who]


def test_a_run_outside_of_courses_is_seen_by_its_owner_alone(world: World) -> None:
    answer = world.visitors["I"].post("/api/v1/runs", files=FILE)
    assert answer.status_code == 202
    for who, visitor in world.visitors.items():
        status = visitor.get(f"/api/v1/runs/{answer.json()['id']}").status_code
        assert status == (200 if who in "AI" else 401 if who == "-" else 404), WHO[who]


def test_an_earlier_run_of_somebody_else_cannot_be_compared_with(world: World) -> None:
    things = world.things()
    options = {"options": json.dumps({"earlier_runs": [things["run_id"]]})}
    assert world.visitors["O"].post("/api/v1/runs", files=FILE, data=options).status_code == 202
    assert world.visitors["I"].post("/api/v1/runs", files=FILE, data=options).status_code == 404


def test_an_account_may_do_no_more_in_a_course_than_its_role_allows(world: World) -> None:
    things = world.things()
    course = f"/api/v1/courses/{things['course_id']}"
    member = {"email": "stranger@example.edu", "role": "instructor"}
    assert world.visitors["O"].put(f"{course}/members", json=member).status_code == 200
    assert world.visitors["S"].get(course).json()["role"] == "reader"
    assert world.visitors["S"].delete(course).status_code == 403
