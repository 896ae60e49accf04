"""Pages to sign in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from chaffinch.service.accounts import sessions
from chaffinch.service.refusals import SignInNeeded, TooManyRequests
from chaffinch.service.site import Site
from chaffinch.service.web import visiting
from chaffinch.service.web.rendering import page
from chaffinch.service.web.visiting import OfSite

router = APIRouter(include_in_schema=False)


@router.get("/sign-in")
def show_sign_in(request: Request, site: OfSite, next: str = "/") -> HTMLResponse:
    """Show the form. `next` is the page to go to afterwards."""
    return _form(request, site, next)


@router.post("/sign-in")
def sign_in(
    request: Request,
    site: OfSite,
    email: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",
) -> Response:
    """Sign in, and go on to the page that was asked for."""
    visiting.require_own_site(request, site)
    try:
        token = sessions.sign_in(site, email, password, visiting.address_of(request))
    except (SignInNeeded, TooManyRequests) as error:
        return _form(request, site, next, 401, str(error), email)
    response = RedirectResponse(_within_site(next), 303)
    visiting.set_session(request, response, site, token)
    return response


def _form(
    request: Request, site: Site, next: str, status: int = 200, problem: str = "", email: str = ""
) -> HTMLResponse:
    has_openid = bool(site.settings.oidc_issuer)
    shown = {"next": next, "problem": problem, "email": email, "has_openid": has_openid}
    return page(request, None, "sign_in.html", status, **shown)


@router.post("/sign-out")
def sign_out(request: Request, site: OfSite) -> RedirectResponse:
    visiting.require_own_site(request, site)
    response = RedirectResponse("/sign-in", 303)
    if token := visiting.session_token(request, site):
        sessions.sign_out(site, token, visiting.address_of(request))
    visiting.clear_session(request, response, site)
    return response


def _within_site(path: str) -> str:
    """Return the path if it is one of this site: a link may name any page to go to."""
    is_path = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_path else "/"
