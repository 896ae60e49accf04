"""Courses, links to reports, verdicts of several people, and deletion that really deletes. On each database."""

from __future__ import annotations

import json
import os
import time
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from chaffinch.service import courses, memberships, runs
from chaffinch.service.accounts import administration
from chaffinch.service.accounts.administration import COMMAND_LINE
from chaffinch.service.accounts.visitor import LOCAL, Visitor
from chaffinch.service.database.tables import (
    Assignment,
    AuditEntry,
    Blob,
    BlobChunk,
    Course,
    Job,
    Run,
    Session,
    Share,
    Token,
    Verdict,
    now,
)
from chaffinch.service.housekeeping import tidy
from chaffinch.service.jobs import queue
from chaffinch.service.jobs.job_worker import Worker
from chaffinch.service.site import Site
from chaffinch.service.uploads import BASE, SUBMISSION
from tests.made import zipped
from tests.test_service_jobs import CLASS
from tests.visitors import OWN, client, new_account, signed_in, with_token

PAIR, OTHER_PAIR = "a" * 32, "b" * 32
SECRET = "a sentence that only this student wrote"


def _start(site: Site, visitor: Visitor, files: dict[str, str], assignment_id: str | None = None) -> str:
    with runs.upload(site) as (file, writer):
        for name, text in files.items():
            writer.add(SUBMISSION, name, BytesIO(text.encode()))
        return runs.start_run(
            site, visitor, file, writer, title="Run", source="api", options={}, assignment_id=assignment_id
        ).run.id


def _finished(site: Site, visitor: Visitor, assignment_id: str | None = None) -> str:
    """Return a run with a small report, as a worker leaves it."""
    run_id = _start(site, visitor, {"a.py": SECRET}, assignment_id)
    with site.blobs.spooled() as file, site.database.writing() as session:
        file.write(zipped({"report/index.html": "the report", "report/pairs.js": "1", "report.json": SECRET}))
        run = session.get_one(Run, run_id)
        run.result_id, run.summary = site.blobs.keep(session, file), {"pairs": 2}
        session.execute(update(Job).values(state=queue.DONE))
    return run_id


def _rows(site: Site, table: type) -> int:
    with site.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def _blob_files(site: Site) -> list[Path]:
    return list(site.blobs.folder.glob("*/*"))


def test_a_link_shows_one_report_until_it_is_revoked(site: Site) -> None:
    ann = new_account(site, "ann", "admin")
    run_id = _finished(site, ann)
    browser = signed_in(site, "ann")
    made = browser.post(f"/api/v1/runs/{run_id}/shares", json={"days": 3}).json()
    stranger = client(site, address="192.0.2.5")
    path = made["url"].removeprefix(OWN)
    page = stranger.get(path)
    assert page.text == "the report"
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert stranger.get(path.replace("index.html", "pairs.js")).text == "1"
    short = stranger.get(path.removesuffix("index.html"))
    assert short.headers["Location"] == path
    assert stranger.get(path.replace("index.html", "%2e%2e/report.json")).status_code == 404
    assert stranger.get(f"/api/v1/runs/{run_id}").status_code == 401
    assert stranger.get("/shared/wrong/index.html").status_code == 404
    (listed,) = browser.get(f"/api/v1/runs/{run_id}/shares").json()
    assert "url" not in listed
    assert browser.delete(f"/api/v1/runs/{run_id}/shares/{listed['id']}").status_code == 204
    assert stranger.get(path).status_code == 404


def test_a_link_expires(site: Site) -> None:
    ann = new_account(site, "ann", "admin")
    run_id = _finished(site, ann)
    made = signed_in(site, "ann").post(f"/api/v1/runs/{run_id}/shares", json={}).json()
    with site.database.writing() as session:
        session.execute(update(Share).values(expires=now()))
    assert client(site).get(made["url"]).status_code == 404


