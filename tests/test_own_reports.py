"""Reports of this program that lie among works are left out and listed; what only looks like one is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Document, Skipped
from chaffinch.cli import main
from chaffinch.read import own_reports as ours
from chaffinch.read import walk
from chaffinch.read.ready import expand
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
    return {Path(s.name).relative_to(folder).as_posix(): s.why for s in found}


def test_all_that_is_written_is_left_out_and_listed(works: Path) -> None:
    report = chaffinch.compare([works])
    assert report.pairs
    save(report, works / "report.html")
    save(report, works / "pages")
    case_file(report, report.pairs[0], works / "case.html")
    case_files(report, works / "pages" / "cases", 2)
    case_files(report, works / "report-cases", 2)
    (works / "pairs.csv").write_text(to_csv(report))
    (works / "verdicts.json").write_text(json.dumps(VERDICTS, indent=1) + "\n")
    assert len(list((works / "pages" / "data").iterdir())) > 3
    written = ("case.html", "pages", "pairs.csv", "report-cases", "report.html", "verdicts.json")
    assert skipped(works) == dict.fromkeys(written, ours.WHY)
    again = chaffinch.compare([works])
    assert again.pairs == report.pairs
    assert [s.why for s in again.skipped] == [ours.WHY] * len(written)


def test_a_report_without_pairs_is_one_too(works: Path) -> None:
    (works / "b.txt").unlink()
    (works / "c.txt").unlink()
    report = chaffinch.compare([works])
    save(report, works / "pages")
    (works / "pairs.csv").write_text(to_csv(report))
    assert skipped(works) == {"pages": ours.WHY, "pairs.csv": ours.WHY}


def test_a_case_file_that_a_browser_saved_is_one(works: Path) -> None:
    report = chaffinch.compare([works])
    case_file(report, report.pairs[0], works / "case.html")
    page = (works / "case.html").read_text()
    saved = page.replace('lang="en">\n<head>', 'lang="en"><head>').replace(
        "\n</body>\n</html>", "\n\n</body></html>"
    )
    (works / "case.html").write_text(saved)
    assert saved != page
    assert skipped(works) == {"case.html": ours.WHY}


def test_work_in_the_folder_of_a_report_is_read(works: Path) -> None:
    report = chaffinch.compare([works])
    save(report, works)
    assert skipped(works) == {"index.html": ours.WHY}
    assert [s.name for s in chaffinch.submissions([works])[0]] == ["a", "b", "c"]
    case_files(report, works / "cases", 2)
    assert skipped(works) == {"index.html": ours.WHY}
    (works / "cases" / "essay.txt").write_text(text(100, "among cases"))
    assert "cases" in [s.name for s in chaffinch.submissions([works])[0]]
    (works / "data" / "s1.js").write_text("let x = 1;\n")
    (works / "data" / "essay.txt").write_text(text(100, "hidden"))
    documents = [Path(d.name).name for s in chaffinch.submissions([works])[0] for d in s.documents]
    assert {"s1.js", "essay.txt"} <= set(documents)
    assert skipped(works)["index.html"] == skipped(works)["data/s0.js"] == ours.WHY


def test_links_and_folders_are_no_part_of_a_report(works: Path, tmp_path: Path) -> None:
    save(chaffinch.compare([works]), tmp_path / "pages")
    (tmp_path / "pages" / "data").rename(tmp_path / "elsewhere")
    (tmp_path / "pages" / "data").symlink_to(tmp_path / "elsewhere")
    assert not ours.report(tmp_path / "pages", {"index.html", "data"})
    (tmp_path / "pages" / "data").unlink()
    (tmp_path / "pages" / "data" / "s0.js").mkdir(parents=True)
    assert not ours.report(tmp_path / "pages", {"index.html", "data"})
    assert len(list(walk.files(tmp_path / "pages"))) == 2


ESSAY = text(100, "essay")
HEAD = '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' + ours.GENERATOR.decode()
COLUMNS = "left,right,score,coverage left,coverage right,surprise,longest,matches,symbols,repeats\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", COLUMNS + ESSAY),
        ("a.txt", COLUMNS + "ann,ben,1.0,1.0,1.0,7.5,90,1,90,0\n" + ESSAY),
        ("a.txt", COLUMNS + '"' + ESSAY),
        ("a.csv", "left,right,score,coverage left,coverage right,\nann,ben,much,more,most,\n"),
        ("a.html", f"{HEAD}\n</head><body><p>{ESSAY}</p></body></html>\n"),
        ("a.html", f"{HEAD}\n</head><body>\n<header class=\"top\">{ESSAY}</body></html>\n"),
        ("a.js", f'chaffinchChunk("s1",[]);\n// {ESSAY}\n'),
        ("s1.js", f'chaffinchChunk("s1",[]);\n// {ESSAY}\n'),
        ("s1.js", 'chaffinchChunk("s1", f(x) + g(x));\n'),
        ("s1.js", 'chaffinchChunk("s1",' + "[" * 100_000 + ");\n"),
        ("s2.js", 'chaffinchChunk("s1",[]);\n'),
        ("a.json", '{\n "kind": "chaffinch verdicts",\n "essay": "' + ESSAY + '"}'),
        ("a.json", '{\n "kind": "chaffinch verdicts",\n "version": 1, "verdicts": {"x": "' + ESSAY + '"}}'),
        ("a.json", '{\n "kind": "chaffinch verdicts",\n' + ESSAY),
    ],
)  # fmt: skip
def test_what_only_begins_like_a_report_is_read(name: str, data: str) -> None:
    (found,) = expand(Document(name, data.encode()))
    assert isinstance(found, Document)
    assert found.data == data.encode()


@pytest.mark.parametrize("command", ["submissions", "compare"])
def test_commands_tell_what_was_taken_for_a_report(works: Path, command: str) -> None:
    save(chaffinch.compare([works]), works / "pages")
    folder = str(works / "pages")
    done = CliRunner().invoke(main, [command, str(works), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["skipped"] == [{"name": folder, "why": ours.WHY}]
    (works / "report.csv").write_text(COLUMNS)
    output = ["-o", str(works.parent / "out.html")] if command == "compare" else []
    done = CliRunner().invoke(main, [command, *map(str, sorted(works.iterdir())), *output])
    assert done.exit_code == 0, done.output
    assert f"{folder}: {ours.WHY}" in done.output
    assert f"{works / 'report.csv'}: {ours.WHY}" in done.output


def test_a_report_given_alone_is_told(works: Path) -> None:
    save(chaffinch.compare([works]), works / "report.html")
    found = list(chaffinch.documents([works / "report.html"]))
    assert found == [Skipped(str(works / "report.html"), ours.WHY)]
