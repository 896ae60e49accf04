"""Files that most of the class have are base code, and are listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

import chaffinch
from chaffinch import File
from chaffinch.cli import main
from chaffinch.report import anonymous_report, to_json
from chaffinch.report.pages.view import View
from chaffinch.types import CommonFile
from tests import made
from tests.programs import WRITERS, Style, functions

if TYPE_CHECKING:
    from tests.browsing import Open

pytest_plugins = "tests.browsing"

MAKEFILE = (
    b"all: main\n\tgcc -Wall -Wextra -O2 -o main main.c util.c list.c -lm\nclean:\n\trm -f main *.o core\n"
)


def program(seed: int, count: int = 6) -> bytes:
    return WRITERS["py"](functions(seed, count), Style()).encode()


def class_of(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def with_makefiles(tmp_path: Path) -> Path:
    """Return a class of twelve unrelated programs with the same Makefile."""
    files = {f"s{n:02}/main.py": program(n) for n in range(12)}
    return class_of(tmp_path / "class", files | {f"s{n:02}/Makefile": MAKEFILE for n in range(12)})


def test_a_file_that_everybody_has_lifts_no_pair(with_makefiles: Path) -> None:
    (with_makefiles / "s03" / "Makefile").write_bytes(MAKEFILE.replace(b"\n", b"\r\n"))
    report = chaffinch.compare([with_makefiles])
    assert report.common_files == (CommonFile("Makefile", 12),)
    assert report.pairs == ()
    assert len(report.submissions) == 12
    assert report.receipt.base == {}


@pytest.mark.parametrize(("owners", "total", "is_common"), [(6, 12, True), (6, 13, False), (5, 8, False)])
def test_half_of_the_class_and_six_of_them_must_have_it(
    tmp_path: Path, owners: int, total: int, is_common: bool
) -> None:
    files = {f"s{n:02}/main.py": program(n) for n in range(total)}
    files |= {f"s{n:02}/util.py": program(99) for n in range(owners)}
    report = chaffinch.compare([class_of(tmp_path, files)], threshold=0.1)
    assert report.common_files == ((CommonFile("util.py", owners),) if is_common else ())
    assert bool(report.pairs) != is_common


def test_what_is_copied_from_a_common_file_is_base_code_too(with_makefiles: Path) -> None:
    for name in ("s01", "s02"):
        (with_makefiles / name / "Makefile").write_bytes(MAKEFILE + b"# by " + name.encode())
    report = chaffinch.compare([with_makefiles])
    assert report.common_files == (CommonFile("Makefile", 10),)
    assert report.pairs == ()


def test_copies_are_listed_as_before(with_makefiles: Path) -> None:
    (with_makefiles / "s04" / "main.py").write_bytes(program(7))
    report = chaffinch.compare([with_makefiles])
    assert [(p.left, p.right, p.score) for p in report.pairs] == [("s04", "s07", 1)]


def test_base_code_that_is_named_stays_as_it_is(with_makefiles: Path) -> None:
    report = chaffinch.compare([with_makefiles], base=[with_makefiles / "s00" / "Makefile"])
    assert report.common_files == ()
    assert len(report.receipt.base) == 1
    assert report.pairs == ()


def test_earlier_work_owns_nothing(tmp_path: Path) -> None:
    new = {f"s{n}/main.py": program(n) for n in range(6)} | {f"s{n}/util.py": program(99) for n in range(4)}
    old = {f"o{n}/main.py": program(50 + n) for n in range(6)} | {
        f"o{n}/util.py": program(99) for n in range(6)
    }
    report = chaffinch.compare([class_of(tmp_path / "new", new)], old=[class_of(tmp_path / "old", old)])
    assert report.common_files == ()


def test_a_program_that_most_handed_in_is_named_with_those_who_have_nothing_else(tmp_path: Path) -> None:
    files = {f"s{n:02}/main.py": program(99 if n < 7 else n) for n in range(12)}
    files["s00/more.py"] = program(50)
    folder = class_of(tmp_path / "class", files)
    report = chaffinch.compare([folder])
    names = tuple(f"s{n:02}" for n in range(1, 7))
    assert report.common_files == (CommonFile("main.py", 7, names),)
    assert len(report.submissions) == 12
    assert report.pairs == ()
    output = tmp_path / "report.html"
    done = CliRunner().invoke(main, ["compare", str(folder), "-o", str(output)])
    assert "Taken as base code, because at least half have it: main.py (7 of 12)." in done.output
    assert "6 submissions have nothing else. If it was not handed out, they copied it" in done.output


def test_a_file_that_several_have_but_not_most_is_noted(tmp_path: Path) -> None:
    files = {f"s{n:02}/main.py": program(n) for n in range(16)}
    for number, owners in enumerate((7, 6, 6, 6, 5)):
        files |= {f"s{n:02}/part{number}.py": program(90 + number, 2) for n in range(owners)}
    folder = class_of(tmp_path / "class", files)
    report = chaffinch.compare([folder])
    detail = "the same in {} submissions; if it was handed out, name it with --base"
    assert [note.detail for note in report.notes] == [detail.format(n) for n in (7, 6, 6, 6)]
    assert report.notes[0].names == tuple(str(folder / f"s{n:02}" / "part0.py") for n in range(7))
    assert to_json(report)["notes"][0] == {"detail": detail.format(7), "names": list(report.notes[0].names)}
    assert len(View(report, anonymize=True, verdicts=None).index()["notes"]) == 4
    done = CliRunner().invoke(main, ["compare", str(folder), "-o", str(tmp_path / "report.html")])
    lines = [line for line in done.stderr.splitlines() if "--base" in line]
    assert lines[0] == f"chaffinch: {folder}/s00/part0.py and 6 more: {detail.format(7)}"
    assert len(lines) == 3
    assert "1 more file that several submissions have" in done.stderr
    assert chaffinch.compare([folder], base=[folder / "s00"]).notes == ()


def test_empty_files_are_not_common(tmp_path: Path) -> None:
    files = {f"s{n}/main.py": program(n) for n in range(8)} | {f"s{n}/__init__.py": b"\n" for n in range(8)}
    assert chaffinch.compare([class_of(tmp_path, files)]).common_files == ()


def test_a_class_of_essays_on_one_template(tmp_path: Path) -> None:
    essays = {f"s{n}/essay.txt": made.txt(made.prose(10, n)) for n in range(8)}
    cover = "\n".join(made.prose(3, 99)).encode()
    report = chaffinch.compare([class_of(tmp_path, essays | {f"s{n}/cover.txt": cover for n in range(8)})])
    assert [(file.name, file.owners) for file in report.common_files] == [("cover.txt", 8)]
    assert all(report.ignored[f"s{n}"] for n in range(8))


def test_a_language_that_is_not_compared_has_no_base_code(with_makefiles: Path) -> None:
    report = chaffinch.compare([with_makefiles], language="python")
    assert list(report.receipt.recipes) == ["python"]
    assert report.receipt.base_symbols == {"python": 0}
    assert report.common_files == ()


def test_they_are_in_the_data_of_the_report(tmp_path: Path) -> None:
    works = [File(f"{name}.py", program(1)) for name in ("ann", "ben", "cyd", "dan", "eve", "fay", "gus")]
    report = chaffinch.compare([*works, File("hal.py", program(2))])
    (file,) = to_json(report)["common_files"]
    assert (file["owners"], len(file["only"])) == (7, 7)
    (shown,) = View(report, anonymize=False, verdicts=None).index()["commonFiles"]
    assert [report.submissions[n].name for n in shown["only"]] == file["only"]
    hidden = anonymous_report(report)
    assert not any(name in json.dumps(to_json(hidden)["common_files"]) for name in ("ann", "ben", "gus"))
    assert set(hidden.common_files[0].only) <= {s.name for s in hidden.submissions}


def test_the_page_lists_them_and_puts_skipped_files_together(open_page: Open, with_makefiles: Path) -> None:
    for n in range(9):
        (with_makefiles / f"s{n:02}" / "yarn.lock").write_bytes(b"locked")
    page_file = with_makefiles.parent / "report.html"
    chaffinch.compare([with_makefiles]).save(page_file)
    page = open_page(page_file, "#/skipped")
    card = page.locator(".card", has_text="Files that most have")
    expect(card).to_contain_text("12 of 12")
    expect(card.locator("tbody")).to_contain_text("Makefile")
    skipped = page.locator(".card", has_text="Skipped files")
    expect(skipped.locator("tbody tr")).to_have_count(1)
    expect(skipped.locator("summary")).to_contain_text("s00/yarn.lock and 8 others")
    skipped.locator("summary").click()
    expect(skipped.locator("li").nth(8)).to_be_visible()
