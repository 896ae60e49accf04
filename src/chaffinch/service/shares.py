"""Links that show one report to anybody who has them, until they expire or are revoked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from chaffinch.service import runs
from chaffinch.service.accounts import access
from chaffinch.service.accounts.secret_tokens import hash_token, new_token
from chaffinch.service.accounts.visitor import INSTRUCTOR, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Run, Share, now
from chaffinch.service.refusals import BadRequest, NotFound
from chaffinch.service.site import Site

_MAX_SHARES = 100


def create_share(site: Site, visitor: Visitor, run_id: str, days: int) -> tuple[dict[str, Any], str]:
    """Return a new link and its token, which is shown this once: its address is /shared/TOKEN/."""
    access.require_scope(visitor, access.WRITE)
    token = new_token()

    def change(session: Session) -> dict[str, Any]:
        access.run_for(session, visitor, run_id, INSTRUCTOR)
        if len(_shares_of(session, run_id)) >= _MAX_SHARES:
            raise BadRequest(f"a run has at most {_MAX_SHARES} links; revoke some")
        share = Share(
            token_hash=hash_token(token),
            run_id=run_id,
            account_id=visitor.account_id,
            expires=now() + days * runs.DAY,
        )
        session.add(share)
        session.flush()
        record(session, visitor, "share report", f"{run_id} {share.id}")
        return _as_dict(share)

    return site.database.write(change), token


def list_shares(site: Site, visitor: Visitor, run_id: str) -> list[dict[str, Any]]:
    """Return the links to a report, without their tokens."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        access.run_for(session, visitor, run_id, INSTRUCTOR)
        return [_as_dict(share) for share in _shares_of(session, run_id)]


def revoke_share(site: Site, visitor: Visitor, run_id: str, share_id: str) -> None:
    """Make a link useless."""
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> None:
        access.run_for(session, visitor, run_id, INSTRUCTOR)
        share = session.get(Share, share_id)
        if share is None or share.run_id != run_id:
            raise NotFound("there is no such link")
        session.delete(share)
        record(session, visitor, "revoke link", f"{run_id} {share_id}")

    site.database.write(change)


def shared_result(site: Site, token: str) -> Path:
    """Return the ZIP with the report that a link shows, to anybody who has the link."""
    with site.database.reading() as session:
        valid = Share.token_hash == hash_token(token), Share.expires > now()
        run = session.scalar(select(Run).join(Share, Share.run_id == Run.id).where(*valid))
        if run is None:
            raise NotFound("this link is unknown, expired or revoked")
        return runs.path_of_result(site, session, run)


def _shares_of(session: Session, run_id: str) -> list[Share]:
    valid = Share.run_id == run_id, Share.expires > now()
    return list(session.scalars(select(Share).where(*valid).order_by(Share.created, Share.id)))


def _as_dict(share: Share) -> dict[str, Any]:
    return {"id": share.id, "run": share.run_id, "created": share.created, "expires": share.expires}
