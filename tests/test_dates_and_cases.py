"""Dates of submissions, from a table to the pages, and case files of the first pairs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import chaffinch
from chaffinch import File
from chaffinch.comparison.dates import from_csv, iso
from chaffinch.errors import Unreadable
from chaffinch.report import case_files, save, to_json
from chaffinch.types import Cluster, Report
from tests.made_reports import SORTING, pair, report, submission

if TYPE_CHECKING:
    from tests.browsing import Open

pytest_plugins = "tests.browsing"

OTHER = "def area(width, height):\n    total = 0\n    for _ in range(height):\n        total += width\n"


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    done = [sys.executable, "-m", "chaffinch", *map(str, arguments)]
    return subprocess.run(done, capture_output=True, text=True, encoding="utf-8")


@pytest.fixture
def classroom(tmp_path: Path) -> Path:
    """Three submissions with the same program, and one with another."""
    work = {"Anna": SORTING, "bert": SORTING.replace("merged", "joined"), "Zoë": SORTING, "carl": OTHER * 3}
    for name, text in work.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "main.py").write_text(text, "utf-8")
    return tmp_path / "class"


def table(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    (folder / "dates.csv").write_bytes(text.encode(encoding))
    return folder / "dates.csv"


ROWS = [
    ["id", "Student", "Submitted_At"],
    ["1", "anna", "2026-03-01T14:05"],
    ["", "", ""],
    ["2", "BERT", "2026-03-01 14:05:59.5+02:00"],
    ["3", "Zoe\u0308", "20260302"],
    ["4", "nobody", "2026-03-01"],
    ["5", "carl", "01.03.2026"],
    ["6", "Anna", "2026-03-04"],
    ["7"],
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_dates_go_from_a_table_to_json(classroom: Path, tmp_path: Path, delimiter: str, encoding: str) -> None:
    path = table(tmp_path, "\r\n".join(delimiter.join(row) for row in ROWS), encoding)
    done = command("compare", classroom, "--json", "--metadata", path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["dates"] == {
        "Anna": "2026-03-01T14:05:00",
        "bert": "2026-03-01T14:05:59+02:00",
        "Zoë": "2026-03-02",
    }
    assert [(s["name"], s["detail"]) for s in result["skipped"]] == [
        (f"row 6 of {path}", "no submission has this name"),
        (f"row 7 of {path}", "not a date such as 2026-03-01 or 2026-03-01T14:05"),
        (f"row 8 of {path}", "this submission already has a date, from a row above"),
        (f"row 9 of {path}", "no submission has this name"),
    ]


@pytest.mark.parametrize(
    ("text", "encoding", "why"),
    [
        ("", "utf-8", "must name a column of names (one of submission, "),
        ("student,grade\nanna,1\n", "utf-8", "must name a column of names (one of submission, "),
        ("anna,2026-03-01\n", "utf-8", "must name a column of names (one of submission, "),
        ("name,date\nZoë,2026-03-01\n", "latin-1", "not UTF-8"),
        ("name,date\n" + "x" * 200_000 + ",2026-03-01\n", "utf-8", "not a table"),
    ],
)
def test_bad_tables_are_an_error_before_anything_is_compared(
    classroom: Path, tmp_path: Path, text: str, encoding: str, why: str
) -> None:
    done = command(
        "compare", classroom, "-o", tmp_path / "r.html", "--metadata", table(tmp_path, text, encoding)
    )
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "r.html").exists()


def test_a_missing_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no such file"):
        from_csv(tmp_path / "dates.csv")


def test_cells_may_have_lines_and_quotes(tmp_path: Path) -> None:
    path = table(tmp_path, 'name,note,time\n"Lee, Ann","two\nlines, ""quoted""",2026-03-01\n\nBo,,2026-03-02\n')
    assert from_csv(path) == [
        (f"row 2 of {path}", "Lee, Ann", "2026-03-01"),
        (f"row 4 of {path}", "Bo", "2026-03-02"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01", "2026-03-01"),
        ("2026-W09-7", "2026-03-01"),
        ("2026-03-01T14:05Z", "2026-03-01T14:05:00+00:00"),
        ("2026-03-01t14:05:07,25-0330", "2026-03-01T14:05:07-03:30"),
        ("2026-02-30", None),
        ("2026-03-01-05", None),
        ("2026-03-01T25:00", None),
        ("1/3/2026", None),
        ("T", None),
        ("", None),
    ],
)
def test_dates_are_iso_8601(text: str, expected: str | None) -> None:
    assert iso(text) == expected


