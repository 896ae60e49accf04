"""Renders the pages of the site, and serves their styles and scripts."""

from __future__ import annotations

import time
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from chaffinch import __version__
from chaffinch.service.accounts.visitor import Visitor
from chaffinch.service.refusals import NotFound

router = APIRouter(include_in_schema=False)
_FROM_REPORT = ("common.css", "lists.css")
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("chaffinch.service.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"grouped": "{:,}".format, "percent": "{:.0%}".format, "time": _time}
    environment.globals["version"] = __version__
    return environment


def _time(seconds: float) -> str:
    """Return a time in UTC, as a person writes it."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def page(
    request: Request, visitor: Visitor | None, template: str, status: int = 200, **values: Any
) -> HTMLResponse:
    """Render a page of the site."""
    text = _environment().get_template(template).render(visitor=visitor, path=request.url.path, **values)
    return HTMLResponse(text.encode("utf-8", "replace"), status, {"Cache-Control": "no-store"})


def wants_page(request: Request) -> bool:
    """Return whether a person's browser asks, and not a program."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Return a style sheet or a script."""
    folder = files("chaffinch.report" if name in _FROM_REPORT else "chaffinch.service.web") / "static"
    if name not in {entry.name for entry in folder.iterdir()}:
        raise NotFound("there is no such file")
    headers = {"Cache-Control": "public, max-age=3600"}
    media_type = _TYPES.get(name.rpartition(".")[2], "text/plain")
    return Response((folder / name).read_bytes(), media_type=media_type, headers=headers)
