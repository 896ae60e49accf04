"""The demo: every copy in it is found, and nothing else is listed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from chaffinch.cli.demo import COPIES, write
from chaffinch.comparison.compare import compare
from chaffinch.errors import Unreadable
from chaffinch.types import Report

PACKAGE = Path(__file__).parent.parent / "src" / "chaffinch"
DATA = PACKAGE / "cli" / "demo_class"
STUDENTS, EARLIER = 14, 3


def run(folder: Path, threshold: float | None) -> Report:
    return compare([folder / "class"], base=[folder / "base"], old=[folder / "last year"], threshold=threshold)


def chaffinch(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chaffinch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    new = tmp_path_factory.mktemp("demo") / "a new" / "folder"
    assert write(new) == list(COPIES.values())
    return new


@pytest.fixture(scope="module")
def everything(folder: Path) -> Report:
    """Return a report of every pair that shares anything."""
    return run(folder, 0)


def test_it_writes_a_class_its_base_code_and_last_years_work(folder: Path) -> None:
    students = sorted((folder / "class").iterdir())
    assert len(students) == STUDENTS
    for student in [*students, *(folder / "last year").iterdir()]:
        program, essay = sorted(student.iterdir(), key=lambda file: file.stem == "essay")
        assert essay.name in ("essay.md", "essay.txt")
        assert program.suffix in (".py", ".java", ".c", ".js", ".ipynb")
    names = ["Starter.java", "assignment.md", "starter.c", "starter.py"]
    assert sorted(p.name for p in (folder / "base").iterdir()) == names
    for copied in COPIES.values():
        assert copied in (folder / "DEMO.txt").read_text("utf-8")


def test_every_file_is_read_in_its_own_language(everything: Report) -> None:
    assert everything.skipped == ()
    assert (len(everything.submissions), len(everything.old)) == (STUDENTS, EARLIER)
    languages = {s.name: {d.language for d in s.documents} - {"text"} for s in everything.submissions}
    assert sum(names == {"python"} for names in languages.values()) == 7  # the notebook is one of them
    assert all(len(names) == 1 for names in languages.values())


def test_programs_and_the_notebook_are_valid(folder: Path) -> None:
    for path in folder.rglob("*.py"):
        compile(path.read_text("utf-8"), str(path), "exec")
    cells = json.loads((folder / "class/grace-kim/statistics.ipynb").read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) < len(cells)
    compile("\n".join(code), "notebook", "exec")


def test_every_copy_ranks_above_all_independent_pairs(everything: Report) -> None:
    known = [(p.left, p.right) in COPIES for p in everything.pairs]
    assert sum(known) == len(COPIES)
    assert sum(known[: len(COPIES)]) == len(COPIES)
    assert len(known) > len(COPIES)  # so that there is something to rank above
    copied = [p.score for p, is_copy in zip(everything.pairs, known, strict=True) if is_copy]
    alone = [p.score for p, is_copy in zip(everything.pairs, known, strict=True) if not is_copy]
    assert min(copied) > max(alone) + 0.05


def test_without_a_threshold_only_the_copies_are_listed(folder: Path) -> None:
    assert {(p.left, p.right) for p in run(folder, None).pairs} == set(COPIES)


@pytest.mark.parametrize(("pair", "files"), [
    (("anna-mueller", "ben-okafor"), ("wordcount.py", "textstats.py")),
    (("joana-silva", "kofi-mensah"), ("textstat.c", "main.c")),
    (("hana-suzuki", "ibrahim-diallo"), ("TextStatistics.java", "Analyzer.java")),
    (("chen-wei", "grace-kim"), ("stats.py", "statistics.ipynb")),
    (("eleni-papadaki", "noah-williams"), ("essay.md", "essay.md")),
    (("lars-eriksen", "noah-williams"), ("essay.md", "essay.md")),
    (("diego-fernandez", "marek-novak"), ("analyse.py", "words.py")),
])  # fmt: skip
def test_the_best_match_is_in_the_files_that_were_copied(
    everything: Report, pair: tuple[str, str], files: tuple[str, str]
) -> None:
    (listed,) = [p for p in everything.pairs if (p.left, p.right) == pair]
    best = max(listed.matches, key=lambda match: match.symbols)
    assert best.left.document.endswith(f"{pair[0]}/{files[0]}")
    assert f"{pair[1]}/{files[1]}" in best.right.document


def test_another_run_gives_the_same_bytes(tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    write(demo)
    run(demo, 0.2).save(demo / "report.html")
    before = contents(demo)
    write(demo)
    run(demo, 0.2).save(demo / "report.html")
    assert contents(demo) == before


def test_an_earlier_demo_is_overwritten(tmp_path: Path) -> None:
    write(tmp_path)
    before = contents(tmp_path)
    (tmp_path / "class/ben-okafor/textstats.py").write_text("changed")
    (tmp_path / "base/starter.c").unlink()
    write(tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", ["thesis.txt", "DEMO.txt", "class/essay.md"])
def test_a_folder_with_other_files_is_refused_and_not_changed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("years of work")
    with pytest.raises(Unreadable, match="name a new or an empty folder"):
        write(tmp_path)
    assert contents(tmp_path) == {name: b"years of work"}
    done = chaffinch("demo", tmp_path, "--no-open")
    assert done.returncode == 2
    assert "name a new or an empty folder" in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(tmp_path) == {name: b"years of work"}


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("years of work")
    with pytest.raises(Unreadable, match="a file with this name"):
        write(tmp_path / "demo")
    assert (tmp_path / "demo").read_text() == "years of work"


def test_the_command_says_what_was_copied_and_where_the_report_is(tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    done = chaffinch("demo", demo, "--no-open")
    assert done.returncode == 0
    assert done.stderr == ""
    assert f"Report: {demo / 'report.html'}" in done.stdout
    assert (demo / "report.html").stat().st_size > 10_000
    for copied in COPIES.values():
        assert copied in done.stdout
    listed = re.findall(r"%.* ([\w-]+)  -  ([\w-]+)$", done.stdout, re.M)
    assert set(listed) == set(COPIES)
    first = (demo / "report.html").read_bytes()
    assert chaffinch("demo", demo, "--no-open").returncode == 0
    assert (demo / "report.html").read_bytes() == first


def test_a_zipped_package_can_write_it_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for path in [PACKAGE / "errors.py", PACKAGE / "cli" / "demo.py", *DATA.rglob("*.txt")]:
            archive.write(path, Path("chaffinch") / path.relative_to(PACKAGE))
        archive.writestr("chaffinch/__init__.py", "")
        archive.writestr("chaffinch/cli/__init__.py", "")
    program = (
        "from pathlib import Path; from chaffinch.cli import demo; "
        "print(demo.__file__); demo.write(Path('out'))"
    )
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, 'package.zip'); {program}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "package.zip" in done.stdout
    write(tmp_path / "plain")
    assert contents(tmp_path / "out") == contents(tmp_path / "plain")


def test_the_data_is_small_and_no_tool_mistakes_it_for_code() -> None:
    files = [p for p in DATA.rglob("*") if p.is_file()]
    assert {p.suffix for p in files} == {".txt"}
    assert sum(p.stat().st_size for p in files) < 120_000
