"""The API of searches. The answer is made as JSON once, because thousands may ask at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from chaffinch.service import archive_documents, archive_search, runs
from chaffinch.service.archive_search import MAX_PASSAGES, MAX_QUERY_BYTES, MAX_TOP, PASSAGES, TOP
from chaffinch.service.refusals import BadRequest, TooLarge
from chaffinch.service.site import Site
from chaffinch.service.uploads import DOCUMENT, read_upload
from chaffinch.service.web.multipart import read_form
from chaffinch.service.web.visiting import Asking, OfSite
from chaffinch.types import File, Readable

router = APIRouter(prefix="/api/v1/archives", tags=["archives"])
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string"},
                        "name": {"type": "string", "description": "The file name of the text."},
                        "url": {"type": "string", "description": "Where to fetch the document."},
                    },
                }
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {DOCUMENT: {"type": "string", "format": "binary"}},
                    "required": [DOCUMENT],
                }
            },
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

Top = Annotated[int, Query(ge=1, le=MAX_TOP)]
Passages = Annotated[int, Query(ge=0, le=MAX_PASSAGES)]


class _Url(str):
    """Where to fetch the document that is searched for."""


@router.post("/{archive_id}/search", openapi_extra=_BODY, response_model=None)
async def search(
    archive_id: str,
    request: Request,
    site: OfSite,
    visitor: Asking,
    top: Top = TOP,
    passages: Passages = PASSAGES,
    name: str = "",
) -> Response:
    """Find documents that share text with yours.

    Send JSON with a `text` or a `url`, a form with one file, or the document itself as the body and perhaps its
    name as a parameter.
    """
    query = await _query(request, site, name)

    def ask() -> dict[str, Any]:
        if isinstance(query, _Url):
            return archive_search.search_url(site, visitor, archive_id, query, top=top, passages=passages)
        return archive_search.search(site, visitor, archive_id, query, top=top, passages=passages)

    return await to_thread.run_sync(_answer, ask)


@router.get("/{archive_id}/documents/{name:path}/relatives", response_model=None)
def list_relatives(
    archive_id: str, name: str, site: OfSite, visitor: Asking, top: Top = TOP, passages: Passages = PASSAGES
) -> Response:
    """Find the relatives of a document: identical, edited, reorganised, revised, contained and so on."""
    return _answer(
        lambda: archive_search.relatives(site, visitor, archive_id, name, top=top, passages=passages)
    )


@router.get("/{archive_id}/documents/{name:path}")
def get_document(archive_id: str, name: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return what is known about a document."""
    return archive_documents.get_document(site, visitor, archive_id, name)


def _answer(ask: Callable[[], dict[str, Any]]) -> Response:
    return Response(json.dumps(ask()), media_type="application/json")


async def _query(request: Request, site: Site, name: str) -> Readable | _Url:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _uploaded(request, site)
    body = await _body(request)
    if kind != "application/json":
        if not body:
            raise BadRequest("send the document to search for")
        return File(name or "query", body)
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not JSON") from None
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise BadRequest("send a JSON object with a text or a url")
    if fields.get("url"):
        return _Url(fields["url"])
    if not fields.get("text"):
        raise BadRequest("send a text or a url")
    text = fields["text"]
    name = fields.get("name") or name
    return File(name, text.encode("utf-8", "surrogatepass")) if name else text


async def _uploaded(request: Request, site: Site) -> Readable:
    with runs.upload(site) as (file, writer):
        await read_form(request, writer, MAX_QUERY_BYTES, (DOCUMENT,))
        if len(writer) != 1:
            raise BadRequest(f"send one file, as {DOCUMENT}")
        writer.close()
        file.flush()
        (uploaded,) = await to_thread.run_sync(read_upload, Path(file.name))
    return File(uploaded.name, uploaded.data)


async def _body(request: Request) -> bytes:
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_QUERY_BYTES:
            raise TooLarge(f"a query is at most {MAX_QUERY_BYTES >> 20} MB")
    return bytes(data)
