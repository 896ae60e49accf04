"""The pages of the service in a real browser: upload, progress, report, deletion; and without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browsing import Open, browser, open_page
from tests.made import zipped
from tests.services import Service, running_service
from tests.test_service_jobs import CLASS

__all__ = ["browser", "open_page"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("pages") / "data", "", "--no-moss") as running:
        yield running


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "homework.zip"
    path.write_bytes(zipped(CLASS))
    return path


def test_a_class_is_uploaded_followed_read_and_deleted(service: Service, open_page: Open, packed: Path) -> None:
    page = open_page(service.address)
    page.set_input_files("#files", packed)
    assert page.inner_text("#chosen").startswith("1 file, ")
    page.fill("#title", "Homework <1>")
    page.click("button.main")
    page.wait_for_url("**/runs/*")
    page.click("text=Open the report")
    page.click("table.pairs tbody a >> nth=0")
    assert {page.inner_text(f"h1 a >> nth={n}") for n in (0, 1)} == {"copy", "s0"}
    page.goto(f"{service.address}/")
    page.click("text=Homework <1>")
    page.click("text=Delete >> nth=0")
    page.click("text=Delete for good")
    page.wait_for_url(f"{service.address}/")
    assert "Homework <1>" not in page.inner_text("main")


def test_a_folder_keeps_its_paths(service: Service, open_page: Open, tmp_path: Path) -> None:
    for name, text in CLASS.items():
        (tmp_path / "class" / name).parent.mkdir(parents=True)
        (tmp_path / "class" / name).write_text(text)
    page = open_page(service.address)
    page.set_input_files("#folder", tmp_path / "class")
    page.click("button.main")
    page.wait_for_selector("text=6 submissions")


def test_what_cannot_be_compared_is_said_on_the_page(service: Service, open_page: Open, tmp_path: Path) -> None:
    (tmp_path / "only.py").write_text("x = 1\n")
    page = open_page(service.address)
    page.click("button.main")
    assert page.inner_text("#chosen") == "Choose what was handed in first."
    page.set_input_files("#files", tmp_path / "only.py")
    page.click("button.main")
    page.wait_for_selector("text=only one submission")


def test_it_works_without_scripts(service: Service, open_page: Open, packed: Path) -> None:
    page = open_page(service.address, scripts=False)
    page.set_input_files("#files", packed)
    page.click("button.main")
    page.wait_for_url("**/runs/*")
    page.wait_for_selector("text=Open the report")


def test_pages_forbid_scripts_inside_them_and_frames_around_them(service: Service) -> None:
    answer = service.http.get("/", headers={"Accept": "text/html"})
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "<script>" not in answer.text
    missing = service.http.get("/runs/<script>", headers={"Accept": "text/html"})
    assert missing.status_code == 404
    assert "<script>" not in missing.text
    assert service.http.get("/static/..%2Fapplication.py").status_code == 404


def test_the_api_is_described_without_anything_from_elsewhere(service: Service, open_page: Open) -> None:
    page = open_page(f"{service.address}/docs")
    assert "POST /api/v1/runs" in page.inner_text("main")
    assert service.http.get("/openapi.json").json()["paths"]


def test_the_form_to_sign_in_says_what_is_wrong(service: Service) -> None:
    wrong = {"email": "ann@example.org", "password": "not the right one", "next": "//evil.example"}
    answer = service.http.post("/sign-in", data=wrong, headers={"Origin": service.address})
    assert answer.status_code == 401
    assert "the e-mail address or the password is wrong" in answer.text
