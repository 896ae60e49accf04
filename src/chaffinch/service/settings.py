"""What an administrator can set while the service runs. Settings that were not changed have their default."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy.orm import Session

from chaffinch.service.database.tables import Setting


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a service, the same for all its processes."""

    base_url: str = ""
    """The public address, such as https://chaffinch.example.edu. Empty: the address of the request."""
    open_registration: bool = False
    """Whether MOSS clients may use a user id nobody has yet, and OpenID Connect creates accounts."""
    max_upload_mb: int = 500
    quota_mb: int = 5000
    """What one account may have stored."""
    keep_days: int | None = None
    """Runs are deleted this many days after they were created. None keeps them."""
    keep_moss_days: int = 14
    fetch_urls: bool = False
    """Whether documents may be fetched from the web."""
    fetch_also: str = ""
    """Servers in your own network to fetch from as well, as address:port, separated by spaces."""
    check_urls_days: int = 7
    """How often to look whether documents are still at their URLs."""
    oidc_issuer: str = ""
    """The address of an OpenID provider. The client's secret is in CHAFFINCH_OIDC_SECRET."""
    oidc_client_id: str = ""
    oidc_links_email: bool = False
    """Whether a verified e-mail address of the provider signs in to the account that has it."""
    requests_per_minute: int = 600
    """For each account or address."""

    @classmethod
    def load(cls, session: Session) -> Settings:
        """Read the settings. Names that this version does not know are ignored."""
        changed = {setting.name: setting.value["value"] for setting in session.query(Setting)}
        known = {field.name for field in fields(cls)}
        return replace(cls(), **{name: value for name, value in changed.items() if name in known})

    @staticmethod
    def change(session: Session, **values: Any) -> None:
        for name, value in values.items():
            session.merge(Setting(name=name, value={"value": value}))
