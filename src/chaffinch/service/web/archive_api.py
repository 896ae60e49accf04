"""The API of archives: create them, register documents, follow the jobs that do it, rotate."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from chaffinch.index.records import Metadata
from chaffinch.service import archive_documents, archives, runs
from chaffinch.service.archives import job_dict
from chaffinch.service.jobs.queue import DONE, FAILED
from chaffinch.service.refusals import BadRequest
from chaffinch.service.uploads import DOCUMENT
from chaffinch.service.web.fields import Body, Days, Line
from chaffinch.service.web.multipart import read_form
from chaffinch.service.web.visiting import Asking, OfSite

router = APIRouter(prefix="/api/v1/archives", tags=["archives"])
_POLL_SECONDS = 0.3
_MAX_NAMES = 10_000
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        DOCUMENT: {"type": "array", "items": {"type": "string", "format": "binary"}},
                        "url": {"type": "string"},
                        "contact": {"type": "string"},
                        "date": {"type": "string"},
                        "replace": {"type": "boolean"},
                        "boilerplate": {"type": "boolean"},
                        "ocr": {"type": "boolean"},
                    },
                }
            }
        },
    }
}

Names = Annotated[list[str], Field(min_length=1, max_length=_MAX_NAMES)]


class NewArchive(Body):
    """An archive to create. `settings` are those of `chaffinch index create`, such as k or stored."""

    name: Line
    recipe: str = "text"
    content: str = "text"
    public: bool = False
    rotate_days: Days | None = None
    settings: dict[str, int | str] = Field(default_factory=dict)


class ArchiveChange(Body):
    """What to change. What is left out stays as it is; null ends the schedule of rotation."""

    name: Line | None = None
    public: bool | None = None
    rotate_days: Days | None = None


class NamedDocuments(Body):
    """Documents of an archive."""

    names: Names


class MetadataChange(NamedDocuments):
    """What to change about documents. What is left out stays as it is; an empty text removes it."""

    url: str | None = None
    contact: str | None = None
    date: str | None = None


class Rotation(Body):
    """Documents to choose fingerprints for again: those named, those described, or all."""

    names: Names | None = None
    suspicious: bool = False
    older_than_days: Annotated[int, Field(ge=0, le=3660)] | None = None


@router.get("")
def list_archives(site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List the archives that you may search."""
    return [state.to_dict() for state in archives.list_archives(site, visitor)]


