"""What goes wrong in comparing is reported, with an exit code that scripts can trust, and nothing is lost."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import File, Index
from chaffinch.cli import main
from chaffinch.comparison import compare as comparison
from chaffinch.errors import BadRecipe, Unreadable
from chaffinch.read.own_reports import OWN_REPORT
from chaffinch.report import case_file, save, to_json
from chaffinch.report.pages.view import View
from tests import indexed, made
from tests.programs import WRITERS, Style, functions

COMMAND = [sys.executable, "-m", "chaffinch"]


def program(seed: int, extension: str = "py", prefix: str = "v") -> str:
    return WRITERS[extension](functions(seed, 8), Style(prefix))


def class_of(folder: Path, work: dict[str, str]) -> Path:
    for name, text in work.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Return a class of three with one copy."""
    work = {"ann/a.py": program(1), "ben/b.py": program(1, prefix="w"), "cat/c.py": program(2)}
    return class_of(tmp_path / "class", work)


def compare(*arguments: object, cwd: Path | None = None, **settings: str) -> subprocess.CompletedProcess[bytes]:
    done = [*COMMAND, "compare", *map(str, arguments)]
    return subprocess.run(done, capture_output=True, cwd=cwd, env=os.environ | settings)


def listed(*arguments: object) -> set[tuple[str, str]]:
    done = compare(*arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    return {(pair["left"], pair["right"]) for pair in json.loads(done.stdout)["pairs"]}


@pytest.mark.parametrize("extension", ["py", "c", "java"])
def test_lines_may_end_with_a_carriage_return(extension: str, tmp_path: Path) -> None:
    text = program(1, extension).encode()
    for name, data in (("a", text), ("b", text.replace(b"\n", b"\r")), ("c", text.replace(b"\n", b"\r\n"))):
        (tmp_path / f"{name}.{extension}").write_bytes(data)
    report = chaffinch.compare([tmp_path])
    assert [(p.left, p.right, p.score) for p in report.pairs] == [("a", "b", 1), ("a", "c", 1), ("b", "c", 1)]
    (match,) = report.pairs[0].matches
    assert (match.left.start, match.left.end) == (match.right.start, match.right.end)


def test_only_the_language_asked_for_is_compared(tmp_path: Path) -> None:
    prose = "Nobody would take this for a program; yet it may be read as one, word by word. " * 20
    work = {f"{name}/main.c": program(1, "c") for name in ("ann", "ben")}
    work |= {f"{name}/essay.txt": prose for name in ("cat", "dan")}
    folder = class_of(tmp_path / "class", work)
    for asked in ("c", "c+names", "code"):
        assert listed(folder, "-l", asked) == {("ann", "ben")}, asked
    assert listed(folder) == {("ann", "ben"), ("cat", "dan")}
    unknown = class_of(tmp_path / "unknown", {name: program(1, "c") for name in ("a.foo", "b.foo")})
    assert listed(unknown, "-l", "c") == {("a", "b")}
    unknown_to_pygments = File("a", b"x" * 99, language="pygments:klingon")
    report = chaffinch.compare([unknown_to_pygments, File("b.c", b"int x;")])
    assert ("a", "no language 'pygments:klingon' is known") in [(s.name, s.detail) for s in report.skipped]


def test_each_year_of_earlier_work_is_a_class(two: Path, tmp_path: Path) -> None:
    for year in ("2024", "2025"):
        class_of(tmp_path / year, {"zed.py": program(int(year)), "yan.py": program(2 if year == "2024" else 7)})
    old = ("--old", tmp_path / "2024", "--old", tmp_path / "2025", "--old", tmp_path / "2024")
    assert listed(two, *old) == {("ann", "ben"), ("cat", "yan")}


@pytest.mark.parametrize("option", ["--base", "--old"])
def test_a_path_that_does_not_exist_is_an_error(option: str, two: Path, tmp_path: Path) -> None:
    done = compare(two, option, tmp_path / "typo", "-o", tmp_path / "r.html")
    assert done.returncode == 2
    assert b"typo: no such file" in done.stderr
    assert not (tmp_path / "r.html").exists()  # its result would not be the one asked for
    named: dict[str, Any] = {option[2:]: tmp_path / "typo"}
    with pytest.raises(Unreadable, match="typo: no such file"):
        chaffinch.compare(two, **named)


def test_a_failed_run_keeps_the_previous_report(two: Path, tmp_path: Path) -> None:
    report = tmp_path / "r.html"
    report.write_bytes(b"the good one")
    assert compare(tmp_path / "typo", "-o", report).returncode == 2
    assert report.read_bytes() == b"the good one"

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = subprocess.run(
        [*COMMAND, "compare", two, "-o", report], capture_output=True, text=True, preexec_fn=little_room
    )
    assert (done.returncode, report.read_bytes()) == (2, b"the good one")
    assert f"{report}: File too large" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "r.pdf"), "a report is a .html file or a folder"),
        (("-o", "r.html", "--csv", "r.html"), "--output and --csv are the same file"),
        (("-o", "mine"), "mine/index.html: not a Chaffinch report"),
        (("--csv", "mine"), "mine: is a folder; name a file"),
        (("-o", "mine/index.html/r.html"), "is a file, not a folder"),
        (("--verdicts", "nowhere.json", "--json"), "nowhere.json: No such file"),
        (("--threshold", "nan"), "choose one from 0 to 1"),
    ],
)
def test_impossible_options_are_errors(
    options: tuple[str, ...], message: str, two: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("<h1>My own</h1>")
    done = compare(two, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "mine" / "index.html").read_text() == "<h1>My own</h1>"


def test_interrupts_and_defects_have_their_own_exit_codes(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "slow.py")
    # A background shell ignores interrupts, and everything that these tests start would inherit that.
    waits = signal.signal(signal.SIGINT, signal.SIG_DFL)
    started = subprocess.Popen([*COMMAND, "compare", two, tmp_path / "slow.py"], stderr=subprocess.PIPE)
    signal.signal(signal.SIGINT, waits)
    with (tmp_path / "slow.py").open("wb"):  # it is being read now
        started.send_signal(signal.SIGINT)
        assert started.communicate()[1] == b"chaffinch: interrupted\n"
    assert started.returncode == 130

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(comparison, "compare", fails)
    done = CliRunner().invoke(main, ["compare", str(two)])
    assert done.exit_code == 2
    assert re.search(r"ZeroDivisionError: by zero \(\w+\.py, line \d+\); this is a defect", done.output)


@pytest.mark.slow
def test_reports_in_the_folder_are_skipped(two: Path) -> None:
    first: dict[str, bytes] = {}
    for output in ("r", "r.html"):
        for _ in range(2):
            output_json = compare(
                ".", "--cases", 2, "--csv", "pairs.csv", "--json", "-o", output, cwd=two
            ).stdout
            assert output_json == first.setdefault(output, output_json)
    clean, again = (json.loads(out) for out in (first["r"], compare(".", "--json", cwd=two).stdout))
    case = "01 ann - ben.html"
    written = ["pairs.csv", "r/index.html", f"r/cases/{case}", f"r-cases/{case}", "r.html"]
    listed = [{"name": name, "reason": "own report", "detail": OWN_REPORT.detail} for name in written]
    assert again["skipped"] == [*clean["skipped"], *listed]
    assert again | {"skipped": clean["skipped"]} == clean


def test_empty_submissions_are_listed_as_skipped(two: Path) -> None:
    (two / "dan" / "sub").mkdir(parents=True)
    (two / "eve").mkdir()
    (two / "eve" / "main.py").touch()
    (two / "fay.zip").write_bytes(b"PK\x05\x06" + b"\0" * 18)
    details = {Path(s.name).relative_to(two).as_posix(): s.detail for s in chaffinch.compare([two]).skipped}
    nothing = "nothing in it to compare"
    assert details == {"dan/sub": "an empty folder", "eve/main.py": nothing, "fay.zip": "an empty archive"}


@pytest.mark.slow
def test_anonymize_removes_names_everywhere(tmp_path: Path) -> None:
    work = {f"{name}/{name}.py": f"# by {name}\n" + program(1) for name in ("Ann Summers", "Ben Winters")}
    folder = class_of(tmp_path / "class", work)
    assert compare(folder, "-o", tmp_path / "r", "--cases", 1).returncode == 0
    done = compare(folder, "-o", tmp_path / "r", "--csv", tmp_path / "x.csv", "--json", "--anonymize")
    shown = compare(folder, "-o", tmp_path / "r", "--anonymize")
    written = b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if folder not in path.parents and path.is_file()
    )
    for output in (done.stdout, shown.stdout, shown.stderr, written):
        assert b"Student 1" in output or output == shown.stderr
        assert b"Summers" not in output
        assert b"Winters" not in output
    assert list((tmp_path / "r" / "cases").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "written"),
    [("Xu", "by Xu."), ("Łukasz Żółć", "by Lukasz Zolc"), ("Søren", "by Soren"), ("李小龙", "by 李 小龙")],
)
def test_names_are_recognised_in_other_spellings(name: str, written: str, tmp_path: Path) -> None:
    both = [File(f"{who}.py", f"# {written}\n{program(1)}".encode()) for who in (name, "Somebody")]
    report = chaffinch.compare([class_of(tmp_path / "c", {d.name: d.data.decode() for d in both})])
    save(report, tmp_path / "r", anonymize=True)
    pages = "".join(path.read_text("utf-8") for path in (tmp_path / "r").rglob("*.js"))
    assert json.dumps(written.removeprefix("by ").rstrip("."))[1:-1] not in pages
    assert "# by Student " in pages


