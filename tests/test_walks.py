"""A walk yields the files that someone wrote, always in the same order, whatever the folder holds."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaffinch.errors import SkipReason
from chaffinch.read import walk
from chaffinch.types import Skipped


def made(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words")
    return root


def walked(root: Path) -> dict[str, str]:
    """Return why each path was skipped, or an empty string, in order."""
    return {
        os.path.relpath(f.name if isinstance(f, Skipped) else f, root): f.detail
        if isinstance(f, Skipped)
        else ""
        for f in walk.files(root)
    }


def test_files_come_in_the_order_of_the_bytes_of_their_names(tmp_path: Path) -> None:
    names = ["B.c", "a/z.c", "a.c", "é.c", "b.c", "a/b/c.c", "Z/1.c", "日.c", "😀.c", "a0.c"]
    made(tmp_path, *names)
    assert list(walked(tmp_path)) == [
        "B.c",
        "Z/1.c",
        "a/b/c.c",
        "a/z.c",
        "a.c",
        "a0.c",
        "b.c",
        "é.c",
        "日.c",
        "😀.c",
    ]


def test_an_empty_folder_has_nothing(tmp_path: Path) -> None:
    assert walked(tmp_path) == {}


BUILT, HIDDEN = "build output", "hidden"
CONTROL, SYSTEM = "version control", "a system file, not the author's"


@pytest.mark.parametrize(
    ("name", "left_out", "why"),
    [
        (".git/config", ".git", CONTROL),
        ("CVS/Entries", "CVS", CONTROL),
        ("_darcs/x", "_darcs", CONTROL),
        (".svn/a", ".svn", CONTROL),
        (".hg/a", ".hg", CONTROL),
        (".vscode/a.json", ".vscode", HIDDEN),
        (".profile", ".profile", HIDDEN),
        ("__MACOSX/a.c", "__MACOSX", SYSTEM),
        (".DS_Store", ".DS_Store", SYSTEM),
        ("Thumbs.db", "Thumbs.db", SYSTEM),
        ("desktop.ini", "desktop.ini", SYSTEM),
        ("~$essay.docx", "~$essay.docx", SYSTEM),
        ("__pycache__/a.py", "__pycache__", BUILT),
        ("node_modules/a/b.js", "node_modules", BUILT),
        ("bower_components/a.js", "bower_components", BUILT),
        (".ipynb_checkpoints/a.ipynb", ".ipynb_checkpoints", BUILT),
        ("work.egg-info/x.txt", "work.egg-info", BUILT),
        ("lib/site-packages/a.py", "lib/site-packages", BUILT),
        ("cmake-build-debug/a.c", "cmake-build-debug", BUILT),
        ("DerivedData/a.c", "DerivedData", BUILT),
        ("Main.class", "Main.class", ".class files are not text"),
        ("junit.JAR", "junit.JAR", ".jar files are not text"),
        ("photo.jpeg", "photo.jpeg", ".jpeg files are not text"),
    ],
)
def test_files_that_nobody_wrote_are_skipped_and_listed_once(
    tmp_path: Path, name: str, left_out: str, why: str
) -> None:
    made(tmp_path, name, "main.c")
    if (tmp_path / left_out).is_dir():
        made(tmp_path / left_out, "second.c", "third/fourth.c")
    found = walked(tmp_path)
    assert found[left_out] == why
    assert found["main.c"] == ""
    assert [n for n in found if found[n]] == [left_out]


@pytest.mark.parametrize(
    ("sign", "folder"),
    [
        ("Cargo.toml", "target"),
        ("pom.xml", "target"),
        ("build.sbt", "target"),
        ("build.gradle", "build"),
        ("build.gradle.kts", "build"),
        ("CMakeLists.txt", "build"),
        ("pyproject.toml", "build"),
        ("setup.py", "dist"),
        ("package.json", "dist"),
        ("App.csproj", "bin"),
        ("App.sln", "obj"),
        ("App.iml", "out"),
    ],
)
def test_outputs_are_known_by_what_lies_beside_them(tmp_path: Path, sign: str, folder: str) -> None:
    made(tmp_path, f"with/{sign}", f"with/{folder}/a.c", f"without/{folder}/a.c", f"without/my{sign}.txt")
    assert walked(tmp_path) == {
        f"with/{folder}": BUILT,
        f"with/{sign}": "",
        f"without/{folder}/a.c": "",
        f"without/my{sign}.txt": "",
    }


def test_a_python_environment_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    made(tmp_path, "any name/pyvenv.cfg", "any name/lib/python3.12/a.py", "venv/a.py")
    made(tmp_path, "Windows/pyvenv.cfg", "Windows/Scripts/activate.bat", "Windows/Lib/a.py")
    assert walked(tmp_path) == {"any name": BUILT, "Windows": BUILT, "venv/a.py": ""}


def test_a_file_or_folder_of_an_environment_does_not_make_work_one(tmp_path: Path) -> None:
    work = ["ann/pyvenv.cfg", "ann/Main.java", "ben/conda-meta/history", "ben/lib/Main.java"]
    work += ["cyd/pyvenv.cfg", "cyd/lib/Main.java", "dan/pyvenv.cfg", "dan/bin/activate", "dan/src/Main.java"]
    assert walked(made(tmp_path, *work)) == dict.fromkeys(work, "")


def test_what_the_user_names_is_never_left_out(tmp_path: Path) -> None:
    made(tmp_path, ".hidden/a.c", "node_modules/b.c", "env/pyvenv.cfg", "env/lib/python3/c.py", ".profile")
    assert walked(tmp_path / ".hidden") == {"a.c": ""}
    assert walked(tmp_path / "node_modules") == {"b.c": ""}
    assert walked(tmp_path / "env") == {"lib/python3/c.py": "", "pyvenv.cfg": ""}
    assert list(walk.files(tmp_path / ".profile")) == [tmp_path / ".profile"]
    assert list(walk.files(tmp_path / "gone")) == [tmp_path / "gone"]


def test_links_lead_neither_in_circles_nor_out(tmp_path: Path) -> None:
    root, outside = made(tmp_path / "root", "a/main.c", "b/main.c"), made(tmp_path / "outside", "x.c")
    (root / "a" / "again").symlink_to(root)
    (root / "a" / "self").symlink_to("self")
    (root / "b" / "twin.c").symlink_to("main.c")
    (root / "b" / "out").symlink_to(outside)
    (root / "b" / "passwd").symlink_to("/etc/passwd")
    (root / "b" / "gone").symlink_to("nothing")
    inside, out = "a link to a file that is read under its own name", "a link out of the folder"
    found = walked(root)
    assert [n for n in found if not found[n]] == ["a/main.c", "b/main.c"]
    assert found["a/again"] == found["b/twin.c"] == inside
    assert found["a/self"] == found["b/gone"] == "a link that leads nowhere"
    assert found["b/out"].startswith(out)
    assert found["b/passwd"].startswith(out)


def test_a_link_that_the_user_names_is_followed(tmp_path: Path) -> None:
    made(tmp_path / "root", "a.c")
    (tmp_path / "link").symlink_to("root")
    assert walked(tmp_path / "link") == {"a.c": ""}


def test_pipes_sockets_and_devices_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert walked(tmp_path) == dict.fromkeys(["pipe", "socket"], "a pipe, socket or device, not a file")
    null = next(f for f in walk.files(Path("/dev")) if isinstance(f, Skipped) and f.name == "/dev/null")
    assert null.detail == "a pipe, socket or device, not a file"


def test_names_that_are_not_text(tmp_path: Path) -> None:
    for name in (b"\xff.c", b"a\nb.c", b"b\xe9.c"):
        (tmp_path / os.fsdecode(name)).write_text("words")
    found = [f for f in walk.files(tmp_path) if isinstance(f, Path)]
    assert [os.fsencode(f.name) for f in found] == [b"a\nb.c", b"b\xe9.c", b"\xff.c"]
    assert [f.read_text() for f in found] == ["words"] * 3


def test_folders_without_permission_are_reported_and_the_others_read(tmp_path: Path) -> None:
    """Runs as a user without rights, because root may read everything."""
    made(tmp_path, "a/x.c", "secret/x.c", "z/x.c")
    program = """
