"""Archives over HTTP: register, follow the job, search by upload, text and body, delete. A real service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.made import prose
from tests.services import Service, running_service

ROOT = "/api/v1/archives"
TEXTS = {f"essays/essay {n}.txt": "\n\n".join(prose(12, seed=n)) for n in range(3)}


@pytest.fixture
def service(tmp_path: Path, where: str) -> Iterator[Service]:
    with running_service(tmp_path / "data", where) as running:
        yield running


def _created(http: httpx.Client, **fields: Any) -> str:
    answer = http.post(ROOT, json={"name": "Essays"} | fields)
    assert answer.status_code == 201, answer.text
    return f"{ROOT}/{answer.json()['id']}"


def _followed(http: httpx.Client, archive: str, answer: httpx.Response) -> dict[str, Any]:
    """Return the last state of the job that an answer speaks of."""
    assert answer.status_code == 202, answer.text
    events = http.get(f"{archive}/jobs/{answer.json()['id']}/events").text.split("\n\n")
    last: dict[str, Any] = json.loads([event for event in events if event][-1].removeprefix("data: "))
    return last


def _parts(texts: dict[str, str]) -> list[tuple[str, tuple[str, bytes]]]:
    return [("document", (name, text.encode())) for name, text in texts.items()]


def test_an_archive_from_its_creation_to_its_end(service: Service, tmp_path: Path) -> None:
    http = service.http
    archive = _created(http)
    about = {"url": "https://example.org/essays", "contact": "ann@example.org", "date": "2024-05-01"}
    job = _followed(http, archive, http.post(f"{archive}/documents", files=_parts(TEXTS), data=about))
    assert (job["state"], job["result"]["added"]["count"]) == ("done", 3), job
    listed = http.get(f"{archive}/documents", params={"size": 2}).json()
    assert [document["name"] for document in listed["documents"]] == sorted(TEXTS)[:2]
    rest = http.get(f"{archive}/documents", params={"after": listed["after"]}).json()
    assert [document["name"] for document in rest["documents"]] == sorted(TEXTS)[2:]

    name = "essays/essay 1.txt"
    part = TEXTS[name][300:1500]
    queries: list[dict[str, Any]] = [
        {"json": {"text": part}},
        {"files": [("document", ("query.txt", part.encode()))]},
        {"content": part.encode(), "headers": {"Content-Type": "text/plain"}},
    ]
    for query in queries:
        hits = http.post(f"{archive}/search", **query).raise_for_status().json()["hits"]
        assert [hit["document"] for hit in hits] == [name]
        assert (hits[0]["relation"], hits[0]["contact"]) == ("contained", "ann@example.org")
        assert hits[0]["passages"]
    assert http.get(f"{archive}/documents/{quote(name)}").json()["date"] == "2024-05-01"
    assert http.get(f"{archive}/documents/{quote(name)}/relatives").json()["hits"] == []

    change = {"names": [name], "date": "2025"}
    assert _followed(http, archive, http.patch(f"{archive}/documents", json=change))["state"] == "done"
    assert http.get(f"{archive}/documents/{quote(name)}").json()["date"] == "2025"
    removed = http.post(f"{archive}/documents/remove", json={"names": [name]})
    assert _followed(http, archive, removed)["message"] == "1 removed"
    assert http.post(f"{archive}/search", json={"text": part}).json()["hits"] == []
    assert http.get(archive).json()["documents"] == 2
    assert http.patch(archive, json={"name": "Theses"}).json()["name"] == "Theses"
    assert [state["name"] for state in http.get(ROOT).json()] == ["Theses"]
    assert http.delete(archive).status_code == 204
    assert http.get(archive).status_code == 404
    folder = tmp_path / "data" / "archives"
    assert not folder.exists() or list(folder.iterdir()) == []


def test_bad_requests_are_refused_with_a_reason(service: Service, tmp_path: Path) -> None:
    http = service.http
    archive = _created(http, recipe="koala", rotate_days=30, settings={"stored": 50})
    assert http.get(f"{archive}/suspicious").json() == []
    assert http.patch(archive, json={"rotate_days": None}).json()["rotate_days"] is None
    refused = [
        (http.post(ROOT, json={"name": "x", "recipe": "klingon"}), 422),
        (http.post(ROOT, json={"name": "x", "settings": {"stored": 5}}), 400),
        (http.post(f"{archive}/documents", files={"url": (None, "")}), 400),
        (http.post(f"{archive}/documents", data={"x": "y"}), 400),
        (http.post(f"{archive}/documents", files=[("other", ("a.txt", b"text"))]), 400),
        (http.post(f"{archive}/documents", files={"url": (None, "https://example.org/")}), 400),
        (http.post(f"{archive}/search", json={"url": "https://example.org/"}), 400),
        (http.post(f"{archive}/search", json={}), 400),
        (http.post(f"{archive}/search", content=b"no JSON", headers={"Content-Type": "application/json"}), 400),
        (http.post(f"{archive}/search", params={"top": 0}, json={"text": "x"}), 422),
        (http.post(f"{archive}/documents/remove", json={"names": []}), 422),
        (http.post(f"{archive}/check-urls"), 400),
        (http.get(f"{archive}/jobs/none"), 404),
        (http.get(f"{archive}/documents/none"), 404),
        (http.post(f"{ROOT}/none/search", json={"text": "x"}), 404),
    ]
    for answer, status in refused:
        assert answer.status_code == status, (str(answer.request.url), answer.text)
        assert answer.json()["detail"]
    assert list((tmp_path / "data" / "spool").iterdir()) == []
