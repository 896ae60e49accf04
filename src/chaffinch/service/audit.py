"""The audit log: who did what, and when. It holds ids, never student work, names of files or secrets."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from chaffinch.service.accounts import access
from chaffinch.service.accounts.visitor import Visitor
from chaffinch.service.database.tables import Account, AuditEntry
from chaffinch.service.site import Site


def record(session: Session, visitor: Visitor, action: str, subject: str = "") -> None:
    """Write a line of the audit log, as a part of the transaction."""
    session.add(
        AuditEntry(account_id=visitor.account_id, action=action, subject=subject, address=visitor.address)
    )


def list_entries(
    site: Site, visitor: Visitor, before: int | None = None, limit: int = 100
) -> list[dict[str, Any]]:
    """Return lines of the log for an administrator, the newest first; `before` is the id of a line."""
    access.require_admin(visitor)
    query = select(AuditEntry, Account.email).outerjoin(Account, Account.id == AuditEntry.account_id)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    with site.database.reading() as session:
        rows = session.execute(query.order_by(AuditEntry.id.desc()).limit(limit))
        return [
            {
                "id": entry.id,
                "time": entry.time,
                "account": entry.account_id,
                "email": email,
                "action": entry.action,
                "subject": entry.subject,
                "address": entry.address,
            }
            for entry, email in rows
        ]
