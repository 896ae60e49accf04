"""However a class is handed in, each student has one submission with all of their files."""

from __future__ import annotations

import pytest

from chaffinch import Document
from chaffinch.errors import BadPattern, ChaffinchError
from chaffinch.read.submissions.grouping import group
from chaffinch.read.submissions.layout import Located
from chaffinch.read.submissions.platforms import gradescope_submitters

Grouped = dict[str, list[str]]


def found(root: str, *paths: str, **contents: bytes) -> list[Located]:
    """Return documents with different contents, unless contents are given."""
    return [
        Located(
            root,
            path,
            Document(
                f"{root}/{path}" if path else root,
                contents.get(path, f"{root}/{path}".encode()),
                "utf-8",
                "plain",
                "text",
            ),
        )
        for path in paths
    ]


def grouped(*given: list[Located], pattern: str | None = None) -> Grouped:
    """Return the names of each student's documents below the last root."""
    submissions, _ = group([item for items in given for item in items], pattern)
    assert [s.name for s in submissions] == sorted(s.name for s in submissions)
    roots = {item.root for items in given for item in items}
    only = f"{roots.pop()}/" if len(roots) == 1 else ""
    return {s.name: [d.name.removeprefix(only) for d in s.documents] for s in submissions}


def test_a_folder_for_each_student() -> None:
    students = grouped(found("hw1", "ann/a.c", "ann/lib/b.c", "ben/a.c"))
    assert students == {"ann": ["ann/a.c", "ann/lib/b.c"], "ben": ["ben/a.c"]}


def test_a_file_for_each_student() -> None:
    assert grouped(found("hw1", "ann.c", "ann.h", "ben.lee.c", "carl")) == {
        "ann": ["ann.c", "ann.h"],
        "ben.lee": ["ben.lee.c"],
        "carl": ["carl"],
    }


def test_an_archive_for_each_student() -> None:
    assert grouped(found("hw1", "ann.zip/a.c", "ben.tar.gz/a.c", "carl.TGZ/src/a.c", "dora.7z/a.c")) == {
        "ann": ["ann.zip/a.c"],
        "ben": ["ben.tar.gz/a.c"],
        "carl": ["carl.TGZ/src/a.c"],
        "dora": ["dora.7z/a.c"],
    }
    assert list(grouped(found("hw1", "ann.txt.gz/ann.txt", "ben.c.xz/ben.c"))) == ["ann", "ben"]


def test_all_of_these_mixed() -> None:
    paths = ("ann/a.c", "ben.zip/src/a.c", "carl.c", "dora.tar.gz/x/a.c", "v1.2/a.c")
    assert list(grouped(found("hw1", *paths))) == ["ann", "ben", "carl", "dora", "v1.2"]


def test_a_student_with_a_folder_and_an_archive_is_one() -> None:
    students = grouped(found("hw1", "ann/a.c", "ann.zip/a.c", "ben/a.c"))
    assert students == {"ann": ["ann/a.c", "ann.zip/a.c"], "ben": ["ben/a.c"]}


@pytest.mark.parametrize("around", ["", "export/", "a/b/c/", "export.zip/hw1/"])
def test_folders_around_the_class_are_passed_through(around: str) -> None:
    paths = ("ann/a.c", "ben/a.c", "ben/b.c", "carl.zip/a.c")
    assert list(grouped(found("hw1", *(around + p for p in paths)))) == ["ann", "ben", "carl"]


def test_a_folder_named_like_the_archive_it_came_in_is_passed_through() -> None:
    assert list(grouped(found("dir/hw1.zip", "hw1/ann.c", "hw1/ben.c"))) == ["ann", "ben"]
    assert list(grouped(found("dir/hw1.zip", "hw1/ann/a.c", "hw1/ann/b.c"))) == ["ann"]


@pytest.mark.parametrize("paths", [("ann/a.c", "ann/b.c"), ("ann/src/a.c",), ("ann/src/a.c", "ann/src/b.c")])
def test_a_single_folder_of_files_is_a_single_student(paths: tuple[str, ...]) -> None:
    assert grouped(found("hw1", *paths)) == {"ann": list(paths)}


