"""Submissions that have nothing to compare are counted and shown as such."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import expect

import chaffinch
from chaffinch import File, NothingToCompare
from chaffinch.cli import main
from chaffinch.report import anonymous_report, to_json
from tests.archives import zipped
from tests.programs import WRITERS, Style, functions

if TYPE_CHECKING:
    from tests.browsing import Open

pytest_plugins = "tests.browsing"

BINARY = b"\x7fELF" + bytes(range(256))


def program(seed: int) -> bytes:
    return WRITERS["py"](functions(seed, 6), Style()).encode()


def made(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def untidy(tmp_path: Path) -> Path:
    """Return a class in which four of nine have nothing to compare."""
    files = {f"s{n}/main.py": program(n) for n in range(5)}
    files |= {"binary/a.out": BINARY, "comments/main.py": b"# to do\n", "zero/main.py": b""}
    (tmp_path / "class" / "no.files").mkdir(parents=True)
    return made(tmp_path / "class", files)


NOTHING = ("binary", "comments", "no.files", "zero")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_they_are_counted_apart(untidy: Path, tmp_path: Path) -> None:
    report = chaffinch.compare([untidy])
    assert report.nothing_to_compare == NOTHING
    assert [s.name for s in report.submissions] == sorted([*NOTHING, *(f"s{n}" for n in range(5))])
    assert to_json(report)["nothing_to_compare"] == list(NOTHING)
    done = run("compare", untidy, "-o", tmp_path / "report.html")
    assert "Compared: 5 submissions; 4 more have nothing to compare." in done.stdout
    (untidy / "zero" / "main.py").write_bytes(program(9))
    for name in NOTHING[:2]:
        made(untidy / name, {"main.py": program(len(name))})
    assert "8 submissions; 1 more has nothing" in run("compare", untidy, "-o", tmp_path / "report.html").stdout


def test_without_names_they_have_labels(untidy: Path) -> None:
    hidden = anonymous_report(chaffinch.compare([untidy]))
    assert len(hidden.nothing_to_compare) == 4
    assert set(hidden.nothing_to_compare) <= {s.name for s in hidden.submissions}
    assert not any(name in json.dumps(to_json(hidden)) for name in NOTHING)


def test_the_list_of_submissions_says_what_is_skipped_for_them(untidy: Path) -> None:
    lines = run("submissions", untidy).stdout.splitlines()
    binary = f"    nothing to compare: {untidy}/binary/a.out: binary, not text"
    assert lines[lines.index("binary") + 1] == binary
    assert lines[lines.index("no.files") + 1].endswith("no.files: an empty folder")
    described = json.loads(run("submissions", untidy, "--json").stdout)["submissions"]
    assert [s["name"] for s in described if "skipped" in s] == ["binary", "no.files"]


def test_the_pages_mark_them(open_page: Open, untidy: Path, tmp_path: Path) -> None:
    chaffinch.compare([untidy]).save(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", "#/submissions")
    expect(page.locator("tbody tr", has_text="nothing to compare")).to_have_count(4)
    expect(page.locator("tbody tr", has_text="binary")).to_contain_text("nothing to compare")
    page.get_by_role("link", name="binary").click()
    expect(page.locator("main")).to_contain_text("nothing to compare")


@pytest.mark.parametrize("text", [b"", b"# only a comment\n"])
def test_a_class_of_nothing_else_is_an_error(tmp_path: Path, text: bytes) -> None:
    folder = made(tmp_path / "class", {f"s{n}/main.py": text for n in range(4)})
    done = run("compare", folder, "-o", tmp_path / "report.html")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "4 submissions, and none has anything to compare. Skipped: " in done.stderr
    assert not (tmp_path / "report.html").exists()
    with pytest.raises(NothingToCompare):
        chaffinch.compare([folder])


def test_nobody_is_found_where_no_student_is(tmp_path: Path) -> None:
    files = {f"s{n}/main.py": program(n) for n in range(4)} | {"photo.png": BINARY, "marks.bin": BINARY}
    files |= {".git/config": b"x", "__MACOSX/s1/._main.py": b"x"}
    for root in (made(tmp_path / "class", files), tmp_path / "class.zip"):
        (tmp_path / "class.zip").write_bytes(zipped(files))
        submissions, _ = chaffinch.submissions([root])
        assert [s.name for s in submissions] == [f"s{n}" for n in range(4)]
        report = chaffinch.compare([root])
        assert report.nothing_to_compare == ()


def test_in_archives_exports_and_deeper_folders(tmp_path: Path) -> None:
    canvas = {f"doe{c}_{n}45_{n}99_hw.py": program(n) for n, c in enumerate("abc", 1)} | {
        "eve_945_999_hw.py": BINARY
    }
    exported = made(tmp_path / "canvas", canvas)
    assert chaffinch.compare([exported]).nothing_to_compare == ("eve",)
    slugs = {f"hw-one-{name}/main.py": program(len(name)) for name in ("al", "ben", "carl")}
    classroom = made(tmp_path / "hw-one-submissions", slugs | {"hw-one-eve/a.out": BINARY})
    assert [s.name for s in chaffinch.submissions([classroom])[0]] == ["al", "ben", "carl", "eve"]
    deep = made(
        tmp_path / "deep", {f"hw/all/s{n}/main.py": program(n) for n in range(3)} | {"hw/all/x/a.out": BINARY}
    )
    assert chaffinch.compare([deep]).nothing_to_compare == ("x",)
    packed = {f"s{n}/main.py": program(n) for n in range(3)} | {"x/a.out": BINARY}
    assert (
        chaffinch.compare([File("class.zip", zipped(packed)), File("b.py", program(9))]).nothing_to_compare
        == ()
    )
    (tmp_path / "class.zip").write_bytes(zipped(packed))
    assert chaffinch.compare([tmp_path / "class.zip"]).nothing_to_compare == ("x",)


def test_several_paths_may_be_students_with_nothing(tmp_path: Path) -> None:
    made(tmp_path, {"ann/a.py": program(1), "ann/b.py": program(2), "ben/a.out": BINARY})
    (tmp_path / "cyd").mkdir()
    paths = [tmp_path / name for name in ("ann", "ben", "cyd")]
    submissions, skipped = chaffinch.submissions(paths)
    assert [(s.name, len(s.documents)) for s in submissions] == [("ann", 2), ("ben", 0), ("cyd", 0)]
    assert len(skipped) == 2
    with pytest.raises(NothingToCompare, match="only one submission"):
        chaffinch.compare(paths)


def test_earlier_work_with_nothing_to_compare_does_not_count(untidy: Path, tmp_path: Path) -> None:
    new = made(tmp_path / "new", {"ann/main.py": program(20), "ben/main.py": program(21)})
    report = chaffinch.compare([new], old=[untidy])
    assert "binary" not in {s.name for s in report.old}
    assert report.nothing_to_compare == ()
