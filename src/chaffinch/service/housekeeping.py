"""Deletes what has expired or is not referred to any more, and adds due jobs: at the start and every hour."""

from __future__ import annotations

import logging
import threading

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session as Transaction

from chaffinch.errors import ChaffinchError
from chaffinch.service import archives, runs
from chaffinch.service.accounts.visitor import ADMIN, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Blob, BlobChunk, Run, Session, Share, Table, Token, now
from chaffinch.service.site import Site

_HOUR = 3600
_RUNS_AT_ONCE = 100
_HOUSEKEEPER = Visitor(ADMIN, name="housekeeping", address="housekeeping")
_log = logging.getLogger(__name__)


def tidy(site: Site) -> None:
    """Delete expired runs, sessions, tokens and links, and stray blobs. Several processes may do so at once."""
    while _delete_runs(site):
        pass

    def change(session: Transaction) -> list[str]:
        for table in (Session, Share, Token):
            session.execute(delete(table).where(table.expires <= now()))
        stray = list(session.scalars(select(Blob.id).where(Blob.created < now() - _HOUR, *_unused())))
        site.blobs.delete(session, stray)
        return stray

    site.forget(site.database.write(change))
    with site.database.reading() as session:
        site.blobs.clean(session)
    archives.remove_strays(site)
    archives.schedule_jobs(site)


def _delete_runs(site: Site) -> int:
    def change(session: Transaction) -> tuple[int, list[str]]:
        expired = select(Run).where(Run.expires <= now()).order_by(Run.expires, Run.id).limit(_RUNS_AT_ONCE)
        found = list(session.scalars(expired.with_for_update(skip_locked=True)))
        for run in found:
            record(session, _HOUSEKEEPER, "delete expired run", run.id)
        return len(found), runs.remove(site, session, found)

    count, blobs = site.database.write(change)
    if count:
        site.forget(blobs)
        _log.info("%s expired runs deleted", count)
    return count


def _unused() -> list[ColumnElement[bool]]:
    """Return conditions for a blob that no row of any table refers to."""
    tables = (table for table in Table.metadata.tables.values() if table is not BlobChunk.__table__)
    columns = [
        key.parent for table in tables for key in table.foreign_keys if key.column is Blob.__table__.c.id
    ]
    return [Blob.id.not_in(select(column).where(column.is_not(None))) for column in columns]


class Housekeeper:
    """Tidies up in a thread of its own."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                tidy(self._site)
            except (DBAPIError, OSError, ChaffinchError) as error:  # it is tried again in an hour
                _log.warning("could not tidy up: %s", type(error).__name__)
            if self._stop.wait(_HOUR):
                return
