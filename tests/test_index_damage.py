"""A damaged file of an index is named and gives no wrong answer. The rest is served, and it can be repaired."""

from __future__ import annotations

import errno
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from chaffinch import compare
from chaffinch.cli import main
from chaffinch.errors import Damaged, IndexTrouble, SkipReason
from chaffinch.index.folder import merge_policy, paths
from chaffinch.index.folder.catalogue import Catalogue
from chaffinch.index.index import Index
from chaffinch.index.koala import probes
from tests.crashing import names, said, three_segments
from tests.indexed import document, text

Spoil = Callable[[Path], None]


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return three_segments(tmp_path / "archive.index")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 8] = (byte ^ 0xFF for byte in data[middle : middle + 8])
    path.write_bytes(data)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


def overwrite(path: Path) -> None:
    path.write_bytes(text(1000, "garbage").encode())


@pytest.fixture(params=[flip, truncate, empty, delete, overwrite], ids=lambda spoil: spoil.__name__)
def spoilt(request: pytest.FixtureRequest, where: Path) -> Path:
    """Return the damaged segment file of the second document."""
    path = paths.segment_path(where, 2)
    shutil.copy(path, where.with_name("copy.seg"))
    request.param(path)
    return path


def test_a_damaged_segment_is_named_and_the_rest_is_served(where: Path, spoilt: Path) -> None:
    with Index.open(where) as index:
        answer = index.search(said(1))
        (told,) = answer.receipt.damaged
        assert told.startswith(f"{spoilt}: ")
        assert told.endswith("remove its documents and add them again (1 documents: d1)")
        assert list(answer) == []
        assert [names(index, n) for n in (0, 2)] == [["d0"], ["d2"]]
        assert index.info().damaged == (told,)
        assert index.info().documents == 3
        assert [problem.partition(";")[0] for problem in index.verify()] == [told.partition(";")[0]]
    with Index.open(where) as index:
        assert any(problem.startswith(f"{spoilt}: ") for problem in index.verify())


def test_one_can_go_on_adding_to_a_damaged_index(
    where: Path, spoilt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_policy, "FAN", 2)
    with Index.open(where) as index:
        for n in range(3, 20):
            index.add(document(f"d{n}", said(n)))
        index.store.writer.wait()  # type: ignore[attr-defined]
        assert index.info().segments <= 4, "what comes behind the damaged one is merged"
        assert [names(index, n) for n in range(20) if n != 1] == [[f"d{n}"] for n in range(20) if n != 1]
        with pytest.raises(Damaged, match=str(spoilt)):
            index.merge()
        assert [names(index, n) for n in range(20) if n != 1] == [[f"d{n}"] for n in range(20) if n != 1]


def test_a_copy_that_is_put_back_mends_it(where: Path, spoilt: Path) -> None:
    with Index.open(where) as index:
        assert index.verify()
    shutil.copy(where.with_name("copy.seg"), spoilt)
    with Index.open(where) as index:
        assert index.verify() == []
        index.merge()
        assert [names(index, n) for n in range(3)] == [["d0"], ["d1"], ["d2"]]


def test_removing_what_was_in_it_and_adding_that_again_mends_it(where: Path, spoilt: Path) -> None:
    with Index.open(where) as index:
        index.remove("d1")
        index.add(document("d1", said(1)))
        assert names(index, 1) == ["d1"]
        index.merge()
        assert index.verify() == []
        assert index.info().damaged == ()
        assert [names(index, n) for n in range(3)] == [["d0"], ["d1"], ["d2"]]
    assert not spoilt.exists()


@pytest.mark.parametrize("spoil", [empty, overwrite])
def test_a_file_that_is_no_catalogue_is_reported(where: Path, spoil: Spoil) -> None:
    spoil(where / paths.CATALOGUE)
    with pytest.raises(IndexTrouble, match=f"{where}: .*; restore a copy"):
        Index.open(where)
    for command in (["info", where], ["verify", where], ["add", where, __file__]):
        done = subprocess.run(
            [sys.executable, "-m", "chaffinch", "index", *map(str, command)], capture_output=True, text=True
        )
        assert done.returncode == 2
        assert done.stderr.startswith(f"chaffinch: {where}: ")
        assert "Traceback" not in done.stderr


