"""Trouble around an index is reported with what to do, and nothing that was acknowledged is lost."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from pathlib import Path

import pytest

from chaffinch import File
from chaffinch.errors import IndexTrouble, NoIndex
from chaffinch.index.index import Index
from tests import crashing
from tests.crashing import known_files, names, running, said, three_segments
from tests.indexed import document, text

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return three_segments(tmp_path / "archive.index")


def noise(size: int, seed: int = 1) -> bytes:
    """Return bytes without symbols that do not compress well."""
    return bytes(random.Random(seed).choices(b"!\"#$%&'()*+,-./:;<=>?@[]^_{|}~", k=size))


# A full disk


@pytest.mark.parametrize(
    ("most", "large"),
    [
        (20_000, text(20_000, "large").encode()),
        (100_000, noise(400_000)),
        (100_000, said(7).encode() + noise(400_000)),
    ],
    ids=["segment", "catalogue", "catalogue after a segment"],
)
def test_a_document_that_does_not_fit_is_refused_and_can_be_added_when_there_is_room(
    where: Path, most: int, large: bytes
) -> None:
    with running(crashing.limited, where, most, large) as process:
        *refused, before, after, segments = process.rest()
    assert len(refused) == 2
    for message in refused:
        assert message.startswith(f"{where}: ")
        assert "try again; what was in the index is still there" in message
    assert before == [1, []]
    assert after == [5, []]
    with Index.open(where) as index:
        assert [names(index, n) for n in range(3)] == [["d0"], ["d1"], ["d2"]]
    assert set(segments) == known_files(where)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


if ROOT:

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(4))
    def test_on_a_full_disk_everything_acknowledged_is_there(small_disk: Path, seed: int) -> None:
        where, ballast, chance = small_disk / "archive.index", small_disk / "ballast", random.Random(seed)
        ballast.write_bytes(bytes(400_000))
        there: list[int] = []
        with Index.create(where) as index:

            def fill() -> None:
                for n in range(10_000):
                    index.add(File(f"d{n}", said(n).encode() + noise(chance.randrange(9000), n), "utf-8"))
                    there.append(n)

            with pytest.raises(IndexTrouble, match=r"full.*make room and try again"):
                fill()
            assert [names(index, n) for n in there] == [[f"d{n}"] for n in there]
        with Index.open(where) as index:  # also by those who come later
            assert [names(index, n) for n in there] == [[f"d{n}"] for n in there]
            assert index.verify() == []
            with pytest.raises(IndexTrouble, match="make room"):
                index.add(File("large", noise(4_000_000), "utf-8"))
            ballast.unlink()
            index.add(document("more", said(10_000)))
            assert names(index, 10_000) == ["more"]
            index.merge()
            assert len(index) == len(there) + 1
            assert index.verify() == []

    @pytest.mark.slow
    @pytest.mark.parametrize("length", [1_000, 9_000, 60_000])
    def test_what_a_failed_add_has_written_is_given_back(
        small_disk: Path, length: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """This holds too where the free space is not known in advance, as with a quota."""
        plenty = shutil.disk_usage(small_disk)._replace(free=2**40)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: plenty)
        count = 3_000_000 // length
        with Index.create(small_disk / "archive.index") as index:
            index.add(document("d0", said(0)))
            for _ in range(3):
                free = os.statvfs(small_disk).f_bavail
                with pytest.raises(IndexTrouble, match=r"full.*make room and try again"):
                    index.add(
                        File(f"large{n}", noise(length, n), "utf-8", "plain", "text") for n in range(count)
                    )
                assert os.statvfs(small_disk).f_bavail >= free - 20  # pages
            index.add(document("d1", said(1)))
            assert [names(index, n) for n in range(2)] == [["d0"], ["d1"]]
            assert index.verify() == []

    def test_an_index_that_does_not_fit_is_not_made(small_disk: Path) -> None:
        (small_disk / "ballast").write_bytes(bytes(1_490_000))
        with pytest.raises(IndexTrouble, match="make room"):
            Index.create(small_disk / "archive.index")
        (small_disk / "ballast").unlink()
        with Index.create(small_disk / "archive.index") as index:
            assert len(index) == 0

    def test_on_a_disk_that_cannot_be_written_to_one_can_search(small_disk: Path) -> None:
        where = small_disk / "archive.index"
        with Index.create(where) as index:
            index.add(document("d0", said(0)))
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
        with Index.open(where) as index:
            assert names(index, 0) == ["d0"]
            assert index.verify() == []
            assert index.info().documents == 1
            with pytest.raises(IndexTrouble, match=r"cannot be written to .*; you need permission to write"):
                index.add(document("d1", said(1)))
            assert names(index, 0) == ["d0"]


# Somebody who may not write


@pytest.fixture
def open_place() -> Iterator[Path]:
    """Return a folder that every user can read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def allow(folder: Path, write: bool) -> None:
    """Change the permissions of a normal user. Other users cannot write to the files of root anyway."""
    if not ROOT:
        for path in (*folder.rglob("*"), folder):
            bits = stat.S_IRUSR | (stat.S_IXUSR if path.is_dir() else 0) | (stat.S_IWUSR if write else 0)
            path.chmod(bits)


