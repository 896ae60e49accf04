"""Verdicts about the pairs of a run: every reviewer has their own, and sees what the others decided."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from chaffinch.report.verdicts import VERDICTS
from chaffinch.service.accounts import access
from chaffinch.service.accounts.visitor import REVIEWER, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Account, Verdict, now
from chaffinch.service.refusals import BadRequest, NotFound
from chaffinch.service.site import Site

_KEY = re.compile(r"[0-9a-f]{32}")
"""What `pair_keys` of the report gives."""


def verdicts(site: Site, visitor: Visitor, run_id: str) -> dict[str, Any]:
    """Return what was decided about each pair, by key, merged from all reviewers.

    Where reviewers disagree, `verdict` is empty and `conflict` is true. `reviewers` lists what each one said.
    """
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        access.run_for(session, visitor, run_id)
        query = select(Verdict, Account.name).outerjoin(Account, Account.id == Verdict.account_id)
        rows = session.execute(query.where(Verdict.run_id == run_id).order_by(Verdict.changed, Verdict.id))
        by_pair: dict[str, list[dict[str, Any]]] = {}
        for verdict, name in rows:
            by_pair.setdefault(verdict.pair, []).append(
                {
                    "name": name or "",
                    "is_own": verdict.account_id == visitor.account_id,
                    "verdict": verdict.verdict,
                    "note": verdict.note,
                    "changed": verdict.changed,
                }
            )
    return {pair: _merged(said) for pair, said in sorted(by_pair.items())}


def _merged(said: list[dict[str, Any]]) -> dict[str, Any]:
    decided = {entry["verdict"] for entry in said} - {""}
    notes = [entry for entry in said if entry["note"]]
    return {
        "verdict": decided.pop() if len(decided) == 1 else "",
        "note": notes[0]["note"] if len(notes) == 1 else "\n".join(f"{n['name']}: {n['note']}" for n in notes),
        "conflict": len(decided) > 1,
        "reviewers": said,
    }


def set_verdicts(site: Site, visitor: Visitor, run_id: str, own: Mapping[str, tuple[str, str]]) -> None:
    """Set the visitor's own verdict and note for pairs. Without both, the visitor has no verdict on it."""
    access.require_scope(visitor, access.WRITE)
    for pair, (verdict, _) in own.items():
        if not _KEY.fullmatch(pair):
            raise BadRequest("a pair is named by its key in the report")
        if verdict not in VERDICTS:
            raise BadRequest(f"a verdict is {', '.join(repr(v) for v in VERDICTS)}")

    def change(session: Session) -> None:
        run = access.run_for(session, visitor, run_id, REVIEWER)
        session.refresh(run, with_for_update=True)  # one reviewer may have two windows
        if run.summary is None:
            raise NotFound("this run has no report yet")
        mine = select(Verdict).where(Verdict.run_id == run_id, Verdict.account_id == visitor.account_id)
        before = {verdict.pair: verdict for verdict in session.scalars(mine)}
        if len(before.keys() | own.keys()) > max(run.summary["pairs"], 1):
            raise BadRequest("these are more verdicts than the report has pairs")
        for pair, (verdict, note) in own.items():
            stored = before.get(pair)
            if not verdict and not note:
                if stored is not None:
                    session.delete(stored)
                continue
            if stored is None:
                stored = Verdict(run_id=run_id, pair=pair, account_id=visitor.account_id)
                session.add(stored)
            stored.verdict, stored.note, stored.changed = verdict, note, now()
        record(session, visitor, "set verdicts", run_id)

    site.database.write(change)