def test_of_several_paths_each_is_a_student() -> None:
    assert grouped(found("c/ann", "a.c", "b.c"), found("c/ben", "src/a.c"), found("c/carl.c", "")) == {
        "ann": ["c/ann/a.c", "c/ann/b.c"],
        "ben": ["c/ben/src/a.c"],
        "carl": ["c/carl.c"],
    }
    same_folders = [found(f"c/{name}", "task1/a.c", "task2/a.c", "doc/x.txt") for name in ("ann", "ben")]
    assert list(grouped(*same_folders)) == ["ann", "ben"]
    assert list(grouped(found("c/ann.zip", "src/a.c"), found("c/ben.zip", "a.c"))) == ["ann", "ben"]


def test_a_single_file_is_a_student() -> None:
    assert grouped(found("c/ann.c", "")) == {"ann": ["c/ann.c"]}
    assert grouped() == {}


def test_several_classes_are_several_classes() -> None:
    old, new = found("2019", "ann/a.c", "ben/a.c", "eve/a.c"), found("2020", "carl/a.c", "dora/a.c", "eve/a.c")
    assert list(grouped(old, new)) == ["ann", "ben", "carl", "dora", "eve (2019)", "eve (2020)"]


def test_equal_names_in_different_paths_stay_different_students() -> None:
    students = grouped(found("2019/ann.c", ""), found("2020/ann.c", ""))
    assert students == {"ann (2019)": ["2019/ann.c"], "ann (2020)": ["2020/ann.c"]}


def test_moodle_in_folders() -> None:
    paths = (
        "Ann Lee_1234567_assignsubmission_file_/main.c",
        "Ann Lee_1234567_assignsubmission_onlinetext_/onlinetext.html",
        "Ben_van_Dam_1234568_assignsubmission_file/work.zip/main.c",
        "Zoë O'Neil_1234569_assignsubmission_file_/main.c",
    )
    students = grouped(found("hw1", *paths))
    assert students == {"Ann Lee": [*paths[:2]], "Ben_van_Dam": [paths[2]], "Zoë O'Neil": [paths[3]]}


def test_moodle_flat_and_around_a_single_student() -> None:
    paths = (
        "Ann Lee_1234567_assignsubmission_file_main.c",
        "Ann Lee_1234567_assignsubmission_file_my_util.c",
        "Ben Dam_1234568_assignsubmission_file_all.zip/main.c",
        "Ben Dam_1234568_assignsubmission_onlinetext.html",
    )
    assert grouped(found("hw1.zip", *paths)) == {"Ann Lee": [*paths[:2]], "Ben Dam": [*paths[2:]]}
    assert list(grouped(found("hw1.zip", "hw1/" + paths[0]))) == ["Ann Lee"]
    assert list(grouped(found("hw1.zip", "x/Ann Lee_1234567_assignsubmission_file_/a.c"))) == ["Ann Lee"]


def test_moodle_namesakes_are_separated_by_their_numbers() -> None:
    paths = ("Ann Lee_1_assignsubmission_file_/a.c", "Ann Lee_2_assignsubmission_file_/a.c")
    assert list(grouped(found("hw1", *paths))) == ["Ann Lee (1)", "Ann Lee (2)"]


def test_moodle_folders_given_one_by_one() -> None:
    given = [found(f"hw1/{n}_assignsubmission_file_", "a.c") for n in ("Ann Lee_1", "Ben Dam_2")]
    assert list(grouped(*given)) == ["Ann Lee", "Ben Dam"]


def test_canvas() -> None:
    paths = (
        "damben_LATE_1002_555002_main-1.c",
        "leeann_1001_555001_main.c",
        "leeann_1001_555003_work.zip/src/util.c",
        "roejo_1003_text.html",
        "roemo_LATE_1004_text.html",
    )
    assert grouped(found("submissions", *paths)) == {
        "damben": [paths[0]],
        "leeann": [*paths[1:3]],
        "roejo": [paths[3]],
        "roemo": [paths[4]],
    }


