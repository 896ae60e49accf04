"""Signing in through OpenID Connect: an authorization code with PKCE, state and nonce.

`begin` gives the address to send the browser to, and what it keeps until it is back. `finish` takes both and
returns an account, found by the provider's subject, which never changes. An e-mail address finds an account
only if an administrator allows that.
"""

from __future__ import annotations

import hmac
import os
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
from authlib.oauth2.client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from chaffinch.service.accounts.administration import new_moss_id
from chaffinch.service.accounts.sessions import has_accounts, normal_email
from chaffinch.service.accounts.visitor import READER, Visitor, is_loopback
from chaffinch.service.audit import record
from chaffinch.service.database.tables import Account, new_id
from chaffinch.service.refusals import BadRequest, Conflict, Forbidden, NotFound
from chaffinch.service.site import Site

SECRET_VARIABLE = "CHAFFINCH_OIDC_SECRET"
_SECONDS = 15
_LEEWAY_SECONDS = 60
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures with a public key. The others would let anybody who knows the client's secret sign."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the browser keeps while it is at the provider."""

    state: str
    nonce: str
    verifier: str

    def to_text(self) -> str:
        return f"{self.state}.{self.nonce}.{self.verifier}"

    @classmethod
    def from_text(cls, text: str) -> Attempt | None:
        parts = text.split(".")
        return cls(*parts) if len(parts) == 3 and all(parts) else None

    @classmethod
    def new(cls) -> Attempt:
        return cls(*(secrets.token_urlsafe(36) for _ in range(3)))


def begin(site: Site, redirect_uri: str) -> tuple[str, Attempt]:
    """Return the address of the provider's page, and what to keep until the browser is back."""
    attempt = Attempt.new()
    endpoint = _endpoint(_provider(site), "authorization_endpoint")
    address, _ = _client(site, redirect_uri).create_authorization_url(
        endpoint, state=attempt.state, code_verifier=attempt.verifier, nonce=attempt.nonce
    )
    return str(address), attempt


def finish(
    site: Site, attempt: Attempt | None, answer: dict[str, str], redirect_uri: str, address: str
) -> Account:
    """Return the account of a browser that comes back with the provider's answer, or raise."""
    if attempt is None or not hmac.compare_digest(attempt.state.encode(), answer.get("state", "").encode()):
        raise BadRequest("this sign-in was not started here, or it took too long; sign in again")
    if "error" in answer or "code" not in answer:
        raise Forbidden("the provider did not sign you in")
    provider = _provider(site)
    if answer.get("iss", provider["issuer"]) != provider["issuer"]:
        raise Forbidden("the answer is from another provider")
    tokens = _tokens(site, provider, attempt, answer["code"], redirect_uri)
    claims = _verified(site, provider, attempt, tokens)
    if "email" not in claims and "userinfo_endpoint" in provider:
        said = _fetch(provider["userinfo_endpoint"], tokens.get("access_token"))
        if said.get("sub") == claims["sub"]:
            claims = said | claims
    try:
        return site.database.write(lambda session: _account(site, session, claims, address))
    except IntegrityError:  # the same person signs in twice at the same moment
        raise Conflict("another sign-in was faster; sign in again") from None


def _client(site: Site, redirect_uri: str) -> Any:
    return OAuth2Client(
        None,
        client_id=site.settings.oidc_client_id,
        scope="openid email profile",
        redirect_uri=redirect_uri,
        code_challenge_method="S256",
    )


def _provider(site: Site) -> dict[str, Any]:
    """Return what the provider says about itself."""
    issuer = site.settings.oidc_issuer
    if not issuer or not site.settings.oidc_client_id:
        raise NotFound("this service has no OpenID provider")
    found = _fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if found.get("issuer") != issuer:
        raise BadRequest("the provider calls itself by another name than the setting oidc_issuer")
    return found


