"""Signing in and out: a browser that is signed in has a session, which lasts as long as it is used."""

from __future__ import annotations

import logging

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session as Transaction

from chaffinch.service.accounts import passwords
from chaffinch.service.accounts.secret_tokens import hash_token, new_token
from chaffinch.service.accounts.visitor import ADMIN, Visitor
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Account, Session, now
from chaffinch.service.refusals import SignInNeeded
from chaffinch.service.site import Site

SESSION_SECONDS = 14 * 86_400
"""A session that is not used for this long is over."""
_RENEW_SECONDS = 86_400
_ATTEMPTS, _ATTEMPTS_PER_MINUTE = 10, 1
"""Wrong passwords for one account, at once and afterwards."""
_ADDRESS_ATTEMPTS, _ADDRESS_ATTEMPTS_PER_MINUTE = 30, 5
"""Wrong passwords from one address, behind which many people may be."""
_log = logging.getLogger(__name__)


def normal_email(email: str) -> str:
    """Return an e-mail address as accounts have it."""
    return email.strip().lower()


def has_accounts(site: Site) -> bool:
    """Return whether there is an administrator. Until then, accounts are not in use."""
    if not site.has_accounts:
        with site.database.reading() as session:
            administrator = select(Account.id).where(Account.role == ADMIN).limit(1)
            site.has_accounts = session.scalar(administrator) is not None
    return site.has_accounts


def sign_in(site: Site, email: str, password: str, address: str) -> str:
    """Return the token of a new session, or raise. Wrong attempts are limited."""
    email = normal_email(email)
    keys = f"sign in {email}", f"sign in from {address}"
    site.limits.spend(keys[0], _ATTEMPTS, _ATTEMPTS_PER_MINUTE)
    site.limits.spend(keys[1], _ADDRESS_ATTEMPTS, _ADDRESS_ATTEMPTS_PER_MINUTE)
    with site.database.reading() as session:
        account = session.scalar(select(Account).where(Account.email == email))
    stored = account.password_hash if account is not None and account.is_active else None
    if not passwords.is_right(stored, password) or account is None or stored is None:
        _log.info("a sign-in failed")
        with site.database.writing() as session:
            record(session, Visitor("", account.id if account else None, address=address), "fail to sign in")
        raise SignInNeeded("the e-mail address or the password is wrong")
    for key in keys:
        site.limits.give_back(key)
    renewed = passwords.hash_password(password) if passwords.is_outdated(stored) else None

    def keep_hash(session: Transaction) -> None:
        session.execute(
            update(Account)
            .where(Account.id == account.id, Account.password_hash == stored)
            .values(password_hash=renewed)
        )

    if renewed:
        site.database.write(keep_hash)
    return start_session(site, account, address)


def start_session(site: Site, account: Account, address: str) -> str:
    """Sign an account in without a password, because somebody else checked who it is. Return the token."""
    token = new_token()

    def change(session: Transaction) -> None:
        expires = now() + SESSION_SECONDS
        session.add(Session(token_hash=hash_token(token), account_id=account.id, expires=expires))
        record(session, Visitor(account.role, account.id, address=address), "sign in")

    site.database.write(change)
    return token


def session_visitor(site: Site, token: str, address: str) -> Visitor | None:
    """Return who has this session, and make it last longer. None if it is over."""
    key = hash_token(token)
    with site.database.reading() as session:
        both = select(Account, Session.expires).join(Session, Session.account_id == Account.id)
        row = session.execute(both.where(Session.token_hash == key, Account.is_active)).first()
    if row is None or row[1] <= now():
        return None
    account, expires = row
    if expires < now() + SESSION_SECONDS - _RENEW_SECONDS:
        renew = update(Session).where(Session.token_hash == key).values(expires=now() + SESSION_SECONDS)
        site.database.write(lambda session: session.execute(renew))
    return Visitor(account.role, account.id, account.name, address=address)


def sign_out(site: Site, token: str, address: str) -> None:
    """End a session, if there is one."""

    def change(session: Transaction) -> None:
        stored = session.get(Session, hash_token(token))
        if stored is not None:
            record(session, Visitor("", stored.account_id, address=address), "sign out")
            session.delete(stored)

    site.database.write(change)


def end_sessions(session: Transaction, account_id: str, keep: str | None = None) -> None:
    """End the sessions of an account, except the one with the token `keep`."""
    query = delete(Session).where(Session.account_id == account_id)
    if keep is not None:
        query = query.where(Session.token_hash != hash_token(keep))
    session.execute(query)