def test_dates_in_python() -> None:
    works = [File(name, SORTING.encode()) for name in ("ann.py", "Ben.py", "BEN.py")]
    dates = {"ANN": "2026-03-01", "ben": "2026-03-01", "BEN": "2026-03-02", "x": "2026-03-01"}
    result = chaffinch.compare(works, dates=dates)
    assert dict(result.dates) == {"ann": "2026-03-01", "BEN": "2026-03-02"}
    assert [(s.name, s.detail) for s in result.skipped] == [
        ("date of ben", "several submissions have this name"),
        ("date of x", "no submission has this name"),
    ]
    without = chaffinch.compare(works)
    assert without.dates == {}
    assert replace(result, dates={}, skipped=()) == without


@pytest.fixture(scope="module")
def dated() -> Report:
    """A cluster of two, one of twenty of which one has no date, and a dated submission in no cluster."""
    names = ["Anna", "Bert <b>", *(f"student {n}" for n in range(20)), "Zoe"]
    works = [submission(name, {f"{n}.py": SORTING}) for n, name in enumerate(names)]
    days = {name: f"2026-03-{1 + n % 3:02}" for n, name in enumerate(names[2:21])}
    return replace(
        report(
            works,
            [pair(works[0], works[1]), pair(works[2], works[3])],
            clusters=[Cluster(("Anna", "Bert <b>"), 0.9), Cluster(tuple(names[2:22]), 0.8)],
        ),
        dates={
            "Anna": "2026-03-01T14:05:00",
            "Bert <b>": "2026-03-02T09:30:00+00:00",
            **days,
            "Zoe": "2026-03-09",
        },
    )


