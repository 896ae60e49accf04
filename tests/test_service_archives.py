"""Archives of the service, on SQLite and on PostgreSQL: actions, jobs and rights, without HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.orm import Session

from chaffinch.errors import BadRecipe
from chaffinch.index.index import Index
from chaffinch.index.records import Metadata
from chaffinch.service import archive_documents, archive_search, archives
from chaffinch.service.accounts.visitor import INSTRUCTOR, LOCAL, READER, Visitor
from chaffinch.service.database.tables import Account, Archive, ArchiveMember, Blob, Job
from chaffinch.service.jobs import queue
from chaffinch.service.jobs.archive_task import add_documents
from chaffinch.service.jobs.job_worker import Worker
from chaffinch.service.refusals import BadRequest, Forbidden, NotFound
from chaffinch.service.site import Site
from tests.archive_jobs import ABOUT, registered, worked
from tests.made import prose, zipped

TEXTS = {f"essay{n}.txt": "\n\n".join(prose(12, seed=n)) for n in range(4)}


def _archive(site: Site, visitor: Visitor = LOCAL, **options: Any) -> str:
    return archives.create_archive(site, visitor, "Essays", **options).archive.id


def _with_texts(site: Site, **options: Any) -> str:
    archive_id = _archive(site, **options)
    assert worked(site, registered(site, archive_id, TEXTS)).state == queue.DONE
    return archive_id


def _visitor(site: Site, role: str = INSTRUCTOR) -> Visitor:
    def change(session: Session) -> Visitor:
        account = Account(name="Ann", email=f"{role}-{session.query(Account).count()}@example.org", role=role)
        session.add(account)
        session.flush()
        return Visitor(role, account.id)

    return site.database.write(change)


def test_documents_are_registered_listed_and_found(site: Site) -> None:
    archive_id = _archive(site)
    job = worked(site, registered(site, archive_id, TEXTS | {"broken.pdf": "%PDF-1.4 nothing"}))
    assert job.state == queue.DONE, job.message
    assert job.result is not None
    assert sorted(job.result["added"]["first"]) == sorted(TEXTS)
    assert [skip["name"] for skip in job.result["skipped"]["first"]] == ["broken.pdf"]
    assert archives.archive_state(site, LOCAL, archive_id).archive.documents == 4
    page = archive_documents.list_documents(site, LOCAL, archive_id, size=3)
    rest = archive_documents.list_documents(site, LOCAL, archive_id, page.after or 0, 3)
    assert [d["name"] for d in (*page.documents, *rest.documents)] == sorted(TEXTS)
    assert rest.after is None
    assert page.documents[0]["contact"] == "ann@example.org"
    answer = archive_search.search(site, LOCAL, archive_id, TEXTS["essay2.txt"][500:2500])
    first = answer["hits"][0]
    assert (first["document"], first["relation"]) == ("essay2.txt", "contained")
    assert (first["url"], first["date"]) == (ABOUT.url, ABOUT.date)
    assert first["containment"]["query"] > 0.9
    passage = first["passages"][0]
    assert passage["query"]["text"][:40] == passage["document"]["text"][:40]


def test_the_upload_of_a_finished_job_is_gone(site: Site) -> None:
    _with_texts(site)
    with site.database.reading() as session:
        assert session.query(Blob).count() == 0


def test_registering_twice_changes_nothing_and_another_content_replaces(site: Site) -> None:
    archive_id = _with_texts(site)
    again = worked(site, registered(site, archive_id, TEXTS))
    assert again.result is not None
    assert (again.result["added"]["count"], again.result["already"]["count"]) == (0, 4)
    changed = {"essay0.txt": TEXTS["essay1.txt"] + "more"}
    refused = worked(site, registered(site, archive_id, changed))
    assert refused.result is not None
    assert refused.result["skipped"]["count"] == 1
    replaced = worked(site, registered(site, archive_id, changed, replacing=True))
    assert replaced.result is not None
    assert replaced.result["replaced"]["first"] == ["essay0.txt"]


def test_documents_of_an_archive_file_areregistered(site: Site) -> None:
    archive_id = _archive(site)
    job = worked(site, registered(site, archive_id, {"essays.zip": zipped(TEXTS)}))
    assert job.result is not None
    assert job.result["added"]["count"] == 4


def test_documents_are_changed_and_removed(site: Site) -> None:
    archive_id = _with_texts(site)
    names = ["essay0.txt", "unknown"]
    changed = archive_documents.set_metadata(site, LOCAL, archive_id, names, Metadata(date="2025", contact=""))
    assert (worked(site, changed).result or {})["missing"]["first"] == ["unknown"]
    document = archive_documents.get_document(site, LOCAL, archive_id, "essay0.txt")
    assert (document["date"], document["contact"], document["url"]) == ("2025", None, ABOUT.url)
    removed = archive_documents.remove_documents(site, LOCAL, archive_id, names)
    assert (worked(site, removed).result or {})["removed"]["first"] == ["essay0.txt"]
    with pytest.raises(NotFound):
        archive_documents.get_document(site, LOCAL, archive_id, "essay0.txt")
    assert archives.archive_state(site, LOCAL, archive_id).archive.documents == 3


def test_relatives_of_a_document_do_not_include_itself(site: Site) -> None:
    archive_id = _with_texts(site)
    copy = {"copy.txt": TEXTS["essay1.txt"], "part.txt": TEXTS["essay1.txt"][: len(TEXTS["essay1.txt"]) // 3]}
    worked(site, registered(site, archive_id, copy))
    hits = archive_search.relatives(site, LOCAL, archive_id, "essay1.txt")["hits"]
    assert {hit["document"]: hit["relation"] for hit in hits} == {
        "copy.txt": "identical",
        "part.txt": "contains",
    }
    with pytest.raises(NotFound):
        archive_search.relatives(site, LOCAL, archive_id, "nothing.txt")
    without = _with_texts(site, content="none")
    with pytest.raises(BadRequest):
        archive_search.relatives(site, LOCAL, without, "essay1.txt")


def test_koala_archives_are_rotated(site: Site) -> None:
    archive_id = _with_texts(site, recipe="koala", settings={"stored": 50}, rotate_days=30)
    assert archive_documents.suspicious(site, LOCAL, archive_id) == []
    before = archive_documents.list_documents(site, LOCAL, archive_id)
    job = worked(site, archive_documents.rotate(site, LOCAL, archive_id, names=["essay0.txt"]))
    assert (job.result or {})["rotated"]["first"] == ["essay0.txt"]
    everything = worked(site, archive_documents.rotate(site, LOCAL, archive_id))
    assert (everything.result or {})["rotated"]["count"] == len(before.documents)
    recent = worked(site, archive_documents.rotate(site, LOCAL, archive_id, older_than_days=1))
    assert (recent.result or {})["rotated"]["count"] == 0
    hits = archive_search.search(site, LOCAL, archive_id, TEXTS["essay3.txt"])["hits"]
    assert hits[0]["document"] == "essay3.txt"
    with pytest.raises(BadRequest):
        archive_documents.rotate(site, LOCAL, _archive(site))


def test_a_deleted_archive_leaves_nothing(site: Site) -> None:
    archive_id = _with_texts(site)
    archive_search.search(site, LOCAL, archive_id, TEXTS["essay0.txt"])
    waiting = registered(site, archive_id, {"new.txt": TEXTS["essay0.txt"]})
    archives.delete_archive(site, LOCAL, archive_id)
    assert site.indexes.present() == []
    with pytest.raises(NotFound):
        archive_search.search(site, LOCAL, archive_id, "text")
    with site.database.reading() as session:
        assert session.get(Job, waiting.id) is None
        assert session.query(Blob).count() == 0


def test_indexes_without_an_archive_are_removed(site: Site) -> None:
    kept = _archive(site)
    Index.create(site.indexes.where("0123456789abcdef")).close()
    archives.remove_strays(site)
    assert site.indexes.present() == [kept]


def test_an_archive_that_cannot_be_created_leaves_nothing(site: Site) -> None:
    with pytest.raises(BadRecipe):
        _archive(site, recipe="klingon")
    with pytest.raises(BadRecipe):
        _archive(site, recipe="koala", settings={"stored": -1})
    with pytest.raises(BadRequest):
        _archive(site, settings={"stored": 10})
    with pytest.raises(BadRequest):
        archives.create_archive(site, LOCAL, " ")
    assert site.indexes.present() == []
    assert archives.list_archives(site, LOCAL) == []


def test_a_job_waits_while_somebody_else_writes(site: Site) -> None:
    archive_id = _archive(site)
    job = registered(site, archive_id, TEXTS)
    worker = Worker(site)
    other = Index.open(site.indexes.where(archive_id))
    other.store.begin_writing()
    said: list[str] = []

    def progress(text: str) -> None:
        said.append(text)
        other.close()

    claimed = queue.claim(site.database, worker.name)
    assert claimed is not None
    add_documents(site, claimed, progress)
    assert said[0].startswith("Waiting")
    with site.database.reading() as session:
        assert session.get_one(Job, job.id).state == queue.DONE


def test_jobs_of_one_archive_wait_for_each_other(site: Site) -> None:
    one, two = _archive(site), _archive(site)
    first, second = (registered(site, one, TEXTS) for _ in range(2))
    other = registered(site, two, TEXTS)
    claimed = [queue.claim(site.database, name) for name in ("a", "b", "c")]
    assert [job and job.id for job in claimed] == [first.id, other.id, None]
    assert claimed[0] is not None
    queue.fail(site.database, claimed[0], "x")
    third = queue.claim(site.database, "c")
    assert third is not None
    assert third.id == second.id


def test_members_readers_and_strangers(site: Site) -> None:
    owner, member, stranger = (_visitor(site) for _ in range(3))
    reader = _visitor(site, READER)
    archive_id = _archive(site, owner)

    def join(session: Session) -> None:
        session.add(ArchiveMember(archive_id=archive_id, account_id=member.account_id, role=INSTRUCTOR))
        session.add(ArchiveMember(archive_id=archive_id, account_id=reader.account_id, role=READER))

    site.database.write(join)
    assert [s.role for s in archives.list_archives(site, member)] == [INSTRUCTOR]
    assert archives.list_archives(site, stranger) == []
    archive_documents.merge(site, member, archive_id)
    archive_search.search(site, reader, archive_id, "some text")
    for visitor, error in ((reader, Forbidden), (stranger, NotFound)):
        with pytest.raises(error):
            archive_documents.remove_documents(site, visitor, archive_id, ["x"])
        with pytest.raises(error):
            archives.list_jobs(site, visitor, archive_id)
    for visitor, error in ((member, Forbidden), (reader, Forbidden), (stranger, NotFound)):
        with pytest.raises(error):
            archives.delete_archive(site, visitor, archive_id)
        with pytest.raises(error):
            archives.change_archive(site, visitor, archive_id, public=True)
    with pytest.raises(NotFound):
        archive_search.search(site, stranger, archive_id, "some text")
    with pytest.raises(Forbidden):
        archives.create_archive(site, reader, "Mine")
    archives.change_archive(site, owner, archive_id, name="Theses", public=True)
    assert [s.archive.name for s in archives.list_archives(site, stranger)] == ["Theses"]
    with pytest.raises(Forbidden):
        archive_documents.merge(site, stranger, archive_id)
    with site.database.reading() as session:
        assert session.get_one(Archive, archive_id).is_public


@pytest.mark.parametrize(
    "metadata", [Metadata(url="javascript:alert(1)"), Metadata(contact="a\nb"), Metadata(date="x" * 200)]
)
def test_bad_metadata_is_refused(site: Site, metadata: Metadata) -> None:
    with pytest.raises(BadRequest):
        registered(site, _archive(site), TEXTS, metadata=metadata)


def test_due_jobs_are_scheduled_once_a_day(site: Site) -> None:
    archive_id = _with_texts(site, recipe="koala", rotate_days=30)
    _with_texts(site)
    before = len(archives.list_jobs(site, LOCAL, archive_id))
    for _ in range(2):
        archives.schedule_jobs(site)
    jobs = archives.list_jobs(site, LOCAL, archive_id)
    assert len(jobs) == before + 1
    assert (jobs[0].kind, jobs[0].arguments) == ("archive_rotate", {"older_than_days": 30})
    assert worked(site, jobs[0]).state == queue.DONE
