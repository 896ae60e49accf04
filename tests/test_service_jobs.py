"""The queue and the workers of the service, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
from io import BytesIO
from zipfile import ZipFile

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.orm import Session

from chaffinch.service.database.tables import Job, Run, Table
from chaffinch.service.jobs import queue
from chaffinch.service.jobs.job_worker import Worker
from chaffinch.service.site import Site
from chaffinch.service.uploads import SUBMISSION, UploadWriter
from tests.programs import WRITERS, Style, functions


def _submitted(site: Site, files: dict[str, str], **options: object) -> str:
    """Accept a run, as the service does. Return its id."""
    with site.blobs.spooled() as file:
        upload = UploadWriter(file, 1 << 20)
        for name, text in files.items():
            upload.add(SUBMISSION, name, BytesIO(text.encode()))
        upload.close()

        def change(session: Session) -> str:
            run = Run(source="api", title="test", upload_id=site.blobs.keep(session, file), options=options)
            session.add(run)
            session.flush()
            session.add(Job(kind="compare", run_id=run.id, arguments={}))
            return run.id

        return site.database.write(change)


def _program(seed: int) -> str:
    return WRITERS["py"](functions(seed), Style())


CLASS = {f"s{n}/main.py": _program(n) for n in range(5)} | {"copy/main.py": _program(0)}


def test_a_run_is_compared_and_its_report_kept(site: Site) -> None:
    run_id = _submitted(site, CLASS)
    worker = Worker(site)
    job = queue.claim(site.database, worker.name)
    assert job is not None
    assert queue.claim(site.database, worker.name) is None
    worker.work(job)
    with site.database.reading() as session:
        run = session.get_one(Run, run_id)
        assert session.get_one(Job, job.id).state == queue.DONE
        assert run.summary is not None
        assert run.summary["submissions"] == 6
        with ZipFile(site.blobs.path(session, run.result_id or "")) as packed:
            report = json.loads(packed.read("report.json"))
            assert {"report/index.html", "report.html", "report.csv"} <= set(packed.namelist())
    first = report["pairs"][0]
    assert {first["left"], first["right"]} == {"copy", "s0"}


def test_the_migrations_make_the_tables_that_the_code_declares(site: Site) -> None:
    with site.database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []
