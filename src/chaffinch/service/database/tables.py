"""The tables of the service, the same in SQLite and PostgreSQL.

Times are seconds since 1970 in UTC. Whatever a URL can name has a random id, which nobody can guess.
"""

from __future__ import annotations

import secrets
import time
from typing import Any, ClassVar

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, Integer, LargeBinary, MetaData, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


def new_id() -> str:
    return secrets.token_hex(8)


def now() -> int:
    return int(time.time())


class Table(DeclarativeBase):
    """Every table of the service. Names of constraints are fixed, so that migrations can change them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        dict[str, Any]: JSON(none_as_null=True),
        list[Any]: JSON,
        bytes: LargeBinary,
        int: BigInteger,
    }


def _owned_by(table: str, **options: Any) -> Any:
    """Return a column with the id of a row in another table. The row goes when that one goes."""
    return mapped_column(ForeignKey(f"{table}.id", ondelete="CASCADE"), index=True, **options)


def _refers_to(table: str) -> Any:
    """Return a column with the id of a row in another table, or nothing once that one is gone."""
    return mapped_column(ForeignKey(f"{table}.id", ondelete="SET NULL"), index=True)


class Account(Table):
    """Somebody who can sign in."""

    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    email: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    """admin, instructor, reviewer or reader."""
    password_hash: Mapped[str | None]
    """Argon2. None for those who sign in elsewhere."""
    subject: Mapped[str | None] = mapped_column(unique=True)
    """Who this is for the OpenID provider."""
    moss_id: Mapped[str | None] = mapped_column(unique=True)
    """The number that MOSS clients send."""
    is_active: Mapped[bool] = mapped_column(default=True)
    created: Mapped[int] = mapped_column(default=now)


class Session(Table):
    """A browser that is signed in."""

    __tablename__ = "sessions"

    token_hash: Mapped[bytes] = mapped_column(primary_key=True)
    account_id: Mapped[str] = _owned_by("accounts")
    expires: Mapped[int] = mapped_column(index=True)


class Token(Table):
    """An API token. Only its hash is kept."""

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[str] = _owned_by("accounts")
    name: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[list[Any]]
    created: Mapped[int] = mapped_column(default=now)
    expires: Mapped[int | None]
    last_used: Mapped[int | None]


class Course(Table):
    """A course, whose members see its assignments."""

    __tablename__ = "courses"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    created: Mapped[int] = mapped_column(default=now)


class CourseMember(Table):
    """What an account may do in a course."""

    __tablename__ = "course_members"

    course_id: Mapped[str] = mapped_column(ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    role: Mapped[str]
    """instructor, reviewer or reader."""


class Assignment(Table):
    """A task of a course, with its base code. It has a run for each class that did it."""

    __tablename__ = "assignments"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    course_id: Mapped[str] = _owned_by("courses")
    name: Mapped[str]
    base_id: Mapped[str | None] = _refers_to("blobs")
    options: Mapped[dict[str, Any]]
    created: Mapped[int] = mapped_column(default=now)


class Run(Table):
    """One comparison: what was handed in, how to compare it, and the result once there is one."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[str | None] = _refers_to("accounts")
    """Whose it is. None without accounts."""
    assignment_id: Mapped[str | None] = _owned_by("assignments")
    source: Mapped[str]
    """Where it came in: web, api or moss."""
    title: Mapped[str]
    upload_id: Mapped[str | None] = _refers_to("blobs")
    """A ZIP with the submissions, until it is deleted."""
    options: Mapped[dict[str, Any]]
    result_id: Mapped[str | None] = _refers_to("blobs")
    """A ZIP with the report in all its forms."""
    summary: Mapped[dict[str, Any] | None]
    """The figures that lists of runs show."""
    moss_number: Mapped[str | None] = mapped_column(unique=True)
    """The path of its MOSS pages: a digit, a slash and thirteen digits."""
    created: Mapped[int] = mapped_column(default=now, index=True)
    expires: Mapped[int | None] = mapped_column(index=True)
    """When it is deleted."""