def test_a_database_of_somebody_else_is_no_catalogue(where: Path) -> None:
    (where / paths.CATALOGUE).unlink()
    with closing(sqlite3.connect(where / paths.CATALOGUE)) as other:
        other.execute("CREATE TABLE meta (key, value)")
    with pytest.raises(IndexTrouble, match=f"{where}: not an index"):
        Index.open(where)


def used(where: Path) -> list[str]:
    """Use the index in every way; return the problems it reports, and accept only right answers."""
    with Index.open(where) as index:
        problems = index.verify()
        for n in range(3):
            assert set(names(index, n)) <= {f"d{n}"}
        index.add(document("more", said(9)))
        index.merge()
    return problems


def test_a_catalogue_with_bad_pages_is_reported_without_a_traceback(where: Path) -> None:
    pages = (where / paths.CATALOGUE).stat().st_size // 4096
    assert pages > 5
    for page in range(pages):
        copy = where.with_name(f"copy{page}.index")
        shutil.copytree(where, copy)
        with (copy / paths.CATALOGUE).open("r+b") as file:
            file.seek(page * 4096)
            file.write(b"\xaa" * 200)
        try:
            told = "".join(used(copy))
        except IndexTrouble as error:
            told = str(error)
        assert told.startswith((f"{copy}: ", f"{paths.CATALOGUE}: ")), page


@pytest.mark.parametrize("kept", [b"", b"garbage", "flipped"])
def test_a_damaged_text_is_reported_and_the_document_still_found(where: Path, kept: bytes | str) -> None:
    with closing(sqlite3.connect(where / paths.CATALOGUE)) as connection, connection:
        query = "SELECT at, length FROM contents WHERE document = 1"
        at, length = connection.execute(query).fetchone()
        with (where / "texts-0001.dat").open("r+b") as file:
            file.seek(at)
            data = file.read(length)
            file.seek(at)
            match kept:
                case "flipped":
                    file.write(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
                case bytes():
                    file.write(kept.ljust(length, b"\0"))
    with Index.open(where) as index:
        answer = index.search(said(1))
        assert [hit.document.name for hit in answer] == ["d1"]
        assert answer[0].matches
        (told,) = answer.receipt.damaged
        assert told.startswith("d1: its stored content ")
        assert index.verify() == [told]
        assert names(index, 0) == ["d0"]
        index.remove("d2")
        with pytest.raises(Damaged, match=r"texts-0001\.dat: damaged in bytes \d+ to \d+"):
            index.merge()
        index.remove("d1")
        index.merge()
        index.add(document("d1", said(1)))
        assert index.verify() == []


def test_counts_of_searches_that_cannot_be_read_do_no_harm(tmp_path: Path) -> None:
    with Index.create(tmp_path / "koala", "koala") as index:
        (tmp_path / "koala" / probes.FILE).write_bytes(b"garbage " * 1000)
        index.add(document("d", text(900, 1)))
        assert [hit.document.name for hit in index.search(text(900, 1))] == ["d"]
        assert index.suspicious() == []
        assert index.rotate().rotated == ["d"]


def test_lost_texts_are_reported_and_documents_still_found(where: Path) -> None:
    (where / "texts-0001.dat").unlink()
    with Index.open(where) as index:
        answer = index.search(said(1))
        assert [hit.document.name for hit in answer] == ["d1"]
        assert answer.receipt.damaged
        assert len(index.verify()) == len(index)
        index.add(document("more", said(9)))
        assert index.search(said(9))[0].relation == "identical"


def test_texts_of_removed_documents_are_gone_after_a_merge(where: Path) -> None:
    with Index.open(where) as index:
        size = (where / "texts-0001.dat").stat().st_size
        index.remove("d1")
        index.merge()
        (left,) = where.glob("texts-*.dat")
        assert left.stat().st_size < size
        assert [index.content(f"d{n}") is not None for n in range(3)] == [True, False, True]
        assert index.verify() == []


def test_what_failed_once_and_then_succeeded_is_not_deleted_later(where: Path) -> None:
    with Index.open(where) as index:
        index.remove("d1")
        free = paths.append_contents
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(paths, "append_contents", full_disk)
            with pytest.raises(IndexTrouble):
                index.merge()
        assert paths.append_contents is free
        index.merge()
        index.add(document("more", said(9)))
        assert index.verify() == []
        assert index.search(said(0))[0].relation == "identical"


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_an_interrupt_behind_a_commit_costs_nothing(where: Path) -> None:
    with Index.open(where) as index:
        changing = Catalogue.change

        @contextmanager
        def interrupted(catalogue: Catalogue) -> Iterator[None]:
            with changing(catalogue):
                yield
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Catalogue, "change", interrupted)
            with pytest.raises(KeyboardInterrupt):
                index.merge()
        index.add(document("more", said(9)))
        assert [names(index, n) for n in range(3)] == [["d0"], ["d1"], ["d2"]]
        assert index.verify() == []


