"""Grades and notes beside a class are no submissions, and the class is found although they are there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import chaffinch
from chaffinch.cli import main
from chaffinch.errors import SkipReason
from tests.archives import zipped
from tests.made import prose
from tests.programs import WRITERS, Style, functions

Class = Callable[..., dict[str, str]]

GRADES = "name,mark,remark\n" + "\n".join(f"s{n:02},{n % 6},ok" for n in range(24))
README = "These are the submissions of the second assignment. Please grade them by Friday."


def program(seed: int) -> str:
    return WRITERS["py"](functions(seed, 6), Style())


def essay(seed: int) -> str:
    return "\n".join(prose(6, seed))


def programs(count: int = 8, folder: str = "") -> dict[str, str]:
    return {f"{folder}s{n:02}/main.py": program(n) for n in range(count)}


def essays(count: int = 8, folder: str = "") -> dict[str, str]:
    return {f"{folder}s{n:02}/essay.txt": essay(n) for n in range(count)}


def made(root: Path, files: dict[str, str], kind: str = "folder") -> Path:
    if kind == "zip":
        root.with_suffix(".zip").write_bytes(zipped({name: text.encode() for name, text in files.items()}))
        return root.with_suffix(".zip")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def read_of(*roots: Path, **patterns: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the names of the students, and why files are skipped, by their names."""
    submissions, skipped = chaffinch.submissions(roots, None, **patterns)
    assert {s.reason for s in skipped} <= {SkipReason.EXCLUDED}
    return [s.name for s in submissions], {Path(s.name).name: s.detail for s in skipped}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


STUDENTS = [f"s{n:02}" for n in range(8)]
BESIDE_CLASS, BESIDE_STUDENTS = "beside the folder of the class", "beside the folders of the students"


@pytest.mark.parametrize("kind", ["folder", "zip"])
@pytest.mark.parametrize("works", [programs, essays])
@pytest.mark.parametrize(
    "beside",
    [
        {"grades.csv": GRADES},
        {"README.txt": README},
        {"grades.csv": GRADES, "README.md": README, "notes.txt": README},
        {"the task.txt": README},
    ],
)
def test_files_beside_the_folder_of_the_class(
    tmp_path: Path, kind: str, works: Class, beside: dict[str, str]
) -> None:
    root = made(tmp_path / "w", works(folder="submissions/") | beside, kind)
    assert read_of(root) == (STUDENTS, dict.fromkeys(beside, BESIDE_CLASS))


def test_the_class_may_lie_deeper_and_be_archives_or_an_export(tmp_path: Path) -> None:
    deep = made(tmp_path / "deep", programs(folder="hw1/submissions/") | {"grades.csv": GRADES})
    assert read_of(deep) == (STUDENTS, {"grades.csv": BESIDE_CLASS})
    twice = made(tmp_path / "twice", programs(folder="hw1/all/") | {"a.csv": GRADES, "hw1/b.csv": GRADES})
    assert read_of(twice) == (STUDENTS, {"a.csv": BESIDE_CLASS, "b.csv": BESIDE_CLASS})
    packed = made(tmp_path / "packed", {"grades.csv": GRADES})
    (packed / "hw1.zip").write_bytes(zipped({name: text.encode() for name, text in programs().items()}))
    assert read_of(packed) == (STUDENTS, {"grades.csv": BESIDE_CLASS})
    canvas = {f"submissions/doe{c}_{n}45_{n}99_hw.py": program(n) for n, c in enumerate("abcd", 1)}
    exported = made(tmp_path / "canvas", canvas | {"grades.csv": GRADES})
    assert read_of(exported) == ([f"doe{c}" for c in "abcd"], {"grades.csv": BESIDE_CLASS})


def test_it_is_compared_as_one_class(tmp_path: Path) -> None:
    files = programs(folder="submissions/") | {"submissions/s03/main.py": program(5), "grades.csv": GRADES}
    done = run("compare", made(tmp_path / "w", files), "-o", tmp_path / "report.html")
    assert done.exit_code == 0
    assert "Compared: 8 submissions." in done.stdout
    assert "s03  -  s05" in done.stdout
    assert f"{tmp_path / 'w' / 'grades.csv'}: {BESIDE_CLASS}" in done.stderr


@pytest.mark.parametrize(
    ("files", "students"),
    [
        # One student handed in a folder, and the others files.
        ({f"ann/part{n}/a.py": program(n) for n in range(5)} | {"ben.py": program(7)}, ["ann", "ben"]),
        ({f"ann/part{n}/a.txt": essay(n) for n in range(5)} | {"ben.txt": essay(7), "cyd.txt": essay(8)}, None),
        # A folder of files, or with too few folders, is the work of one student.
        ({"ann/a.py": program(1), "ann/b.py": program(2), "ann/c.py": program(3), "ben.txt": essay(1)}, None),
        ({"ann/x/a.py": program(1), "ann/y/b.py": program(2), "ben.txt": essay(1)}, None),
    ],
)
def test_a_folder_and_files_of_students_stay_a_class(
    tmp_path: Path, files: dict[str, str], students: list[str] | None
) -> None:
    students = students or sorted({Path(name).parts[0].removesuffix(".txt") for name in files})
    assert read_of(made(tmp_path, files)) == (students, {})