def test_verdicts_of_two_people_are_merged(site: Site) -> None:
    ann = new_account(site, "ann", "admin")
    new_account(site, "bob", "reviewer")
    course_id = courses.create_course(site, ann, "Course")["id"]
    memberships.set_member(site, ann, memberships.COURSE, course_id, "bob@example.edu", "reviewer")
    assignment_id = courses.create_assignment(site, ann, course_id, "Assignment", {})["id"]
    url = f"/api/v1/runs/{_finished(site, ann, assignment_id)}/verdicts"
    anns, bobs = signed_in(site, "ann"), signed_in(site, "bob")
    assert anns.get(url).json() == {"verdicts": {}}
    anns.put(url, json={"verdicts": {PAIR: {"verdict": "copied", "note": "same typos"}}})
    merged = bobs.get(url).json()["verdicts"][PAIR]
    assert (merged["verdict"], merged["note"], merged["conflict"]) == ("copied", "same typos", False)
    assert [(r["name"], r["is_own"]) for r in merged["reviewers"]] == [("ann", False)]
    said = {PAIR: {"verdict": "no"}, OTHER_PAIR: {"note": "look again"}}
    merged = bobs.put(url, json={"verdicts": said}).json()["verdicts"]
    assert (merged[PAIR]["verdict"], merged[PAIR]["conflict"]) == ("", True)
    assert {r["name"]: r["verdict"] for r in merged[PAIR]["reviewers"]} == {"ann": "copied", "bob": "no"}
    assert merged[OTHER_PAIR]["note"] == "look again"
    merged = bobs.put(url, json={"verdicts": {PAIR: {"verdict": "copied"}}}).json()["verdicts"]
    assert (merged[PAIR]["verdict"], merged[PAIR]["conflict"]) == ("copied", False)
    assert OTHER_PAIR in merged  # pairs that are not named stay
    assert OTHER_PAIR not in bobs.put(url, json={"verdicts": {OTHER_PAIR: {}}}).json()["verdicts"]
    assert _rows(site, Verdict) == 2


@pytest.mark.parametrize(
    "verdicts",
    [
        {"no key": {"verdict": "no"}},
        {PAIR: {"verdict": "guilty"}},
        {f"{n:032x}": {"note": "x"} for n in range(3)},
    ],
)
def test_verdicts_that_fit_no_report_are_refused(site: Site, verdicts: dict[str, dict[str, str]]) -> None:
    run_id = _finished(site, LOCAL)
    answer = client(site).put(f"/api/v1/runs/{run_id}/verdicts", json={"verdicts": verdicts})
    assert answer.status_code in (400, 422)
    assert _rows(site, Verdict) == 0


def test_an_assignment_keeps_base_code_and_options_for_its_runs(site: Site) -> None:
    local = client(site)
    course_id = local.post("/api/v1/courses", json={"name": "Course"}).json()["id"]
    body = {"name": "Assignment", "options": {"language": "python"}}
    assignment_id = local.post(f"/api/v1/courses/{course_id}/assignments", json=body).json()["id"]
    base = f"/api/v1/assignments/{assignment_id}/base"
    given = CLASS["s0/main.py"].encode()
    for _ in range(2):  # the second upload takes the place of the first
        answer = local.put(base, files=[(BASE, ("main.py", given))])
        assert answer.json()["has_base"], answer.text
        assert _rows(site, Blob) == 1
    run_id = _start(site, LOCAL, CLASS, assignment_id)
    worker = Worker(site)
    job = queue.claim(site.database, worker.name)
    assert job is not None
    worker.work(job)
    (run,) = local.get(f"/api/v1/assignments/{assignment_id}").json()["runs"]
    assert (run["id"], run["state"], run["options"]) == (run_id, "done", {"language": "python"})
    report = local.get(f"/api/v1/runs/{run_id}/report.json").json()
    assert {"copy", "s0"} not in [{pair["left"], pair["right"]} for pair in report["pairs"]]
    assert local.delete(base).json()["has_base"] is False
    assert local.patch(f"/api/v1/assignments/{assignment_id}", json={"name": "B"}).json()["name"] == "B"
    unknown = {"name": "A", "options": {"no such option": 1}}
    assert local.post(f"/api/v1/courses/{course_id}/assignments", json=unknown).status_code == 400
    assert local.get(f"/api/v1/courses/{course_id}").json()["assignments"][0]["name"] == "B"


