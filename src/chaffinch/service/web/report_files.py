"""Shows the pages of a report from the ZIP that a run has."""

from __future__ import annotations

from pathlib import Path

from fastapi import Response

from chaffinch.service.runs import member

_TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


def report_file(result: Path, name: str) -> Response:
    """Return a file of the report's pages; `index.html` is the first."""
    return Response(
        member(result, f"report/{name}"),
        media_type=_TYPES.get(Path(name).suffix, "text/plain"),
        headers={"Cache-Control": "no-store"},
    )
