"""The API of courses and assignments, and of the members of courses and archives.

Pages call the same functions of `courses` and `memberships`. A run of an assignment is started as any other
run, with the assignment's id.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Request
from pydantic import Field

from chaffinch.service import courses, memberships
from chaffinch.service.memberships import ARCHIVE, COURSE
from chaffinch.service.uploads import BASE
from chaffinch.service.web.fields import Body, Line
from chaffinch.service.web.multipart import form_schema, read_form
from chaffinch.service.web.visiting import Asking, OfSite

router = APIRouter(prefix="/api/v1", tags=["courses"])


class NewCourse(Body):
    name: Line


class NewAssignment(Body):
    name: Line
    options: Annotated[dict[str, Any], Field(default_factory=dict)]


class AssignmentChange(Body):
    name: Line | None = None
    options: dict[str, Any] | None = None


class Member(Body):
    email: Line
    role: Literal["instructor", "reviewer", "reader"]


@router.get("/courses")
def list_courses(site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List your courses."""
    return courses.list_courses(site, visitor)


@router.post("/courses", status_code=201)
def create_course(body: NewCourse, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Create a course."""
    return courses.create_course(site, visitor, body.name)


@router.get("/courses/{course_id}")
def get_course(course_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return a course with its assignments."""
    return courses.course(site, visitor, course_id)


@router.patch("/courses/{course_id}")
def rename_course(course_id: str, body: NewCourse, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Give a course another name."""
    return courses.rename_course(site, visitor, course_id, body.name)


@router.delete("/courses/{course_id}", status_code=204)
def delete_course(course_id: str, site: OfSite, visitor: Asking) -> None:
    """Delete a course with its assignments and their runs."""
    courses.delete_course(site, visitor, course_id)


@router.post("/courses/{course_id}/assignments", status_code=201)
def create_assignment(course_id: str, body: NewAssignment, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Create an assignment. `options` are those of `compare`."""
    return courses.create_assignment(site, visitor, course_id, body.name, body.options)


@router.get("/assignments/{assignment_id}")
def get_assignment(assignment_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return an assignment with its runs."""
    return courses.assignment(site, visitor, assignment_id)


@router.patch("/assignments/{assignment_id}")
def change_assignment(
    assignment_id: str, body: AssignmentChange, site: OfSite, visitor: Asking
) -> dict[str, Any]:
    """Change the name or the options of an assignment."""
    return courses.change_assignment(site, visitor, assignment_id, body.name, body.options)


@router.delete("/assignments/{assignment_id}", status_code=204)
def delete_assignment(assignment_id: str, site: OfSite, visitor: Asking) -> None:
    """Delete an assignment with its base code and its runs."""
    courses.delete_assignment(site, visitor, assignment_id)


@router.put("/assignments/{assignment_id}/base", openapi_extra=form_schema(files=[BASE]))
async def set_base(assignment_id: str, request: Request, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Upload the base code of an assignment, in place of the one it has."""
    with courses.upload_base(site, visitor, assignment_id) as (file, writer):
        await read_form(request, writer, site.settings.max_upload_mb << 20)
        return await to_thread.run_sync(courses.set_base, site, visitor, assignment_id, file, writer)


@router.delete("/assignments/{assignment_id}/base")
def delete_base(assignment_id: str, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Delete the base code of an assignment."""
    return courses.delete_base(site, visitor, assignment_id)


@router.get("/courses/{course_id}/members")
def list_course_members(course_id: str, site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List the members of a course."""
    return memberships.list_members(site, visitor, COURSE, course_id)


@router.put("/courses/{course_id}/members")
def set_course_member(course_id: str, body: Member, site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """Add a member to a course, or change what a member may do."""
    return memberships.set_member(site, visitor, COURSE, course_id, body.email, body.role)


@router.delete("/courses/{course_id}/members/{account_id}", status_code=204)
def remove_course_member(course_id: str, account_id: str, site: OfSite, visitor: Asking) -> None:
    """Remove a member from a course."""
    memberships.remove_member(site, visitor, COURSE, course_id, account_id)


@router.get("/archives/{archive_id}/members")
def list_archive_members(archive_id: str, site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List the members of an archive."""
    return memberships.list_members(site, visitor, ARCHIVE, archive_id)


@router.put("/archives/{archive_id}/members")
def set_archive_member(archive_id: str, body: Member, site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """Add a member to an archive, or change what a member may do."""
    return memberships.set_member(site, visitor, ARCHIVE, archive_id, body.email, body.role)


@router.delete("/archives/{archive_id}/members/{account_id}", status_code=204)
def remove_archive_member(archive_id: str, account_id: str, site: OfSite, visitor: Asking) -> None:
    """Remove a member from an archive."""
    memberships.remove_member(site, visitor, ARCHIVE, archive_id, account_id)
