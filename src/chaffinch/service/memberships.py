"""Members of courses and archives: who they are, and what each may do there."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from chaffinch.service.accounts import access
from chaffinch.service.accounts.sessions import normal_email
from chaffinch.service.accounts.visitor import ADMIN, INSTRUCTOR, ROLES, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Account, ArchiveMember, CourseMember
from chaffinch.service.refusals import BadRequest, NotFound
from chaffinch.service.site import Site

COURSE, ARCHIVE = "course", "archive"


def list_members(site: Site, visitor: Visitor, kind: str, thing_id: str) -> list[dict[str, Any]]:
    """Return the members of a course or an archive, for its instructors."""
    access.require_scope(visitor, access.READ)
    table, thing = _table(kind)
    with site.database.reading() as session:
        _check(session, visitor, kind, thing_id)
        query = select(Account, table.role).join(table, table.account_id == Account.id).where(thing == thing_id)
        return [
            {"account": account.id, "name": account.name, "email": account.email, "role": role}
            for account, role in session.execute(query.order_by(Account.email))
        ]


def set_member(
    site: Site, visitor: Visitor, kind: str, thing_id: str, email: str, role: str
) -> list[dict[str, Any]]:
    """Add a member, or change what a member may do. Return all members."""
    access.require_scope(visitor, access.WRITE)
    if role not in ROLES or role == ADMIN:
        raise BadRequest(f"a member is {', '.join(role for role in reversed(ROLES) if role != ADMIN)}")
    table, _ = _table(kind)

    def change(session: Session) -> None:
        _check(session, visitor, kind, thing_id)
        account_id = session.scalar(select(Account.id).where(Account.email == normal_email(email)))
        if account_id is None:
            raise NotFound("there is no account with this e-mail address; ask an administrator to create it")
        session.merge(table(**{f"{kind}_id": thing_id, "account_id": account_id, "role": role}))
        record(session, visitor, f"set member of {kind}", f"{thing_id} {account_id} {role}")

    site.database.write(change)
    return list_members(site, visitor, kind, thing_id)


def remove_member(site: Site, visitor: Visitor, kind: str, thing_id: str, account_id: str) -> None:
    """Remove a member, who sees nothing of the course or archive any more."""
    access.require_scope(visitor, access.WRITE)
    table, _ = _table(kind)

    def change(session: Session) -> None:
        _check(session, visitor, kind, thing_id)
        member = session.get(table, (thing_id, account_id))
        if member is None:
            raise NotFound("there is no such member")
        session.delete(member)
        record(session, visitor, f"remove member of {kind}", f"{thing_id} {account_id}")

    site.database.write(change)


def _table(kind: str) -> tuple[type[CourseMember] | type[ArchiveMember], Any]:
    """Return the table of members, and its column with the id of the course or archive."""
    if kind == COURSE:
        return CourseMember, CourseMember.course_id
    return ArchiveMember, ArchiveMember.archive_id


def _check(session: Session, visitor: Visitor, kind: str, thing_id: str) -> None:
    if kind == COURSE:
        access.course_for(session, visitor, thing_id, INSTRUCTOR)
    else:
        access.archive_for(session, visitor, thing_id, INSTRUCTOR)