@pytest.mark.parametrize("works", [programs, essays])
@pytest.mark.parametrize("name", ["grades.csv", "README.txt", "notes.txt", "roster.json"])
def test_a_file_of_grades_or_notes_beside_many_students_is_skipped(
    tmp_path: Path, works: Class, name: str
) -> None:
    root = made(tmp_path, works() | {name: GRADES if name == "grades.csv" else README})
    assert read_of(root) == (STUDENTS, {name: BESIDE_STUDENTS})
    assert len(read_of(root, include=[name])[0]) == 9


def test_an_assignment_beside_programs_is_skipped(tmp_path: Path) -> None:
    root = made(tmp_path, programs() | {"the task.html": f"<p>{README}</p>"})
    assert read_of(root) == (STUDENTS, {"the task.html": BESIDE_STUDENTS})


@pytest.mark.parametrize(
    ("works", "name", "text"),
    [
        (essays(), "zoe.txt", essay(50)),
        (essays(), "zoe.html", essay(50)),
        (programs(), "zoe.py", program(50)),
        (programs() | {f"s{n:02}/report.txt": essay(n) for n in range(8)}, "zoe.txt", essay(50)),
        ({f"s{n:02}/data.csv": GRADES + f"\nx,{n},y" for n in range(8)}, "zoe.csv", GRADES),
        (programs(4), "zoe.txt", essay(50)),
        (programs(4), "grades.csv", GRADES),
    ],
)
def test_a_student_may_hand_in_a_file_where_others_have_folders(
    tmp_path: Path, works: dict[str, str], name: str, text: str
) -> None:
    students, skipped = read_of(made(tmp_path, works | {name: text}))
    assert Path(name).stem in students
    assert skipped == {}


def test_where_many_hand_in_files_none_is_skipped(tmp_path: Path) -> None:
    notes = {f"{name}.csv": GRADES + name for name in ("x", "y", "z")}
    assert read_of(made(tmp_path, programs() | notes))[1] == {}


def test_files_of_an_export_are_always_students(tmp_path: Path) -> None:
    folders = {
        f"Student {c}_{n}45_assignsubmission_file/main.py": program(n) for n, c in enumerate("abcdef", 1)
    }
    files = {"Notes Nell_945_assignsubmission_onlinetext.html": README, "grades.csv": GRADES}
    students, skipped = read_of(made(tmp_path, folders | files))
    assert students == ["Notes Nell", *(f"Student {c}" for c in "abcdef")]
    assert skipped == {"grades.csv": BESIDE_STUDENTS}


def test_several_paths_that_are_students_keep_their_files(tmp_path: Path) -> None:
    for name in ("ann", "ben"):
        files = {f"{name}{n}/a.py": program(n) for n in range(6)} | {"README.txt": README}
        made(tmp_path / name, files)
    made(tmp_path / "cyd", {"src/a.py": program(9), "README.txt": README})
    submissions, skipped = chaffinch.submissions(sorted(tmp_path.iterdir()))
    assert [(s.name, len(s.documents)) for s in submissions] == [("ann", 7), ("ben", 7), ("cyd", 2)]
    assert skipped == []


def test_sections_named_as_paths_are_one_class(tmp_path: Path) -> None:
    made(tmp_path / "Section A", {f"a{n}/main.py": program(n) for n in range(6)} | {"grades.csv": GRADES})
    made(tmp_path / "Section B", {f"b{n}/main.py": program(n + 6) for n in range(6)})
    students, skipped = read_of(tmp_path / "Section A", tmp_path / "Section B")
    assert students == [f"{section}{n}" for section in "ab" for n in range(6)]
    assert skipped == {"grades.csv": BESIDE_STUDENTS}


def test_base_code_is_read_whole(tmp_path: Path) -> None:
    base = made(tmp_path / "base", programs(folder="given/") | {"README.txt": README, "grades.csv": GRADES})
    report = chaffinch.compare([made(tmp_path / "class", programs())], base=[base])
    assert len(report.receipt.base) == 10


def sections(folder: str = "") -> dict[str, str]:
    return {f"{folder}Section {s}/{s}{n}/main.py": program(n) for s in "AB" for n in range(5)}


def test_sections_of_a_class_get_a_hint(tmp_path: Path) -> None:
    root = made(tmp_path / "w", sections() | {"Section A/grades.csv": GRADES})
    done = run("compare", root, "-o", tmp_path / "report.html")
    assert "Compared: 2 submissions." in done.stdout
    hint = f"chaffinch compare '{root}/Section A' '{root}/Section B'"
    assert done.stderr.splitlines()[-1].endswith(hint)
    assert hint in run("compare", root, "--json").stderr
    hidden = run("compare", root, "--anonymize", "-o", tmp_path / "hidden.html").stderr
    assert "name each of them as a path" in hidden
    assert "Section" not in hidden
    both = run("compare", root / "Section A", root / "Section B", "-o", tmp_path / "report.html")
    assert "Compared: 10 submissions." in both.stdout
    assert "sections of a class" not in both.stderr
    packed = made(tmp_path / "packed", sections(), "zip")
    assert "unpack the archive" in run("compare", packed, "-o", tmp_path / "report.html").stderr


def test_projects_with_folders_get_no_hint(tmp_path: Path) -> None:
    names = ("src", "tests", "lib", "tools")
    files = {f"{s}/{name}/main.py": program(n) for s in ("ann", "ben") for n, name in enumerate(names)}
    assert (
        "sections of a class"
        not in run("compare", made(tmp_path / "w", files), "-o", tmp_path / "r.html").stderr
    )
