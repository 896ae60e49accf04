"""Archives: create and change them, delete them for good, and look after the jobs that write to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import or_, select, text
from sqlalchemy.orm import Session

from chaffinch.index.index import Index
from chaffinch.recipe import Recipe
from chaffinch.service.accounts import access
from chaffinch.service.accounts.visitor import ADMIN, INSTRUCTOR, READER, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.database import clock
from chaffinch.service.database.tables import Archive, ArchiveMember, Job, new_id
from chaffinch.service.jobs.archive_task import CHECK_URLS, ROTATE
from chaffinch.service.refusals import BadRequest, NotFound
from chaffinch.service.site import Site

KOALA = "koala"
_KOALA_SETTINGS = frozenset(("k", "stored", "searched", "scheme", "skip", "frequent", "ignored"))
_OTHER_SETTINGS = frozenset(("k", "w"))
_MAX_NAME = 200
_LISTED_JOBS = 100
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class ArchiveState:
    """An archive, and what the visitor may do with it."""

    archive: Archive
    role: str

    def to_dict(self) -> dict[str, Any]:
        archive = self.archive
        return {
            "id": archive.id,
            "name": archive.name,
            "recipe": archive.recipe,
            "content": archive.content,
            "documents": archive.documents,
            "public": archive.is_public,
            "rotate_days": archive.rotate_days,
            "created": archive.created,
            "role": self.role,
        }


def create_archive(
    site: Site,
    visitor: Visitor,
    name: str,
    *,
    recipe: str = "text",
    content: str = "text",
    settings: Mapping[str, Any] | None = None,
    public: bool = False,
    rotate_days: int | None = None,
) -> ArchiveState:
    """Create an empty archive, which belongs to the visitor.

    `recipe` is text, code, koala or a programming language, `content` what is stored besides fingerprints, and
    `settings` are those of `Index.create`.
    """
    access.require_scope(visitor, access.WRITE)
    access.require_role(visitor, INSTRUCTOR)
    name, settings = _checked_name(name), dict(settings or {})
    allowed = _KOALA_SETTINGS if recipe == KOALA else _OTHER_SETTINGS
    if unknown := settings.keys() - allowed:
        raise BadRequest(f"the recipe {recipe} has no setting {', '.join(sorted(unknown))}")
    _check_rotation(recipe, rotate_days)
    created: list[str] = []

    def change(session: Session) -> ArchiveState:
        archive = Archive(
            id=new_id(),
            name=name,
            account_id=visitor.account_id,
            recipe=recipe,
            content=content,
            is_public=public,
            rotate_days=rotate_days,
        )
        session.add(archive)
        session.flush()  # before the index is created: see remove_strays
        created.append(archive.id)
        _create_index(site, archive, settings)
        record(session, visitor, "create archive", archive.id)
        return ArchiveState(archive, ADMIN)

    try:
        return site.database.write(change)
    except BaseException:
        for archive_id in created:
            site.indexes.delete(archive_id)
        raise


def _create_index(site: Site, archive: Archive, settings: dict[str, Any]) -> None:
    where = site.indexes.where(archive.id)
    if archive.recipe == KOALA:
        Index.create(where, KOALA, content=archive.content, **settings).close()
        return
    Index.create(where, Recipe(archive.recipe, **settings), content=archive.content).close()


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > _MAX_NAME or not name.isprintable():
        raise BadRequest(f"give the archive a name of 1 to {_MAX_NAME} characters")
    return name


def _check_rotation(recipe: str, days: int | None) -> None:
    if days is not None and recipe != KOALA:
        raise BadRequest(
            "only archives with the recipe koala choose fingerprints again; leave out the schedule"
        )
    if days is not None and not 1 <= days <= 3660:
        raise BadRequest("the schedule is a number of days from 1 to 3660")


def list_archives(site: Site, visitor: Visitor) -> list[ArchiveState]:
    """Return the archives that the visitor may search, sorted by name."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        query = select(Archive).order_by(Archive.name, Archive.id)
        if visitor.role != ADMIN:
            member = select(ArchiveMember.archive_id).where(ArchiveMember.account_id == visitor.account_id)
            own = Archive.account_id == visitor.account_id
            query = query.where(or_(own, Archive.is_public, Archive.id.in_(member)))
        archives = session.scalars(query).all()
        roles = [access.role_in_archive(session, visitor, archive) for archive in archives]
    return [ArchiveState(a, role) for a, role in zip(archives, roles, strict=True) if role is not None]


def archive_state(site: Site, visitor: Visitor, archive_id: str) -> ArchiveState:
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        archive = access.archive_for(session, visitor, archive_id)
        return ArchiveState(archive, access.role_in_archive(session, visitor, archive) or READER)


def archive_info(site: Site, visitor: Visitor, archive_id: str) -> dict[str, Any]:
    """Return an archive with its size and recipe."""
    state = archive_state(site, visitor, archive_id)

    def question(index: Index) -> dict[str, Any]:
        size, settings = index.info(), index.store.settings
        return asdict(size) | {
            "receipt": settings.recipe.receipt(),
            "stored": settings.stored,
            "damaged": len(size.damaged),
        }

    return state.to_dict() | site.indexes.ask(archive_id, question)


