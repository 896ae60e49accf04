"""Pages for runs: upload a class, follow its comparison, read its report."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from chaffinch.languages.language import languages
from chaffinch.service import runs
from chaffinch.service.refusals import BadRequest
from chaffinch.service.runs import RunState
from chaffinch.service.site import Site
from chaffinch.service.web.multipart import read_form
from chaffinch.service.web.rendering import page, wants_page
from chaffinch.service.web.visiting import Asking, OfSite

router = APIRouter(include_in_schema=False)
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}


@router.get("/")
def home(request: Request, site: OfSite, visitor: Asking) -> HTMLResponse:
    """Show the form for a new comparison, and the latest ones."""
    states = runs.list_runs(site, visitor)
    return page(
        request, visitor, "home.html", states=states, languages=languages(), limit=site.settings.max_upload_mb
    )


@router.post("/runs")
async def start_run(request: Request, site: OfSite, visitor: Asking) -> Response:
    """Compare what was uploaded, and show its page. A script gets JSON, so that it can show errors in place."""
    with runs.upload(site) as (file, writer):
        fields = await read_form(request, writer, site.settings.max_upload_mb << 20)
        title = fields.get("title", "").strip() or "Comparison"
        started = await to_thread.run_sync(
            lambda: runs.start_run(
                site, visitor, file, writer, title=title, source="web", options=_options(fields),
                assignment_id=fields.get("assignment") or None,
            )
        )  # fmt: skip
    if not wants_page(request):
        return JSONResponse(started.to_dict(), 202)
    return RedirectResponse(f"/runs/{started.run.id}", 303)


def _options(fields: dict[str, str]) -> dict[str, Any]:
    """Return the options that a form chooses. Empty fields choose nothing."""
    options: dict[str, Any] = {}
    if fields.get("language", "auto") != "auto":
        options["language"] = fields["language"]
    for name, kind in (("threshold", float), ("max_owners", int), ("top", int)):
        if text := fields.get(name, "").strip():
            try:
                options[name] = kind(text)
            except ValueError:
                raise BadRequest(f"{name.replace('_', ' ')}: {text!r} is not a number") from None
    if options.get("threshold", 0) > 1:
        options["threshold"] /= 100
    if exclude := fields.get("exclude", "").split():
        options["exclude"] = exclude
    return options


@router.get("/runs/{run_id}")
def show_run(run_id: str, request: Request, site: OfSite, visitor: Asking) -> HTMLResponse:
    """Show how far a comparison is, or what came out."""
    return page(request, visitor, "run.html", **_shown(runs.run_state(site, visitor, run_id)))


def _shown(state: RunState) -> dict[str, Any]:
    return {"run": state.run, "job": state.job, "state": state.to_dict()}


@router.post("/runs/{run_id}/delete")
def delete_run(run_id: str, site: OfSite, visitor: Asking) -> RedirectResponse:
    runs.delete_run(site, visitor, run_id)
    return RedirectResponse("/", 303)


@router.get("/runs/{run_id}/report")
def to_report(run_id: str) -> RedirectResponse:
    return RedirectResponse(f"/runs/{run_id}/report/index.html")


@router.get("/runs/{run_id}/report/{name:path}")
def show_report(run_id: str, name: str, site: OfSite, visitor: Asking) -> Response:
    """Show a part of the report."""
    return report_file(site, visitor, run_id, name)


def report_file(site: Site, visitor: Asking, run_id: str, name: str) -> Response:
    path = runs.result_path(site, visitor, run_id)
    media_type = _TYPES.get(PurePosixPath(name).suffix, "text/plain")
    headers = {"Cache-Control": "private, no-cache"}
    return Response(runs.member(path, f"report/{name}"), media_type=media_type, headers=headers)
