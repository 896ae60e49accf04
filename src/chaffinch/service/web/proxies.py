"""Takes the word of a reverse proxy for who sends a request, and how; but only of one that is trusted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from chaffinch.errors import ChaffinchError

FORWARDING_HEADERS = (
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
)
"""A request with any of these came through a proxy."""
_HOST = re.compile(r"[\w.-]+(:\d+)?|\[[\da-fA-F:.]+\](:\d+)?", re.ASCII)

Network = IPv4Network | IPv6Network


def parse_networks(addresses: Iterable[str]) -> tuple[Network, ...]:
    """Return addresses such as 10.0.0.1 and networks such as 10.0.0.0/8."""
    try:
        return tuple(ip_network(address) for address in addresses)
    except ValueError as error:
        raise ChaffinchError(f"--trusted-proxy: {error}; give an address or a network") from None


class TrustedProxies:
    """Replaces the address, scheme and host of requests that a trusted proxy passes on."""

    def __init__(self, app: ASGIApp, networks: tuple[Network, ...]) -> None:
        self._app = app
        self._networks = networks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("client") and self._is_trusted(scope["client"][0]):
            scope = self._forwarded(scope)
        await self._app(scope, receive, send)

    def _is_trusted(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)

    def _forwarded(self, scope: Scope) -> dict[str, Any]:
        """Return the request as the proxy received it. Of several values, the last is the proxy's own."""
        changed = dict(scope)
        values = {name: _values(scope, name.encode()) for name in FORWARDING_HEADERS}
        hops = values["x-forwarded-for"]
        if hops:
            client = next((hop for hop in reversed(hops) if not self._is_trusted(hop)), hops[0])
            changed["client"] = (client, 0)
        if values["x-forwarded-proto"][-1:] in (["http"], ["https"]):
            changed["scheme"] = values["x-forwarded-proto"][-1]
        if values["x-forwarded-host"] and _HOST.fullmatch(values["x-forwarded-host"][-1]):
            others = [header for header in scope["headers"] if header[0] != b"host"]
            changed["headers"] = [(b"host", values["x-forwarded-host"][-1].encode()), *others]
        return changed


def _values(scope: Scope, name: bytes) -> list[str]:
    joined = b",".join(value for header, value in scope["headers"] if header == name)
    return [part for part in (part.strip() for part in joined.decode("latin-1").split(",")) if part]
