"""The web application: routes, errors as answers, and headers that keep browsers safe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError

from chaffinch import __version__
from chaffinch.errors import ChaffinchError
from chaffinch.service.accounts.access import Forbidden, NotFound
from chaffinch.service.runs import BadRequest, OverQuota
from chaffinch.service.site import Site
from chaffinch.service.uploads import TooLarge
from chaffinch.service.web import moss_routes, rendering, run_api, run_pages

_STATUS: dict[type[Exception], int] = {
    NotFound: 404,
    Forbidden: 403,
    TooLarge: 413,
    OverQuota: 413,
    BadRequest: 400,
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
}


_TITLES = {403: "Not allowed", 404: "Not found", 413: "Too large", 503: "Try again"}


def _problem(request: Request, detail: str, status: int, headers: dict[str, str] | None = None) -> Response:
    """Return an error, as a page to browsers and as JSON to programs."""
    if rendering.wants_page(request):
        title = _TITLES.get(status, "This did not work")
        return rendering.page(request, None, "problem.html", status, title=title, detail=detail)
    return JSONResponse({"detail": detail}, status, headers)


def create_app(site: Site) -> FastAPI:
    """Return the application of a service."""
    app = FastAPI(title="Chaffinch", version=__version__, docs_url="/docs", redoc_url=None)
    app.state.site = site
    app.include_router(run_api.router)
    for module in (run_pages, rendering, moss_routes):
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
        return _problem(request, str(error), status)

    @app.exception_handler(RequestValidationError)
    def refuse_invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        problems = [f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors()]
        return JSONResponse({"detail": "; ".join(problems)}, 422)

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
