"""A file takes no longer than its size allows, whatever it holds: readers take linear time or give up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import chaffinch
from bench.worst_inputs import WORST, packed
from chaffinch import Document, File, Recipe, Skipped
from chaffinch.errors import SkipReason
from chaffinch.read import budget
from chaffinch.read.budget import Budget, keep_time, seconds_for, spend_seconds
from chaffinch.read.formats import extract, pdf, rtf
from chaffinch.read.formats.office import docx
from chaffinch.read.ready import ready_documents
from tests import made

SIZE = 100_000


@pytest.mark.parametrize("kind", WORST)
def test_the_worst_input_of_every_format_is_read_or_reported(kind: str) -> None:
    name, make = WORST[kind]
    items = list(ready_documents(File(name, make(SIZE))))
    assert items
    for item in items:
        assert item.name.startswith(name)
        if isinstance(item, Document):
            chaffinch.stream(item, Recipe(item.language))
        else:
            assert item.reason != SkipReason.INVALID


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of every file be over before it is read."""
    monkeypatch.setattr(budget, "SECONDS", -1)


CHECKED = (
    "DOCX: elements", "DOCX: relations", "ODT: paragraphs", "EPUB: chapters", "mail: parts",
    "mailbox: messages", "notebook: cells", "TAR: files", "ZIP: files", "gzip: short members",
)  # fmt: skip


@pytest.mark.parametrize("kind", CHECKED)
@pytest.mark.usefixtures("no_time")
def test_every_slow_reader_stops_when_the_time_is_over(kind: str) -> None:
    name, make = WORST[kind]
    (item,) = ready_documents(File(name, make(5000)))
    assert isinstance(item, Skipped)
    assert item.reason == SkipReason.TOO_LARGE
    assert "longer to read than any real file of its size" in item.detail


def test_time_that_the_caller_spends_is_not_counted() -> None:
    left = Budget(seconds=10)
    for _ in left.timed(iter(range(5))):
        spend_seconds(100)
    assert left.seconds > 9

    def slow() -> Iterator[int]:
        for number in range(5):
            spend_seconds(3)
            keep_time("x")
            yield number

    numbers: list[int] = []
    with pytest.raises(chaffinch.Unreadable, match="longer to read"):
        numbers.extend(left.timed(slow()))
    keep_time("x")  # nothing is being read now


def test_larger_files_may_take_longer() -> None:
    assert seconds_for(0) == seconds_for(10 << 20) == budget.SECONDS
    assert seconds_for(60 << 20) == budget.SECONDS + 50


def test_files_in_an_archive_share_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[str] = []

    def slow(file: File) -> Iterator[Document]:
        spent.append(file.name)
        spend_seconds(4)
        yield Document(file.name, b"words", "utf-8", "pdf", "text")

    monkeypatch.setattr(pdf, "read", slow)
    archive = packed({f"{i}.pdf": made.pdf_pages([["words"]]) for i in range(9)})(0)
    items = list(ready_documents(File("x.zip", archive)))
    assert [type(item) for item in items] == [Document, Skipped, Skipped, Skipped]
    assert [item.name for item in items][1:] == ["x.zip/1.pdf", "x.zip/2.pdf", "x.zip"]
    assert len(spent) == 3


def test_a_file_that_takes_too_long_loses_no_other_of_its_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(file: File) -> Iterator[Document]:
        spend_seconds(8)
        keep_time(file.name)
        yield Document(file.name, b"words", "utf-8", "pdf", "text")

    monkeypatch.setattr(pdf, "read", slow)
    archive = packed({"a.pdf": made.pdf_pages([["words"]]), "b.txt": b"Good words."})(0)
    items = list(ready_documents(File("x.zip", archive)))
    assert [type(item) for item in items] == [Skipped, Document]


def test_each_related_file_of_a_document_is_read_once() -> None:
    asked = []
    relations = b'<r><a Type="x/endnotes" Target="e.xml"/><a Type="x/endnotes" Target="a/../e.xml"/></r>'

    def unpack(path: str) -> bytes:
        asked.append(path)
        return relations

    assert docx._related(File("x", b""), unpack, "word/d.xml", "endnotes") == ["word/e.xml"]


@pytest.mark.parametrize("kind", ["gzip: empty members", "bzip2: empty streams", "xz: empty streams"])
def test_a_compressed_file_of_very_many_parts_is_refused(kind: str) -> None:
    name, make = WORST[kind]
    (skipped,) = ready_documents(File(name, make(100_001 * len(make(40)))))
    assert isinstance(skipped, Skipped)
    assert "more than 100,000 parts" in skipped.detail


@pytest.mark.parametrize("kind", ["DOCX: nested paragraphs", "ODT: nested paragraphs"])
def test_paragraphs_within_very_many_others_are_refused(kind: str) -> None:
    name, make = WORST[kind]
    (skipped,) = ready_documents(File(name, make(SIZE)))
    assert isinstance(skipped, Skipped)
    assert "nests more than 1,000 paragraphs" in skipped.detail


@pytest.mark.parametrize("kind", ["RTF: paragraphs", "ODT: paragraphs"])
def test_very_many_paragraphs_are_read_with_fewer_sections(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, make = WORST[kind]
    for module in (extract, rtf):
        monkeypatch.setattr(module, "MAX_SECTIONS", 50)
    (document,) = ready_documents(File(name, make(SIZE)))
    assert isinstance(document, Document)
    assert len(document.sections) == 50
    assert document.place(len(document.data) - 1).startswith("paragraph 50")


def test_a_folder_of_hostile_files_loses_no_other(tmp_path: Path) -> None:
    for number, (name, make) in enumerate(WORST.values()):
        (tmp_path / f"{number}-{name}").write_bytes(make(2000))
    (tmp_path / "zz.txt").write_text("Words that must not be lost, whatever the other files hold.")
    *_, last = chaffinch.documents(tmp_path)
    assert isinstance(last, Document)
    assert last.data.startswith(b"Words that")
