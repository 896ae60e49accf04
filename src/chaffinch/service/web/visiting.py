"""Finds out who sends a request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from chaffinch.service.accounts.visitor import LOCAL, Visitor
from chaffinch.service.site import Site


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def visitor_of(request: Request) -> Visitor:
    return LOCAL


def base_url(request: Request, site: Site) -> str:
    """Return the public address of the service, without a slash at its end."""
    return (site.settings.base_url or str(request.base_url)).rstrip("/")


OfSite = Annotated[Site, Depends(site_of)]
Asking = Annotated[Visitor, Depends(visitor_of)]
