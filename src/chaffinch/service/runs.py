"""Runs: accept what was uploaded, list runs, read their results, delete them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from chaffinch.service.accounts import access
from chaffinch.service.accounts.visitor import ADMIN, INSTRUCTOR, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Assignment, Blob, CourseMember, Job, Run, now
from chaffinch.service.jobs.compare_task import OPTIONS
from chaffinch.service.refusals import BadRequest, NotFound, OverQuota
from chaffinch.service.site import Site
from chaffinch.service.uploads import UploadWriter

DAY = 86_400
RESULTS = {"json": "report.json", "csv": "report.csv", "html": "report.html"}
"""Forms in which a report can be downloaded, besides the ZIP with all of them."""


@dataclass(frozen=True, slots=True)
class RunState:
    """A run, and the job that works on it."""

    run: Run
    job: Job

    def to_dict(self) -> dict[str, Any]:
        run, job = self.run, self.job
        return {
            "id": run.id,
            "title": run.title,
            "assignment": run.assignment_id,
            "source": run.source,
            "options": run.options,
            "created": run.created,
            "expires": run.expires,
            "state": job.state,
            "progress": job.progress,
            "message": job.message,
            "summary": run.summary,
        }


@contextmanager
def upload(site: Site) -> Iterator[tuple[BinaryIO, UploadWriter]]:
    """Collect files for a run in a spooled file, which is gone after the `with` block unless it was kept."""
    with site.blobs.spooled() as file:
        writer = UploadWriter(file, site.settings.max_upload_mb << 20)
        try:
            yield file, writer
        finally:
            with suppress(OSError):
                writer.close()


def require_starting(visitor: Visitor) -> None:
    """Raise if the visitor may not start runs, so that nothing is uploaded in vain."""
    access.require_scope(visitor, access.WRITE)
    access.require_role(visitor, INSTRUCTOR)


def start_run(
    site: Site,
    visitor: Visitor,
    file: BinaryIO,
    writer: UploadWriter,
    *,
    title: str,
    source: str,
    options: dict[str, Any],
    assignment_id: str | None = None,
) -> RunState:
    """Accept an upload. When this returns, the run survives whatever happens to the machine's processes."""
    require_starting(visitor)
    if not len(writer):
        raise BadRequest("no files were uploaded")
    check_options({name: value for name, value in options.items() if name not in ("earlier_runs", "moss")})
    writer.close()
    settings = site.settings
    days = settings.keep_moss_days if source == "moss" else settings.keep_days

    def change(session: Session) -> RunState:
        chosen = options
        if assignment_id is not None:
            assignment = access.assignment_for(session, visitor, assignment_id, INSTRUCTOR)
            chosen = assignment.options | options
        for earlier in options.get("earlier_runs", ()):
            access.run_for(session, visitor, earlier)
        _check_quota(session, visitor, settings.quota_mb << 20)
        run = Run(
            account_id=visitor.account_id,
            assignment_id=assignment_id,
            source=source,
            title=title,
            upload_id=site.blobs.keep(session, file),
            options=chosen,
            moss_number=_moss_number() if source == "moss" else None,
            expires=None if days is None else now() + days * DAY,
        )
        session.add(run)
        session.flush()
        job = Job(kind="compare", run_id=run.id, account_id=visitor.account_id, arguments={})
        session.add(job)
        record(session, visitor, "start run", run.id)
        return RunState(run, job)

    return site.database.write(change)


def check_options(options: dict[str, Any]) -> None:
    """Raise if these are not options of a comparison."""
    if unknown := options.keys() - OPTIONS:
        raise BadRequest(f"unknown options: {', '.join(sorted(unknown))}")


def _moss_number() -> str:
    """Return the path of a run's MOSS pages. Whoever has it sees them, so it is random."""
    return f"{secrets.randbelow(10)}/{10**12 + secrets.randbelow(9 * 10**12)}"


def _check_quota(session: Session, visitor: Visitor, limit: int) -> None:
    if visitor.account_id is None:
        return
    used = session.scalar(
        select(func.coalesce(func.sum(Blob.size), 0))
        .select_from(Run)
        .join(Blob, or_(Blob.id == Run.upload_id, Blob.id == Run.result_id))
        .where(Run.account_id == visitor.account_id)
    )
    if used is not None and used > limit:
        raise OverQuota(f"your runs take more than {limit >> 20} MB; delete some of them")


def list_runs(
    site: Site, visitor: Visitor, assignment_id: str | None = None, limit: int = 100
) -> list[RunState]:
    """Return the runs that the visitor may see, of one assignment or all, the newest first."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        query = select(Run, Job).join(Job, Job.run_id == Run.id).order_by(Run.created.desc(), Run.id)
        if assignment_id is not None:
            query = query.where(Run.assignment_id == assignment_id)
        if visitor.role != ADMIN:
            courses = select(CourseMember.course_id).where(CourseMember.account_id == visitor.account_id)
            assignments = select(Assignment.id).where(Assignment.course_id.in_(courses))
            query = query.where(or_(Run.account_id == visitor.account_id, Run.assignment_id.in_(assignments)))
        return [RunState(*row) for row in session.execute(query.limit(limit))]


def run_state(site: Site, visitor: Visitor, run_id: str) -> RunState:
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        run = access.run_for(session, visitor, run_id)
        return RunState(run, _job_of(session, run))


def _job_of(session: Session, run: Run) -> Job:
    job = session.scalar(select(Job).where(Job.run_id == run.id))
    assert job is not None
    return job


def result_path(site: Site, visitor: Visitor, run_id: str) -> Path:
    """Return the ZIP with the report of a run, or raise if there is none yet."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        return path_of_result(site, session, access.run_for(session, visitor, run_id))


def path_of_result(site: Site, session: Session, run: Run) -> Path:
    if run.result_id is None:
        raise NotFound("this run has no report yet")
    return site.blobs.path(session, run.result_id)


def member(path: Path, name: str) -> bytes:
    """Return a file of a result."""
    with ZipFile(path) as packed:
        try:
            return packed.read(name)
        except KeyError:
            raise NotFound("the report has no such file") from None


def delete_run(site: Site, visitor: Visitor, run_id: str) -> None:
    """Delete a run with its upload, report, verdicts and links."""
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> list[str]:
        run = access.run_for(session, visitor, run_id, INSTRUCTOR)
        record(session, visitor, "delete run", run_id)
        return remove(site, session, [run])

    site.forget(site.database.write(change))


def remove(site: Site, session: Session, runs: list[Run]) -> list[str]:
    """Delete runs as a part of the transaction. Return the blobs to pass to `Site.forget` after it."""
    blobs = [blob for run in runs for blob in (run.upload_id, run.result_id) if blob]
    for run in runs:
        session.delete(run)
    session.flush()
    site.blobs.delete(session, blobs)
    return blobs
