"""API tokens: programs send them in place of a password. Each is limited to scopes and can be revoked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from chaffinch.service.accounts import access
from chaffinch.service.accounts.secret_tokens import hash_token, new_token
from chaffinch.service.accounts.visitor import Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Account, Token, now
from chaffinch.service.refusals import BadRequest, Forbidden, NotFound
from chaffinch.service.site import Site

PREFIX = "chf_"
"""So that programs that look for leaked secrets recognise ours."""
_DAY = 86_400
_MAX_TOKENS = 100
_LAST_USED_SECONDS = 300
"""How exactly the last use is known: noting it is a write."""
_INCLUDED = {
    access.READ: {access.READ},
    access.WRITE: {access.READ, access.WRITE},
    access.ADMIN_SCOPE: {access.READ, access.WRITE, access.ADMIN_SCOPE},
}


def create_token(
    site: Site, visitor: Visitor, name: str, scope: str, days: int | None
) -> tuple[dict[str, Any], str]:
    """Return a new token of the visitor's account. It is shown this once, because only its hash is kept."""
    access.require_scope(visitor, access.WRITE)
    if visitor.account_id is None:
        raise BadRequest("without an account there are no tokens; create an account first")
    if scope not in _INCLUDED:
        raise BadRequest(f"a scope is {', '.join(_INCLUDED)}")
    scopes = _INCLUDED[scope]
    if visitor.scopes is not None and not scopes <= visitor.scopes:
        raise Forbidden("an API token cannot create one that may do more")
    secret = new_token(PREFIX)

    def change(session: Session) -> dict[str, Any]:
        if len(_tokens_of(session, visitor)) >= _MAX_TOKENS:
            raise BadRequest(f"an account has at most {_MAX_TOKENS} tokens; revoke some")
        token = Token(
            account_id=visitor.account_id,
            name=name,
            token_hash=hash_token(secret),
            scopes=sorted(scopes),
            expires=None if days is None else now() + days * _DAY,
        )
        session.add(token)
        session.flush()
        record(session, visitor, "create token", token.id)
        return _as_dict(token)

    return site.database.write(change), secret


def list_tokens(site: Site, visitor: Visitor) -> list[dict[str, Any]]:
    """Return what is known about the visitor's own tokens."""
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        return [_as_dict(token) for token in _tokens_of(session, visitor)]


def revoke_token(site: Site, visitor: Visitor, token_id: str) -> None:
    """Make one of the visitor's own tokens useless."""
    access.require_scope(visitor, access.WRITE)

    def change(session: Session) -> None:
        token = session.get(Token, token_id)
        if token is None or token.account_id != visitor.account_id:
            raise NotFound("there is no such token")
        session.delete(token)
        record(session, visitor, "revoke token", token_id)

    site.database.write(change)


def token_visitor(site: Site, secret: str, address: str) -> Visitor | None:
    """Return whose token this is. None if it is unknown, expired or revoked."""
    with site.database.reading() as session:
        both = select(Account, Token).join(Token, Token.account_id == Account.id)
        found = both.where(Token.token_hash == hash_token(secret), Account.is_active)
        row = session.execute(found).first()
    if row is None:
        return None
    account, token = row
    time = now()
    if token.expires is not None and token.expires <= time:
        return None
    if token.last_used is None or token.last_used < time - _LAST_USED_SECONDS:
        used = update(Token).where(Token.id == token.id).values(last_used=time)
        site.database.write(lambda session: session.execute(used))
    return Visitor(account.role, account.id, account.name, frozenset(token.scopes), address)


def _tokens_of(session: Session, visitor: Visitor) -> list[Token]:
    own = select(Token).where(Token.account_id == visitor.account_id).order_by(Token.created, Token.id)
    return list(session.scalars(own))


def _as_dict(token: Token) -> dict[str, Any]:
    scopes: Iterable[str] = token.scopes
    return {
        "id": token.id,
        "name": token.name,
        "scopes": sorted(scopes),
        "created": token.created,
        "expires": token.expires,
        "last_used": token.last_used,
    }