def test_deleting_a_course_deletes_all_its_runs(site: Site) -> None:
    ann = new_account(site, "ann", "admin")
    course_id = courses.create_course(site, ann, "Course")["id"]
    assignment_id = courses.create_assignment(site, ann, course_id, "Assignment", {})["id"]
    with courses.upload_base(site, ann, assignment_id) as (file, writer):
        writer.add(BASE, "b.py", BytesIO(b"x"))
        courses.set_base(site, ann, assignment_id, file, writer)
    _finished(site, ann, assignment_id)
    assert _rows(site, Blob) == 3
    courses.delete_course(site, ann, course_id)
    for table in (Course, Assignment, Run, Job, Blob, BlobChunk):
        assert _rows(site, table) == 0, table
    assert _blob_files(site) == []


def test_deleting_an_account_deletes_its_runs(site: Site) -> None:
    ann, bob = new_account(site, "ann", "admin"), new_account(site, "bob", "instructor")
    kept = _finished(site, ann)
    _finished(site, bob)
    with_token(site, bob, "read")
    signed_in(site, "bob")
    assert bob.account_id is not None
    administration.delete_account(site, COMMAND_LINE, bob.account_id)
    assert [state.run.id for state in runs.list_runs(site, ann)] == [kept]
    assert (_rows(site, Blob), _rows(site, Token), _rows(site, Session)) == (2, 0, 0)


def test_what_expired_is_deleted_and_the_rest_stays(site: Site) -> None:
    ann = new_account(site, "ann", "admin")
    browser, program = signed_in(site, "ann"), with_token(site, ann, "read")
    kept, expired = _finished(site, ann), _finished(site, ann)
    browser.post(f"/api/v1/runs/{kept}/shares", json={})
    signed_in(site, "ann")
    with site.database.writing() as session:
        session.get_one(Run, expired).expires = now() - 1
        session.add(Token(account_id=ann.account_id, name="", token_hash=b"x", scopes=[], expires=now() - 1))
        session.add(Session(token_hash=b"x", account_id=ann.account_id, expires=now() - 1))
        session.add(Share(token_hash=b"x", run_id=kept, expires=now() - 1))
        session.add(Blob(id="stray", size=0, sha256="", created=now() - 7200))
        session.add(Blob(id="young", size=0, sha256=""))
    stray = site.blobs.spool / "cut off"
    stray.write_bytes(b"x")
    os.utime(stray, (time.time() - 7200,) * 2)
    for _ in range(2):
        tidy(site)
        assert [state.run.id for state in runs.list_runs(site, ann)] == [kept]
        rows = {table.__tablename__: _rows(site, table) for table in (Blob, Token, Session, Share)}
        assert rows == {"blobs": 3, "tokens": 1, "sessions": 2, "shares": 1}
    assert not stray.exists()
    assert browser.get("/api/v1/me").status_code == program.get("/api/v1/me").status_code == 200
    with site.database.reading() as session:
        lines = session.scalars(select(AuditEntry.subject).where(AuditEntry.action == "delete expired run"))
        assert list(lines) == [expired]


def test_nothing_of_a_deleted_run_stays_in_the_data_folder(tmp_path: Path) -> None:
    site = Site(tmp_path / "data")
    run_id = _finished(site, LOCAL)
    local = client(site)
    local.put(f"/api/v1/runs/{run_id}/verdicts", json={"verdicts": {PAIR: {"note": SECRET}}})
    assert _contains(site, SECRET)
    assert local.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert not _contains(site, SECRET)
    assert not _contains(site, PAIR)
    site.close()


def _contains(site: Site, text: str) -> bool:
    files = [path for path in site.data.rglob("*") if path.is_file()]
    return any(text.encode() in path.read_bytes() for path in files)


def test_no_line_of_the_audit_log_has_student_content(site: Site) -> None:
    ann = new_account(site, "ann", "admin")
    run_id = _finished(site, ann)
    browser = signed_in(site, "ann")
    browser.put(f"/api/v1/runs/{run_id}/verdicts", json={"verdicts": {PAIR: {"note": SECRET}}})
    url = browser.post(f"/api/v1/runs/{run_id}/shares", json={}).json()["url"]
    browser.delete(f"/api/v1/runs/{run_id}")
    entries = browser.get("/api/v1/audit").json()
    actions = [entry["action"] for entry in entries]
    assert actions[:3] == ["delete run", "share report", "set verdicts"]
    assert not any(secret in json.dumps(entries) for secret in (SECRET, "a.py", url.split("/")[-2]))
