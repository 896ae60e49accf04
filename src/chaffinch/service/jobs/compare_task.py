"""Compares what was uploaded for a run, and keeps the report in all its forms."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy.orm import Session

from chaffinch.comparison.compare import compare
from chaffinch.errors import NothingToCompare, SkipReason
from chaffinch.report import to_csv, to_json
from chaffinch.service.database.tables import Assignment, Job, Run
from chaffinch.service.jobs import queue
from chaffinch.service.moss import moss_results
from chaffinch.service.site import Site
from chaffinch.service.uploads import BASE, EARLIER, SUBMISSION, Uploaded, as_class, read_upload
from chaffinch.types import File, Receipt, Report, Skipped

OPTIONS = frozenset(
    ("language", "top", "threshold", "max_owners", "k", "w", "student_pattern", "include", "exclude", "ocr")
)
"""The options of `compare` that a visitor may choose."""


def compare_run(site: Site, job: Job, progress: Callable[[str], None]) -> None:
    """Run the comparison of a job."""
    progress("Reading what was uploaded ...")
    with site.database.reading() as session:
        run = session.get_one(Run, job.run_id)
        files = read_upload(site.blobs.path(session, _present(run.upload_id)))
        files += _base_of(site, session, run)
        earlier = _earlier_classes(site, session, run)
    if run.source == "moss":
        report = _compare_for_moss(run, files, progress)
    else:
        report = _compare(run, files, earlier, progress)
    progress("Writing the report ...")
    with site.blobs.spooled() as file:
        _write_results(report, run, file)
        summary = _summary(report)

        def change(session: Session) -> None:
            stored = session.get_one(Run, run.id)
            stored.result_id, stored.summary = site.blobs.keep(session, file), summary
            queue.finish(session, job, f"{len(report.pairs)} pairs listed")

        site.database.write(change)


def _compare(run: Run, files: list[Uploaded], earlier: list[File], progress: Callable[[str], None]) -> Report:
    by_role = {role: [file for file in files if file.role == role] for role in (SUBMISSION, BASE, EARLIER)}
    return compare(
        [as_class(by_role[SUBMISSION], "submissions")],
        base=[File(file.name, file.data) for file in by_role[BASE]],
        old=[*([as_class(by_role[EARLIER], "earlier")] if by_role[EARLIER] else []), *earlier],
        progress=progress,
        **_options(run),
    )


def _compare_for_moss(run: Run, files: list[Uploaded], progress: Callable[[str], None]) -> Report:
    """Compare the files of a MOSS client. If nothing can be compared, the result says why."""
    options = _options(run)
    new, skipped = moss_results.submissions(files, options["language"], run.options["moss"]["is_directory"])
    base = [File(file.name, file.data, language=options["language"]) for file in files if file.role == BASE]
    try:
        report = compare(new, base=base, progress=progress, **options)
    except NothingToCompare as error:
        note = Skipped("nothing to compare", SkipReason.EMPTY, str(error))
        report = Report(tuple(new), (), (), (), (), (note,), (0,) * 20, Receipt())
    return replace(report, skipped=(*skipped, *report.skipped))


def _options(run: Run) -> dict[str, Any]:
    """Return the options of `compare`."""
    return {name: run.options[name] for name in OPTIONS if run.options.get(name) is not None}


def _present(blob_id: str | None) -> str:
    assert blob_id is not None
    return blob_id


def _base_of(site: Site, session: Session, run: Run) -> list[Uploaded]:
    """Return the base code that is kept with the assignment."""
    assignment = session.get(Assignment, run.assignment_id) if run.assignment_id else None
    if assignment is None or assignment.base_id is None:
        return []
    return [file._replace(role=BASE) for file in read_upload(site.blobs.path(session, assignment.base_id))]


def _earlier_classes(site: Site, session: Session, run: Run) -> list[File]:
    """Return the submissions of the earlier runs that this one is compared with."""
    classes = []
    for run_id in run.options.get("earlier_runs", ()):
        earlier = session.get(Run, run_id)
        if earlier is not None and earlier.upload_id is not None:
            files = read_upload(site.blobs.path(session, earlier.upload_id))
            submissions = [file for file in files if file.role == SUBMISSION]
            classes.append(as_class(submissions, earlier.title))
    return classes


def _write_results(report: Report, run: Run, file: BinaryIO) -> None:
    """Write a ZIP with the pages, and with the report as one page, as JSON and as CSV."""
    with tempfile.TemporaryDirectory() as folder, ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as packed:
        report.save(Path(folder) / "report")
        report.save(Path(folder) / "report.html")
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            packed.write(path, path.relative_to(folder).as_posix())
        packed.writestr("report.json", json.dumps(to_json(report), ensure_ascii=False))
        if run.source == "moss":
            for name, data in moss_results.write_results(report, run.options["moss"], run.created):
                packed.writestr(name, data)
        packed.writestr("report.csv", to_csv(report).encode("utf-8", "replace"))


def _summary(report: Report) -> dict[str, Any]:
    return {
        "submissions": len(report.submissions),
        "earlier": len(report.old),
        "pairs": len(report.pairs),
        "clusters": len(report.clusters),
        "skipped": len(report.skipped),
        "top_score": max((pair.score for pair in report.pairs), default=None),
    }
