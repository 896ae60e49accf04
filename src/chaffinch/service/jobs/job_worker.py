"""Takes jobs from the queue, one at a time, until it is told to stop."""

from __future__ import annotations

import logging
import os
import socket
import threading
import traceback
from contextlib import suppress
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from chaffinch.errors import ChaffinchError
from chaffinch.service.database.database import is_lost
from chaffinch.service.database.tables import Job, new_id
from chaffinch.service.jobs import queue
from chaffinch.service.jobs.tasks import TASKS
from chaffinch.service.site import Site

_POLL_SECONDS = 0.2
_RENEW_SECONDS = queue.LEASE_SECONDS / 6
_log = logging.getLogger(__name__)


class Stopped(Exception):
    """The worker is to stop, or the job is no longer its own."""


class Worker:
    """Runs jobs. Several can run on one machine or many, as long as they share the database."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.name = f"{socket.gethostname()}-{os.getpid()}-{new_id()[:6]}"
        self.stop = threading.Event()

    def run(self) -> None:
        """Run jobs until `stop` is set."""
        while not self.stop.is_set():
            job = None
            try:
                job = queue.claim(self.site.database, self.name)
                if job is not None:
                    self.work(job)
            except DBAPIError as error:
                if not is_lost(error):
                    raise
                _log.warning("the database is away; trying again")  # the lease runs out if this takes long
            if job is None:
                self.stop.wait(_POLL_SECONDS)

    def work(self, job: Job) -> None:
        """Run one job, and renew its lease meanwhile."""
        _log.info("job %s (%s) started", job.id, job.kind)
        with _Lease(self, job) as lease:
            try:
                TASKS[job.kind](self.site, job, lease.progress)
                _log.info("job %s done", job.id)
                return
            except Stopped:
                _log.info("job %s stopped", job.id)
                if not lease.is_lost:
                    queue.release(self.site.database, job)
                return
            except queue.LostLease:
                _log.warning("job %s was taken over by another worker", job.id)
                return
            except DBAPIError as error:
                if is_lost(error):  # it is tried again after the lease
                    raise
                message = _describe(error)
            except ChaffinchError as error:
                message = str(error)
            except MemoryError:
                message = "not enough memory; use fewer files, or leave out the largest ones"
            except OSError as error:
                message = error.strerror or str(error)
                _log.error("job %s: %s", job.id, error)
            except Exception as error:
                message = _describe(error)
        _log.info("job %s failed", job.id)
        with suppress(queue.LostLease):  # it was deleted meanwhile
            queue.fail(self.site.database, job, message)


class _Lease:
    """Renews the lease of a job in a thread of its own."""

    def __init__(self, worker: Worker, job: Job) -> None:
        self.worker, self.job = worker, job
        self.text = ""
        self.is_lost = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def progress(self, text: str) -> None:
        """Say how far the job is. Raises if it is to stop."""
        self.text = text
        if self.is_lost or self.worker.stop.is_set():
            raise Stopped

    def __enter__(self) -> _Lease:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _renew(self) -> None:
        """Renew now and then, and soon after the progress changed."""
        shown, waited = "", 0.0
        while not self._over.wait(_POLL_SECONDS):
            waited += _POLL_SECONDS
            if self.text == shown and waited < _RENEW_SECONDS:
                continue
            shown, waited = self.text, 0.0
            try:
                queue.renew(self.worker.site.database, self.job, shown)
            except queue.LostLease:
                self.is_lost = True
                return
            except DBAPIError:
                _log.warning("job %s: the lease could not be renewed", self.job.id)


def _describe(error: Exception) -> str:
    """Describe a defect without anything that students wrote: only its kind and place."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}, line {last.lineno}"
    _log.error("%s at %s", type(error).__name__, place)
    return f"{type(error).__name__} ({place}); this is a defect, please report it"
