"""An export is whole or is not there: full disks, devices, links, exports that were cut off."""

from __future__ import annotations

import gzip
import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chaffinch.errors import Damaged, IndexTrouble, Unreadable
from chaffinch.index.index import Index, open_for_import
from tests.crashing import three_segments
from tests.indexed import document, text

LITTLE = 40_000
"""Bytes that a file may have on a disk that is nearly full."""


@pytest.fixture
def index(tmp_path: Path) -> Index:
    with Index.create(tmp_path / "archive.index") as made:
        made.add([document(f"d{n}", text(200, n)) for n in range(80)])
        return made


def on_full_disk(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command that cannot write larger files."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LITTLE, LITTLE))

    command = [sys.executable, "-m", "chaffinch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_on_a_full_disk_the_previous_export_stays(index: Index, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / name).write_bytes(b"the previous one")
    done = on_full_disk("index", "export", index.store.where, folder / name)
    message = f"chaffinch: {folder / name}: cannot be written (File too large); make room and try again\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert [(path.name, path.read_bytes()) for path in folder.iterdir()] == [(name, b"the previous one")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_device_is_named_and_stays_a_device(index: Index) -> None:
    with (
        Index.open(index.store.where) as opened,
        pytest.raises(IndexTrouble, match=r"^/dev/full: cannot be written \(No space left on device\); make"),
    ):
        opened.export("/dev/full")
    assert Path("/dev/full").is_char_device()
    assert not list(Path("/dev").glob("full.*"))


def test_an_export_to_a_folder_that_is_not_there_names_the_file(index: Index, tmp_path: Path) -> None:
    with Index.open(index.store.where) as opened, pytest.raises(IndexTrouble, match=r"none/all\.jsonl: cannot"):
        opened.export(tmp_path / "none" / "all.jsonl")


def test_a_link_stays_a_link(index: Index, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "all.jsonl")
    with Index.open(index.store.where) as opened:
        assert opened.export(tmp_path / "link.jsonl") == 80
    assert (tmp_path / "link.jsonl").is_symlink()
    assert json.loads((tmp_path / "all.jsonl").read_text().splitlines()[0])["documents"] == 80


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_an_export_that_was_cut_off_between_lines_is_not_taken_for_a_whole_one(
    index: Index, tmp_path: Path, name: str
) -> None:
    with Index.open(index.store.where) as opened:
        opened.export(tmp_path / name)
    read = gzip.open if name.endswith(".gz") else open
    with read(tmp_path / name, "rb") as file:
        lines = file.readlines()
    with read(tmp_path / name, "wb") as file:
        file.writelines(lines[:-3])
    with (
        open_for_import(tmp_path / "copy.index", tmp_path / name) as copy,
        pytest.raises(Unreadable, match=f"{name}: has 3 documents too few; the rest was imported"),
    ):
        copy.import_(tmp_path / name)


def test_a_damaged_index_is_not_exported(tmp_path: Path) -> None:
    where = three_segments(tmp_path / "archive.index")
    next((where / "segments").iterdir()).unlink()
    with Index.open(where) as index, pytest.raises(Damaged, match="it is missing"):
        index.export(tmp_path / "all.jsonl")
    assert not (tmp_path / "all.jsonl").exists()


def test_an_import_on_a_full_disk_names_the_index_and_can_go_on(index: Index, tmp_path: Path) -> None:
    with Index.open(index.store.where) as opened:
        opened.export(tmp_path / "all.jsonl")
    Index.create(tmp_path / "copy.index").close()
    done = on_full_disk("index", "import", tmp_path / "copy.index", tmp_path / "all.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith(f"chaffinch: {tmp_path / 'copy.index'}: ")
    assert done.stderr.endswith("try again; what was in the index is still there\n")
    with Index.open(tmp_path / "copy.index") as copy:
        assert copy.import_(tmp_path / "all.jsonl") == 80
        assert copy.verify() == []


@pytest.mark.parametrize("command", ["add", "merge"])
def test_a_change_on_a_full_disk_names_the_index_and_loses_nothing(
    index: Index, tmp_path: Path, command: str
) -> None:
    (tmp_path / "more.txt").write_text(text(20_000, "more"))
    with Index.open(index.store.where) as opened:
        opened.remove([f"d{n}" for n in range(5)])
    done = on_full_disk("index", command, index.store.where, *[tmp_path / "more.txt"] * (command == "add"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"chaffinch: {index.store.where}: ")
    assert done.stderr.endswith("try again; what was in the index is still there\n")
    with Index.open(index.store.where) as opened:
        assert len(opened) == 75
        assert opened.verify() == []
        assert [hit.document.name for hit in opened.search(text(200, 9))] == ["d9"]