import os, sys
from pathlib import Path
from chaffinch.read import walk
from chaffinch.types import Skipped
if os.getuid() == 0:
    os.setuid(65534)
for found in walk.files(Path(".")):
    print(f"{found.name}: {found.detail}" if isinstance(found, Skipped) else found)
"""
    (tmp_path / "secret").chmod(0)
    tmp_path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    (tmp_path / "secret").chmod(0o755)
    assert done.stdout.splitlines() == ["a/x.c", "secret: no permission to read it", "z/x.c"], done.stderr


def test_files_and_folders_that_are_deleted_meanwhile_are_reported(tmp_path: Path) -> None:
    made(tmp_path, "a.c", "b/x.c", "c.c")
    walking = walk.files(tmp_path)
    assert next(walking) == tmp_path / "a.c"
    (tmp_path / "b" / "x.c").unlink()
    (tmp_path / "b").rmdir()
    assert list(walking) == [
        Skipped(str(tmp_path / "b"), SkipReason.NOT_FOUND, "was deleted before it could be read"),
        tmp_path / "c.c",
    ]


@pytest.fixture
def nest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Create deeply nested folders, and remove them afterwards, which Python cannot do."""

    def make(levels: int) -> None:
        monkeypatch.chdir(tmp_path)
        for _ in range(levels):
            Path("d").mkdir()
            os.chdir("d")
        Path("a.c").write_text("words")
        os.chdir(tmp_path)

    yield make
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("levels", [200, 1900])
def test_deep_folders_are_read(tmp_path: Path, nest: Callable[[int], None], levels: int) -> None:
    nest(levels)
    assert list(walked(tmp_path)) == ["d/" * levels + "a.c"]


@pytest.mark.slow
def test_folders_deeper_than_the_system_can_name_are_reported(
    tmp_path: Path, nest: Callable[[int], None]
) -> None:
    nest(2500)
    made(tmp_path, "z.c")
    *_, deep, last = walk.files(tmp_path)
    assert isinstance(deep, Skipped)
    assert deep.detail == "File name too long"
    assert last == tmp_path / "z.c"


@pytest.mark.slow
def test_many_files_take_little_memory(tmp_path: Path) -> None:
    for folder in range(20):
        (tmp_path / str(folder)).mkdir()
        for i in range(1000):
            os.mknod(tmp_path / str(folder) / f"{i}.c")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert sum(1 for _ in walk.files(tmp_path)) == 20_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 << 10
