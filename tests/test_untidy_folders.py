"""Folders as students hand them in: what nobody wrote is skipped, what is there twice is read once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import chaffinch
from chaffinch import Document, File
from chaffinch.errors import BadPattern, SkipReason
from chaffinch.read import walk
from chaffinch.read.rules import Rules
from chaffinch.read.skipped_groups import grouped
from chaffinch.report import anonymous_report
from chaffinch.types import Skipped
from tests.archives import tarred, zipped
from tests.programs import WRITERS, Style, functions


def program(seed: int) -> str:
    return WRITERS["py"](functions(seed, 6), Style())


def made(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def read_of(root: Path, **patterns: list[str]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the documents of each student, and why others are skipped, by their paths below the root."""
    submissions, skipped = chaffinch.submissions([root], None, **patterns)

    def below(name: str) -> str:
        return os.path.relpath(name, root)

    documents = {s.name: [below(d.name) for d in s.documents] for s in submissions}
    return documents, {below(s.name): s.detail for s in skipped}


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chaffinch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_of_two_identical_files_the_shallower_one_is_kept_and_the_other_listed(tmp_path: Path) -> None:
    work = {f"ann/{path}": program(1) for path in ("a/b/main.py", "main.py", "z.py", "lib/main.py")}
    documents, skipped = read_of(made(tmp_path, work | {"ben/main.py": program(1)}))
    assert documents == {"ann": ["ann/z.py"], "ben": ["ben/main.py"]}
    reason = "the same as z.py of this student"
    assert skipped == dict.fromkeys(["ann/a/b/main.py", "ann/lib/main.py", "ann/main.py"], reason)


def test_no_name_is_left_in_an_anonymous_list_of_skipped_files(tmp_path: Path) -> None:
    work = {
        f"{name}/{path}": program(n)
        for n, name in enumerate(("ann", "ben"))
        for path in (f"{name}x.py", "lib/x.py")
    }
    report = anonymous_report(chaffinch.compare([made(tmp_path, work)]))
    assert {s.detail for s in report.skipped} == {"the same as another file of the student"}


def test_equal_contents_in_two_languages_are_both_kept(tmp_path: Path) -> None:
    documents, skipped = read_of(
        made(tmp_path, {"ann/a.h": "int x;", "ann/a.py": "int x;", "ben/b.h": "int y;"})
    )
    assert documents["ann"] == ["ann/a.h", "ann/a.py"]
    assert skipped == {}


def test_files_that_the_user_names_are_all_read(tmp_path: Path) -> None:
    made(tmp_path, {"ann.c": "int x;", "ann.h": "int x;"})
    submissions, skipped = chaffinch.submissions([tmp_path / "ann.c", tmp_path / "ann.h"])
    assert [len(s.documents) for s in submissions] == [2]
    assert skipped == []


@pytest.mark.parametrize("folder", ["build", "dist", "Build", "venv"])
def test_build_output_is_skipped_beside_programs(tmp_path: Path, folder: str) -> None:
    work = {"ann/src/main.py": program(1), f"ann/{folder}/lib/old.py": program(2), "ben/main.py": program(3)}
    documents, skipped = read_of(made(tmp_path, work))
    assert documents == {"ann": ["ann/src/main.py"], "ben": ["ben/main.py"]}
    assert skipped == {f"ann/{folder}": "build output"}


@pytest.mark.parametrize("folder", ["third_party", "third-party", "vendor", "external", "extern", "Vendor"])
def test_third_party_code_is_skipped_beside_programs(tmp_path: Path, folder: str) -> None:
    work = {
        "ann/main.py": program(1),
        f"ann/src/{folder}/lib/old.py": program(2),
        f"ben/{folder}/a.py": program(3),
    }
    documents, skipped = read_of(made(tmp_path, work))
    assert documents == {"ann": ["ann/main.py"], "ben": [f"ben/{folder}/a.py"]}
    assert skipped == {f"ann/src/{folder}": "third-party code"}
    included, _ = read_of(tmp_path, include=[folder])
    assert len(included["ann"]) == 2


def test_texts_in_a_folder_called_external_are_read_beside_texts(tmp_path: Path) -> None:
    work = {"ann/essay.txt": "some words", "ann/external/more.txt": "other words", "ben/essay.txt": "no words"}
    documents, skipped = read_of(made(tmp_path, work))
    assert len(documents["ann"]) == 2
    assert skipped == {}


