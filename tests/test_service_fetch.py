"""Fetching from the web: a real server, and everything it may do to reach into the network or to take long."""

from __future__ import annotations

import gzip
import socket
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from chaffinch.service.fetch import fetch, is_public
from chaffinch.service.refusals import BadRequest, FetchFailed
from chaffinch.service.settings import Settings
from tests.web_server import Web


def test_a_document_is_fetched_through_redirects_without_telling_much(web: Web) -> None:
    page = web.show("/a b".replace(" ", "%20"), b"the document", Set_Cookie="x=y")
    start = web.show("/start", b"", 302, Location="/a%20b", Set_Cookie="x=y")
    fetched = fetch(start, web.settings)
    assert (fetched.url, fetched.data) == (page, b"the document")
    headers = web.requests[-1][1]
    assert headers["Host"] == f"127.0.0.1:{web.port}"
    assert not {"Cookie", "Referer", "Authorization"} & headers.keys()


def test_packed_documents_are_unpacked(web: Web) -> None:
    url = web.show("/packed", gzip.compress(b"x" * 100_000), Content_Encoding="gzip")
    assert fetch(url, web.settings).data == b"x" * 100_000


def test_nothing_is_fetched_unless_it_is_allowed(web: Web) -> None:
    url = web.show("/", b"x")
    with pytest.raises(BadRequest, match="does not fetch"):
        fetch(url, Settings(fetch_also=f"127.0.0.1:{web.port}"))
    assert web.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://example.org/", "gopher://127.0.0.1/", "http://", "//example.org/",
        "nothing", "http://user@example.org/", "http://user:secret@example.org/", "http://example.org:22/",
        "http://exa mple.org/", "http://example.org/\r\nHost: x", "http://example.org\\@127.0.0.1/",
        "http://[::1", "http://example.org:99999/", "http://example.org/" + "x" * 3000,
    ],
)  # fmt: skip
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(BadRequest):
        fetch(url, Settings(fetch_urls=True))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0", "[::1]", "[::]",
        "[::ffff:127.0.0.1]", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1",
    ],
)  # fmt: skip
def test_the_own_network_cannot_be_reached(host: str) -> None:
    with pytest.raises(FetchFailed, match=r"public Internet|no server"):
        fetch(f"http://{host}/", Settings(fetch_urls=True))


def test_which_addresses_are_public() -> None:
    inside = """
    0.0.0.0 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 169.254.169.254 172.31.0.1 192.0.0.1 192.0.2.1
    192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
    168.63.129.16 :: ::1 ::7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::10.0.0.1 64:ff9b::7f00:1
    64:ff9b:1::1 2002:7f00:1:: 2002:a00:1:: 2001::1 2001:db8::1 3fff::1 fc00::1 fd00:ec2::254 fe80::1
    fe80::1%eth0 2606:4700::1%eth0 fec0::1 ff02::1 100::1 5f00::1 nothing
    """
    outside = "1.1.1.1 93.184.216.34 ::ffff:1.1.1.1 64:ff9b::101:101 2002:101:101:: 2606:4700:4700::1111"
    assert [address for address in inside.split() if is_public(address)] == []
    assert [address for address in outside.split() if not is_public(address)] == []


def test_only_the_address_that_is_allowed_is_reached(web: Web) -> None:
    url = web.show("/", b"x")
    other = Settings(fetch_urls=True, fetch_also=f"127.0.0.2:{web.port}")
    with pytest.raises(FetchFailed):
        fetch(url, other)
    assert web.requests == []


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "//[::1]/",
    ],
)
def test_redirects_are_checked_too(web: Web, target: str) -> None:
    url = web.show("/start", b"", 301, Location=target)
    with pytest.raises(FetchFailed):
        fetch(url, web.settings)
    assert len(web.requests) == 1


def test_redirects_end(web: Web) -> None:
    url = web.show("/loop", b"", 307, Location="/loop")
    with pytest.raises(FetchFailed, match="5 redirects"):
        fetch(url, web.settings)
    assert len(web.requests) == 6


def test_a_name_is_resolved_once_and_all_its_addresses_are_checked(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.show("/", b"x")
    answers = [["127.0.0.1"], ["169.254.169.254"]]
    asked: list[str] = []

    def resolve(host: str, port: int, **_: object) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in answers[len(asked) - 1]]

    monkeypatch.setattr("chaffinch.service.fetch.socket.getaddrinfo", resolve)
    monkeypatch.setattr("chaffinch.service.fetch.socket.create_connection", _connect_without_resolving)
    assert fetch(f"http://name.example:{web.port}/", web.settings).data == b"x"
    assert asked == ["name.example"]
    assert web.requests[-1][1]["Host"] == f"name.example:{web.port}"
    answers[1] = ["127.0.0.1", "10.0.0.1"]
    with pytest.raises(FetchFailed, match="public Internet"):
        fetch(f"http://name.example:{web.port}/", web.settings)
    assert len(web.requests) == 1


def _connect_without_resolving(address: tuple[str, int], timeout: float) -> socket.socket:
    connected = socket.socket()
    connected.settimeout(timeout)
    connected.connect(address)
    return connected


def test_no_proxy_of_the_environment_is_used(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert fetch(web.show("/", b"x"), web.settings).data == b"x"


def test_large_documents_and_bombs_are_refused(web: Web) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b"x" * (1 << 20))

    web.pages["/endless"] = endless
    packed = gzip.compress(bytes(50 << 20))
    urls = [
        web.show("/large", bytes(3 << 20)),
        f"{web.url}/endless",
        web.show("/bomb", packed, Content_Encoding="gzip"),
    ]
    for url in urls:
        with pytest.raises(FetchFailed, match="larger than 2 MB"):
            fetch(url, web.settings, max_bytes=2 << 20)


@pytest.mark.parametrize("in_body", [True, False])
def test_a_slow_drip_ends_at_the_time_limit(web: Web, in_body: bool) -> None:
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        if in_body:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000000")
            handler.end_headers()
        else:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        while not over.wait(0.05):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    web.pages["/drip"] = drip
    try:
        with pytest.raises(FetchFailed, match="longer than 1 seconds"):
            fetch(f"{web.url}/drip", web.settings, max_seconds=1)
    finally:
        over.set()


def test_broken_answers_are_explained(web: Web) -> None:
    def cut_off(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"half")

    def talk_nonsense(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"\x00\x01\x02\n")

    web.pages["/cut"] = cut_off
    web.pages["/nonsense"] = talk_nonsense
    web.show("/packed", b"no gzip", Content_Encoding="gzip")
    web.show("/other", b"x", Content_Encoding="br")
    web.show("/error", b"secret", 500)
    for path in ("/cut", "/nonsense", "/packed", "/other", "/error", "/missing"):
        with pytest.raises(FetchFailed) as failed:
            fetch(web.url + path, web.settings)
        assert "secret" not in str(failed.value)
