"""Runs over HTTP: upload, progress, report, deletion. A real service on each database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.made import zipped
from tests.services import Service, running_service
from tests.test_service_jobs import CLASS

Part = tuple[str, tuple[str, bytes]]


@pytest.fixture
def service(tmp_path: Path, where: str) -> Iterator[Service]:
    with running_service(tmp_path / "data", where) as running:
        yield running


def _parts(files: dict[str, str]) -> list[Part]:
    return [("submission", (name, text.encode())) for name, text in files.items()]


def test_a_class_is_uploaded_compared_and_deleted(service: Service, tmp_path: Path) -> None:
    answer = service.http.post("/api/v1/runs", files=_parts(CLASS), data={"title": "Homework 1"})
    assert answer.status_code == 202, answer.text
    run_id = answer.json()["id"]
    state = service.wait_for(run_id)
    assert state["state"] == "done", state
    first = service.http.get(f"/api/v1/runs/{run_id}/report.json").json()["pairs"][0]
    assert {first["left"], first["right"]} == {"copy", "s0"}
    assert service.http.get(f"/api/v1/runs/{run_id}/report.csv").text.startswith("left,right,score")
    assert b"<title>" in service.http.get(f"/api/v1/runs/{run_id}/report.html").content
    packed = service.http.get(f"/api/v1/runs/{run_id}/report.zip").content
    assert "report/index.html" in ZipFile(BytesIO(packed)).namelist()
    assert [run["title"] for run in service.http.get("/api/v1/runs").json()] == ["Homework 1"]
    assert service.http.delete(f"/api/v1/runs/{run_id}").status_code == 204
    assert service.http.get(f"/api/v1/runs/{run_id}").status_code == 404
    assert service.http.get("/api/v1/runs").json() == []
    assert list((tmp_path / "data" / "blobs").glob("*/*")) == []


def test_an_archive_is_a_class_and_progress_is_sent_until_the_end(service: Service) -> None:
    part = ("submission", ("hw1.zip", zipped(CLASS)))
    run_id = service.http.post("/api/v1/runs", files=[part]).json()["id"]
    events = service.http.get(f"/api/v1/runs/{run_id}/events").text.split("\n\n")
    states = [json.loads(event.removeprefix("data: ")) for event in events if event]
    assert states[-1]["state"] == "done"
    assert states[-1]["summary"]["submissions"] == 6


@pytest.mark.parametrize(
    ("files", "data", "status"),
    [
        ([], {"title": "x"}, 400),
        ([("other", ("a.py", b"x"))], {}, 400),
        (_parts(CLASS), {"options": "no JSON"}, 400),
        (_parts(CLASS), {"options": '{"no such option": 1}'}, 400),
        (_parts(CLASS), {"assignment": "none"}, 404),
    ],
)
def test_a_bad_upload_is_refused_and_leaves_nothing(
    service: Service, tmp_path: Path, files: list[Part], data: dict[str, str], status: int
) -> None:
    answer = service.http.post("/api/v1/runs", files=files or {"title": (None, b"x")}, data=data)
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"]
    assert service.http.get("/api/v1/runs").json() == []
    assert list((tmp_path / "data" / "spool").iterdir()) == []


def test_what_cannot_be_compared_is_explained(service: Service) -> None:
    run_id = service.http.post("/api/v1/runs", files=_parts({"ann.py": "x = 1"})).json()["id"]
    state = service.wait_for(run_id)
    assert state["state"] == "failed"
    assert "only one submission" in str(state["message"])
