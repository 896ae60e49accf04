"""Where there is nothing to compare, a message says what was found, and no file is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import chaffinch
from chaffinch import ChaffinchError, Document, File, Index, NothingToCompare, Recipe, Unreadable
from chaffinch.cli import main
from chaffinch.errors import SkipReason
from tests.made import zipped
from tests.programs import WRITERS, Style, functions

PROGRAM = WRITERS["py"](functions(1), Style())
ADVICE = (
    "Name a folder or an archive with an entry for each student, or several files; --old takes earlier work."
)


def class_of(folder: Path, *names: str, text: str = PROGRAM) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("names", [[], ["ann/a.py", "ann/b.py"]])
def test_nothing_is_written_and_nothing_overwritten(names: list[str], tmp_path: Path) -> None:
    good = class_of(tmp_path / "good", "ann/a.py", "ben/b.py")
    poor = class_of(tmp_path / "poor", *names)
    outputs = ["-o", tmp_path / "r.html", "--csv", tmp_path / "r.csv", "--cases", 1]
    assert run(good, *outputs).exit_code == 0
    before = everything_in(tmp_path)
    for options in (outputs, [*outputs, "--json"], [*outputs, "--anonymize"], ["--json"]):
        done = run(poor, *options)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.endswith(f"{ADVICE}\n")
        assert "Traceback" not in done.stderr
        assert everything_in(tmp_path) == before


def test_the_message_says_what_was_found(tmp_path: Path) -> None:
    empty = class_of(tmp_path / "empty")
    assert run(empty).stderr == f"chaffinch: no submission in {empty}. {ADVICE}\n"
    alone = class_of(tmp_path / "alone", "ann.py")
    (alone / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 99)
    message = f"chaffinch: only one submission in {alone}: ann. Skipped: {alone / 'photo.png'} ("
    assert run(alone).stderr.startswith(message)
    assert (
        run(alone / "ann.py").stderr == f"chaffinch: only one submission in {alone / 'ann.py'}: ann. {ADVICE}\n"
    )
    several = class_of(tmp_path / "several", "a.py", "b.py", "c.py", "d.py", text="")
    for path in several.iterdir():
        path.write_bytes(b"\x7fELF" + bytes(range(256)))
    assert "d.py" not in run(several).stderr
    assert " and 1 more. Name a folder" in run(several).stderr


def test_python_raises_with_the_same_message(tmp_path: Path) -> None:
    empty = class_of(tmp_path / "empty")
    alone = class_of(tmp_path / "alone", "ann/a.py", "ann/b.py")
    for folder in (empty, alone):
        for given in (folder, str(folder), [folder]):
            with pytest.raises(NothingToCompare) as caught:
                chaffinch.compare(given)
            assert run(folder).stderr == f"chaffinch: {caught.value}\n"
    assert issubclass(NothingToCompare, ChaffinchError)
    with pytest.raises(NothingToCompare, match=r"^no submission\. Name a folder"):
        chaffinch.compare([])
    with pytest.raises(NothingToCompare, match=r"^only one submission in a.py: a\. Name"):
        chaffinch.compare(Document("a.py", PROGRAM.encode()))
    with pytest.raises(NothingToCompare, match=r"^only one submission in a.py, b.zip: a\. Skipped: b.zip \("):
        chaffinch.compare([File("a.py", PROGRAM.encode()), File("b.zip", b"PK\x03\x04nothing")])


def test_an_archive_of_which_too_little_can_be_read_is_an_error(tmp_path: Path) -> None:
    bomb = b"0" * (20 << 20)
    archives: list[tuple[str, dict[str, str | bytes], int]] = [
        ("bomb", {"b.txt": bomb}, 2),
        ("picture", {"b.png": bomb}, 2),
        ("one", {"b.txt": bomb, "ann/c.py": PROGRAM}, 2),
        ("two", {"b.txt": bomb, "ann/c.py": PROGRAM, "ben/d.py": PROGRAM}, 0),
    ]
    for name, members, code in archives:
        (tmp_path / f"{name}.zip").write_bytes(zipped(members))
        assert run(tmp_path / f"{name}.zip", "-o", tmp_path / "r.html").exit_code == code, name


def test_a_path_that_does_not_exist_raises(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    for given in (nowhere, str(nowhere), [nowhere], [tmp_path / "or-here", nowhere]):
        with pytest.raises(Unreadable, match="nowhere: no such file or folder") as caught:
            chaffinch.compare(given)
        assert caught.value.reason == SkipReason.NOT_FOUND
    done = run(nowhere, "-o", tmp_path / "r.html")
    assert (done.exit_code, done.stderr) == (2, f"chaffinch: {nowhere}: no such file or folder\n")
    assert list(tmp_path.iterdir()) == []


def test_one_missing_path_does_not_lose_the_others(tmp_path: Path) -> None:
    class_of(tmp_path, "ann.py", "ben.py")
    paths = [tmp_path / name for name in ("ann.py", "missing.py", "ben.py")]
    report = chaffinch.compare(paths)
    assert [(pair.left, pair.right) for pair in report.pairs] == [("ann", "ben")]
    assert [(s.name, s.reason) for s in report.skipped] == [(str(paths[1]), SkipReason.NOT_FOUND)]
    done = run(*paths, "-o", tmp_path / "r.html")
    assert done.exit_code == 2
    assert (tmp_path / "r.html").exists()
    with pytest.raises(NothingToCompare, match=r"only one submission .*missing.py \(no such file or folder\)"):
        chaffinch.compare(paths[:2])


def test_one_submission_and_earlier_work_are_enough(tmp_path: Path) -> None:
    alone = class_of(tmp_path / "alone", "ann.py")
    old = class_of(tmp_path / "old", "zed.py")
    (pair,) = chaffinch.compare(alone, old=old).pairs
    assert (pair.left, pair.right) == ("ann", "zed")
    with Index.create(tmp_path / "archive", Recipe("code")):
        pass
    # An index that has nothing like it is an answer, and an empty folder is not.
    assert chaffinch.compare(alone, old=tmp_path / "archive").pairs == ()
    for given, earlier in ((alone, class_of(tmp_path / "empty")), (tmp_path / "empty", old)):
        with pytest.raises(NothingToCompare):
            chaffinch.compare(given, old=earlier)


def test_a_language_that_nobody_uses_is_an_error(tmp_path: Path) -> None:
    folder = class_of(tmp_path / "class", "ann.py", "ben.py")
    done = run(folder, "-l", "java", "-o", tmp_path / "r.html")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "chaffinch: 2 submissions, and none has a document in java; choose another language, or leave it out\n"
    )
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("given", "name"),
    [([b"x"], "bytes"), (b"x", "bytes"), (5, "int"), (None, "NoneType"), ([["a", "b"]], "list")],
)
def test_anything_else_is_a_type_error_with_a_sentence(given: Any, name: str) -> None:
    for options in ({}, {"base": given}, {"old": given}):
        with pytest.raises(TypeError, match=f"paths are str or Path, and documents are .* not {name}"):
            chaffinch.compare(["ann.py"] if options else given, **options)


@pytest.mark.parametrize("option", ["--old", "--base"])
def test_an_empty_folder_of_earlier_work_or_base_code_is_an_error(option: str, tmp_path: Path) -> None:
    folder, empty = class_of(tmp_path / "class", "ann.py", "ben.py"), class_of(tmp_path / "empty")
    done = run(folder, option, empty, "-o", tmp_path / "r.html")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"chaffinch: {empty}: nothing in this folder can be compared; ")
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("threshold", "message"),
    [(1, "No pair scores 100% or more; "), (0.995, "No pair scores 99.5% or more; ")],
)
def test_without_a_pair_the_message_says_which_score_was_not_reached(
    threshold: float, message: str, tmp_path: Path
) -> None:
    for n in range(2):
        text = WRITERS["py"]([*functions(1, 1), *functions(5 + n, 12)], Style())
        class_of(tmp_path / "class", f"s{n}.py", text=text)
    for n in range(8):
        class_of(tmp_path / "class", f"t{n}.py", text=WRITERS["py"](functions(n, 1), Style()))
    done = run(tmp_path / "class", "--threshold", threshold, "-o", tmp_path / "r.html")
    assert done.exit_code == 1
    assert message in done.stdout