def test_json_is_utf8_and_csv_takes_any_name(tmp_path: Path) -> None:
    class_of(tmp_path / "c", {"Zoë Ł.py": program(1)})
    (tmp_path / "c" / os.fsdecode(b"\xff\xfe.py")).write_text(program(1))
    done = compare(tmp_path / "c", "--json", "--csv", tmp_path / "x.csv", PYTHONIOENCODING="cp1252")
    assert done.returncode == 0, done.stderr
    assert "Zoë Ł" in {
        name for pair in json.loads(done.stdout)["pairs"] for name in (pair["left"], pair["right"])
    }
    assert "Zoë Ł" in (tmp_path / "x.csv").read_text("utf-8")


def test_an_index_of_another_kind_is_reported_and_a_guarantee_too(two: Path, tmp_path: Path) -> None:
    old = [File("zed.py", program(2).encode(), language="python")]
    for kind in ("text", "code"):
        with Index.create(tmp_path / kind, chaffinch.Recipe(kind)) as index:
            index.add(old)
    of_text = chaffinch.compare([two], old=[tmp_path / "text"])
    (left_out,) = of_text.skipped
    assert left_out.name.endswith("a.py and 2 more programs")
    assert "not looked up in" in left_out.detail
    of_code = chaffinch.compare([two], old=[tmp_path / "code", tmp_path / "code"])
    assert [(p.left, p.right) for p in of_code.pairs if p.left == "cat"] == [("cat", "zed.py")]
    assert of_code.receipt.old_indexes == {str(tmp_path / "code"): 20}
    shown = of_code.receipt.to_dict()["old_indexes"].values()
    assert list(shown) == ["documents that share a run of 20 symbols are found"]


