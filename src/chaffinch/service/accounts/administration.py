"""Accounts: create, list, change and delete them, and change one's own password."""

from __future__ import annotations

import re
import secrets
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from chaffinch.service import runs
from chaffinch.service.accounts import access, passwords
from chaffinch.service.accounts.sessions import end_sessions, normal_email
from chaffinch.service.accounts.visitor import ADMIN, ROLES, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Account, Run
from chaffinch.service.refusals import BadRequest, Conflict, Forbidden, NotFound
from chaffinch.service.settings import Settings
from chaffinch.service.site import Site

COMMAND_LINE = Visitor(ADMIN, name="the command line", address="command line")
"""Somebody who can open the database can do anything."""
_EMAIL = re.compile(r"[^@\s\x00-\x1f]{1,100}@[^@\s\x00-\x1f]{1,150}")
_FIRST_MOSS_ID, _MOSS_IDS = 10**9, 9 * 10**9


def create_account(
    site: Site, visitor: Visitor, email: str, role: str, *, name: str = "", password: str | None = None
) -> dict[str, Any]:
    """Create an account. Without a password, its owner can only sign in through OpenID Connect.

    The first account is an administrator: from then on everybody has to sign in.
    """
    access.require_admin(visitor)
    email = normal_email(email)
    if not _EMAIL.fullmatch(email):
        raise BadRequest("this is not an e-mail address")
    _check_role(role)
    password_hash = None if password is None else passwords.hash_password(password)

    def change(session: Session) -> dict[str, Any]:
        if role != ADMIN and not _administrators(session):
            raise BadRequest("the first account has to be an administrator")
        if session.scalar(select(Account.id).where(Account.email == email)) is not None:
            raise Conflict("there is an account with this e-mail address already")
        account = Account(
            name=name.strip() or email.partition("@")[0],
            email=email,
            role=role,
            password_hash=password_hash,
            moss_id=new_moss_id(),
        )
        session.add(account)
        session.flush()
        record(session, visitor, "create account", account.id)
        return account_as_dict(account)

    try:
        return site.database.write(change)
    except IntegrityError:  # another process created it at the same moment
        raise Conflict("there is an account with this e-mail address already") from None


def list_accounts(site: Site, visitor: Visitor) -> list[dict[str, Any]]:
    access.require_admin(visitor)
    with site.database.reading() as session:
        return [
            account_as_dict(account) for account in session.scalars(select(Account).order_by(Account.email))
        ]


def own_account(site: Site, visitor: Visitor) -> dict[str, Any]:
    """Return the visitor's account, or what stands for it on a private machine."""
    access.require_scope(visitor, access.READ)
    if visitor.account_id is None:
        return {"id": None, "name": visitor.name, "email": None, "role": visitor.role}
    with site.database.reading() as session:
        return account_as_dict(session.get_one(Account, visitor.account_id))


def find_account(site: Site, visitor: Visitor, email: str) -> str:
    """Return the id of the account with this e-mail address."""
    access.require_admin(visitor)
    with site.database.reading() as session:
        found = session.scalar(select(Account.id).where(Account.email == normal_email(email)))
    if found is None:
        raise NotFound("there is no account with this e-mail address")
    return found


def change_account(
    site: Site,
    visitor: Visitor,
    account_id: str,
    *,
    name: str | None = None,
    role: str | None = None,
    is_active: bool | None = None,
    password: str | None = None,
) -> dict[str, Any]:
    """Change what is given. A new password, and deactivating the account, end its sessions."""
    access.require_admin(visitor)
    if role is not None:
        _check_role(role)
    password_hash = None if password is None else passwords.hash_password(password)

    def change(session: Session) -> dict[str, Any]:
        account = _account(session, account_id)
        if (role is not None and role != ADMIN) or is_active is False:
            _keep_an_administrator(session, account)
        if name is not None and name.strip():
            account.name = name.strip()
        if role is not None and role != account.role:
            account.role = role
            record(session, visitor, f"make account a {role}", account_id)
        if is_active is not None and is_active != account.is_active:
            account.is_active = is_active
            record(session, visitor, "activate account" if is_active else "deactivate account", account_id)
        if password_hash is not None:
            account.password_hash = password_hash
            record(session, visitor, "set password of account", account_id)
        if is_active is False or password_hash is not None:
            end_sessions(session, account_id)
        return account_as_dict(account)

    return site.database.write(change)


def delete_account(site: Site, visitor: Visitor, account_id: str) -> None:
    """Delete an account with its runs, tokens and sessions."""
    access.require_admin(visitor)

    def change(session: Session) -> list[str]:
        account = _account(session, account_id)
        _keep_an_administrator(session, account)
        own = list(session.scalars(select(Run).where(Run.account_id == account_id)))
        blobs = runs.remove(site, session, own)
        session.delete(account)
        record(session, visitor, "delete account", account_id)
        return blobs

    site.forget(site.database.write(change))


def change_own_password(site: Site, visitor: Visitor, current: str, new: str, keep: str | None = None) -> None:
    """Set the visitor's own password. It ends all sessions except the one with the token `keep`."""
    if visitor.account_id is None or visitor.scopes is not None:
        raise Forbidden("sign in with your password to change it")
    with site.database.reading() as session:
        stored = session.get_one(Account, visitor.account_id).password_hash
    key = f"password {visitor.account_id}"
    site.limits.spend(key, 10, 1)
    if not passwords.is_right(stored, current):
        raise Forbidden("the current password is wrong")
    site.limits.give_back(key)
    password_hash = passwords.hash_password(new)

    def change(session: Session) -> None:
        account = session.get_one(Account, visitor.account_id)
        account.password_hash = password_hash
        end_sessions(session, account.id, keep)
        record(session, visitor, "change password", account.id)

    site.database.write(change)


def change_settings(site: Site, visitor: Visitor, **values: Any) -> Settings:
    """Change settings of the service. Other processes see them within seconds."""
    access.require_admin(visitor)

    def change(session: Session) -> None:
        Settings.change(session, **values)
        for name in sorted(values):
            record(session, visitor, "change setting", name)

    site.database.write(change)
    return site.reload_settings()


def new_moss_id() -> str:
    """Return a user id for MOSS clients. Anybody who has it can submit, so it is random."""
    return str(_FIRST_MOSS_ID + secrets.randbelow(_MOSS_IDS))


def account_as_dict(account: Account) -> dict[str, Any]:
    return {
        "id": account.id,
        "name": account.name,
        "email": account.email,
        "role": account.role,
        "is_active": account.is_active,
        "has_password": account.password_hash is not None,
        "moss_id": account.moss_id,
        "created": account.created,
    }


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise BadRequest(f"a role is {', '.join(reversed(ROLES))}")


def _account(session: Session, account_id: str) -> Account:
    account = session.get(Account, account_id)
    if account is None:
        raise NotFound("there is no such account")
    return account


def _administrators(session: Session) -> int:
    active = select(func.count()).where(Account.role == ADMIN, Account.is_active)
    return session.scalar(active) or 0


def _keep_an_administrator(session: Session, account: Account) -> None:
    """Raise if this is the last administrator. Two at once cannot remove each other: they wait here."""
    administrators = select(Account.id).where(Account.role == ADMIN, Account.is_active).order_by(Account.id)
    if list(session.scalars(administrators.with_for_update())) == [account.id]:
        raise Conflict("this is the last administrator; make somebody else one first")