def test_a_student_may_be_called_build_or_have_only_a_folder_of_that_name(tmp_path: Path) -> None:
    work = {
        "dist/main.py": program(1),
        "build/main.py": program(2),
        "carl/build/main.py": program(3),
        "dora/README.txt": "see the folder dist",
        "dora/dist/main.py": program(4),
    }
    documents, skipped = read_of(made(tmp_path, work))
    assert sorted(path for paths in documents.values() for path in paths) == sorted(work)
    assert list(documents) == ["build", "carl", "dist", "dora"]
    assert skipped == {}


def test_a_class_called_dist_is_read(tmp_path: Path) -> None:
    documents, _ = read_of(made(tmp_path / "dist", {"ann/main.py": program(1), "ben/main.py": program(2)}))
    assert list(documents) == ["ann", "ben"]


@pytest.mark.parametrize("pattern", [None, "students/([a-z]+)"])
def test_build_output_in_an_export_with_a_pattern(tmp_path: Path, pattern: str | None) -> None:
    work = {
        "students/ann/main.py": program(1),
        "students/ann/dist/a.py": program(2),
        "students/ben/b.py": "x = 1",
    }
    submissions, skipped = chaffinch.submissions([made(tmp_path, work)], pattern)
    assert [s.name for s in submissions] == ["ann", "ben"]
    assert [s.name for s in skipped] == [str(tmp_path / "students/ann/dist")]


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("package-lock.json", "a lock file"),
        ("yarn.lock", "a lock file"),
        ("Cargo.lock", "a lock file"),
        ("go.sum", "a lock file"),
        ("pnpm-lock.yaml", "a lock file"),
        ("jquery-3.7.min.js", "minified"),
        ("style.min.css", "minified"),
        ("main.bundle.js", "a bundle"),
        ("2.chunk.js", "a bundle"),
        ("app.js.map", "a source map"),
    ],
)
def test_files_that_programs_wrote_are_skipped(tmp_path: Path, name: str, detail: str) -> None:
    text = "made by a program, as anyone can see"
    made(tmp_path, {f"ann/{name}": text, "ann/main.js": "let x = 1", "ben/min.js": "let y"})
    archive = zipped({f"ann/{name}": text.encode(), "ann/main.js": b"let x = 1"})
    assert read_of(tmp_path)[1] == {f"ann/{name}": detail}
    (tmp_path / "class.zip").write_bytes(archive)
    submissions, skipped = chaffinch.submissions([tmp_path / "class.zip"])
    assert [d.name.rpartition("/")[2] for s in submissions for d in s.documents] == ["main.js"]
    assert [s.detail for s in skipped] == [detail]


def test_environments_are_known_by_their_contents(tmp_path: Path) -> None:
    names = ("conda-meta/history", "lib/a.py", "bin/b.py", "include/c.h")
    made(tmp_path, {f"ann/any/{name}": "x = 1" for name in names} | {"ann/main.py": "y = 1"})
    assert read_of(tmp_path)[1] == {"ann/any": "build output"}


MATCHES = [
    ("*.txt", "a.txt", True),
    ("*.txt", "x/y/a.txt", True),
    ("*.txt", "a.txt.c", False),
    ("*.txt", "x.txt/a.c", True),
    ("tests", "ann/tests/a.c", True),
    ("tests", "ann/tests", True),
    ("tests", "ann/mytests/a.c", False),
    ("tests/", "ann/tests", False),
    ("tests/", "ann/tests/a.c", True),
    ("lib/*.c", "ann/lib/a.c", True),
    ("lib/*.c", "ann/lib/x/a.c", False),
    ("lib/**/*.c", "ann/lib/x/y/a.c", True),
    ("lib/**/*.c", "ann/lib/a.c", True),
    ("/lib/*.c", "ann/lib/a.c", False),
    ("/lib/*.c", "lib/a.c", True),
    ("./lib", "lib/a.c", True),
    ("ann/**", "ann/x/y.c", True),
    ("ann/**", "ann", False),
    ("**/x.c", "x.c", True),
    ("**/x.c", "a/b/x.c", True),
    ("a?.c", "ab.c", True),
    ("a?x.c", "a/x.c", False),
    ("[ab].c", "b.c", True),
    ("[!ab].c", "b.c", False),
    ("[!ab].c", "c.c", True),
    ("[a-c]x", "bx", True),
    ("[", "[", True),
    ("[]x]", "]", True),
    ("[^a]", "^", True),
    ("a.c", "abc", False),
    ("a+(b)", "a+(b)", True),
    ("A.c", "a.c", False),
    ("caf\u00e9*", "caf\u00e9s.c", True),
    ("a\\b", "a\\b", os.sep != "\\"),
]


