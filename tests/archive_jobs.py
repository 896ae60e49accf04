"""Registers documents in archives and lets a worker do what waits, without HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, BinaryIO

from chaffinch.index.records import Metadata
from chaffinch.service import archive_documents, runs
from chaffinch.service.accounts.visitor import LOCAL
from chaffinch.service.database.tables import Job
from chaffinch.service.jobs import queue
from chaffinch.service.jobs.job_worker import Worker
from chaffinch.service.site import Site
from chaffinch.service.uploads import DOCUMENT, UploadWriter

ABOUT = Metadata("https://example.org/essays", "ann@example.org", "2024-05-01")


@contextmanager
def upload(site: Site, files: dict[str, str] | dict[str, bytes]) -> Iterator[tuple[BinaryIO, UploadWriter]]:
    with runs.upload(site) as (file, writer):
        for name, data in files.items():
            writer.add(DOCUMENT, name, BytesIO(data if isinstance(data, bytes) else data.encode()))
        yield file, writer


def registered(site: Site, archive_id: str, files: Any, **options: Any) -> Job:
    with upload(site, files) as (file, writer):
        how = {"metadata": ABOUT} | options
        return archive_documents.register(site, LOCAL, archive_id, file, writer, **how)


def worked(site: Site, job: Job) -> Job:
    """Let a worker do everything that waits. Return the job as it is then."""
    worker = Worker(site)
    while (claimed := queue.claim(site.database, worker.name)) is not None:
        worker.work(claimed)
    with site.database.reading() as session:
        return session.get_one(Job, job.id)
