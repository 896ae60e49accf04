"""Fetches a document from the web without ever reaching into the network that the service runs in.

A name is resolved once and only addresses that were checked are connected to; every redirect is checked in the
same way. Size and time have limits. Nothing else is sent: no cookies, no credentials, no proxy.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from chaffinch import __version__
from chaffinch.service.refusals import BadRequest, FetchFailed
from chaffinch.service.settings import Settings

MAX_BYTES = 50 << 20
MAX_SECONDS = 30.0
"""For everything: names, redirects and the document."""
_MAX_REDIRECTS = 5
_MAX_URL = 2000
_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}
_CHUNK = 1 << 16
_NOT_IN_URLS = re.compile(r"[\x00-\x20\x7f\\]")
_KEPT_IN_URLS = "/:;,?@&=+$#%!*'()~[]-._"

_REFUSED_IPV4 = [
    ip_network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "168.63.129.16/32",  # public by its number, but it is the inside of a data centre
    )
]  # fmt: skip
"""Private, shared, loopback, link-local, multicast, reserved and for documentation."""
_PUBLIC_IPV6 = ip_network("2000::/3")
_REFUSED_IPV6 = [ip_network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20")]
"""For protocols such as Teredo, and for documentation."""
_NAT64 = ip_network("64:ff9b::/96")
_SIX_TO_FOUR = ip_network("2002::/16")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document from the web."""

    url: str
    """After redirects."""
    data: bytes

    def sha256(self) -> str:
        return sha256(self.data).hexdigest()


def check_url(url: str, settings: Settings) -> None:
    """Raise if the service does not fetch, or not from such a URL."""
    if not settings.fetch_urls:
        raise BadRequest("this service does not fetch from the web; upload the document itself")
    try:
        _parse(url, _also_allowed(settings))
    except FetchFailed as error:
        raise BadRequest(str(error)) from None


def fetch(
    url: str,
    settings: Settings,
    *,
    max_bytes: int = MAX_BYTES,
    max_seconds: float = MAX_SECONDS,
    only_head: bool = False,
) -> Fetched:
    """Fetch a document. With `only_head`, stop once the server has said that it is there."""
    check_url(url, settings)
    allowed = _also_allowed(settings)
    deadline = time.monotonic() + max_seconds
    try:
        for _ in range(_MAX_REDIRECTS + 1):
            parts = _parse(url, allowed)
            with _connect(parts, allowed, deadline) as connection:
                response = _ask(connection, parts)
                location = response.headers.get("Location")
                if response.status not in _REDIRECTS or location is None:
                    return Fetched(
                        url, b"" if only_head and _is_there(response) else _read(response, max_bytes)
                    )
            url = urljoin(url, location)
    except TimeoutError:
        raise FetchFailed(f"it took longer than {max_seconds:.0f} seconds") from None
    except ssl.SSLCertVerificationError as error:
        raise FetchFailed(f"the server's certificate is not valid ({error.verify_message})") from None
    except (OSError, http.client.HTTPException, UnicodeError, ValueError) as error:
        raise FetchFailed(f"the server does not answer as it should ({type(error).__name__})") from None
    raise FetchFailed(f"more than {_MAX_REDIRECTS} redirects")


def _also_allowed(settings: Settings) -> frozenset[str]:
    return frozenset(settings.fetch_also.split())


def _parse(url: str, allowed: frozenset[str]) -> SplitResult:
    """Return the parts of a URL, or raise if it is none that we fetch from."""
    if len(url) > _MAX_URL or _NOT_IN_URLS.search(url):
        raise FetchFailed("this is not a URL")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise FetchFailed("this is not a URL") from None
    if parts.scheme not in _PORTS or not host:
        raise FetchFailed("only http:// and https:// URLs can be fetched")
    if parts.username is not None or parts.password is not None:
        raise FetchFailed("a URL with a user name or a password is not fetched")
    is_usual = port is None or port in _PORTS.values()
    if not is_usual and not any(server.endswith(f":{port}") for server in allowed):
        raise FetchFailed("only the ports 80 and 443 can be used")
    return parts


def _connect(parts: SplitResult, allowed: frozenset[str], deadline: float) -> _Connection:
    """Connect to an address of the host, after all of them were checked."""
    host = parts.hostname or ""
    if ":" not in host:
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise FetchFailed("the name of the server is not valid") from None
    port = parts.port or _PORTS[parts.scheme]
    addresses = _resolve(host, port, deadline)
    for address in addresses:
        if not (_is_listed(address, port, allowed) or (port in _PORTS.values() and is_public(address))):
            raise FetchFailed("the server is not on the public Internet")
    problem: OSError = OSError()
    for address in addresses:
        try:
            return _Connection(host, port, address, parts.scheme == "https", deadline)
        except TimeoutError:
            raise
        except ssl.SSLError:
            raise
        except OSError as error:
            problem = error
    raise problem


