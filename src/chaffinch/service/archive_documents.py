"""The documents of archives: register them, list them, change what is known about them, remove them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from chaffinch.index.index import Index
from chaffinch.index.ingest import plain_name
from chaffinch.index.records import DocumentRecord, Metadata
from chaffinch.service.accounts import access
from chaffinch.service.accounts.visitor import INSTRUCTOR, Visitor
from chaffinch.service.archives import KOALA, add_job, write_later
from chaffinch.service.audit import record
from chaffinch.service.database.tables import CheckedUrl, Job
from chaffinch.service.fetch import check_url
from chaffinch.service.jobs.archive_task import ADD, CHECK_URLS, MERGE, REMOVE, ROTATE, SET
from chaffinch.service.refusals import BadRequest, NotFound
from chaffinch.service.site import Site
from chaffinch.service.uploads import UploadWriter

MAX_PAGE = 1000
_MAX_LENGTHS = {"url": 2000, "contact": 500, "date": 100}


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some documents of an archive."""

    documents: list[dict[str, Any]]
    after: int | None
    """Where the next page begins. None after the last one."""

    def to_dict(self) -> dict[str, Any]:
        return {"documents": self.documents, "after": self.after}


def register(
    site: Site,
    visitor: Visitor,
    archive_id: str,
    file: BinaryIO,
    writer: UploadWriter,
    *,
    metadata: Metadata,
    replacing: bool = False,
    boilerplate: bool = False,
    ocr: bool = False,
) -> Job:
    """Accept documents for an archive: files, and whatever is in archives among them.

    When this returns, they will be added, whatever happens to the machine's processes. Without files, the
    document is fetched from the URL.
    """
    access.require_scope(visitor, access.WRITE)
    check_metadata(metadata)
    if not len(writer):
        if not metadata.url:
            raise BadRequest("no documents were uploaded; send files, or a URL to fetch")
        check_url(metadata.url, site.settings)
    writer.close()
    how = {"replacing": replacing, "boilerplate": boilerplate, "ocr": ocr, "metadata": asdict(metadata)}

    def change(session: Session) -> Job:
        access.archive_for(session, visitor, archive_id, INSTRUCTOR)
        upload_id = site.blobs.keep(session, file) if len(writer) else None
        record(session, visitor, "register documents", archive_id)
        return add_job(session, archive_id, visitor.account_id, ADD, upload_id, **how)

    return site.database.write(change)


def check_metadata(metadata: Metadata) -> None:
    """Raise unless the metadata of a document can be kept and shown."""
    for name, value in asdict(metadata).items():
        if value and (len(value) > _MAX_LENGTHS[name] or not value.isprintable()):
            raise BadRequest(f"the {name} is one line of at most {_MAX_LENGTHS[name]} characters")
    if metadata.url and not is_web_address(metadata.url):
        raise BadRequest("the url begins with http:// or https://")


def is_web_address(url: str) -> bool:
    """Return whether a page may link to this."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def remove_documents(site: Site, visitor: Visitor, archive_id: str, names: Sequence[str]) -> Job:
    return write_later(site, visitor, archive_id, REMOVE, names=_checked_names(names))


def set_metadata(
    site: Site, visitor: Visitor, archive_id: str, names: Sequence[str], metadata: Metadata
) -> Job:
    """Change what is known about documents. None changes nothing, "" removes it."""
    check_metadata(metadata)
    return write_later(site, visitor, archive_id, SET, names=_checked_names(names), metadata=asdict(metadata))


def rotate(
    site: Site,
    visitor: Visitor,
    archive_id: str,
    *,
    names: Sequence[str] | None = None,
    suspicious: bool = False,
    older_than_days: int | None = None,
) -> Job:
    """Choose again which fingerprints are stored: of these documents, of those described, or of all."""
    _require_koala(site, visitor, archive_id)
    listed = None if names is None else _checked_names(names)
    how = {"names": listed, "suspicious": suspicious, "older_than_days": older_than_days}
    return write_later(site, visitor, archive_id, ROTATE, **how)


def merge(site: Site, visitor: Visitor, archive_id: str) -> Job:
    """Compact the index of an archive fully."""
    return write_later(site, visitor, archive_id, MERGE)


def check_urls(site: Site, visitor: Visitor, archive_id: str) -> Job:
    """Look now whether the documents are still at their URLs, whenever they were checked last."""
    if not site.settings.fetch_urls:
        raise BadRequest("this service does not fetch from the web; an administrator can allow it")
    return write_later(site, visitor, archive_id, CHECK_URLS, all=True)


def suspicious(site: Site, visitor: Visitor, archive_id: str) -> list[dict[str, Any]]:
    """Return documents whose stored fingerprints somebody may be finding out, the most known first."""
    _require_koala(site, visitor, archive_id)
    probed = site.indexes.ask(archive_id, Index.suspicious)
    return [document._asdict() for document in probed]


def _require_koala(site: Site, visitor: Visitor, archive_id: str) -> None:
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        archive = access.archive_for(session, visitor, archive_id, INSTRUCTOR)
    if archive.recipe != KOALA:
        raise BadRequest("this archive stores every fingerprint, so there is nothing to choose")


def list_documents(
    site: Site, visitor: Visitor, archive_id: str, after: int = -1, size: int = 100
) -> DocumentPage:
    """Return the next documents in the order in which they were added."""
    access.require_scope(visitor, access.READ)
    size = max(1, min(size, MAX_PAGE))
    with site.database.reading() as session:
        access.archive_for(session, visitor, archive_id)
        page = site.indexes.ask(archive_id, lambda index: index.page(after, size))
        stale = _stale(session, archive_id, [record.name for _, record in page])
    return DocumentPage(
        [_described(record, stale) for _, record in page], page[-1][0] if len(page) == size else None
    )


def get_document(site: Site, visitor: Visitor, archive_id: str, name: str) -> dict[str, Any]:
    """Return what is known about a document."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        access.archive_for(session, visitor, archive_id)
        record = site.indexes.ask(archive_id, lambda index: record_of(index, name))
        return _described(record, _stale(session, archive_id, [record.name]))


def record_of(index: Index, name: str) -> DocumentRecord:
    with index.store.snapshot():
        numbers = index.store.numbers_by_name([plain_name(name)])
        records = index.store.records(list(numbers.values()))
    if not records:
        raise NotFound("the archive has no document with this name")
    return next(iter(records.values()))


def _stale(session: Session, archive_id: str, names: Sequence[str]) -> dict[str, CheckedUrl]:
    """Return what is wrong with the URLs of documents, by name."""
    rows = select(CheckedUrl).where(
        CheckedUrl.archive_id == archive_id, CheckedUrl.name.in_(names), CheckedUrl.problem.is_not(None)
    )
    return {row.name: row for row in session.scalars(rows)}


def _described(record: DocumentRecord, stale: dict[str, CheckedUrl]) -> dict[str, Any]:
    checked = stale.get(record.name)
    if checked is not None and checked.url != record.metadata.url:
        checked = None
    return {
        "name": record.name,
        **asdict(record.metadata),
        "size": record.size,
        "symbols": record.symbols,
        "registered": record.registered.isoformat(),
        "chosen": record.chosen.isoformat(),
        "boilerplate": record.boilerplate,
        "not_language": record.not_language,
        "stale": checked
        and {"problem": checked.problem, "since": checked.stale_since, "checked": checked.checked},
    }


def _checked_names(names: Sequence[str]) -> list[str]:
    if not names:
        raise BadRequest("name at least one document")
    return list(dict.fromkeys(plain_name(name) for name in names))
