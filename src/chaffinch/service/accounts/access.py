"""What a visitor may do with a run, a course or an archive.

Every question is asked here. A visitor who may not even see something is told that it does not exist.
"""

from __future__ import annotations

from typing import TypeVar

from sqlalchemy.orm import Session

from chaffinch.service.accounts.visitor import ADMIN, READER, ROLES, Visitor
from chaffinch.service.database.tables import Archive, ArchiveMember, Assignment, Course, CourseMember, Run
from chaffinch.service.refusals import Forbidden, NotFound

T = TypeVar("T")

READ, WRITE, ADMIN_SCOPE = "read", "write", "admin"
"""Scopes of API tokens."""


def require_role(visitor: Visitor, role: str) -> None:
    """Raise unless the visitor's account has at least this role."""
    if not visitor.is_at_least(role):
        raise Forbidden(f"this needs an account with the role {role}")


def require_scope(visitor: Visitor, scope: str) -> None:
    """Raise if the visitor uses an API token that does not allow this."""
    if visitor.scopes is not None and scope not in visitor.scopes:
        raise Forbidden(f"this API token has no scope {scope}; create one that has it")


def require_admin(visitor: Visitor) -> None:
    """Raise unless the visitor may administer the service."""
    require_scope(visitor, ADMIN_SCOPE)
    require_role(visitor, ADMIN)


def run_for(session: Session, visitor: Visitor, run_id: str, role: str = READER) -> Run:
    """Return a run that the visitor may use in this role, or raise."""
    run = session.get(Run, run_id)
    if run is None:
        raise NotFound("there is no such run")
    has = _role_in_run(session, visitor, run)
    return _checked(run, has, role, "run")


def _role_in_run(session: Session, visitor: Visitor, run: Run) -> str | None:
    if visitor.role == ADMIN or (run.account_id is not None and run.account_id == visitor.account_id):
        return ADMIN
    if run.assignment_id is None:
        return None
    assignment = session.get_one(Assignment, run.assignment_id)
    return role_in_course(session, visitor, assignment.course_id)


def course_for(session: Session, visitor: Visitor, course_id: str, role: str = READER) -> Course:
    """Return a course that the visitor may use in this role, or raise."""
    course = session.get(Course, course_id)
    if course is None:
        raise NotFound("there is no such course")
    return _checked(course, role_in_course(session, visitor, course_id), role, "course")


def role_in_course(session: Session, visitor: Visitor, course_id: str) -> str | None:
    """Return the visitor's role in a course: that of the membership, within what the account's role allows."""
    if visitor.role == ADMIN:
        return ADMIN
    if visitor.account_id is None:
        return None
    member = session.get(CourseMember, (course_id, visitor.account_id))
    return None if member is None else min(member.role, visitor.role, key=ROLES.index)


def role_in_archive(session: Session, visitor: Visitor, archive: Archive) -> str | None:
    """Return the visitor's role in an archive."""
    if visitor.role == ADMIN or (archive.account_id and archive.account_id == visitor.account_id):
        return ADMIN
    member = session.get(ArchiveMember, (archive.id, visitor.account_id)) if visitor.account_id else None
    if member is not None:
        return min(member.role, visitor.role, key=ROLES.index)
    return READER if archive.is_public else None


def archive_for(session: Session, visitor: Visitor, archive_id: str, role: str = READER) -> Archive:
    """Return an archive that the visitor may use in this role, or raise."""
    archive = session.get(Archive, archive_id)
    if archive is None:
        raise NotFound("there is no such archive")
    return _checked(archive, role_in_archive(session, visitor, archive), role, "archive")


def assignment_for(session: Session, visitor: Visitor, assignment_id: str, role: str = READER) -> Assignment:
    """Return an assignment that the visitor may use in this role, or raise."""
    assignment = session.get(Assignment, assignment_id)
    if assignment is None:
        raise NotFound("there is no such assignment")
    return _checked(assignment, role_in_course(session, visitor, assignment.course_id), role, "assignment")


def _checked(thing: T, has: str | None, needed: str, what: str) -> T:
    if has is None:
        raise NotFound(f"there is no such {what}")
    if ROLES.index(has) < ROLES.index(needed):
        raise Forbidden(f"in this {what} you are a {has}; this needs the role {needed}")
    return thing