def test_a_segment_of_another_index_is_reported(where: Path, tmp_path: Path) -> None:
    with Index.create(tmp_path / "other.index") as other:
        other.add([document(f"o{n}", said(n)) for n in range(50)])
    (foreign,) = (tmp_path / "other.index" / paths.SEGMENTS).glob("*.seg")
    mine = sorted((where / paths.SEGMENTS).glob("*.seg"))[0]
    shutil.copyfile(foreign, mine)
    with Index.open(where) as index:
        assert any("another index" in problem for problem in index.verify())


def test_comparing_with_a_damaged_index_promises_nothing(where: Path, spoilt: Path, tmp_path: Path) -> None:
    """The work was copied from the document that cannot be searched, so that nothing is found."""
    (tmp_path / "new.txt").write_text(said(1))
    report = compare(tmp_path / "new.txt", old=where)
    (entry,) = report.skipped
    assert (entry.name, entry.reason) == (str(where), SkipReason.DAMAGED)
    assert entry.detail.startswith(f"not searched: {spoilt}: ")
    assert report.receipt.to_dict()["old_indexes"] == {str(where): "no promise"}
    command = ["compare", str(tmp_path / "new.txt"), "--old", f"{where}/", "-o", str(tmp_path / "r.html")]
    for options in ([], ["--json"]):
        done = CliRunner().invoke(main, [*command, *options])
        assert done.exit_code == 2
        assert f"not searched: {spoilt}: " in done.stderr
    assert spoilt.name in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_searching_a_damaged_index_is_an_error_with_a_warning(
    where: Path, spoilt: Path, tmp_path: Path, options: list[str]
) -> None:
    for number in (0, 1):
        (tmp_path / "query.txt").write_text(said(number))
        done = CliRunner().invoke(main, ["search", str(where), str(tmp_path / "query.txt"), *options])
        assert done.exit_code == 2
        assert done.stderr.count(f"chaffinch: not searched: {spoilt}: ") == 1
        assert ("d0" in done.stdout) == (number == 0)


def test_whatever_bytes_of_the_catalogue_are_damaged_the_message_is_clear(where: Path) -> None:
    catalogue, copy = (where / paths.CATALOGUE).read_bytes(), where.with_name("copy.index")
    refused = 0
    for seed in range(300):
        chance, data = random.Random(seed), bytearray(catalogue)
        length = chance.choice([1, 8, 64, 512])
        for _ in range(chance.choice([1, 5, 20])):
            offset = chance.randrange(len(data) - length)
            data[offset : offset + length] = chance.randbytes(length)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(where, copy)
        (copy / paths.CATALOGUE).write_bytes(data)
        try:
            with Index.open(copy) as index:
                uses: list[Callable[[], object]] = [
                    index.verify,
                    index.info,
                    partial(list, index),
                    partial(index.search, said(0)),
                    partial(index.content, "d1"),
                    partial(index.remove, "d1"),
                    partial(index.add, document("more", said(9))),
                    index.merge,
                ]
                for use in uses:
                    try:
                        use()
                    except (IndexTrouble, Damaged):
                        refused += 1
        except (IndexTrouble, Damaged):
            refused += 1
    assert refused > 100


def test_a_bit_of_a_text_that_means_nothing_is_noticed_too(where: Path, tmp_path: Path) -> None:
    path = where / "texts-0001.dat"
    data = bytearray(path.read_bytes())
    data[4] ^= 0x10  # zstd does not use this bit
    path.write_bytes(data)
    with Index.open(where) as index:
        assert [problem.partition(";")[0] for problem in index.verify()] == [
            "d0: its stored content is damaged"
        ]
        with pytest.raises(Damaged, match="d0: its stored content is damaged"):
            index.export(tmp_path / "export.jsonl")
