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


OfSite = Annotated[Site, Depends(site_of)]
Asking = Annotated[Visitor, Depends(visitor_of)]
