"""The API of links to reports and of verdicts, and the reports that links show.

Pages call `shares.create_share`, `list_shares` and `revoke_share`; the address of a link is `shared_url`. The
report's script calls GET and PUT /api/v1/runs/ID/verdicts; pages without a script call `reviews` themselves.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from chaffinch.service import reviews, shares
from chaffinch.service.site import Site
from chaffinch.service.web.fields import Body, Days, Note
from chaffinch.service.web.report_files import report_file
from chaffinch.service.web.visiting import Asking, OfSite, base_url, limit_address

router = APIRouter(tags=["reports"])


class NewShare(Body):
    days: Days = 14


class PairVerdict(Body):
    verdict: Literal["", "copied", "common source", "no"] = ""
    note: Note = ""


class OwnVerdicts(Body):
    verdicts: Annotated[dict[str, PairVerdict], Field(max_length=10_000)]


def shared_url(request: Request, site: Site, token: str) -> str:
    """Return the address of a link."""
    return f"{base_url(request, site)}/shared/{token}/index.html"


@router.post("/api/v1/runs/{run_id}/shares", status_code=201)
def create_share(
    run_id: str, body: NewShare, request: Request, site: OfSite, visitor: Asking
) -> dict[str, Any]:
    """Create a link that shows the report to anybody. Its address is in the answer, and never shown again."""
    share, token = shares.create_share(site, visitor, run_id, body.days)
    return share | {"url": shared_url(request, site, token)}


@router.get("/api/v1/runs/{run_id}/shares")
def list_shares(run_id: str, site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List the links to a report."""
    return shares.list_shares(site, visitor, run_id)


@router.delete("/api/v1/runs/{run_id}/shares/{share_id}", status_code=204)
def revoke_share(run_id: str, share_id: str, site: OfSite, visitor: Asking) -> None:
    """Revoke a link."""
    shares.revoke_share(site, visitor, run_id, share_id)


@router.get("/api/v1/runs/{run_id}/verdicts")
def get_verdicts(run_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return what reviewers decided about each pair, and where they disagree."""
    return {"verdicts": reviews.verdicts(site, visitor, run_id)}


@router.put("/api/v1/runs/{run_id}/verdicts")
def set_verdicts(run_id: str, body: OwnVerdicts, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Set your own verdicts about the pairs that you name; those about other pairs stay."""
    own = {pair: (said.verdict, said.note) for pair, said in body.verdicts.items()}
    reviews.set_verdicts(site, visitor, run_id, own)
    return {"verdicts": reviews.verdicts(site, visitor, run_id)}


@router.get("/shared/{token}", include_in_schema=False)
@router.get("/shared/{token}/", include_in_schema=False)
def redirect_to_report(token: str) -> RedirectResponse:
    return RedirectResponse(f"/shared/{token}/index.html", headers=_PRIVATE)


@router.get("/shared/{token}/{name:path}", response_class=Response)
def get_shared_report(token: str, name: str, request: Request, site: OfSite) -> Response:
    """Show the report of a link: `index.html` and what it refers to."""
    limit_address(request, site)
    response = report_file(shares.shared_result(site, token), name)
    response.headers.update(_PRIVATE)
    return response


_PRIVATE = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
"""The address is a secret, so no other site may learn it."""