def test_canvas_attempts_are_one_submission_with_each_file_once() -> None:
    paths = ("leeann_1001_1_main-1.c", "leeann_1001_2_main-2.c", "leeann_1001_3_main.c", "damben_1_2_x.c")
    same = {paths[0]: b"same", paths[1]: b"other", paths[2]: b"same"}
    submissions = grouped(found("submissions", *paths, **same))
    assert submissions == {"damben": [paths[3]], "leeann": [*paths[1:3]]}


def test_a_few_numbers_in_a_name_are_not_canvas() -> None:
    students = list(grouped(found("hw1", "ann_2020_10_essay.txt", "ben.txt", "carl.txt")))
    assert students == ["ann_2020_10_essay", "ben", "carl"]


@pytest.mark.parametrize(
    "names",
    [
        ("lab_3_01_anna.py", "lab_3_02_ben.py"),
        ("lab_301_01_anna.py", "lab_301_02_ben.py", "lab_302_03_carl.py"),
        ("hw_1_2_bob.py", "hw_1_3_carl.py", "lab_1_2_dan.py", "eve_2_1_x.py"),
        ("hw_2024_1_bob.py", "hw_2024_2_carl.py", "lab_2024_3_dan.py"),
        ("cs_101_2024_bob.py", "cs_101_2024_carl.py", "math_202_2024_dan.py"),
    ],
)
def test_numbers_that_are_not_of_students_and_uploads_are_not_canvas(names: tuple[str, ...]) -> None:
    assert list(grouped(found("hw1", *names))) == sorted(name.removesuffix(".py") for name in names)


def test_a_file_of_canvas_beside_what_it_was_unpacked_to_is_still_canvas() -> None:
    paths = ("damben_1002_555002_x.c", "leeann_1001_555001_work.zip/a.c", "leeann_1001_555001_work/a.c")
    assert list(grouped(found("submissions", *paths))) == ["damben", "leeann"]


METADATA = """---
submission_101:
  :submitters:
  - :name: Ann Lee
    :sid: '0042'
    :email: ann@example.org
  :created_at: 2020-10-01 12:00:00.000000000 Z
  :score: 9.5
  :results:
    tests:
    - name: Test of the parser
      score: 1
submission_102:
  :submitters:
  - :name: 'Ben O''Neil'
    :sid: '7'
    :email: ben@example.org
  - :name: "Zo\\u00eb: Dam"
    :email: zoe@example.org
    :sid:
  :history:
  - :id: 99
    :submitters:
    - :name: Somebody Else
submission_103:
  :submitters:
  - :name: Ann Lee
    :sid: '0043'
"""


@pytest.mark.parametrize("around", ["", "assignment_77_export/"])
def test_gradescope(around: str) -> None:
    names = [f"{around}submission_{i}/main.py" for i in (101, 102, 103, 104)]
    items = found("export", f"{around}submission_metadata.yml", *names)
    items[0] = items[0]._replace(document=Document("metadata", METADATA.encode(), "utf-8", "plain", "text"))
    assert grouped(items) == {
        "Ann Lee (0042)": [names[0]],
        "Ann Lee (0043)": [names[2]],
        "Ben O'Neil, Zoë: Dam": [names[1]],
        "submission_104": [names[3]],
    }
    assert [s.name for s in group(items)[1]] == ["metadata"]


def test_gradescope_without_its_names() -> None:
    students = list(grouped(found("export", "submission_1/a.py", "submission_2/a.py")))
    assert students == ["submission_1", "submission_2"]
    for nonsense in ("", "---\n", "submission_1:\n", ":submitters:\n- :name: x", "\0", '- :name: "\\x'):
        assert gradescope_submitters(nonsense) == {}