def test_options_out_of_range_raise() -> None:
    both = [File("a.py", program(1).encode()), File("b.py", program(1).encode())]
    wrong: list[dict[str, float]] = [{"top": 0}, {"top": -1}, {"max_owners": 1}, {"threshold": float("nan")}]
    for options in wrong:
        with pytest.raises(BadRecipe, match="choose"):
            chaffinch.compare(both, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a File has a name and bytes"):
        chaffinch.compare([File("a.py", "text")])  # type: ignore[arg-type]
    dates = {"a": date(2026, 1, 1)}
    report = chaffinch.compare(both, dates=dates)  # type: ignore[arg-type]
    assert report.dates["a"].startswith("2026-01-01")


@pytest.mark.slow
def test_a_shared_paragraph_is_listed_and_a_hint_says_how_to_list_less(tmp_path: Path) -> None:
    paragraph = indexed.text(80, "shared")
    for n in range(3):
        own = [indexed.text(900, (n, part)) for part in range(2)]
        (tmp_path / f"{n}.txt").write_text("\n".join([own[0], paragraph, own[1]]))
    assert listed(tmp_path) == {("0", "1"), ("0", "2"), ("1", "2")}
    sentence = indexed.text(9, "sentence")
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(
            f"{indexed.text(900, name)} {sentence} {indexed.text(900, name * 2)}"
        )
    done = compare(tmp_path / "a.txt", tmp_path / "b.txt", cwd=tmp_path)
    assert done.returncode == 1
    assert b"No pair stands out from what the class shares; --threshold 0 lists all" in done.stdout
    assert listed(tmp_path / "a.txt", tmp_path / "b.txt", "--threshold", 0) == {("a", "b")}


def test_texts_that_are_too_short_are_reported(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("I do not know.")
    done = compare(tmp_path, cwd=tmp_path)
    assert done.returncode == 1
    assert b"a.txt: too short to compare: 10 symbols, and nothing shorter than 18 is found" in done.stderr


def test_files_of_one_name_belong_to_one_student_unless_nothing_else_is_given(tmp_path: Path) -> None:
    for name in ("ann.md", "ann.txt", "ben.txt"):
        (tmp_path / name).write_text(indexed.text(200, "essay"))
    both = tmp_path / "ann.md", tmp_path / "ann.txt"
    assert listed(*both) == {("ann.md", "ann.txt")}
    assert listed(*both, "--old", tmp_path / "ben.txt") == {("ann", "ben")}


def test_the_report_has_the_hash_of_a_file_and_of_its_text(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.docx").write_bytes(made.docx(made.prose(8)))
    report = chaffinch.compare([tmp_path])
    file = sha256((tmp_path / "a.docx").read_bytes()).hexdigest()
    document = to_json(report)["documents"][0]
    assert document["file_sha256"] == file != document["sha256"]
    case_file(report, report.pairs[0], tmp_path / "case.html")
    assert file in (tmp_path / "case.html").read_text()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "lone returns"])
def test_the_report_has_the_hash_of_a_program_in_another_encoding(tmp_path: Path, encoding: str) -> None:
    lone = encoding == "lone returns"
    for name in "ab":
        text = program(1).replace("\n", "\r") if lone else program(1)
        (tmp_path / f"{name}.py").write_bytes(text.encode("utf-8" if lone else encoding))
    documents = to_json(chaffinch.compare([tmp_path]))["documents"]
    for name, document in zip("ab", documents, strict=True):
        file = sha256((tmp_path / f"{name}.py").read_bytes()).hexdigest()
        assert document["file_sha256"] == file != document["sha256"]


def test_a_case_file_says_which_side_is_earlier_work(tmp_path: Path) -> None:
    works = [File(name, program(1).encode()) for name in ("new.py", "old.py")]
    report = chaffinch.compare(works[:1], old=works[1:])
    case_file(report, report.pairs[0], tmp_path / "case.html")
    assert "The right side is earlier work" in (tmp_path / "case.html").read_text()


def test_markup_is_not_marked_as_part_of_a_match(tmp_path: Path) -> None:
    words = [indexed.text(30, n) for n in range(2)]
    pages = [f"<p>{words[0]}</p><!-- {name} --><p class={name}>{words[1]}</p>" for name in ("one", "another")]
    report = chaffinch.compare([File(f"{n}.html", page.encode()) for n, page in enumerate(pages)])
    (match,) = report.pairs[0].matches
    shown = dict(View(report, anonymize=False, verdicts=None).chunks())["p0"][0]
    assert len(match.runs) == shown[9] == 1
    for side, page in enumerate(pages):
        ends = shown[10 + side]
        assert [page[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)] == words


def test_a_submission_shows_how_much_of_it_lies_in_matches() -> None:
    pages = [indexed.text(60, n) for n in range(6)]
    works = [" ".join(pages[:3]), f"{pages[0]} {pages[4]}", f"{pages[0]} {pages[1]} {pages[5]}"]
    report = chaffinch.compare([File(f"{n}.txt", work.encode()) for n, work in enumerate(works)], threshold=0)
    shares = [s["covered"] for s in View(report, anonymize=False, verdicts=None).index()["submissions"]]
    letters = [len(page.replace(" ", "")) for page in pages]
    assert shares[0] == pytest.approx(sum(letters[:2]) / sum(letters[:3]), abs=0.01)
    assert shares[1] == pytest.approx(letters[0] / (letters[0] + letters[4]), abs=0.01)


@pytest.mark.parametrize("old", [False, True])
def test_comparing_files_loads_no_index(old: bool, two: Path) -> None:
    check = (
        "import sys, chaffinch; chaffinch.compare(sys.argv[1], old=sys.argv[2:]);"
        "print(*(name for name in sys.modules if name.startswith('chaffinch.index')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", check, two, *[two] * old], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["chaffinch.index", "chaffinch.index.address"]
