"""What workers do: one function for each kind of job."""

from __future__ import annotations

from collections.abc import Callable

from chaffinch.service.database.tables import Job
from chaffinch.service.jobs.compare_task import compare_run
from chaffinch.service.site import Site

Task = Callable[[Site, Job, Callable[[str], None]], None]
"""Takes the site, the job, and a function to call with what is being done."""

TASKS: dict[str, Task] = {"compare": compare_run}