@router.post("", status_code=201)
def create_archive(body: NewArchive, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Create an archive."""
    return archives.create_archive(site, visitor, **body.model_dump()).to_dict()


@router.get("/{archive_id}")
def get_archive(archive_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return an archive with its size and recipe."""
    return archives.archive_info(site, visitor, archive_id)


@router.patch("/{archive_id}")
def change_archive(archive_id: str, body: ArchiveChange, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Change the name of an archive, who may search it, or its schedule of rotation."""
    ends = "rotate_days" in body.model_fields_set and body.rotate_days is None
    return archives.change_archive(site, visitor, archive_id, **body.model_dump(), never_rotate=ends).to_dict()


@router.delete("/{archive_id}", status_code=204)
def delete_archive(archive_id: str, site: OfSite, visitor: Asking) -> None:
    """Delete an archive with everything in it."""
    archives.delete_archive(site, visitor, archive_id)


@router.get("/{archive_id}/documents")
def list_documents(
    archive_id: str,
    site: OfSite,
    visitor: Asking,
    after: Annotated[int, Query(ge=-1, le=2**32)] = -1,
    size: Annotated[int, Query(ge=1, le=archive_documents.MAX_PAGE)] = 100,
) -> dict[str, Any]:
    """List documents. `after` of a page is where the next one begins."""
    return archive_documents.list_documents(site, visitor, archive_id, after, size).to_dict()


@router.post("/{archive_id}/documents", status_code=202, openapi_extra=_FORM)
async def register_documents(
    archive_id: str, request: Request, site: OfSite, visitor: Asking
) -> dict[str, Any]:
    """Register documents: files, and what is in archives among them. Without files, the URL is fetched."""
    await to_thread.run_sync(archives.archive_state, site, visitor, archive_id)  # before anything is uploaded
    with runs.upload(site) as (file, writer):
        fields = await read_form(request, writer, site.settings.max_upload_mb << 20, (DOCUMENT,))
        job = await to_thread.run_sync(
            lambda: archive_documents.register(
                site,
                visitor,
                archive_id,
                file,
                writer,
                metadata=Metadata(
                    *(fields.get(name, "").strip() or None for name in ("url", "contact", "date"))
                ),
                replacing=_flag(fields, "replace"),
                boilerplate=_flag(fields, "boilerplate"),
                ocr=_flag(fields, "ocr"),
            )
        )
    return job_dict(job)


def _flag(fields: dict[str, str], name: str) -> bool:
    value = fields.get(name, "").strip().lower()
    if value not in ("", "0", "false", "off", "1", "true", "on"):
        raise BadRequest(f"{name} is true or false")
    return value in ("1", "true", "on")


@router.patch("/{archive_id}/documents", status_code=202)
def change_documents(archive_id: str, body: MetadataChange, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Change what is known about documents: URL, contact and date."""
    metadata = Metadata(body.url, body.contact, body.date)
    return job_dict(archive_documents.set_metadata(site, visitor, archive_id, body.names, metadata))


@router.post("/{archive_id}/documents/remove", status_code=202)
def remove_documents(archive_id: str, body: NamedDocuments, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Remove documents."""
    return job_dict(archive_documents.remove_documents(site, visitor, archive_id, body.names))


@router.get("/{archive_id}/suspicious")
def list_suspicious(archive_id: str, site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List documents whose stored fingerprints somebody may be finding out. Rotate them."""
    return archive_documents.suspicious(site, visitor, archive_id)


@router.post("/{archive_id}/rotate", status_code=202)
def rotate(archive_id: str, body: Rotation, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Choose again which fingerprints are stored."""
    return job_dict(archive_documents.rotate(site, visitor, archive_id, **body.model_dump()))


@router.post("/{archive_id}/merge", status_code=202)
def merge(archive_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Compact the index of an archive. It is never necessary."""
    return job_dict(archive_documents.merge(site, visitor, archive_id))


@router.post("/{archive_id}/check-urls", status_code=202)
def check_urls(archive_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Look whether the documents are still at their URLs, and add again those that changed."""
    return job_dict(archive_documents.check_urls(site, visitor, archive_id))


@router.get("/{archive_id}/jobs")
def list_jobs(archive_id: str, site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List what was done to an archive, and what is being done, the newest first."""
    return [job_dict(job) for job in archives.list_jobs(site, visitor, archive_id)]


@router.get("/{archive_id}/jobs/{job_id}")
def get_job(archive_id: str, job_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return the state of a job."""
    return job_dict(archives.get_job(site, visitor, archive_id, job_id))


@router.get("/{archive_id}/jobs/{job_id}/events", response_class=StreamingResponse)
async def follow_job(
    archive_id: str, job_id: str, request: Request, site: OfSite, visitor: Asking
) -> StreamingResponse:
    """Follow a job: a server-sent event whenever its state changes, until it is over."""
    first = await to_thread.run_sync(archives.get_job, site, visitor, archive_id, job_id)

    async def events() -> AsyncIterator[str]:
        shown, current = None, first
        while not await request.is_disconnected():
            if (now := job_dict(current)) != shown:
                shown = now
                yield f"data: {json.dumps(now)}\n\n"
            if current.state in (DONE, FAILED):
                return
            await asyncio.sleep(_POLL_SECONDS)
            current = await to_thread.run_sync(archives.get_job, site, visitor, archive_id, job_id)

    return StreamingResponse(events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