def _resolve(host: str, port: int, deadline: float) -> list[str]:
    """Return the addresses of a host. The system's resolver has no time limit, so it gets a thread."""
    answers: list[list[Any]] = []

    def resolve() -> None:
        try:
            answers.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError):
            answers.append([])

    thread = threading.Thread(target=resolve, daemon=True)
    thread.start()
    thread.join(_left(deadline))
    if not answers:
        raise TimeoutError
    if not answers[0]:
        raise FetchFailed("there is no server of this name")
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers[0]))


def _is_listed(address: str, port: int, allowed: frozenset[str]) -> bool:
    return f"{f'[{address}]' if ':' in address else address}:{port}" in allowed


def is_public(address: str) -> bool:
    """Return whether this is an address of the public Internet, also if it is an IPv4 address inside IPv6."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return parsed.is_global and not any(parsed in network for network in _REFUSED_IPV4)
    inner = _ipv4_inside(parsed)
    if inner is not None:
        return is_public(str(inner))
    is_refused = any(parsed in network for network in _REFUSED_IPV6)
    return parsed in _PUBLIC_IPV6 and parsed.is_global and not is_refused and parsed.scope_id is None


def _ipv4_inside(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that packets to this one end up at."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        return address.sixtofour
    return None


class _Connection(http.client.HTTPConnection):
    """A connection to one address, under the name that the URL has. It ends at the deadline."""

    def __init__(self, host: str, port: int, address: str, is_secure: bool, deadline: float) -> None:
        super().__init__(host, port)
        self.default_port = _PORTS["https" if is_secure else "http"]  # of the Host header
        raw = socket.create_connection((address, port), _left(deadline))
        try:
            if is_secure:
                raw.settimeout(_left(deadline))
                raw = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
        except BaseException:
            raw.close()
            raise
        self._raw = raw
        self.sock: Any = _TimedSocket(raw, deadline)

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def connect(self) -> None:
        raise http.client.NotConnected  # it would look the name up again


class _TimedSocket:
    """What http.client needs of a socket. All its operations together end at the deadline."""

    def __init__(self, raw: socket.socket, deadline: float) -> None:
        self._raw, self._deadline = raw, deadline

    def sendall(self, data: bytes) -> None:
        self._raw.settimeout(_left(self._deadline))
        self._raw.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._raw, self._deadline))

    def close(self) -> None:
        """Do nothing: http.client closes its socket before the answer is read."""


class _TimedReader(io.RawIOBase):
    def __init__(self, raw: socket.socket, deadline: float) -> None:
        self._raw, self._deadline = raw, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._raw.settimeout(_left(self._deadline))
        return self._raw.recv_into(buffer)


def _left(deadline: float) -> float:
    """Return the seconds that are left, or raise if there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _ask(connection: http.client.HTTPConnection, parts: SplitResult) -> http.client.HTTPResponse:
    path = quote(parts.path or "/", safe=_KEPT_IN_URLS)
    query = f"?{quote(parts.query, safe=_KEPT_IN_URLS)}" if parts.query else ""
    headers = {
        "User-Agent": f"Chaffinch/{__version__}",
        "Accept": "*/*",
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    connection.request("GET", path + query, headers=headers)
    return connection.getresponse()


def _is_there(response: http.client.HTTPResponse) -> bool:
    """Return whether the server has the document, or raise with what it says instead."""
    if response.status != 200:
        raise FetchFailed(f"the server answers with status {response.status}")
    return True


def _read(response: http.client.HTTPResponse, max_bytes: int) -> bytes:
    """Return the body, decoded."""
    _is_there(response)
    too_large = FetchFailed(f"it is larger than {max_bytes >> 20} MB")
    if response.length is not None and response.length > max_bytes:
        raise too_large
    data = bytearray()
    for piece in _decoded(response, max_bytes):
        data += piece
        if len(data) > max_bytes:
            raise too_large
    return bytes(data)


def _decoded(response: http.client.HTTPResponse, max_bytes: int) -> Iterator[bytes]:
    """Yield the body in pieces. A piece of compressed data is unpacked up to a limit only."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in ("identity", ""):
        while piece := response.read(_CHUNK):
            yield piece
        _check_end(response)
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed("the server packs the document in a way that was not asked for")
    unpacker = zlib.decompressobj(wbits=47)  # gzip or zlib
    try:
        while packed := response.read(_CHUNK):
            while packed:
                yield unpacker.decompress(packed, _CHUNK)
                packed = unpacker.unconsumed_tail
        _check_end(response)
        if not unpacker.eof:
            raise FetchFailed("the document was cut off")
    except zlib.error:
        raise FetchFailed("the document cannot be unpacked") from None


def _check_end(response: http.client.HTTPResponse) -> None:
    if response.length:  # `read` with a size does not complain about a body that is too short
        raise FetchFailed("the document was cut off")
