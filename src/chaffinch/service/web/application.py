"""The web application: routes, errors as answers, and headers that keep browsers safe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError, OperationalError

from chaffinch import __version__
from chaffinch.errors import ChaffinchError
from chaffinch.service.accounts.visitor import is_loopback
from chaffinch.service.refusals import (
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    OverQuota,
    SignInNeeded,
    TooLarge,
    TooManyRequests,
)
from chaffinch.service.site import Site
from chaffinch.service.web import account_api, moss_routes, run_api
from chaffinch.service.web.proxies import Network, TrustedProxies

_STATUS: dict[type[Exception], int] = {
    BadRequest: 400,
    SignInNeeded: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    TooLarge: 413,
    OverQuota: 413,
    TooManyRequests: 429,
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def create_app(site: Site, host: str = "127.0.0.1", trusted_proxies: tuple[Network, ...] = ()) -> FastAPI:
    """Return the application of a service that listens on `host`."""
    app = FastAPI(title="Chaffinch", version=__version__, docs_url="/docs", redoc_url=None)
    app.state.site = site
    app.state.is_private = is_loopback(host)
    app.add_middleware(TrustedProxies, networks=trusted_proxies)
    app.include_router(account_api.router)
    app.include_router(run_api.router)
    app.include_router(moss_routes.router)

    @app.middleware("http")
    async def add_headers(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await call(request)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    @app.exception_handler(ChaffinchError)
    def refuse(_: Request, error: ChaffinchError) -> JSONResponse:
        status = next((s for kind, s in _STATUS.items() if isinstance(error, kind)), 422)
        headers = {}
        if isinstance(error, SignInNeeded):
            headers["WWW-Authenticate"] = "Bearer"
        if isinstance(error, TooManyRequests):
            headers["Retry-After"] = str(error.seconds)
        return JSONResponse({"detail": str(error)}, status, headers)

    @app.exception_handler(RequestValidationError)
    def refuse_invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        problems = [f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors()]
        return JSONResponse({"detail": "; ".join(problems)}, 422)

    @app.exception_handler(DataError)
    def refuse_characters(_: Request, error: DataError) -> JSONResponse:
        return JSONResponse({"detail": "the request has characters or numbers that cannot be stored"}, 422)

    @app.exception_handler(OperationalError)
    def try_later(_: Request, error: OperationalError) -> JSONResponse:
        return JSONResponse({"detail": "the database does not answer; try again"}, 503, {"Retry-After": "5"})

    @app.get("/healthz", include_in_schema=False)
    def is_alive() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", include_in_schema=False)
    def is_ready() -> dict[str, str]:
        site.database.check()
        return {"status": "ok"}

    return app
