"""Work in folders whose names say that nobody wrote it is read if it is most of what a student has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archives import zipped
from tests.test_untidy_folders import made, program, read_of, run


@pytest.mark.parametrize("folder", ["build", "dist", "venv", "vendor", "third_party"])
@pytest.mark.parametrize(
    "stub", ["", "x = 1\n", "# just a comment\n" * 500, f'"""{"Words of a comment. " * 500}"""\n']
)
def test_a_folder_with_most_of_the_code_is_read(tmp_path: Path, folder: str, stub: str) -> None:
    work = {f"ann/{folder}/main.py": program(1), "ann/stub.py": stub, "ben/main.py": program(2)}
    documents, skipped = read_of(made(tmp_path, work))
    assert sorted(documents["ann"]) == sorted([f"ann/{folder}/main.py", "ann/stub.py"])
    assert skipped == {}


def test_a_folder_is_measured_by_itself(tmp_path: Path) -> None:
    large = "".join(program(seed) for seed in range(10))
    work = {
        "ann/main.py": program(1),
        "ann/dist/main.py": program(2),
        "ann/vendor/a.py": large,
        "ben/b.py": "x",
    }
    documents, skipped = read_of(made(tmp_path, work))
    assert documents["ann"] == ["ann/main.py", "ann/vendor/a.py"]
    assert skipped == {"ann/dist": "build output"}


def test_a_package_called_build_is_no_build_output(tmp_path: Path) -> None:
    java = "package {};\n\npublic class {} {{ int x = {}; int y = 2; int z = 3; }}\n"
    work = {
        "ann/src/main/java/build/Main.java": java.format("build", "Main", 1),
        "ann/src/main/java/app/App.java": java.format("app", "App", 2),
        "ann/src/main/java/app/dist/Far.java": java.format("app.dist", "Far", 3),
        "ann/build/classes/app/App.java": java.format("app", "App", 4),
        "ben/Main.java": java.format("ben", "Main", 5),
    }
    documents, skipped = read_of(made(tmp_path, work))
    assert sorted(documents["ann"]) == sorted(path for path in work if path.startswith("ann/src"))
    assert skipped == {"ann/build": "build output"}


def class_of(tmp_path: Path, work: dict[str, str], kind: str) -> Path:
    """Write a class as a folder, inside another folder, or as an archive."""
    root = tmp_path / "class"
    if kind == "zip":
        root = tmp_path / "class.zip"
        root.write_bytes(zipped({path: text.encode() for path, text in work.items()}))
    else:
        made(root / "hw1" if kind == "wrapper" else root, work)
    return root


@pytest.mark.parametrize("name", ["node_modules", "__pycache__", "site-packages", "bower_components"])
@pytest.mark.parametrize("kind", ["folder", "wrapper", "zip"])
def test_a_student_may_be_called_like_build_output(tmp_path: Path, name: str, kind: str) -> None:
    work = {f"{name}/main.py": program(1), "ann/main.py": program(2), "ben/main.py": program(3)}
    work["ben/node_modules/a.py"] = program(4)
    root = class_of(tmp_path, work, kind)
    documents, skipped = read_of(root)
    assert sorted(documents) == sorted([name, "ann", "ben"])
    assert [Path(path).name for path in skipped] == ["node_modules"]


def test_build_output_beside_a_project_is_not_a_student(tmp_path: Path) -> None:
    made(tmp_path, {"package.json": "{}", "src/a.js": "let x = 1", "node_modules/x/b.js": "let y = 2"})
    assert read_of(tmp_path)[1] == {"node_modules": "build output"}
    made(tmp_path / "class", {"ann/a.py": program(1), "ben/b.py": program(2), "__pycache__/a.pyc": "x"})
    assert read_of(tmp_path / "class")[1] == {"__pycache__": "build output"}
    (tmp_path / "two").mkdir()
    inner = zipped({"node_modules/b.js": b"let y = 2", "src/a.js": b"let x = 1"})
    (tmp_path / "two" / "ann.zip").write_bytes(inner)
    (tmp_path / "two" / "ben.zip").write_bytes(inner)
    assert set(read_of(tmp_path / "two")[1]) == {"ann.zip/node_modules", "ben.zip/node_modules"}


@pytest.mark.parametrize("kind", ["folder", "wrapper", "zip"])
@pytest.mark.parametrize("inner", ["", "src/"])
def test_what_patterns_leave_of_a_class_is_one_student(tmp_path: Path, kind: str, inner: str) -> None:
    work = {f"{s}/{inner}{f}.py": program(n) for n, s in enumerate(("ann", "ben", "cy")) for f in ("a", "b")}
    work["ann/lib/c.py"] = program(9)
    root = class_of(tmp_path, work, kind)
    assert list(read_of(root, exclude=["cy", "ben"])[0]) == ["ann"]
    done = run("compare", root, "--exclude", "cy", "--exclude", "ben", "-o", tmp_path / "report.html")
    assert done.returncode == 2
    assert "only one submission" in done.stderr


def test_a_folder_beside_the_class_can_be_excluded(tmp_path: Path) -> None:
    made(tmp_path, {"hw/ann/a.py": program(1), "hw/ben/b.py": program(2), "solution/s.py": program(3)})
    assert list(read_of(tmp_path, exclude=["solution"])[0]) == ["ann", "ben"]
