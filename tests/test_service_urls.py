"""Documents that are registered by their URL: fetched, searched for, checked, added again when they change."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaffinch.index.records import Metadata
from chaffinch.service import archive_documents, archive_search, archives
from chaffinch.service.accounts.visitor import LOCAL
from chaffinch.service.jobs import queue
from chaffinch.service.refusals import BadRequest, FetchFailed
from chaffinch.service.site import Site
from tests.archive_jobs import registered, worked
from tests.made import prose
from tests.web_server import Web

OLD, NEW, OTHER = ("\n\n".join(prose(12, seed=seed)).encode() for seed in (1, 2, 3))


def _first_hit(site: Site, archive_id: str, text: bytes) -> str | None:
    hits = archive_search.search(site, LOCAL, archive_id, text.decode())["hits"]
    return str(hits[0]["document"]) if hits else None


def _checked(site: Site, archive_id: str) -> dict[str, int]:
    job = worked(site, archive_documents.check_urls(site, LOCAL, archive_id))
    assert job.state == queue.DONE, job.message
    assert job.result is not None
    return job.result


def test_a_url_is_registered_checked_and_added_again_when_it_changes(site: Site, web: Web) -> None:
    web.allow(site)
    archive_id = archives.create_archive(site, LOCAL, "Pages").archive.id
    url = web.show("/page.txt", OLD)
    job = worked(site, registered(site, archive_id, {}, metadata=Metadata(url, "ann@example.org")))
    assert (job.result or {})["added"]["first"] == [url], job.message
    assert _first_hit(site, archive_id, OLD) == url
    assert archive_search.search_url(site, LOCAL, archive_id, url)["hits"][0]["relation"] == "identical"

    assert _checked(site, archive_id) == {"checked": 1, "changed": 0, "stale": 0, "left": 0}
    web.show("/page.txt", NEW)
    assert _checked(site, archive_id)["changed"] == 1
    assert (_first_hit(site, archive_id, OLD), _first_hit(site, archive_id, NEW)) == (None, url)
    document = archive_documents.get_document(site, LOCAL, archive_id, url)
    assert (document["contact"], document["stale"]) == ("ann@example.org", None)

    del web.pages["/page.txt"]
    assert _checked(site, archive_id)["stale"] == 1
    stale = archive_documents.get_document(site, LOCAL, archive_id, url)["stale"]
    assert "404" in stale["problem"]
    assert stale["since"] <= stale["checked"]
    assert _first_hit(site, archive_id, NEW) == url
    web.show("/page.txt", NEW)
    assert _checked(site, archive_id)["stale"] == 0


def test_an_uploaded_document_is_never_replaced_by_what_its_url_shows(site: Site, web: Web) -> None:
    web.allow(site)
    archive_id = archives.create_archive(site, LOCAL, "Papers").archive.id
    url = web.show("/about", OTHER)
    worked(site, registered(site, archive_id, {"paper.txt": OLD}, metadata=Metadata(url)))
    for _ in range(2):
        assert _checked(site, archive_id) == {"checked": 1, "changed": 0, "stale": 0, "left": 0}
    assert (_first_hit(site, archive_id, OLD), _first_hit(site, archive_id, OTHER)) == ("paper.txt", None)


def test_what_was_checked_lately_is_not_checked_again_by_the_schedule(site: Site, web: Web) -> None:
    web.allow(site)
    archive_id = archives.create_archive(site, LOCAL, "Papers").archive.id
    worked(site, registered(site, archive_id, {"paper.txt": OLD}, metadata=Metadata(web.show("/", OLD))))
    archives.schedule_jobs(site)
    first = worked(site, archives.list_jobs(site, LOCAL, archive_id)[0])
    assert (first.kind, (first.result or {})["checked"]) == ("archive_check_urls", 1)
    with site.database.writing() as session:
        archives.add_job(session, archive_id, None, first.kind)
    again = worked(site, archives.list_jobs(site, LOCAL, archive_id)[0])
    assert (again.result or {})["checked"] == 0


def test_a_url_that_cannot_be_fetched_fails_its_job_with_a_reason(site: Site, web: Web) -> None:
    web.allow(site)
    archive_id = archives.create_archive(site, LOCAL, "Pages").archive.id
    job = worked(site, registered(site, archive_id, {}, metadata=Metadata(f"{web.url}/missing")))
    assert (job.state, "404" in job.message) == (queue.FAILED, True)
    inside = registered(site, archive_id, {}, metadata=Metadata("http://127.0.0.1/"))
    assert "public Internet" in worked(site, inside).message
    with pytest.raises(FetchFailed, match="public Internet"):
        archive_search.search_url(site, LOCAL, archive_id, "http://169.254.169.254/")


def test_without_the_setting_nothing_is_fetched(site: Site, web: Web, tmp_path: Path) -> None:
    archive_id = archives.create_archive(site, LOCAL, "Pages").archive.id
    url = web.show("/", OLD)
    with pytest.raises(BadRequest):
        registered(site, archive_id, {}, metadata=Metadata(url))
    with pytest.raises(BadRequest):
        archive_search.search_url(site, LOCAL, archive_id, url)
    with pytest.raises(BadRequest):
        archive_documents.check_urls(site, LOCAL, archive_id)
    assert web.requests == []
