"""Signing in through OpenID Connect. A page links to /sign-in/openid, which leads to the provider and back."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from chaffinch.service.accounts import openid, sessions
from chaffinch.service.web import visiting
from chaffinch.service.web.visiting import OfSite

router = APIRouter(include_in_schema=False)
CALLBACK = "/sign-in/openid/callback"
_SECONDS = 600
"""How long somebody may take at the provider."""


@router.get("/sign-in/openid")
def begin(request: Request, site: OfSite) -> Response:
    """Send the browser to the provider."""
    visiting.limit_address(request, site)
    root = visiting.base_url(request, site)
    address, attempt = openid.begin(site, root + CALLBACK)
    response = RedirectResponse(address, 303)
    response.set_cookie(
        _cookie(root),
        attempt.to_text(),
        max_age=_SECONDS,
        path="/",
        secure=root.startswith("https:"),
        httponly=True,
        samesite="lax",
    )
    return response


@router.get(CALLBACK)
def finish(request: Request, site: OfSite) -> Response:
    """Sign in whom the provider sends back."""
    visiting.limit_address(request, site)
    root, address = visiting.base_url(request, site), visiting.address_of(request)
    attempt = openid.Attempt.from_text(request.cookies.get(_cookie(root), ""))
    account = openid.finish(site, attempt, dict(request.query_params), root + CALLBACK, address)
    response = RedirectResponse(f"{root}/", 303)
    visiting.set_session(request, response, site, sessions.start_session(site, account, address))
    response.delete_cookie(_cookie(root), path="/", secure=root.startswith("https:"), httponly=True)
    return response


def _cookie(root: str) -> str:
    return "__Host-chaffinch-openid" if root.startswith("https:") else "chaffinch-openid"
