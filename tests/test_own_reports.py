"""Reports of this program among the works are skipped and listed, and change no result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Skipped
from chaffinch.cli import main
from chaffinch.errors import SkipReason
from chaffinch.read.own_reports import GENERATOR, OWN_REPORT, report_entries
from chaffinch.report import case_file, case_files, save, to_csv
from tests.indexed import text

VERDICTS = {"kind": "chaffinch verdicts", "version": 1, "verdicts": {"0" * 32: {"verdict": "no", "note": "x"}}}


@pytest.fixture
def works(tmp_path: Path) -> Path:
    """A folder with works that have something in common."""
    folder = tmp_path / "class"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text(text(200, "essay") + text(50, name))
    return folder


def skipped(folder: Path) -> dict[str, str]:
    found = chaffinch.submissions([folder])[1]
    return {Path(s.name).relative_to(folder).as_posix(): s.detail for s in found}


def test_all_that_is_written_is_left_out_and_listed(works: Path) -> None:
    report = chaffinch.compare([works])
    assert report.pairs
    save(report, works / "report.html")
    save(report, works / "pages")
    case_file(report, report.pairs[0], works / "case.html")
    (works / "pairs.csv").write_text(to_csv(report))
    (works / "verdicts.json").write_text(json.dumps(VERDICTS, indent=1) + "\n")
    assert {file.name for file in (works / "pages" / "data").iterdir()} == {
        "p0.js",
        "report.css",
        "report.js",
        "s0.js",
    }
    written = ("case.html", "pages", "pairs.csv", "report.html", "verdicts.json")
    assert skipped(works) == dict.fromkeys(written, OWN_REPORT.detail)
    again = chaffinch.compare([works])
    assert again.pairs == report.pairs
    assert [s.reason for s in again.skipped] == [SkipReason.OWN_REPORT] * len(written)


def test_json_output_of_an_earlier_run_is_one(works: Path) -> None:
    done = CliRunner().invoke(main, ["compare", str(works), "--json"])
    (works / "out.json").write_text(done.stdout)
    assert skipped(works) == {"out.json": OWN_REPORT.detail}


def test_case_files_are_listed_one_by_one(works: Path) -> None:
    case_files(chaffinch.compare([works]), works / "report-cases", 2)
    assert sorted(skipped(works)) == ["report-cases/01 b - c.html", "report-cases/02 a - b.html"]


def test_a_report_without_pairs_is_one_too(works: Path) -> None:
    for name in "abc":
        (works / f"{name}.txt").write_text(text(200, name))
    report = chaffinch.compare([works])
    assert report.pairs == ()
    save(report, works / "pages")
    (works / "pairs.csv").write_text(to_csv(report))
    assert skipped(works) == {"pages": OWN_REPORT.detail, "pairs.csv": OWN_REPORT.detail}


def test_a_case_file_that_a_browser_saved_is_one(works: Path) -> None:
    report = chaffinch.compare([works])
    case_file(report, report.pairs[0], works / "case.html")
    page = (works / "case.html").read_text()
    saved = page.replace('\n<html lang="en">\n<head>', '<!-- saved from a.b --><html lang="en"><head>').replace(
        "\n</body>\n</html>", "\n\n</body></html>"
    )
    (works / "case.html").write_text(saved)
    assert saved != page
    assert skipped(works) == {"case.html": OWN_REPORT.detail}


def test_work_in_the_folder_of_a_report_is_read(works: Path) -> None:
    save(chaffinch.compare([works]), works)
    assert skipped(works) == {"index.html": OWN_REPORT.detail}
    assert [s.name for s in chaffinch.submissions([works])[0]] == ["a", "b", "c"]
    (works / "data" / "essay.txt").write_text(text(100, "hidden"))
    documents = [Path(d.name).name for s in chaffinch.submissions([works])[0] for d in s.documents]
    assert "essay.txt" in documents
    assert skipped(works)["index.html"] == skipped(works)["data/s0.js"] == OWN_REPORT.detail


def test_links_are_no_part_of_a_report(works: Path, tmp_path: Path) -> None:
    save(chaffinch.compare([works]), tmp_path / "pages")
    (tmp_path / "pages" / "data").rename(tmp_path / "elsewhere")
    (tmp_path / "pages" / "data").symlink_to(tmp_path / "elsewhere")
    assert report_entries(tmp_path / "pages", {"index.html", "data"}) == {"index.html"}
    (tmp_path / "pages" / "index.html").rename(tmp_path / "page.html")
    (tmp_path / "pages" / "index.html").symlink_to(tmp_path / "page.html")
    assert not report_entries(tmp_path / "pages", {"index.html", "data"})


def test_an_essay_in_a_file_that_says_it_is_a_report_is_listed(works: Path) -> None:
    head = f"<!doctype html><html><head>{GENERATOR.decode()}</head>"
    (works / "d.html").write_text(f"{head}<p>{text(200, 'essay')}</p></html>")
    assert skipped(works) == {"d.html": OWN_REPORT.detail}
    (works / "d.html").write_text(f"<p>{text(400, 'essay')}</p>{GENERATOR.decode()}")
    assert skipped(works) == {}


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("d.java", f"//{GENERATOR.decode()}\n"),
        ("d.php", f"<!doctype html><html><head>{GENERATOR.decode()}</head>\n"),
        ("d.txt", f"{GENERATOR.decode()}\n"),
        ("d.html", f"<html><body><p>Words</p>{GENERATOR.decode()}\n"),
        ("d.txt", "left,right,score,coverage left,\n"),
        ("d.js", "chaffinchChunk();\n"),
        ("d.json", '{\n "pairs": [\n'),
    ],
)
def test_work_that_only_quotes_a_report_is_read(works: Path, name: str, start: str) -> None:
    (works / name).write_text(start + text(200, "essay"))
    assert skipped(works) == {}


@pytest.mark.parametrize("command", ["submissions", "compare"])
def test_commands_list_what_was_taken_for_a_report(works: Path, command: str) -> None:
    save(chaffinch.compare([works]), works / "pages")
    folder = str(works / "pages")
    done = CliRunner().invoke(main, [command, str(works), "--json"])
    assert done.exit_code == 0, done.output
    listed = {"name": folder, "reason": "own report", "detail": OWN_REPORT.detail}
    assert json.loads(done.stdout)["skipped"] == [listed]
    (works / "report.csv").write_text(to_csv(chaffinch.compare([works])))
    output = ["-o", str(works.parent / "out.html")] if command == "compare" else []
    done = CliRunner().invoke(main, [command, *map(str, sorted(works.iterdir())), *output])
    assert done.exit_code == 0, done.output
    assert f"{folder}: {OWN_REPORT.detail}" in done.output
    assert f"{works / 'report.csv'}: {OWN_REPORT.detail}" in done.output


def test_a_report_given_alone_is_listed(works: Path) -> None:
    save(chaffinch.compare([works]), works / "report.html")
    found = list(chaffinch.documents([works / "report.html"]))
    assert found == [Skipped(str(works / "report.html"), *OWN_REPORT)]