@pytest.mark.parametrize("crashed", [False, True])
def test_a_user_without_permission_to_write_can_search_and_gets_a_message(
    open_place: Path, crashed: bool
) -> None:
    where = open_place / "archive.index"
    Index.create(where).close()
    with running(crashing.grow, where, 0, 1, False) as process:
        assert process.told() == 0
        process.kill()
    if not crashed:
        with Index.open(where) as index:
            index.merge()
    allow(where, False)
    ours, theirs = Pipe()
    try:
        with running(crashing.look, where, theirs) as process:
            ours.send(0)
            found, damaged, count = process.told()
            assert (found, damaged) == (["d0"], [])
            allow(where, True)
            with Index.open(where) as index:  # somebody else may
                index.add(document("new", said(50)))
            allow(where, False)
            ours.send(50)
            assert process.told() == [["new"], [], count + 1]
            ours.send(None)
            for message in process.rest():
                assert "you need permission to write to this folder" in message
    finally:
        allow(where, True)


# A path that is none of an index


def a_file(path: Path) -> None:
    path.write_text("text")


def a_folder_of_other_things(path: Path) -> None:
    path.mkdir()
    (path / "letter.txt").write_text("text")


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


def a_path_within_a_file(path: Path) -> None:
    path.parent.mkdir()
    path.parent.rmdir()
    path.parent.write_text("text")


@pytest.mark.parametrize("made", [a_file, a_folder_of_other_things, a_link_to_nothing, a_path_within_a_file])
def test_what_is_no_index_is_neither_opened_nor_overwritten(
    tmp_path: Path, made: Callable[[Path], None]
) -> None:
    path = tmp_path / "folder" / "it"
    if made is not a_path_within_a_file:
        path.parent.mkdir()
    made(path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(NoIndex, match=f"{path}: .*index create"):
        Index.open(path)
    with pytest.raises(IndexTrouble, match=f"{path}: "):
        Index.create(path)
    assert sorted(tmp_path.rglob("*")) == before


def test_other_files_beside_the_segments_are_left_alone(where: Path) -> None:
    other = where / "segments" / "copy of one.seg"
    other.write_bytes(b"mine")
    with Index.open(where) as index:
        index.add(document("more", said(4)))
        index.merge()
    assert other.read_bytes() == b"mine"


def test_a_lock_that_is_not_empty_is_named(where: Path) -> None:
    (where / "writer.lock").write_bytes(b"garbage" * 1000)
    with Index.open(where) as index:
        assert names(index, 0) == ["d0"]
        with pytest.raises(IndexTrouble, match=r"writer\.lock: should be empty; delete it"):
            index.add(document("more", said(4)))


# An index that is closed


def test_closing_twice_is_closing(where: Path) -> None:
    index = Index.open(where)
    index.add(document("more", said(4)))
    index.close()
    index.close()
    with Index.open(where) as again:
        again.add(document("more still", said(5)))


@pytest.mark.parametrize(
    "use",
    [
        len,
        list,
        lambda i: "d0" in i,
        lambda i: i.search("text"),
        lambda i: i.add(document("more", said(4))),
        lambda i: i.remove("d0"),
        lambda i: i.merge(),
        lambda i: i.verify(),
        lambda i: i.info(),
        lambda i: i.content("d0"),
    ],
)
def test_a_closed_index_says_that_it_is_closed(where: Path, use: Callable[[Index], object]) -> None:
    index = Index.open(where)
    index.add(document("before", said(3)))
    index.close()
    with pytest.raises(IndexTrouble, match=f"{where}: is closed; open it again"):
        use(index)