@pytest.mark.parametrize(
    ("root", "folders", "students"),
    [
        ("x/hw1-submissions", ["hw1-jdoe", "hw1-asmith"], ["asmith", "jdoe"]),
        ("x", ["hw1-submissions/hw1-jdoe", "hw1-submissions/hw1-jane"], ["jane", "jdoe"]),
        ("x", ["hw1-jdoe", "hw1-jane", "hw1-john-2"], ["jane", "jdoe", "john-2"]),
        ("x", ["final-project-ann", "final-project-ben", "final-project-carl"], ["ann", "ben", "carl"]),
        ("x", ["hw1-jdoe.zip", "hw1-ann.zip"], ["ann", "jdoe"]),
        ("x", ["student-1", "student-2", "student-3"], ["student-1", "student-2", "student-3"]),
        ("x", ["lee-ann", "lee-ben"], ["lee-ann", "lee-ben"]),
        ("x", ["ann-lee", "ben-lee", "carl"], ["ann-lee", "ben-lee", "carl"]),
        ("x", ["hw1-", "hw1-jdoe", "hw1-ann"], ["hw1-", "hw1-ann", "hw1-jdoe"]),
    ],
)
def test_github_classroom(root: str, folders: list[str], students: list[str]) -> None:
    assert list(grouped(found(root, *(f"{folder}/main.c" for folder in folders)))) == students


@pytest.mark.parametrize("before", ["gradebook_CS-101_Assignment201", "Assignment 1", "gradebook_CS_101_x_y"])
def test_blackboard(before: str) -> None:
    times = ("2020-10-01-12-34-56", "2020-10-02-12-34-56")
    paths = [f"{before}_{who}_attempt_{when}" for who in ("jdoe", "j_roe") for when in times]
    files = [f"{path}_main.c" for path in paths]
    items = found("export", *files, *(f"{path}.txt" for path in paths))
    assert grouped(items) == {"j_roe": files[2:], "jdoe": files[:2]}
    _, skipped = group(items)
    assert sorted(s.name for s in skipped) == sorted(f"export/{path}.txt" for path in paths)
    assert {s.detail for s in skipped} == {"written by the learning platform, not by a student"}


def test_blackboard_with_one_student() -> None:
    path = "gradebook_CS_HW1_jdoe_attempt_2020-10-01-12-34-56_main.c"
    assert grouped(found("export", path)) == {"jdoe": [path]}


def test_attempts_that_are_alike_are_kept_once() -> None:
    paths = [f"HW_{who}_attempt_2020-10-0{day}-12-34-56_main.c" for who in ("ann", "ben") for day in (1, 2)]
    items = found("export", *paths, **{paths[0]: b"same", paths[1]: b"same"})
    assert grouped(items) == {"ann": paths[:1], "ben": paths[2:]}


@pytest.mark.parametrize(
    "pattern", [r"s(?P<x>\d)-(?P<student>\w+)", r"s\d-(\w+)", r"(?<=-)\w+(?=\.c)", r"-(?P<student>[a-z]+)"]
)
def test_a_pattern_tells_the_student(pattern: str) -> None:
    items = found("hw", "x/s1-ann.c", "y/s2-ann.c", "y/s1-ben.c", "y/README")
    assert grouped(items, pattern=pattern) == {"ann": ["x/s1-ann.c", "y/s2-ann.c"], "ben": ["y/s1-ben.c"]}
    _, skipped = group(items, pattern)
    assert [(s.name, s.detail) for s in skipped] == [("hw/y/README", "does not match --student-pattern")]


def test_a_pattern_that_finds_no_name_finds_nobody() -> None:
    assert grouped(found("hw", "ann.c"), pattern="(x)?") == {}
    assert grouped(found("hw", "ann.c"), pattern="") == {}


def test_a_pattern_is_searched_in_the_last_part_of_several_paths() -> None:
    given = [found("c/ann_1", "a.c"), found("c/ben_1", "a.c"), found("c/ben.c", "")]
    assert list(grouped(*given, pattern=r"^([a-z]+)")) == ["ann", "ben (c)", "ben (c/ben_1)"]


def test_a_bad_pattern_says_so() -> None:
    with pytest.raises(BadPattern, match=r"--student-pattern '\(': invalid regular expression: "):
        group([], "(")
    assert issubclass(BadPattern, ChaffinchError)


def test_the_order_of_the_documents_does_not_matter() -> None:
    items = found("hw1", "ben/b.c", "ann/b.c", "ben/a.c", "ann.zip/c.c", "ann/a.c")
    assert group(items) == group(items[::-1])


def test_names_are_never_the_same() -> None:
    paths = ("Ann_1_assignsubmission_file_/a", "Ann_2_assignsubmission_file_/a", "Ann (1)/a", "Ann/a")
    assert len(grouped(found("hw1", *paths))) == 4
