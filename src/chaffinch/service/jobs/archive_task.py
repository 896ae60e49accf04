"""Changes the index of an archive: adds documents, removes them, rotates and compacts.

All of these can be done twice without harm, so a job that was cut off is simply run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from chaffinch.errors import IndexTrouble, TryAgain
from chaffinch.index.index import Index
from chaffinch.index.ingest import IngestReport
from chaffinch.index.records import Metadata, today
from chaffinch.service.database.tables import Archive, CheckedUrl, Job, now
from chaffinch.service.fetch import fetch
from chaffinch.service.jobs import queue
from chaffinch.service.site import Site
from chaffinch.service.uploads import uploaded_files
from chaffinch.types import Document, File, Skipped

ADD, REMOVE, SET = "archive_add", "archive_remove", "archive_set"
ROTATE, MERGE, CHECK_URLS = "archive_rotate", "archive_merge", "archive_check_urls"

Progress = Callable[[str], None]
T = TypeVar("T")

_WAIT_SECONDS = 0.5
_MAX_LISTED = 1000
"""Names in each list of a result, at most. All are counted."""


def add_documents(site: Site, job: Job, progress: Progress) -> None:
    """Add what was uploaded, or what is at a URL."""
    how = job.arguments
    metadata = Metadata(**how["metadata"])
    sources, fetched = _sources(site, job, metadata, progress)
    read = 0

    def show(_: Document) -> None:
        nonlocal read
        read += 1
        progress(f"Adding: {read:,} documents read ...")

    def change(index: Index) -> tuple[IngestReport, int]:
        options = {"replacing": how["replacing"], "boilerplate": how["boilerplate"] or None, "ocr": how["ocr"]}
        report = index.add(sources(), metadata=metadata, progress=show, **options)
        return report, len(index)

    report, count = writing(site, job, progress, change)

    def note_url(session: Session) -> None:
        if fetched is not None and metadata.url in (*report.added, *report.already):
            row = CheckedUrl(archive_id=job.archive_id, name=metadata.url, url=metadata.url, checked=now())
            row.sha256 = fetched
            session.merge(row)

    result = {
        **_listed(added=report.added, replaced=report.replaced, already=report.already),
        **_listed(copies=[{"name": name, "of": of} for name, of in report.copies]),
        **_listed(skipped=skips(report.skipped), not_language=report.not_language),
    }
    counts = (
        f"{len(report.added):,} added, {len(report.already):,} already there, {len(report.skipped):,} skipped"
    )
    finish(site, job, count, counts, result, note_url)


def _sources(
    site: Site, job: Job, metadata: Metadata, progress: Progress
) -> tuple[Callable[[], Iterator[File]], str | None]:
    """Return a function that yields the files to add, and the hash of the file if it was fetched."""
    if job.upload_id is None:
        url = metadata.url or ""
        progress("Fetching the document ...")
        fetched = fetch(url, site.settings)
        return lambda: iter([File(url, fetched.data)]), fetched.sha256()
    with site.database.reading() as session:
        path = site.blobs.path(session, job.upload_id)
    return lambda: (File(file.name, file.data) for file in uploaded_files(path)), None


def remove_documents(site: Site, job: Job, progress: Progress) -> None:
    progress("Removing ...")
    names = job.arguments["names"]

    def change(index: Index) -> tuple[list[str], int]:
        return index.remove(names), len(index)

    removed, count = writing(site, job, progress, change)
    missing = sorted(set(names) - set(removed))
    finish(site, job, count, f"{len(removed):,} removed", _listed(removed=removed, missing=missing))


def set_metadata(site: Site, job: Job, progress: Progress) -> None:
    progress("Changing ...")
    names = job.arguments["names"]

    def change(index: Index) -> tuple[list[str], int]:
        return index.set(names, **job.arguments["metadata"]), len(index)

    changed, count = writing(site, job, progress, change)
    missing = sorted(set(names) - set(changed))
    finish(site, job, count, f"{len(changed):,} changed", _listed(changed=changed, missing=missing))


def rotate(site: Site, job: Job, progress: Progress) -> None:
    """Choose again which fingerprints are stored."""
    how = job.arguments
    days, is_suspicious = how.get("older_than_days"), how.get("suspicious", False)

    def change(index: Index) -> tuple[list[str], list[Skipped], int]:
        wanted = dict.fromkeys(how.get("names") or ())
        if is_suspicious:
            wanted |= dict.fromkeys(probed.name for probed in index.suspicious())
        if days is not None:
            wanted |= dict.fromkeys(d.name for d in index if (today() - d.chosen).days >= days)
        is_all = how.get("names") is None and not is_suspicious and days is None
        report = index.rotate(None if is_all else wanted, progress=progress)
        return report.rotated, report.skipped, len(index)

    rotated, skipped, count = writing(site, job, progress, change)
    line = f"{len(rotated):,} chosen again, {len(skipped):,} skipped"
    finish(site, job, count, line, _listed(rotated=rotated, skipped=skips(skipped)))


def merge(site: Site, job: Job, progress: Progress) -> None:
    """Compact the index."""

    def change(index: Index) -> int:
        index.merge(progress)
        return len(index)

    finish(site, job, writing(site, job, progress, change), "compacted", {})


def writing(site: Site, job: Job, progress: Progress, change: Callable[[Index], T]) -> T:
    """Open the index of the job's archive and change it. Wait while somebody else writes to it."""
    where = site.indexes.where(str(job.archive_id))
    shown = ""
    while True:
        try:
            with Index.open(where) as index:
                shown = index.store.where
                return change(index)
        except TryAgain:
            progress("Waiting until the archive can be written to ...")
            time.sleep(_WAIT_SECONDS)
        except IndexTrouble as error:  # without the address, which is nobody's business
            raise IndexTrouble(str(error).replace(shown or str(where), "the archive")) from None


def finish(
    site: Site,
    job: Job,
    count: int,
    message: str,
    result: dict[str, Any],
    change: Callable[[Session], None] = lambda _: None,
) -> None:
    """Finish the job, and forget what was uploaded for it."""
    uploads = [job.upload_id] if job.upload_id else []

    def finishing(session: Session) -> None:
        queue.finish(session, job, message, result)
        session.get_one(Archive, job.archive_id).documents = count
        change(session)
        site.blobs.delete(session, uploads)

    site.database.write(finishing)
    site.forget(uploads)


def _listed(**lists: Sequence[Any]) -> dict[str, Any]:
    """Return lists for a result, each with its length and not too long."""
    return {name: {"count": len(values), "first": list(values[:_MAX_LISTED])} for name, values in lists.items()}


def skips(skipped: Sequence[Skipped]) -> list[dict[str, Any]]:
    return [asdict(entry) for entry in skipped]
