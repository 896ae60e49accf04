"""Finds out who sends a request: the owner of an API token, somebody who signed in, or the local user.

Routes take `Asking` for the visitor and `OfSite` for the service. If nobody knows who is asking, `SignInNeeded`
is raised: the API answers 401, and pages send the browser to /sign-in. Pages that sign somebody in or out call
`require_own_site`, then `sessions.sign_in` and `set_session`, or `sessions.sign_out` and `clear_session`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response

from chaffinch.service.accounts.api_tokens import token_visitor
from chaffinch.service.accounts.sessions import SESSION_SECONDS, has_accounts, session_visitor
from chaffinch.service.accounts.visitor import LOCAL, Visitor, is_loopback
from chaffinch.service.refusals import Forbidden, SignInNeeded
from chaffinch.service.site import Site
from chaffinch.service.web.proxies import FORWARDING_HEADERS

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def address_of(request: Request) -> str:
    """Return the network address of whoever sends the request."""
    return request.client.host if request.client else ""


def visitor_of(request: Request) -> Visitor:
    """Return who sends the request, or raise. Requests are limited for each account or address."""
    site = site_of(request)
    try:
        visitor = _identified(request, site)
    except SignInNeeded:
        limit_address(request, site)
        raise
    if visitor.account_id is not None:
        per_minute = site.settings.requests_per_minute
        site.limits.spend(f"account {visitor.account_id}", per_minute, per_minute)
    return visitor


def limit_address(request: Request, site: Site) -> None:
    """Count a request of somebody without an account, and raise if there are too many."""
    per_minute = site.settings.requests_per_minute
    site.limits.spend(f"address {address_of(request)}", per_minute, per_minute)


def _identified(request: Request, site: Site) -> Visitor:
    address = address_of(request)
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        visitor = token_visitor(site, secret.strip(), address)
        if visitor is None:
            raise SignInNeeded("this API token is unknown, expired or revoked")
        return visitor
    token = session_token(request, site)
    visitor = session_visitor(site, token, address) if token else None
    if visitor is not None:
        if request.method not in _SAFE_METHODS and not _says_own_site(request, site):
            raise Forbidden("a request with a cookie needs the header Origin; programs use an API token")
    elif _is_local(request) and not has_accounts(site):
        visitor = replace(LOCAL, address=address)
    else:
        raise SignInNeeded("sign in, or send an API token")
    if request.method not in _SAFE_METHODS:
        require_own_site(request, site)
    return visitor


def require_own_site(request: Request, site: Site) -> None:
    """Raise if a browser sends this on behalf of a page of another site."""
    if _names_site(request) and not _says_own_site(request, site):
        raise Forbidden("this request comes from a page of another site")


def _names_site(request: Request) -> bool:
    """Return whether a request says where it comes from. Browsers do if they change something."""
    return "sec-fetch-site" in request.headers or "origin" in request.headers


def _says_own_site(request: Request, site: Site) -> bool:
    if (said := request.headers.get("sec-fetch-site")) is not None:
        return said == "same-origin"
    own = {_origin(base_url(request, site)), _origin(str(request.base_url))}
    return request.headers.get("origin") in own


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _is_local(request: Request) -> bool:
    """Return whether this can only be the user of this machine.

    The Host header is checked because the name of a foreign site may lead to this machine.
    """
    return (
        request.app.state.is_private
        and is_loopback(address_of(request))
        and request.url.hostname in _LOCAL_NAMES
        and not any(header in request.headers for header in FORWARDING_HEADERS)
    )


def base_url(request: Request, site: Site) -> str:
    """Return the public address of the service, without a slash at its end."""
    return (site.settings.base_url or str(request.base_url)).rstrip("/")


def session_token(request: Request, site: Site) -> str | None:
    """Return the token of the browser's session."""
    return request.cookies.get(_cookie(request, site)[0])


def set_session(request: Request, response: Response, site: Site, token: str) -> None:
    """Let the browser keep a session."""
    name, is_secure = _cookie(request, site)
    response.set_cookie(
        name, token, max_age=SESSION_SECONDS, path="/", secure=is_secure, httponly=True, samesite="lax"
    )


def clear_session(request: Request, response: Response, site: Site) -> None:
    """Let the browser forget its session."""
    name, is_secure = _cookie(request, site)
    response.delete_cookie(name, path="/", secure=is_secure, httponly=True, samesite="lax")


def _cookie(request: Request, site: Site) -> tuple[str, bool]:
    """Return the name of the cookie, and whether it is only sent over HTTPS."""
    is_secure = base_url(request, site).startswith("https:")
    return ("__Host-chaffinch" if is_secure else "chaffinch"), is_secure


OfSite = Annotated[Site, Depends(site_of)]
Asking = Annotated[Visitor, Depends(visitor_of)]