@pytest.mark.parametrize("dark", [False, True])
def test_the_timeline_shows_every_date_of_a_cluster(
    dated: Report, open_page: Open, tmp_path: Path, dark: bool
) -> None:
    save(dated, tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", dark=dark)
    card = page.locator(".card").filter(has_text="Timeline")
    expect(card).to_contain_text("Handing in first does not prove who copied.")
    expect(card.locator("a")).to_have_count(2 + 19)
    expect(card.get_by_text("1 without a date")).to_be_visible()
    expect(card.get_by_text("Bert <b>", exact=True)).to_be_visible()
    anna, bert = (
        card.get_by_role("link", name=name) for name in ("Anna, 2026-03-01 14:05", "Bert <b>, 2026-03-02")
    )
    boxes = [link.locator("circle").bounding_box() for link in (anna, bert)]
    assert boxes[0]
    assert boxes[1]
    assert boxes[0]["x"] < boxes[1]["x"]
    places = card.locator("circle").evaluate_all(
        "all => all.map((c) => [c.cx.baseVal.value, c.cy.baseVal.value].join())"
    )
    assert len(set(places)) == 21  # no dot hides another
    shy = card.get_by_role("link", name="student 7,")
    expect(shy.locator("text")).to_have_css("opacity", "0")
    shy.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(shy.locator("text")).to_have_css("opacity", "1")
    assert (
        len({card.locator(s).first.evaluate("e => getComputedStyle(e).fill") for s in ("circle", "a text")})
        == 2
    )
    page.emulate_media(media="print")
    expect(bert.locator("circle")).to_be_visible()
    assert page.evaluate("document.querySelector('.timeline').getBoundingClientRect().right <= innerWidth")
    page.emulate_media(media="screen")
    bert.click()
    expect(page.locator("h1")).to_have_text("Bert <b>")


def test_pairs_and_submissions_show_their_dates(dated: Report, open_page: Open, tmp_path: Path) -> None:
    save(dated, tmp_path / "folder")
    page = open_page(tmp_path / "folder" / "index.html", "#/pair/0")
    under = page.locator(".pair-dates span")
    expect(under).to_have_text(["handed in 2026-03-01 14:05", "handed in 2026-03-02 09:30 UTC"])
    for name, date in zip(page.locator(".names .name").all(), under.all(), strict=True):
        above, below = name.bounding_box(), date.bounding_box()
        assert above
        assert below
        assert abs(above["x"] - below["x"]) < 2
        assert above["y"] + above["height"] <= below["y"] + 2
    expect(page.locator(".position")).to_have_text("1 match")
    page.evaluate("location.hash = '#/submissions'")
    expect(page.locator("thead th").nth(1)).to_have_text("Handed in")
    rows = page.locator("tbody tr")
    expect(rows.nth(0).locator(".date")).to_have_text("2026-03-01 14:05")
    expect(rows.nth(21).locator(".date")).to_have_text("–")
    page.get_by_label("Search").fill("zoe")
    expect(page.locator("tbody tr:visible .date")).to_have_text("2026-03-09")


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-03-01"])
def test_any_date_can_be_drawn(dated: Report, open_page: Open, tmp_path: Path, date: str) -> None:
    for dates in ({"Anna": date}, {"Anna": date, "Bert <b>": "2026-03-01T10:00:00"}):
        save(replace(dated, dates=dates), tmp_path / "report.html")
        expect(open_page(tmp_path / "report.html").locator(".timeline a")).to_have_count(len(dates))
    save(replace(dated, dates={"Zoe": date}), tmp_path / "report.html")  # in no cluster
    page = open_page(tmp_path / "report.html")
    expect(page.locator(".pairs tbody tr")).to_have_count(2)
    expect(page.locator(".timeline")).to_have_count(0)


def test_a_report_without_dates_contains_no_code_for_them(dated: Report, tmp_path: Path) -> None:
    save(replace(dated, dates={}), tmp_path / "report.html")
    save(replace(dated, dates={"somebody": "2026-03-01"}), tmp_path / "other.html")
    assert "imeline" not in (tmp_path / "report.html").read_text("utf-8")
    assert (tmp_path / "other.html").read_bytes() == (tmp_path / "report.html").read_bytes()
    assert "dates" not in to_json(replace(dated, dates={}))
    assert to_json(dated)["dates"]["Anna"] == "2026-03-01T14:05:00"


@pytest.mark.parametrize(("output", "folder"), [("a/x.html", "a/x-cases"), ("out", "out/cases")])
def test_case_files_are_written_beside_the_report(
    classroom: Path, tmp_path: Path, output: str, folder: str
) -> None:
    done = command("compare", classroom, "-o", tmp_path / output, "--cases", 2)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / folder) in done.stdout
    names_written = sorted(path.name for path in (tmp_path / folder).iterdir())
    assert [name[:3] for name in names_written] == ["01 ", "02 "]
    assert all(re.fullmatch(r"0\d (Anna|bert|Zoë) - (Anna|bert|Zoë)\.html", name) for name in names_written)
    (tmp_path / folder / "notes.html").write_text("mine", "utf-8")
    (tmp_path / folder / "03.html").write_text("mine too", "utf-8")
    dates = table(tmp_path, "name,date\nAnna,2026-03-01\nWinfried,2026-03-01\nZoë,Winfried\n")
    again = command(
        "compare", classroom, "-o", tmp_path / output, "--cases", 1, "--anonymize", "--metadata", dates
    )
    assert again.returncode == 0, again.stderr
    assert sorted(path.name for path in (tmp_path / folder).iterdir()) == ["01.html", "03.html", "notes.html"]
    pages = [tmp_path / folder / "01.html", tmp_path / output]
    for page in (p if p.is_file() else p / "index.html" for p in pages):
        assert not re.search("anna|bert|zoë|winfried", page.read_text("utf-8"), re.I), page


def test_case_files_need_a_report(classroom: Path) -> None:
    done = command("compare", classroom, "--json", "--cases", 1)
    assert done.returncode == 2
    assert "--output" in done.stderr


def test_names_of_case_files_are_safe_everywhere(tmp_path: Path) -> None:
    hostile = ["../../etc", "CON", 'a\\b:c*?"<>|\n\0\x7f\u202e', "nul.", " . ", "", "\udcff"]
    names = [*hostile, "𝔞" * 300, "ü" * 300, "A", "a"]
    works = [submission(name, {f"{n}.py": SORTING}) for n, name in enumerate(names)]
    all_pairs = report(works, [pair(a, b) for a, b in combinations(works, 2)])
    case_files(all_pairs, tmp_path / "cases", 200)
    names_written = sorted(path.name for path in (tmp_path / "cases").iterdir())
    assert len({name.casefold() for name in names_written}) == len(all_pairs.pairs) == 55
    assert list(tmp_path.iterdir()) == [tmp_path / "cases"]
    for name in names_written:
        assert re.fullmatch(r'\d\d [^<>:"/\\|?*]+[^ .]\.html', name), name
        assert name.isprintable()
        assert len(name) <= 100
        assert len(name.encode()) <= 255
