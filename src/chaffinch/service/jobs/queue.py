"""A durable queue of jobs in the database.

A worker claims a job with a lease and renews it while it works. If the worker dies, the lease runs out and
another worker claims the job. A job is finished in the transaction that stores its result, and only by the
worker that still holds it, so it takes effect once however often it is started.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import CursorResult, and_, delete, exists, or_, select, update
from sqlalchemy.orm import Session, aliased

from chaffinch.service.database.database import Database, clock
from chaffinch.service.database.tables import Blob, Job

LEASE_SECONDS = 30.0
MAX_ATTEMPTS = 3
"""A job that took its worker down this often is given up: others wait behind it."""
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
_GIVEN_UP = f"its worker was stopped {MAX_ATTEMPTS} times; the job may need more memory than there is"


class LostLease(Exception):
    """Another worker has taken over the job, or it was deleted."""


def claim(database: Database, worker: str) -> Job | None:
    """Claim the job that has waited longest, or one whose worker is gone.

    Jobs of one archive wait for each other, because only one process can write to an index.
    """

    def change(session: Session) -> Job | None:
        now = clock(session)
        is_free = or_(Job.state == WAITING, and_(Job.state == RUNNING, Job.lease_end < now))
        other = aliased(Job)
        is_running = and_(other.state == RUNNING, other.lease_end >= now)
        has_to_wait = exists().where(other.archive_id == Job.archive_id, other.id != Job.id, is_running)
        while True:
            oldest = select(Job).where(is_free, ~has_to_wait).order_by(Job.created, Job.id).limit(1)
            job = session.scalar(oldest.with_for_update(skip_locked=True))
            if job is None:
                return None
            if job.attempts >= MAX_ATTEMPTS:
                job.state, job.message, job.finished = FAILED, _GIVEN_UP, now
                session.flush()
                _forget_upload(session, job)
                continue
            job.state, job.worker, job.attempts = RUNNING, worker, job.attempts + 1
            job.lease_end = now + LEASE_SECONDS
            return job

    return database.write(change)


def renew(database: Database, job: Job, progress: str) -> None:
    """Keep the job for another lease, and say how far it is."""

    def change(session: Session) -> None:
        _update(session, job, progress=progress, lease_end=clock(session) + LEASE_SECONDS)

    database.write(change)


def finish(session: Session, job: Job, message: str, result: dict[str, Any] | None = None) -> None:
    """Mark the job as done, in the transaction that stores what came out."""
    _update(session, job, state=DONE, message=message, result=result, progress="", finished=clock(session))


def fail(database: Database, job: Job, message: str) -> None:
    """Mark the job as failed. It is not tried again: the same input would fail the same way."""

    def change(session: Session) -> None:
        _update(session, job, state=FAILED, message=message, progress="", finished=clock(session))
        _forget_upload(session, job)

    database.write(change)


def release(database: Database, job: Job) -> None:
    """Give the job back unfinished, for another worker."""

    def change(session: Session) -> None:
        _update(session, job, state=WAITING, worker=None, attempts=job.attempts - 1, progress="")

    database.write(change)


def _forget_upload(session: Session, job: Job) -> None:
    """Delete what was uploaded for this job alone. Its file is removed when stray files are."""
    session.execute(delete(Blob).where(Blob.id == job.upload_id))


def _update(session: Session, job: Job, **values: Any) -> None:
    changed = session.execute(
        update(Job).where(Job.id == job.id, Job.state == RUNNING, Job.worker == job.worker).values(**values)
    )
    assert isinstance(changed, CursorResult)
    if changed.rowcount != 1:
        raise LostLease(job.id)
