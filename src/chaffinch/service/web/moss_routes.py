"""The result pages of the MOSS server. Whoever has the address of a result sees it, as with MOSS."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy import select

from chaffinch.service.database.tables import Job, Run
from chaffinch.service.jobs.queue import DONE, FAILED
from chaffinch.service.moss import moss_pages
from chaffinch.service.refusals import NotFound
from chaffinch.service.runs import RunState, path_of_result
from chaffinch.service.site import Site
from chaffinch.service.web.report_files import report_file
from chaffinch.service.web.visiting import OfSite, base_url

router = APIRouter(include_in_schema=False)
_HOLD_SECONDS = 600
_POLL_SECONDS = 0.2
_PAGE = re.compile(r"match(\d{1,6})(?:-(top|0|1))?\.html")
_FRAMES = {
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; frame-src 'self'; frame-ancestors 'self'"
}


@router.get("/results/{digit}/{number}")
@router.get("/results/{digit}/{number}/")
async def moss_index(digit: str, number: str, request: Request, site: OfSite) -> HTMLResponse:
    """Show the list of pairs, as soon as it is there."""
    state = await _state(site, digit, number)
    for _ in range(int(_HOLD_SECONDS / _POLL_SECONDS)):
        if state.job.state in (DONE, FAILED) or await request.is_disconnected():
            break
        await asyncio.sleep(_POLL_SECONDS)
        state = await _state(site, digit, number)
    root = base_url(request, site)
    if state.run.result_id is None:
        message = state.job.message or "The comparison takes long; load this page again in a few minutes."
        return _html(moss_pages.failed_page(message, root))
    path = await to_thread.run_sync(_result, site, state.run)
    url = f"{root}/results/{digit}/{number}"
    report_url = f"{root}/moss-reports/{digit}/{number}/index.html"
    return _html(await to_thread.run_sync(moss_pages.index_page, path, url, report_url, root))


@router.get("/results/{digit}/{number}/{page}")
def moss_page(digit: str, number: str, page: str, request: Request, site: OfSite) -> HTMLResponse:
    """Show a pair: its frames, the table of its blocks, or one of its sources."""
    match = _PAGE.fullmatch(page)
    if match is None:
        raise NotFound("there is no such page")
    path, pair, root = _result(site, _run(site, digit, number).run), int(match[1]), base_url(request, site)
    if match[2] is None:
        return _html(moss_pages.frames_page(path, pair))
    if match[2] == "top":
        return _html(moss_pages.top_page(path, pair, f"{root}/results/{digit}/{number}", root))
    return _html(moss_pages.source_page(path, pair, int(match[2]), root))


@router.get("/moss-reports/{digit}/{number}/{name:path}")
def moss_report(digit: str, number: str, name: str, site: OfSite) -> Response:
    """Show the full report of a MOSS result."""
    return report_file(_result(site, _run(site, digit, number).run), name)


@router.get("/bitmaps/tm_{colour}_{percent}.gif")
def bar(colour: int, percent: int) -> Response:
    """Show a bar that is filled to this percentage."""
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(
        moss_pages.bar(colour % 5, max(0, min(percent, 100))), media_type="image/gif", headers=headers
    )


def _html(page: str) -> HTMLResponse:
    return HTMLResponse(page.encode("utf-8", "replace"), headers=_FRAMES | {"X-Frame-Options": "SAMEORIGIN"})


async def _state(site: Site, digit: str, number: str) -> RunState:
    return await to_thread.run_sync(_run, site, digit, number)


def _run(site: Site, digit: str, number: str) -> RunState:
    with site.database.reading() as session:
        both = select(Run, Job).join(Job, Job.run_id == Run.id).where(Run.moss_number == f"{digit}/{number}")
        row = session.execute(both).first()
    if row is None:
        raise NotFound("there is no such result; results are deleted after a while")
    return RunState(*row)


def _result(site: Site, run: Run) -> Path:
    with site.database.reading() as session:
        return path_of_result(site, session, run)