@pytest.mark.parametrize(("pattern", "path", "matches"), MATCHES)
def test_patterns(pattern: str, path: str, matches: bool) -> None:
    rules = Rules.of(exclude=pattern).below("class")
    assert (rules.problem(f"class/{path}", False, ()) is not None) == matches
    assert Rules.of(include=pattern).below("class").includes(f"class/{path}", False) == matches


@pytest.mark.parametrize("pattern", ["", "/", "./", "[z-a]"])
def test_a_pattern_that_can_match_nothing_is_an_error(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(BadPattern, match="the pattern"):
        chaffinch.compare([tmp_path], exclude=pattern)
    done = run("submissions", tmp_path, "--include", pattern)
    assert done.returncode == 2
    assert done.stderr.startswith("chaffinch: the pattern ")


UNTIDY = {
    "ann/main.py": "x = 1",
    "ann/notes.txt": "some words",
    "ann/node_modules/own/mine.js": "let a = 1",
    "ann/node_modules/other/b.js": "let b = 1",
    "ann/.hidden/c.py": "y = 2",
    "ben/main.py": "z = 3",
    "ben/env/pyvenv.cfg": "home = /usr",
    "ben/env/lib/python3/d.py": "d = 4",
}


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_include_wins_over_exclude_and_over_the_default(tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        root = made(tmp_path / "class", UNTIDY)
    else:
        root = tmp_path / f"class.{kind}"
        pack = zipped if kind == "zip" else tarred
        root.write_bytes(pack({name: text.encode() for name, text in UNTIDY.items()}))

    def names(**patterns: list[str]) -> list[str]:
        documents, skipped = read_of(root, **patterns)
        assert not set(skipped) & {path for paths in documents.values() for path in paths}
        return sorted(path for paths in documents.values() for path in paths)

    usual = ["ann/main.py", "ann/notes.txt", "ben/main.py"]
    assert names() == usual
    assert names(exclude=["*.txt"]) == ["ann/main.py", "ben/main.py"]
    assert names(exclude=["/ben"]) == usual[:2]
    assert names(exclude=["*.py", "*.txt"], include=["/ann/*"]) == [
        "ann/.hidden/c.py",
        "ann/main.py",
        "ann/node_modules/other/b.js",
        "ann/node_modules/own/mine.js",
        "ann/notes.txt",
    ]
    assert names(include=["own/*.js"]) == [usual[0], "ann/node_modules/own/mine.js", *usual[1:]]
    assert names(include=[".hidden"]) == ["ann/.hidden/c.py", *usual]
    assert names(include=["python3/d.py"]) == [*usual[:2], "ben/env/lib/python3/d.py", usual[2]]
    skipped = read_of(root, exclude=["*.txt"], include=["own"])[1]
    assert skipped["ann/notes.txt"] == "excluded by the pattern '*.txt'"
    assert skipped["ann/node_modules"] == "build output"
    assert "ann/node_modules/other/b.js" not in skipped


def test_include_reads_folders_with_the_names_of_build_output(tmp_path: Path) -> None:
    made(tmp_path, {"ann/main.py": "x = 1", "ann/build/a.py": "y = 2", "ben/b.py": "z = 3"})
    assert read_of(tmp_path, include=["build"])[0]["ann"] == ["ann/build/a.py", "ann/main.py"]


def test_what_the_user_names_is_read_whatever_the_patterns_say(tmp_path: Path) -> None:
    made(tmp_path, {"build/a.py": "x = 1", "b.py": "y = 1"})
    submissions, _ = chaffinch.submissions([tmp_path / "build", tmp_path / "b.py"], exclude=["build", "b.py"])
    assert [s.name for s in submissions] == ["b", "build"]


def test_patterns_in_archives_given_as_files() -> None:
    file = File("class.zip", zipped({"ann/a.py": b"x = 1", "ann/b.txt": b"words"}))
    found = list(chaffinch.documents([file], exclude="*.txt"))
    assert [d.name for d in found] == ["class.zip/ann/a.py", "class.zip/ann/b.txt"]
    assert isinstance(found[1], Skipped)


def test_patterns_work_in_every_command(tmp_path: Path) -> None:
    work = {f"{name}/{file}": program(1) for name in ("ann", "ben") for file in ("main.py", "given/a.py")}
    root = made(tmp_path / "class", work)
    done = run("compare", root, "--json", "--exclude", "given", "--exclude", "*.txt")
    result = json.loads(done.stdout)
    assert {s["detail"] for s in result["skipped"]} == {"excluded by the pattern 'given'"}
    assert len(result["documents"]) == 2
    assert [p.score for p in chaffinch.compare([root], exclude="given").pairs] == [1]
    assert len(json.loads(run("fingerprint", root, "--json", "--exclude", "given").stdout)["documents"]) == 2
    assert len(json.loads(run("submissions", root, "--json", "--exclude", "given").stdout)["skipped"]) == 2
    run("index", "create", tmp_path / "index")
    added = json.loads(run("index", "add", tmp_path / "index", root, "--json", "--exclude", "main.py").stdout)
    assert len(added["added"]) == 2
    assert len(added["skipped"]) == 2


def test_what_is_skipped_for_the_same_reason_is_one_line(tmp_path: Path) -> None:
    work = {f"s{n:02}/main.py": program(n) for n in range(20)}
    work |= {f"s{n:02}/.git/config": "x" for n in range(20)}
    work |= {f"s{n:02}/lib/main.py": program(n) for n in range(20)}
    root = made(tmp_path / "class", work | {"s00/a.pdf": "%PDF-1.4 broken", "s01/b.pdf": "%PDF-1.4 broken"})
    for command in ("submissions", "compare"):
        done = run(command, root, *(["-o", tmp_path / "report.html"] if command == "compare" else []))
        lines = done.stderr.splitlines()
        assert len(lines) == 4, lines
        assert f"{root}/s00/.git and 19 more: version control" in done.stderr
        assert f"{root}/s00/lib/main.py and 19 more: the same as another file of the student" in done.stderr
        assert f"{root}/s01/b.pdf: " in done.stderr
    assert "42" in done.stdout


def test_binary_files_are_one_line() -> None:
    skipped = [Skipped(f"s{n}/a.out", SkipReason.NOT_TEXT, "binary, not text") for n in range(9)]
    (group,) = grouped([*skipped])
    assert (group.title, group.detail) == ("s0/a.out and 8 more", "binary, not text")


def test_problems_of_single_files_are_never_put_together() -> None:
    skipped = [Skipped(f"{n}.pdf", SkipReason.DAMAGED, "is damaged") for n in range(9)]
    hidden = [Skipped(f".{n}", SkipReason.EXCLUDED, "hidden") for n in range(9)]
    titles = [group.title for group in grouped([*hidden, *skipped])]
    assert titles == [".0 and 8 more", *(f"{n}.pdf" for n in range(9))]


def test_a_walk_goes_into_skipped_folders_only_if_something_is_included(tmp_path: Path) -> None:
    made(tmp_path, {"node_modules/a/b.js": "x", "node_modules/a/c.txt": "x"})
    assert [type(item) for item in walk.files(tmp_path)] == [Skipped]
    included = list(walk.files(tmp_path, Rules.of(include="*.txt")))
    assert [Path(item.name).name for item in included] == ["node_modules", "c.txt"]


def test_files_and_documents_are_named_like_paths(tmp_path: Path) -> None:
    made(tmp_path, {"ann.py": program(1), "ben.lee.py": program(2)})
    (tmp_path / "cyd.zip").write_bytes(zipped({"a.py": program(3).encode(), "b.py": program(4).encode()}))
    paths = sorted(tmp_path.iterdir())
    names = [s.name for s in chaffinch.submissions(paths)[0]]
    assert names == ["ann", "ben.lee", "cyd"]
    files = [File(str(path), path.read_bytes()) for path in paths]
    assert [s.name for s in chaffinch.submissions(files)[0]] == names
    documents = [Document(path.name, path.read_bytes()) for path in paths[:2]]
    assert [s.name for s in chaffinch.submissions(documents)[0]] == names[:2]


def test_documents_with_the_same_stem_stay_two_submissions(tmp_path: Path) -> None:
    both = [Document("ann.py", b"x = 1"), Document("ann.c", b"int x;"), Document("ben.c", b"int y;")]
    assert [s.name for s in chaffinch.submissions(both)[0]] == ["ann.c", "ann.py", "ben"]
    path = made(tmp_path, {"ann.py": program(1)}) / "ann.py"
    assert [s.name for s in chaffinch.submissions([path, *both[1:]])[0]] == ["ann", "ann.c", "ben"]
    twice = [File("2019/ann.py", b"x = 1"), File("2020/ann.py", b"y = 1")]
    assert [s.name for s in chaffinch.submissions(twice)[0]] == ["2019/ann.py", "2020/ann.py"]
