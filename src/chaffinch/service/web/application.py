"""The web application: routes, errors as answers, and headers that keep browsers safe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy.exc import DataError, OperationalError

from chaffinch import __version__
from chaffinch.errors import ChaffinchError
from chaffinch.service.accounts.visitor import is_loopback
from chaffinch.service.refusals import (
    ArchiveUnavailable,
    BadRequest,
    Conflict,
    FetchFailed,
    Forbidden,
    NotFound,
    OverQuota,
    SignInNeeded,
    TooLarge,
    TooManyRequests,
)
from chaffinch.service.site import Site
from chaffinch.service.web import (
    account_api,
    archive_api,
    archive_search_api,
    course_api,
    moss_routes,
    openid_routes,
    rendering,
    run_api,
    run_pages,
    sharing_api,
    sign_in_pages,
)
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
    FetchFailed: 502,
    ArchiveUnavailable: 503,
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


_TITLES = {403: "Not allowed", 404: "Not found", 413: "Too large", 429: "Too many requests", 503: "Try again"}


def create_app(site: Site, host: str = "127.0.0.1", trusted_proxies: tuple[Network, ...] = ()) -> FastAPI:
    """Return the application of a service that listens on `host`."""
    app = FastAPI(title="Chaffinch", version=__version__, docs_url=None, redoc_url=None)
    app.state.site = site
    app.state.is_private = is_loopback(host)
    app.add_middleware(TrustedProxies, networks=trusted_proxies)
    for module in (
        account_api,
        archive_api,
        archive_search_api,
        course_api,
        run_api,
        sharing_api,
        run_pages,
        sign_in_pages,
        rendering,
        moss_routes,
        openid_routes,
    ):
        app.include_router(module.router)

    @app.middleware("http")
    async def add_headers(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await call(request)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    @app.exception_handler(ChaffinchError)
    def refuse(request: Request, error: ChaffinchError) -> Response:
        status = next((s for kind, s in _STATUS.items() if isinstance(error, kind)), 422)
        headers = {}
        if isinstance(error, SignInNeeded):
            headers["WWW-Authenticate"] = "Bearer"
        if isinstance(error, TooManyRequests):
            headers["Retry-After"] = str(error.seconds)
        return _problem(request, str(error), status, headers)

    @app.exception_handler(RequestValidationError)
    def refuse_invalid(request: Request, error: RequestValidationError) -> Response:
        problems = [f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors()]
        return _problem(request, "; ".join(problems), 422)

    @app.exception_handler(DataError)
    def refuse_characters(request: Request, error: DataError) -> Response:
        return _problem(request, "the request has characters or numbers that cannot be stored", 422)

    @app.exception_handler(OperationalError)
    def try_later(request: Request, error: OperationalError) -> Response:
        return _problem(request, "the database does not answer; try again", 503, {"Retry-After": "5"})

    @app.get("/docs", include_in_schema=False)
    def describe_api(request: Request) -> Response:
        return rendering.page(request, None, "api.html", schema=app.openapi())

    @app.get("/healthz", include_in_schema=False)
    def is_alive() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", include_in_schema=False)
    def is_ready() -> dict[str, str]:
        site.database.check()
        return {"status": "ok"}

    return app


def _problem(request: Request, detail: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """Return an error, as a page to browsers and as JSON to programs."""
    if not rendering.wants_page(request):
        return JSONResponse({"detail": detail}, status, headers)
    if status == 401 and request.method == "GET":
        return RedirectResponse(f"/sign-in?{urlencode({'next': request.url.path})}", 303)
    title = _TITLES.get(status, "This did not work")
    return rendering.page(request, None, "problem.html", status, title=title, detail=detail)
