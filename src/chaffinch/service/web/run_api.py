"""The API of runs: upload a class, follow its comparison, read its report."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, StreamingResponse

from chaffinch.service import runs
from chaffinch.service.jobs.queue import DONE, FAILED
from chaffinch.service.refusals import BadRequest
from chaffinch.service.uploads import BASE, EARLIER, SUBMISSION
from chaffinch.service.web.multipart import form_schema, read_form
from chaffinch.service.web.visiting import Asking, OfSite

router = APIRouter(prefix="/api/v1/runs", tags=["runs"])
_POLL_SECONDS = 0.3
_TYPES = {"json": "application/json", "csv": "text/csv; charset=utf-8", "html": "text/html; charset=utf-8"}
_FORM = form_schema(
    [SUBMISSION, BASE, EARLIER],
    title="What lists of runs show.",
    assignment="The id of an assignment.",
    options="Options of `compare`, as JSON.",
)


@router.post("", status_code=202, openapi_extra=_FORM)
async def start_run(request: Request, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Upload submissions and compare them. The file name of each part is its path in the class."""
    runs.require_starting(visitor)
    with runs.upload(site) as (file, writer):
        fields = await read_form(request, writer, site.settings.max_upload_mb << 20)
        started = await to_thread.run_sync(
            lambda: runs.start_run(
                site,
                visitor,
                file,
                writer,
                title=fields.get("title", "").strip() or "Untitled",
                source="api",
                options=_options(fields.get("options", "")),
                assignment_id=fields.get("assignment") or None,
            )
        )
    return started.to_dict()


def _options(text: str) -> dict[str, Any]:
    try:
        options = json.loads(text or "{}")
    except ValueError:
        raise BadRequest("options is not JSON") from None
    if not isinstance(options, dict):
        raise BadRequest("options is not a JSON object")
    return options


@router.get("")
def list_runs(site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List the runs that you may see, the newest first."""
    return [state.to_dict() for state in runs.list_runs(site, visitor)]


@router.get("/{run_id}")
def get_run(run_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return the state of a run."""
    return runs.run_state(site, visitor, run_id).to_dict()


@router.get("/{run_id}/events", response_class=StreamingResponse)
async def follow_run(run_id: str, request: Request, site: OfSite, visitor: Asking) -> StreamingResponse:
    """Follow a run: a server-sent event whenever its state changes, until it is over."""
    state = await to_thread.run_sync(runs.run_state, site, visitor, run_id)

    async def events() -> AsyncIterator[str]:
        shown = None
        current = state
        while not await request.is_disconnected():
            if (now := current.to_dict()) != shown:
                shown = now
                yield f"data: {json.dumps(now)}\n\n"
            if current.job.state in (DONE, FAILED):
                return
            await asyncio.sleep(_POLL_SECONDS)
            current = await to_thread.run_sync(runs.run_state, site, visitor, run_id)

    return StreamingResponse(events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


@router.get("/{run_id}/report.{form}")
def get_report(run_id: str, form: str, site: OfSite, visitor: Asking) -> Response:
    """Return the report: json, csv, html, or zip with all of them."""
    path = runs.result_path(site, visitor, run_id)
    if form == "zip":
        return FileResponse(path, media_type="application/zip", filename="report.zip")
    if form not in runs.RESULTS:
        raise BadRequest(f"a report is {', '.join(runs.RESULTS)} or zip")
    return Response(
        runs.member(path, runs.RESULTS[form]),
        media_type=_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="report.{form}"'},
    )


@router.delete("/{run_id}", status_code=204)
def delete_run(run_id: str, site: OfSite, visitor: Asking) -> None:
    """Delete a run with its upload, report, verdicts and links."""
    runs.delete_run(site, visitor, run_id)
