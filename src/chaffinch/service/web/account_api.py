"""The API of accounts: sign in and out, one's own account and tokens, and administration.

Pages call what these routes call: `sessions.sign_in` and `sessions.sign_out` with the functions of `visiting`,
`administration` for accounts and passwords, `api_tokens` for tokens, `audit.list_entries` for the log.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, StringConstraints

from chaffinch.service import audit
from chaffinch.service.accounts import access, administration, api_tokens, sessions
from chaffinch.service.web import visiting
from chaffinch.service.web.fields import Body, Days, Line, Password
from chaffinch.service.web.visiting import Asking, OfSite

router = APIRouter(prefix="/api/v1", tags=["accounts"])
Amount = Annotated[int, Field(ge=1, le=10_000_000)]
Role = Literal["admin", "instructor", "reviewer", "reader"]


class SignIn(Body):
    email: Line
    password: Password


class NewPassword(Body):
    current: Password
    new: Password


class NewToken(Body):
    name: Line
    scope: Literal["read", "write", "admin"] = "read"
    days: Days | None = None


class NewAccount(Body):
    email: Line
    role: Role
    name: Line | None = None
    password: Password | None = None


class AccountChange(Body):
    name: Line | None = None
    role: Role | None = None
    is_active: bool | None = None
    password: Password | None = None


class SettingsChange(Body):
    base_url: Annotated[str, StringConstraints(max_length=300, pattern=r"^(https?://[^\s/?#]+)?$")] = ""
    open_registration: bool = False
    max_upload_mb: Amount = 0
    quota_mb: Amount = 0
    keep_days: Days | None = None
    keep_moss_days: Days = 1
    fetch_urls: bool = False
    oidc_issuer: Annotated[str, StringConstraints(max_length=300, pattern=r"^(https?://[^\s?#]+)?$")] = ""
    oidc_client_id: Annotated[str, StringConstraints(max_length=200, pattern=r"^[!-~]*$")] = ""
    oidc_links_email: bool = False
    requests_per_minute: Amount = 1


@router.post("/session", status_code=204)
def sign_in(body: SignIn, request: Request, response: Response, site: OfSite) -> None:
    """Sign in. The answer sets a cookie."""
    visiting.require_own_site(request, site)
    token = sessions.sign_in(site, body.email, body.password, visiting.address_of(request))
    visiting.set_session(request, response, site, token)


@router.delete("/session", status_code=204)
def sign_out(request: Request, response: Response, site: OfSite) -> None:
    """Sign out."""
    visiting.require_own_site(request, site)
    if token := visiting.session_token(request, site):
        sessions.sign_out(site, token, visiting.address_of(request))
    visiting.clear_session(request, response, site)


@router.get("/me")
def get_own_account(site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return your own account."""
    return administration.own_account(site, visitor)


@router.put("/me/password", status_code=204)
def change_own_password(body: NewPassword, request: Request, site: OfSite, visitor: Asking) -> None:
    """Change your own password. It ends your other sessions."""
    keep = visiting.session_token(request, site)
    administration.change_own_password(site, visitor, body.current, body.new, keep)


@router.get("/tokens")
def list_tokens(site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List your API tokens."""
    return api_tokens.list_tokens(site, visitor)


@router.post("/tokens", status_code=201)
def create_token(body: NewToken, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Create an API token. Its secret is in the answer, and never shown again."""
    token, secret = api_tokens.create_token(site, visitor, body.name, body.scope, body.days)
    return token | {"token": secret}


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: str, site: OfSite, visitor: Asking) -> None:
    """Revoke an API token."""
    api_tokens.revoke_token(site, visitor, token_id)


@router.get("/accounts")
def list_accounts(site: OfSite, visitor: Asking) -> list[dict[str, Any]]:
    """List all accounts. For administrators."""
    return administration.list_accounts(site, visitor)


@router.post("/accounts", status_code=201)
def create_account(body: NewAccount, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Create an account. For administrators."""
    return administration.create_account(
        site, visitor, body.email, body.role, name=body.name or "", password=body.password
    )


@router.patch("/accounts/{account_id}")
def change_account(account_id: str, body: AccountChange, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Change an account. For administrators."""
    return administration.change_account(site, visitor, account_id, **body.model_dump())


@router.delete("/accounts/{account_id}", status_code=204)
def delete_account(account_id: str, site: OfSite, visitor: Asking) -> None:
    """Delete an account with its runs. For administrators."""
    administration.delete_account(site, visitor, account_id)


@router.get("/settings")
def get_settings(site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Return the settings of the service. For administrators."""
    access.require_admin(visitor)
    return asdict(site.settings)


@router.patch("/settings")
def change_settings(body: SettingsChange, site: OfSite, visitor: Asking) -> dict[str, Any]:
    """Change the settings that are given. For administrators."""
    return asdict(administration.change_settings(site, visitor, **body.model_dump(exclude_unset=True)))


@router.get("/audit")
def list_audit(
    site: OfSite,
    visitor: Asking,
    before: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[dict[str, Any]]:
    """Return lines of the audit log, the newest first. For administrators."""
    return audit.list_entries(site, visitor, before, limit)
