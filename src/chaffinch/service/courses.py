"""Courses and their assignments. An assignment keeps base code and options, and has a run for each class."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from sqlalchemy import select
from sqlalchemy.orm import Session

from chaffinch.service import runs
from chaffinch.service.accounts import access
from chaffinch.service.accounts.visitor import ADMIN, INSTRUCTOR, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Assignment, Course, CourseMember, Run
from chaffinch.service.refusals import BadRequest
from chaffinch.service.site import Site
from chaffinch.service.uploads import UploadWriter


def create_course(site: Site, visitor: Visitor, name: str) -> dict[str, Any]:
    """Create a course. Its creator is its first instructor."""
    access.require_scope(visitor, access.WRITE)
    access.require_role(visitor, INSTRUCTOR)

    def change(session: Session) -> dict[str, Any]:
        course = Course(name=name)
        session.add(course)
        session.flush()
        if visitor.account_id is not None:
            session.add(CourseMember(course_id=course.id, account_id=visitor.account_id, role=INSTRUCTOR))
        record(session, visitor, "create course", course.id)
        return _course_as_dict(course, ADMIN if visitor.role == ADMIN else INSTRUCTOR)

    return site.database.write(change)


def list_courses(site: Site, visitor: Visitor) -> list[dict[str, Any]]:
    """Return the courses of the visitor, or all for an administrator."""
    access.require_scope(visitor, access.READ)
    query = select(Course).order_by(Course.created.desc(), Course.id)
    if visitor.role != ADMIN:
        own = select(CourseMember.course_id).where(CourseMember.account_id == visitor.account_id)
        query = query.where(Course.id.in_(own))
    with site.database.reading() as session:
        return [
            _course_as_dict(course, access.role_in_course(session, visitor, course.id))
            for course in session.scalars(query)
        ]


def course(site: Site, visitor: Visitor, course_id: str) -> dict[str, Any]:
    """Return a course with its assignments."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        stored = access.course_for(session, visitor, course_id)
        query = select(Assignment).where(Assignment.course_id == course_id)
        assignments = session.scalars(query.order_by(Assignment.created.desc(), Assignment.id))
        return _course_as_dict(stored, access.role_in_course(session, visitor, course_id)) | {
            "assignments": [_assignment_as_dict(assignment) for assignment in assignments]
        }


def rename_course(site: Site, visitor: Visitor, course_id: str, name: str) -> dict[str, Any]:
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> dict[str, Any]:
        stored = access.course_for(session, visitor, course_id, INSTRUCTOR)
        stored.name = name
        record(session, visitor, "rename course", course_id)
        return _course_as_dict(stored, access.role_in_course(session, visitor, course_id))

    return site.database.write(change)


def delete_course(site: Site, visitor: Visitor, course_id: str) -> None:
    """Delete a course with its assignments and all their runs."""
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> list[str]:
        stored = access.course_for(session, visitor, course_id, INSTRUCTOR)
        query = select(Assignment).where(Assignment.course_id == course_id)
        blobs = [
            blob
            for assignment in session.scalars(query)
            for blob in _remove_assignment(site, session, assignment)
        ]
        session.delete(stored)
        record(session, visitor, "delete course", course_id)
        return blobs

    site.forget(site.database.write(change))


def create_assignment(
    site: Site, visitor: Visitor, course_id: str, name: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Create an assignment. Its runs have these options unless they choose others."""
    access.require_scope(visitor, access.WRITE)
    runs.check_options(options)

    def change(session: Session) -> dict[str, Any]:
        access.course_for(session, visitor, course_id, INSTRUCTOR)
        assignment = Assignment(course_id=course_id, name=name, options=options)
        session.add(assignment)
        session.flush()
        record(session, visitor, "create assignment", assignment.id)
        return _assignment_as_dict(assignment)

    return site.database.write(change)


def assignment(site: Site, visitor: Visitor, assignment_id: str) -> dict[str, Any]:
    """Return an assignment with its runs, the newest first."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        stored = _assignment_as_dict(access.assignment_for(session, visitor, assignment_id))
    return stored | {"runs": [state.to_dict() for state in runs.list_runs(site, visitor, assignment_id)]}


def change_assignment(
    site: Site,
    visitor: Visitor,
    assignment_id: str,
    name: str | None = None,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Change what is given."""
    access.require_scope(visitor, access.WRITE)
    runs.check_options(options or {})

    def change(session: Session) -> dict[str, Any]:
        stored = access.assignment_for(session, visitor, assignment_id, INSTRUCTOR)
        if name is not None:
            stored.name = name
        if options is not None:
            stored.options = options
        record(session, visitor, "change assignment", assignment_id)
        return _assignment_as_dict(stored)

    return site.database.write(change)


def delete_assignment(site: Site, visitor: Visitor, assignment_id: str) -> None:
    """Delete an assignment with its base code and all its runs."""
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> list[str]:
        stored = access.assignment_for(session, visitor, assignment_id, INSTRUCTOR)
        record(session, visitor, "delete assignment", assignment_id)
        return _remove_assignment(site, session, stored)

    site.forget(site.database.write(change))


@contextmanager
def upload_base(site: Site, visitor: Visitor, assignment_id: str) -> Iterator[tuple[BinaryIO, UploadWriter]]:
    """Collect base code for `set_base`, if the visitor may change the assignment."""
    access.require_scope(visitor, access.WRITE)
    with site.database.reading() as session:
        access.assignment_for(session, visitor, assignment_id, INSTRUCTOR)
    with runs.upload(site) as both:
        yield both


def set_base(
    site: Site, visitor: Visitor, assignment_id: str, file: BinaryIO, writer: UploadWriter
) -> dict[str, Any]:
    """Keep the base code of an assignment, in place of the one it has."""
    if not len(writer):
        raise BadRequest("no files were uploaded")
    writer.close()
    return _replace_base(site, visitor, assignment_id, file)


def delete_base(site: Site, visitor: Visitor, assignment_id: str) -> dict[str, Any]:
    """Delete the base code of an assignment."""
    return _replace_base(site, visitor, assignment_id, None)


def _replace_base(site: Site, visitor: Visitor, assignment_id: str, file: BinaryIO | None) -> dict[str, Any]:
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> tuple[dict[str, Any], list[str]]:
        stored = access.assignment_for(session, visitor, assignment_id, INSTRUCTOR)
        before = [stored.base_id] if stored.base_id else []
        stored.base_id = None if file is None else site.blobs.keep(session, file)
        session.flush()
        site.blobs.delete(session, before)
        record(session, visitor, "delete base code" if file is None else "set base code", assignment_id)
        return _assignment_as_dict(stored), before

    changed, before = site.database.write(change)
    site.forget(before)
    return changed


def _remove_assignment(site: Site, session: Session, assignment: Assignment) -> list[str]:
    """Delete an assignment as a part of the transaction. Return its blobs and those of its runs."""
    own = list(session.scalars(select(Run).where(Run.assignment_id == assignment.id)))
    base = [assignment.base_id] if assignment.base_id else []
    blobs = runs.remove(site, session, own)
    session.delete(assignment)
    session.flush()
    site.blobs.delete(session, base)
    return [*blobs, *base]


def _course_as_dict(stored: Course, role: str | None) -> dict[str, Any]:
    return {"id": stored.id, "name": stored.name, "created": stored.created, "role": role}


def _assignment_as_dict(stored: Assignment) -> dict[str, Any]:
    return {
        "id": stored.id,
        "course": stored.course_id,
        "name": stored.name,
        "options": stored.options,
        "has_base": stored.base_id is not None,
        "created": stored.created,
    }