def _endpoint(provider: dict[str, Any], name: str) -> str:
    """Return an address of the provider. Only one on this machine may do without encryption."""
    address = str(provider.get(name, ""))
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise BadRequest(f"the provider has no {name} with https")
    return address


def _fetch(address: str, token: str | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return _answered(lambda: httpx.get(address, headers=headers, timeout=_SECONDS))


def _answered(ask: Any) -> dict[str, Any]:
    """Return the JSON object that the provider sends."""
    try:
        answer = ask()
        content = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        raise BadRequest("the OpenID provider does not answer; try again later") from None
    if answer.status_code != 200 or not isinstance(content, dict):
        raise Forbidden("the OpenID provider refused; sign in again")
    return content


def _tokens(
    site: Site, provider: dict[str, Any], attempt: Attempt, code: str, redirect_uri: str
) -> dict[str, Any]:
    client_id, secret = site.settings.oidc_client_id, os.environ.get(SECRET_VARIABLE, "")
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": attempt.verifier,
    }
    if not secret:
        form["client_id"] = client_id
    credentials = (quote(client_id, safe=""), quote(secret, safe="")) if secret else None
    endpoint = _endpoint(provider, "token_endpoint")
    return _answered(lambda: httpx.post(endpoint, data=form, auth=credentials, timeout=_SECONDS))


def _verified(site: Site, provider: dict[str, Any], attempt: Attempt, tokens: dict[str, Any]) -> dict[str, Any]:
    """Return what the ID token says, if the provider signed it for this service and this attempt."""
    client_id = site.settings.oidc_client_id
    expected = {
        "iss": {"essential": True, "value": provider["issuer"]},
        "aud": {"essential": True, "value": client_id},
    }
    known = {"nonce": attempt.nonce, "client_id": client_id, "access_token": tokens.get("access_token")}
    try:
        keys = KeySet.import_key_set(_fetch(_endpoint(provider, "jwks_uri")))  # type: ignore[arg-type]
        token = jwt.decode(str(tokens.get("id_token", "")), keys, registry=JWSRegistry(algorithms=_ALGORITHMS))
        claims = CodeIDToken(token.claims, token.header, expected, known)
        claims.validate(leeway=_LEEWAY_SECONDS)
    except (JoseError, ValueError, KeyError):
        raise Forbidden("the provider's answer is not valid; sign in again") from None
    return dict(claims)


def _account(site: Site, session: Session, claims: dict[str, Any], address: str) -> Account:
    """Return the account of somebody whom the provider knows: theirs, one that is linked, or a new one."""
    subject = f"{claims['iss']} {claims['sub']}"
    account = session.scalar(select(Account).where(Account.subject == subject))
    if account is None:
        account = _linked_or_new(site, session, claims, subject, address)
    if not account.is_active:
        raise Forbidden("your account is deactivated; ask the administrator")
    return account


def _linked_or_new(site: Site, session: Session, claims: dict[str, Any], subject: str, address: str) -> Account:
    settings = site.settings
    is_verified = claims.get("email_verified") is True and isinstance(claims.get("email"), str)
    email = normal_email(claims["email"]) if is_verified else ""
    known = session.scalar(select(Account).where(Account.email == email)) if email else None
    if known is not None:
        if not settings.oidc_links_email or known.subject is not None:
            raise Forbidden("there is another account with your e-mail address; ask the administrator")
        known.subject = subject
        record(session, Visitor("", known.id, address=address), "link account to OpenID", known.id)
        return known
    if not settings.open_registration or not has_accounts(site):
        raise Forbidden("there is no account for you yet; ask the administrator to create one")
    name = claims.get("name") or claims.get("preferred_username") or email.partition("@")[0] or "New user"
    account = Account(
        name=str(name)[:200].replace("\0", ""),
        email=email or f"openid-{new_id()}",
        role=READER,
        subject=subject,
        moss_id=new_moss_id(),
    )
    session.add(account)
    session.flush()
    record(session, Visitor("", account.id, address=address), "create account by OpenID", account.id)
    return account
