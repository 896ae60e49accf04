"""Work in folders whose names say that nobody wrote it is read if it is most of what a student has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_untidy_folders import made, program, read_of


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
