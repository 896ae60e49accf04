"""Looks whether registered documents are still at their URLs, and adds them again where they changed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, repeat

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from chaffinch.errors import ChaffinchError
from chaffinch.index.index import Index
from chaffinch.service.database.tables import CheckedUrl, Job, now
from chaffinch.service.fetch import fetch
from chaffinch.service.jobs.archive_task import Progress, finish, writing
from chaffinch.service.refusals import BadRequest
from chaffinch.service.settings import Settings
from chaffinch.service.site import Site
from chaffinch.types import File

_DAY = 86_400
_AT_ONCE = 8
_MAX_SECONDS = 120.0
"""Other jobs of the archive wait meanwhile. What is left is for the next time."""


@dataclass(frozen=True, slots=True)
class _Check:
    """What was found at a URL."""

    name: str
    url: str
    problem: str | None
    changed: bytes | None = None
    """The new content, if it is another one than was added."""
    sha256: str | None = None


def check_urls(site: Site, job: Job, progress: Progress) -> None:
    """Check the URLs of an archive that were not checked for some time."""
    archive_id, settings = str(job.archive_id), site.settings
    if not settings.fetch_urls:
        raise BadRequest("this service does not fetch from the web; an administrator can allow it")
    with site.database.reading() as session:
        rows = select(CheckedUrl).where(CheckedUrl.archive_id == archive_id)
        known = {row.name: row for row in session.scalars(rows)}
    with Index.open(site.indexes.where(archive_id)) as index:
        urls = {record.name: record.metadata.url for record in index if record.metadata.url}
        count = len(index)
    oldest = 2**62 if job.arguments.get("all") else now() - settings.check_urls_days * _DAY
    due = [n for n, url in urls.items() if not _is_fresh(known.get(n), url, oldest)]
    due.sort(key=lambda name: (known[name].checked or 0) if name in known else 0)
    _forget(site, archive_id, [name for name in known if name not in urls])
    checks, changed = 0, 0
    end = time.monotonic() + _MAX_SECONDS
    names = iter(due)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while time.monotonic() < end and (some := list(islice(names, _AT_ONCE))):
            progress(f"Checking URLs: {checks:,} of {len(due):,} ...")
            found = pool.map(_check, repeat(settings), some, map(urls.get, some), map(known.get, some))
            done = list(_added_again(site, job, progress, list(found)))
            _note(site, archive_id, done)
            checks += len(done)
            changed += sum(check.changed is not None for check in done)
    stale = _count_stale(site, archive_id)
    result = {"checked": checks, "changed": changed, "stale": stale, "left": len(due) - checks}
    finish(site, job, count, f"{checks:,} checked, {changed:,} changed, {stale:,} stale", result)


def _is_fresh(row: CheckedUrl | None, url: str | None, oldest: int) -> bool:
    return row is not None and row.url == url and (row.checked or 0) > oldest


def _check(settings: Settings, name: str, url: str | None, known: CheckedUrl | None) -> _Check:
    """Fetch what is at a URL, if the document came from there. Otherwise only ask whether it is there."""
    url = url or ""
    was_fetched = known is not None and known.sha256 is not None and known.url == url
    sha256 = known.sha256 if known is not None and was_fetched else None
    try:
        fetched = fetch(url, settings, only_head=not was_fetched)
    except ChaffinchError as error:
        return _Check(name, url, str(error), sha256=sha256)
    if not was_fetched or fetched.sha256() == sha256:
        return _Check(name, url, None, sha256=sha256)
    return _Check(name, url, None, fetched.data, fetched.sha256())


def _added_again(site: Site, job: Job, progress: Progress, checks: list[_Check]) -> Iterator[_Check]:
    """Replace the documents that changed. One that can no longer be read stays as it was, and is stale."""
    files = [File(check.name, check.changed) for check in checks if check.changed is not None]
    done: set[str] = set()
    if files:
        progress("Adding what changed ...")

        def change(index: Index) -> set[str]:
            report = index.replace(files)
            return {*report.added, *report.already}

        done = writing(site, job, progress, change)
    for check in checks:
        if check.changed is None or check.name in done:
            yield check
        else:
            yield _Check(check.name, check.url, "what is there now cannot be read")


def _note(site: Site, archive_id: str, checks: list[_Check]) -> None:
    def change(session: Session) -> None:
        for check in checks:
            row = session.get(CheckedUrl, (archive_id, check.name))
            if row is None:
                row = CheckedUrl(archive_id=archive_id, name=check.name)
                session.add(row)
            was_stale = row.problem is not None and row.url == check.url
            row.url, row.checked, row.problem = check.url, now(), check.problem
            row.sha256 = check.sha256 or row.sha256
            if check.problem is None:
                row.stale_since = None
            elif not was_stale:
                row.stale_since = row.checked

    site.database.write(change)


def _forget(site: Site, archive_id: str, names: list[str]) -> None:
    """Forget what was found for documents that are gone."""

    def change(session: Session) -> None:
        for start in range(0, len(names), 500):
            some = names[start : start + 500]
            session.execute(
                delete(CheckedUrl).where(CheckedUrl.archive_id == archive_id, CheckedUrl.name.in_(some))
            )

    if names:
        site.database.write(change)


def _count_stale(site: Site, archive_id: str) -> int:
    with site.database.reading() as session:
        stale = select(CheckedUrl.name).where(
            CheckedUrl.archive_id == archive_id, CheckedUrl.problem.is_not(None)
        )
        return len(session.scalars(stale).all())
