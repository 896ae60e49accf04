"""Whoever sends a request: an account, the only user of a private machine, or the holder of a link."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

ADMIN, INSTRUCTOR, REVIEWER, READER = "admin", "instructor", "reviewer", "reader"
ROLES = (READER, REVIEWER, INSTRUCTOR, ADMIN)
"""From the least to the most that they may do."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """An account, as far as a request is allowed to use it."""

    role: str
    account_id: str | None = None
    """None for the only user of a service without accounts."""
    name: str = ""
    scopes: frozenset[str] | None = None
    """What an API token is limited to. None allows everything that the role allows."""
    address: str = ""
    """The network address, for the audit log."""

    def is_at_least(self, role: str) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


LOCAL = Visitor(ADMIN, name="you")
"""The only user of a service that only this machine can reach and that has no accounts."""


def is_loopback(address: str) -> bool:
    """Return whether only this machine has this address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address == "localhost"
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return (mapped or parsed).is_loopback
