"""Archives yield their members in order, whatever program made them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import stat
import struct
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.archives import TARS, TEXT, opened, raw, seven_zipped, tarred, zip_of_raw, zipped


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_zip_gives_its_files_in_order_of_their_paths(method: int) -> None:
    data = zipped({"src/b.c": b"b" * 999, "z.txt": TEXT, "src/a.c": b"", "src.c": b"c"}, method)
    assert list(opened("zip", data).items()) == [
        ("a.zip/src/a.c", b""),
        ("a.zip/src/b.c", b"b" * 999),
        ("a.zip/src.c", b"c"),
        ("a.zip/z.txt", TEXT),
    ]


@pytest.mark.parametrize(("kind", "mode"), TARS.items())
@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_is_read_however_it_is_packed(kind: str, mode: str, format_: int) -> None:
    long = "f" * 90 + "/" + "g" * 60 + "/é.c"
    data = tarred({"b.c": TEXT, long: TEXT * 100, "a.c": b""}, mode, format_)
    assert list(opened(kind, data).items()) == [
        ("a.zip/a.c", b""),
        ("a.zip/b.c", TEXT),
        (f"a.zip/{long}", TEXT * 100),
    ]


@pytest.mark.parametrize(
    ("kind", "pack", "ending"),
    [("gzip", gzip.compress, "gz"), ("bzip2", bz2.compress, "bz2"), ("xz", lzma.compress, "xz")],
)
def test_a_single_packed_file_has_the_name_without_the_ending(kind: str, pack: type, ending: str) -> None:
    name = f"ann/essay.txt.{ending}"
    assert opened(kind, pack(TEXT), name) == {f"{name}/essay.txt": TEXT}
    assert opened(kind, pack(TEXT) + pack(TEXT), name) == {f"{name}/essay.txt": TEXT * 2}
    assert list(opened(kind, pack(TEXT * 100)[:-9], name)) == [f"{name}/essay.txt"]
    assert "cut off" in str(opened(kind, pack(TEXT * 100)[:-9], name))


@pytest.mark.sevenzip
def test_a_7z_is_read_by_the_program(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "b é.c").write_bytes(TEXT)
    (folder / "src" / "deep" / "a.c").write_bytes(TEXT * 1000)
    (folder / "empty.txt").write_bytes(b"")
    (folder / "z.txt").write_bytes(b"z")
    expected = {
        "a.7z/empty.txt": b"",
        "a.7z/src/b é.c": TEXT,
        "a.7z/src/deep/a.c": TEXT * 1000,
        "a.7z/z.txt": b"z",
    }
    for options in ([], ["-mx0"], ["-ms=off"], ["-m0=PPMd"], ["-m0=bzip2"]):
        assert list(opened("7z", seven_zipped(folder, *options), "a.7z").items()) == list(expected.items())


@pytest.mark.sevenzip
def test_links_in_a_7z_are_reported_and_the_others_read(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "b.c").write_bytes(TEXT)
    (folder / "a.c").symlink_to("/etc/passwd")
    (folder / "c.c").write_bytes(b"c")
    found = opened("7z", seven_zipped(folder, "-snl"), "a.7z")
    assert found == {"a.7z/a.c": "a link, not a file", "a.7z/b.c": TEXT, "a.7z/c.c": b"c"}


@pytest.mark.sevenzip
def test_strange_names_in_a_7z_are_read(tmp_path: Path) -> None:
    """One of them is a link, so the program must be given the names of the others."""
    folder = tmp_path / "folder"
    folder.mkdir()
    names = [
        "*.c",
        "-x.c",
        "@list.c",
        "a b.c",
        'quo"te.c',
        "password.c",
        "ü.c",
        "dollar$.c",
        "[a].c",
        "Size = 5.c",
    ]
    for name in names:
        (folder / name).write_text(name)
    for options in ([], ["-snl"]):
        (folder / "link.c").unlink(missing_ok=True)
        if options:
            (folder / "link.c").symlink_to("/etc/passwd")
        found = opened("7z", seven_zipped(folder, *options), "a.7z")
        found.pop("a.7z/link.c", None)
        assert found == {f"a.7z/{name}": name.encode() for name in names}


@pytest.mark.sevenzip
def test_encrypted_7z_archives_are_reported(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.c").write_bytes(TEXT)
    why = "is encrypted; unpack it with its password and name the files"
    assert opened("7z", seven_zipped(folder, "-psecret"), "a.7z") == {"a.7z/a.c": why}
    assert opened("7z", seven_zipped(folder, "-psecret", "-mhe=on"), "a.7z") == {"a.7z": why}


def test_without_the_program_a_7z_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert opened("7z", b"", "a.7z") == {
        "a.7z": "is a 7z archive; install the program 7z, or unpack it yourself"
    }


HOSTILE = {
    "../../etc/passwd": "etc/passwd",
    "/etc/shadow": "etc/shadow",
    "C:\\Windows\\system.ini": "Windows/system.ini",
    "c:relative.c": "relative.c",
    "\\\\server\\share\\x.c": "server/share/x.c",
    "a/./b//../c.c": "a/b/c.c",
    "bell\x07\x1b[31m.c": "bell__[31m.c",
    "line\nbreak.c": "line_break.c",
    ".. /up.c": "up.c",
    "..": "unnamed",
}


@pytest.mark.parametrize(("path", "clean"), HOSTILE.items())
def test_no_path_leads_out_of_the_archive(path: str, clean: str) -> None:
    assert opened("zip", zipped({path: TEXT})) == {f"a.zip/{clean}": TEXT}
    assert opened("tar", tarred({path: TEXT})) == {f"a.zip/{clean}": TEXT}


def test_files_of_one_name_are_all_read() -> None:
    data = zip_of_raw([("a.c", *raw(content)) for content in (b"1", b"2", b"3")])
    found = opened("zip", data)
    assert found == {"a.zip/a.c": b"1", "a.zip/a (2).c": b"2", "a.zip/a (3).c": b"3"}


@pytest.mark.parametrize(("name", "flag"), [("größe.c", 0x800), ("größe.c", 0), ("日本.c", 0)])
def test_names_in_utf8_are_read_with_or_without_the_flag(name: str, flag: int) -> None:
    """Some programs, including the one on the Mac, do not set it."""
    data = zipped({name: TEXT})
    set_, unset = struct.pack("<H", 0x800), struct.pack("<H", 0)
    if not flag:
        data = data.replace(b"PK\x03\x04\x14\0" + set_, b"PK\x03\x04\x14\0" + unset)
        data = data.replace(b"PK\x01\x02\x14\x03\x14\0" + set_, b"PK\x01\x02\x14\x03\x14\0" + unset)
    assert opened("zip", data) == {f"a.zip/{name}": TEXT}


def test_names_in_the_encoding_of_dos_are_read() -> None:
    data = zipped({"gr__e.c": TEXT}).replace(b"gr__e.c", "größe.c".encode("cp437"))
    assert opened("zip", data) == {"a.zip/größe.c": TEXT}


def test_names_that_are_wrongly_marked_as_utf8_lose_no_file() -> None:
    data = zipped({"gröe.c": TEXT}).replace("gröe.c".encode(), b"gr\xff\xffe.c")
    assert TEXT in opened("zip", data).values()


def test_encrypted_and_strangely_packed_members_are_reported_and_the_others_read() -> None:
    data = bytearray(zipped({"a.c": TEXT, "b.c": TEXT, "c.c": TEXT}))
    entries = [i for i in range(len(data)) if data[i : i + 4] == b"PK\x01\x02"]
    data[entries[0] + 8] |= 1
    data[entries[1] + 10] = 9
    assert opened("zip", bytes(data)) == {
        "a.zip/a.c": "is encrypted; unpack it with its password and name the files",
        "a.zip/b.c": "is packed in a rare way (method 9); unpack it yourself",
        "a.zip/c.c": TEXT,
    }


def test_links_and_devices_are_reported_and_never_followed() -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        for name, type_ in (
            ("sym", tarfile.SYMTYPE),
            ("hard", tarfile.LNKTYPE),
            ("fifo", tarfile.FIFOTYPE),
            ("zero", tarfile.CHRTYPE),
            ("disk", tarfile.BLKTYPE),
            ("folder", tarfile.DIRTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = type_, "/etc/passwd"
            file.addfile(info)
    link, device = "a link, not a file", "a pipe or device, not a file"
    assert opened("tar", made.getvalue()) == {
        "a.zip/disk": device,
        "a.zip/fifo": device,
        "a.zip/hard": link,
        "a.zip/sym": link,
        "a.zip/zero": device,
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zip_:
        symlink = zipfile.ZipInfo("sym")
        symlink.external_attr = (stat.S_IFLNK | 0o777) << 16
        zip_.writestr(symlink, "/etc/passwd")
    assert opened("zip", made.getvalue()) == {"a.zip/sym": link}


def test_what_is_left_out_of_folders_is_left_out_of_archives() -> None:
    files = {
        "node_modules/x/y.js": TEXT,
        "node_modules/z.js": TEXT,
        "__MACOSX/._main.c": TEXT,
        "app/Cargo.toml": TEXT,
        "app/target/out.rs": TEXT,
        "env/pyvenv.cfg": TEXT,
        "env/lib/python3.12/x.py": TEXT,
        "miniconda/conda-meta/history": TEXT,
        "miniconda/bin/x.py": TEXT,
        "miniconda/lib/x.py": TEXT,
        "miniconda/include/x.h": TEXT,
        "target/main.c": TEXT,
        "main.class": TEXT,
    }
    assert opened("zip", zipped(files)) == {
        "a.zip/__MACOSX": "a system file, not the author's",
        "a.zip/app/Cargo.toml": TEXT,
        "a.zip/app/target": "build output",
        "a.zip/env": "build output",
        "a.zip/main.class": ".class files are not text",
        "a.zip/miniconda": "build output",
        "a.zip/node_modules": "build output",
        "a.zip/target/main.c": TEXT,
    }


def test_sparse_files_are_reported_and_the_others_read(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        for i in range(30):
            file.seek(i << 20)
            file.write(b"data")
        file.truncate(1 << 40)
    (tmp_path / "words").write_bytes(TEXT)
    for format_ in ("gnu", "posix"):
        made = tmp_path / f"{format_}.tar"
        subprocess.run(
            ["tar", "-S", f"--format={format_}", "-cf", made, "-C", tmp_path, "holes", "words"], check=True
        )
        found = opened("tar", made.read_bytes())
        assert found["a.zip/words"] == TEXT
        assert [why for why in found.values() if why != TEXT] == ["a sparse file; unpack it yourself"]


def test_two_hundred_folders_deep() -> None:
    path = "/".join(f"folder{i}" for i in range(200)) + "/a.c"
    assert opened("zip", zipped({path: TEXT})) == {f"a.zip/{path}": TEXT}
    assert opened("gzip", tarred({path: TEXT}, "w:gz")) == {f"a.zip/{path}": TEXT}


def test_an_empty_archive_has_no_members() -> None:
    assert opened("zip", zipped({})) == {"a.zip": "an empty archive"}
    assert opened("tar", tarred({})) == {"a.zip": "an empty archive"}


def test_members_are_not_recursed_into() -> None:
    inner = zipped({"a.c": TEXT})
    data = zipped({"inner.zip": inner})
    assert opened("zip", data) == {"a.zip/inner.zip": inner}
