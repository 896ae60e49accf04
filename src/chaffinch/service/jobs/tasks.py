"""What workers do: one function for each kind of job."""

from __future__ import annotations

from collections.abc import Callable

from chaffinch.service.database.tables import Job
from chaffinch.service.jobs import archive_task, url_task
from chaffinch.service.jobs.compare_task import compare_run
from chaffinch.service.site import Site

Task = Callable[[Site, Job, Callable[[str], None]], None]
"""Takes the site, the job, and a function to call with what is being done."""

TASKS: dict[str, Task] = {
    "compare": compare_run,
    archive_task.ADD: archive_task.add_documents,
    archive_task.REMOVE: archive_task.remove_documents,
    archive_task.SET: archive_task.set_metadata,
    archive_task.ROTATE: archive_task.rotate,
    archive_task.MERGE: archive_task.merge,
    archive_task.CHECK_URLS: url_task.check_urls,
}