def change_archive(
    site: Site,
    visitor: Visitor,
    archive_id: str,
    *,
    name: str | None = None,
    public: bool | None = None,
    rotate_days: int | None = None,
    never_rotate: bool = False,
) -> ArchiveState:
    """Change an archive. None leaves things as they are; `never_rotate` ends the schedule."""
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> ArchiveState:
        archive = access.archive_for(session, visitor, archive_id, ADMIN)
        if name is not None:
            archive.name = _checked_name(name)
        if public is not None:
            archive.is_public = public
        _check_rotation(archive.recipe, rotate_days)
        if rotate_days is not None or never_rotate:
            archive.rotate_days = rotate_days
        record(session, visitor, "change archive", archive_id)
        return ArchiveState(archive, ADMIN)

    return site.database.write(change)


def delete_archive(site: Site, visitor: Visitor, archive_id: str) -> None:
    """Delete an archive with its index, and with what was uploaded for it and not added yet."""
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> list[str]:
        archive = access.archive_for(session, visitor, archive_id, ADMIN)
        uploads = select(Job.upload_id).where(Job.archive_id == archive_id, Job.upload_id.is_not(None))
        blobs = [blob for blob in session.scalars(uploads) if blob]
        session.delete(archive)
        session.flush()
        site.blobs.delete(session, blobs)
        record(session, visitor, "delete archive", archive_id)
        return blobs

    blobs = site.database.write(change)
    site.indexes.delete(archive_id)  # if this process is stopped here, remove_strays does it
    site.forget(blobs)


def remove_strays(site: Site) -> None:
    """Delete indexes that belong to no archive. They are left when a process is stopped in the wrong moment."""
    present = site.indexes.present()
    with site.database.writing() as session:
        # Whoever creates an archive inserts its row before the index is there, and this waits for them.
        if site.database.is_shared:
            session.execute(text("LOCK TABLE archives IN SHARE MODE"))
        known = set(session.scalars(select(Archive.id)))
    for archive_id in present:
        if archive_id not in known:
            site.indexes.delete(archive_id)


def schedule_jobs(site: Site) -> None:
    """Add the jobs that are due: once a day, rotate documents with an old choice, and check URLs."""
    fetches = site.settings.fetch_urls

    def change(session: Session) -> None:
        # An archive that another process is looking at is skipped, so nothing is added twice.
        for archive in session.scalars(select(Archive).with_for_update(skip_locked=True)):
            if archive.rotate_days is not None and _is_due(session, archive, ROTATE):
                add_job(session, archive.id, None, ROTATE, older_than_days=archive.rotate_days)
            if fetches and _is_due(session, archive, CHECK_URLS):
                add_job(session, archive.id, None, CHECK_URLS)

    site.database.write(change)


def _is_due(session: Session, archive: Archive, kind: str) -> bool:
    recent = select(Job.id).where(
        Job.archive_id == archive.id, Job.kind == kind, Job.created > clock(session) - _DAY
    )
    return archive.documents > 0 and session.scalar(recent.limit(1)) is None


def job_dict(job: Job) -> dict[str, Any]:
    """Return a job of an archive as others see it."""
    return {
        "id": job.id,
        "kind": job.kind,
        "archive": job.archive_id,
        "state": job.state,
        "progress": job.progress,
        "message": job.message,
        "result": job.result,
        "created": job.created,
        "finished": job.finished,
    }


def list_jobs(site: Site, visitor: Visitor, archive_id: str) -> list[Job]:
    """Return the jobs of an archive, the newest first."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        access.archive_for(session, visitor, archive_id, INSTRUCTOR)
        newest = select(Job).where(Job.archive_id == archive_id).order_by(Job.created.desc(), Job.id)
        return list(session.scalars(newest.limit(_LISTED_JOBS)))


def get_job(site: Site, visitor: Visitor, archive_id: str, job_id: str) -> Job:
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        access.archive_for(session, visitor, archive_id, INSTRUCTOR)
        job = session.get(Job, job_id)
        if job is None or job.archive_id != archive_id:
            raise NotFound("there is no such job")
        return job


def add_job(
    session: Session,
    archive_id: str,
    account_id: str | None,
    kind: str,
    upload_id: str | None = None,
    **arguments: Any,
) -> Job:
    """Add a job for an archive, as a part of the transaction."""
    job = Job(kind=kind, archive_id=archive_id, account_id=account_id, upload_id=upload_id, arguments=arguments)
    session.add(job)
    session.flush()
    return job


def write_later(site: Site, visitor: Visitor, archive_id: str, kind: str, **arguments: Any) -> Job:
    """Let a worker change an archive. Everybody who writes to an archive needs the role instructor in it."""
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> Job:
        access.archive_for(session, visitor, archive_id, INSTRUCTOR)
        record(session, visitor, kind.replace("_", " "), archive_id)
        return add_job(session, archive_id, visitor.account_id, kind, **arguments)

    return site.database.write(change)