class Archive(Table):
    """Documents that can be searched. They are in an index of their own."""

    __tablename__ = "archives"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    account_id: Mapped[str | None] = _refers_to("accounts")
    recipe: Mapped[str]
    """text, code, koala, or a programming language."""
    content: Mapped[str]
    """What is stored besides fingerprints: text, search-set or none."""
    documents: Mapped[int] = mapped_column(default=0)
    """How many there were after the last change."""
    is_public: Mapped[bool] = mapped_column(default=False)
    """Whether everybody who can sign in may search it."""
    rotate_days: Mapped[int | None]
    """Koala: choose the fingerprints of a document again after this many days."""
    created: Mapped[int] = mapped_column(default=now)


class ArchiveMember(Table):
    """What an account may do with an archive."""

    __tablename__ = "archive_members"

    archive_id: Mapped[str] = mapped_column(ForeignKey("archives.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    role: Mapped[str]


class CheckedUrl(Table):
    """The URL of a registered document, and what was found there."""

    __tablename__ = "checked_urls"

    archive_id: Mapped[str] = mapped_column(ForeignKey("archives.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    url: Mapped[str]
    checked: Mapped[int | None] = mapped_column(index=True)
    problem: Mapped[str | None]
    """Why it is stale. None if the document was there."""
    stale_since: Mapped[int | None]
    sha256: Mapped[str | None]
    """Of the file that was fetched from there and added. None if the document was uploaded: the URL may show
    something else, such as a page about it, so it never replaces the document."""


class Job(Table):
    """Work for a worker. It is claimed with a lease, and claimed again if the lease runs out."""

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_next", "state", "created", "id"),)

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    kind: Mapped[str]
    run_id: Mapped[str | None] = _owned_by("runs")
    archive_id: Mapped[str | None] = _owned_by("archives")
    account_id: Mapped[str | None] = _refers_to("accounts")
    upload_id: Mapped[str | None] = _refers_to("blobs")
    arguments: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(default="waiting")
    """waiting, running, done or failed."""
    progress: Mapped[str] = mapped_column(default="")
    """What is being done, in words."""
    message: Mapped[str] = mapped_column(default="")
    """What came out, or what went wrong, in words."""
    result: Mapped[dict[str, Any] | None]
    attempts: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None]
    lease_end: Mapped[float | None]
    created: Mapped[float] = mapped_column(default=time.time)
    finished: Mapped[float | None]


class Blob(Table):
    """Bytes that were uploaded or computed. They never change."""

    __tablename__ = "blobs"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    size: Mapped[int]
    sha256: Mapped[str]
    created: Mapped[int] = mapped_column(default=now)


class BlobChunk(Table):
    """A part of a blob, where blobs are in the database."""

    __tablename__ = "blob_chunks"

    blob_id: Mapped[str] = mapped_column(ForeignKey("blobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes]


class Share(Table):
    """A link that shows one report to whoever has it, until it expires."""

    __tablename__ = "shares"

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    token_hash: Mapped[bytes] = mapped_column(unique=True)
    run_id: Mapped[str] = _owned_by("runs")
    account_id: Mapped[str | None] = _refers_to("accounts")
    created: Mapped[int] = mapped_column(default=now)
    expires: Mapped[int]


class Verdict(Table):
    """What a reviewer decided about a pair."""

    __tablename__ = "verdicts"
    __table_args__ = (UniqueConstraint("run_id", "pair", "account_id"),)

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    run_id: Mapped[str] = _owned_by("runs")
    pair: Mapped[str]
    """The pair's key in the report."""
    account_id: Mapped[str | None] = _refers_to("accounts")
    verdict: Mapped[str]
    note: Mapped[str] = mapped_column(default="")
    changed: Mapped[int] = mapped_column(default=now)


class AuditEntry(Table):
    """Who did what, and when. It holds no student work."""

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    time: Mapped[int] = mapped_column(default=now, index=True)
    account_id: Mapped[str | None] = _refers_to("accounts")
    action: Mapped[str]
    subject: Mapped[str] = mapped_column(default="")
    address: Mapped[str] = mapped_column(default="")


class Setting(Table):
    """A setting that an administrator changed."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[dict[str, Any]]
    """{"value": ...}"""
