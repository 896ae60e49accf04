"""Files whose names do not show a language: programs are found by their content, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Document, File
from chaffinch.cli import main
from chaffinch.errors import BadRecipe
from chaffinch.languages import language
from chaffinch.languages.by_content import HEAD_BYTES, of_content
from chaffinch.read.file_kinds import is_data
from chaffinch.report import anonymous_report
from tests import made
from tests.content_samples import NOT_PROGRAMS, PROGRAMS
from tests.programs import WRITERS, Style, functions


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_programs_are_recognised(name: str, ending: str) -> None:
    data = PROGRAMS[name].replace("\n", ending).encode()
    assert of_content(data) == name
    (document,) = chaffinch.documents([File("homework", data)])
    assert isinstance(document, Document)
    assert document.language == name


@pytest.mark.parametrize("name", NOT_PROGRAMS)
def test_nothing_else_is_taken_for_a_program(name: str) -> None:
    data = NOT_PROGRAMS[name].encode()
    assert of_content(data) is None
    for file in ("homework", "homework.txt"):
        assert [d.language for d in chaffinch.documents([File(file, data)]) if isinstance(d, Document)] in (
            ["text"],
            [],
        )


def test_no_sample_of_a_language_with_signs_is_taken_for_another_one() -> None:
    """The samples are small and odd, so some are not recognised."""
    folder = Path(__file__).parent / "data" / "languages"
    confused = {}
    for path in sorted(folder.glob("*.one")):
        if "content_signs" in language.table(path.stem):
            found = of_content(path.read_bytes())
            if found is not None and language.family(found) != language.family(path.stem):
                confused[path.stem] = found
    assert set(confused) <= {"swift"}, confused


def test_only_the_start_of_a_long_file_counts() -> None:
    long = PROGRAMS["c"].encode() * 1000
    assert of_content(long) == of_content(long[: HEAD_BYTES * 2]) == "c"
    assert of_content(long + NOT_PROGRAMS["prose"].encode() * 9) == "c"


def test_endless_lines_and_comments_are_no_programs() -> None:
    for data in (b"public " + b"a " * 50_000, b"(" * 100_000, b"/*" * 50_000, b"(*" * 50_000, b"{-" * 9999):
        assert of_content(data) is None


def test_other_encodings() -> None:
    (document,) = chaffinch.documents([File("homework", PROGRAMS["java"].encode("utf-16"))])
    assert isinstance(document, Document)
    assert document.language == "java"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("main.c.txt", "c"),
        ("prog.c~", "c"),
        ("hw1.c.bak", "c"),
        ("main.cpp.1", "cc"),
        ("Main.java.orig.2", "java"),
        ("main.c.old", "c"),
        ("README", "text"),
        ("Makefile", "text"),
        ("notes.md", "text"),
        ("a.csv", "text"),
        ("v1.2", "text"),
    ],
)
def test_names_of_copies(name: str, expected: str) -> None:
    program = b"x = (1); y = (2); z = f(3);\n"  # too little to show a language
    assert Document(name, program).language == expected


def test_a_name_does_not_make_prose_a_program() -> None:
    essay = made.txt(made.prose(8))
    assert Document("question 1.c.txt", essay).language == "text"
    assert Document("README", PROGRAMS["c"].encode()).language == "text"


def c_program(seed: int, prefix: str = "v") -> str:
    text = "#include <stdio.h>\n" + WRITERS["c"](functions(seed, 6), Style(prefix))
    return text + 'int main(void)\n{\n    printf("%d", 1);\n    return 0;\n}\n'


def class_of(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_class_without_endings_is_compared_as_programs(tmp_path: Path) -> None:
    works = {"ann": c_program(1), "ben": c_program(1, "w"), "cyd": c_program(2), "dan.txt": c_program(3)}
    folder = class_of(tmp_path / "class", works)
    report = chaffinch.compare([folder])
    assert list(report.receipt.recipes) == ["cc"]
    assert [(p.left, p.right) for p in report.pairs] == [("ann", "ben")]
    (note,) = report.notes
    assert note.detail == "the name does not show the language; compared as c"
    assert [Path(name).name for name in note.names] == ["ann", "ben", "cyd", "dan.txt"]
    assert chaffinch.compare([folder], language="text").notes == ()
    assert chaffinch.compare([folder], language="c").notes == (note,)
    done = CliRunner().invoke(main, ["compare", str(folder), "-o", str(tmp_path / "report.html")])
    assert "ann and 3 more: the name does not show the language; compared as c" in done.output
    assert "ann" not in str(anonymous_report(report).notes)


def test_what_is_not_recognised_is_compared_as_text_with_a_note(tmp_path: Path) -> None:
    prose = ["\n".join(made.prose(5, seed)) for seed in range(3)]
    folder = class_of(tmp_path, {"ann": prose[0], "ben.txt": prose[1], "cyd": prose[2], "dan/README": prose[0]})
    (note,) = chaffinch.compare([folder]).notes
    assert note.detail == "the name does not show the language; compared as text"
    assert [Path(name).name for name in note.names] == ["ann", "cyd"]


MAKEFILE = (
    "all: main\n\tg++ -Wall -Wextra -O2 -std=c++17 -o main main.cpp util.cpp (see below)\nclean:\n\trm -f *.o\n"
)


def test_a_named_language_does_not_relabel_other_files(tmp_path: Path) -> None:
    works = {f"s{n}/main.cpp": c_program(n) for n in range(5)} | {f"s{n}/Makefile": MAKEFILE for n in range(5)}
    works |= {f"s{n}/notes.txt": "\n".join(made.prose(5, 7)) for n in range(5)}
    works |= {f"s{n}/data.csv": "a,b,c\n1,2,(3)\n" for n in range(5)}
    with pytest.raises(chaffinch.ChaffinchError, match="none has a document in java"):
        chaffinch.compare([class_of(tmp_path, works)], language="java")
    report = chaffinch.compare([tmp_path], language="c")
    assert {d.name.rpartition("/")[2] for s in report.submissions for d in s.documents} >= {"main.cpp"}
    assert {Path(s.name).name: s.detail for s in report.skipped} == dict.fromkeys(
        ["Makefile", "notes.txt", "data.csv"], "not C or C++"
    )


def test_a_named_language_takes_programs_that_nothing_shows(tmp_path: Path) -> None:
    lines = "\n".join(f"mov ax, [{n}] ; add (bx), {n} = {n * 7}" for n in range(60))
    folder = class_of(
        tmp_path, {"ann.foo": lines, "ben": lines, "cyd.md": lines, "dan": "\n".join(made.prose(5))}
    )
    report = chaffinch.compare([folder], language="a8086")
    assert [(p.left, p.right) for p in report.pairs] == [("ann", "ben")]
    assert sorted(Path(s.name).name for s in report.skipped) == ["cyd.md", "dan"]


@pytest.mark.parametrize("make", [Document, File])
def test_an_unknown_language_is_an_error(make: type[Document | File]) -> None:
    with pytest.raises(
        BadRecipe, match=r"unknown language 'nonsense' of a document; `chaffinch languages` lists"
    ):
        chaffinch.compare([make("a", b"x", language="nonsense"), make("b", b"y")])


def test_a_language_may_be_given_by_an_alias() -> None:
    assert Document("a", b"x = 1", language="py").language == "python"
    assert Document("a", b"x", "utf-8", "plain", "C++").language == "cc"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "name,points\n", True),
        ("a.json", "{}", True),
        ("test1.in", "some words", True),
        ("numbers.txt", "1 2 3\n4.5 6 7\n" * 9, True),
        ("table.txt", "".join(f"name{n},city{n},street{n}\n" for n in range(9)), True),
        ("words.txt", "\n".join(["apple", "pear", "plum", "lemon"] * 9), True),
        ("essay.txt", "\n".join(made.prose(9)), False),
        ("poem.txt", "O rose, thou art sick!\nThe invisible worm,\nThat flies in the night,\n" * 5, False),
        ("essay", "Это обычный текст, и ничего больше.\n" * 9, False),
        ("README.txt", "1 2 3", False),
        ("notes.md", "1 2 3", False),
    ],
)
def test_data_is_recognised(name: str, text: str, expected: bool) -> None:
    assert is_data(Document(name, text.encode(), "utf-8", "plain", "text")) == expected


def test_data_beside_programs_is_a_group_of_its_own(tmp_path: Path) -> None:
    table = "".join(f"city {n},{n * 31 % 97},{n * 17 % 89}\n" for n in range(200))
    works = {f"s{n}/main.c": c_program(n) for n in range(4)} | {f"s{n}/a.csv": table for n in range(2)}
    report = chaffinch.compare([class_of(tmp_path, works)], threshold=0)
    assert list(report.receipt.recipes) == ["cc", "data"]
    (pair,) = (p for p in report.pairs if {p.left, p.right} == {"s0", "s1"})
    assert pair.longest > 100


def test_a_class_of_data_is_compared_in_full(tmp_path: Path) -> None:
    tables = ["".join(f"city {n},{n * k % 97},{n * 17 % k}\n" for n in range(200)) for k in (31, 31, 53)]
    works = {f"s{n}/a.csv": text for n, text in enumerate(tables)}
    report = chaffinch.compare([class_of(tmp_path, works)])
    assert list(report.receipt.recipes) == ["text"]
    assert [(p.left, p.right, p.score) for p in report.pairs][:1] == [("s0", "s1", 1)]


def test_text_as_a_language_takes_no_programs_and_no_data(tmp_path: Path) -> None:
    works = {f"s{n}/main.cpp": c_program(n) for n in range(4)} | {
        f"s{n}/data.csv": "a,b,c\n1,2,(3)\n" for n in range(4)
    }
    folder = class_of(tmp_path / "class", works)
    with pytest.raises(chaffinch.NothingToCompare, match="none has a document in text"):
        chaffinch.compare([folder], language="text")
    class_of(folder, {f"s{n}/essay.txt": "\n".join(made.prose(5, n)) for n in range(4)})
    report = chaffinch.compare([folder], language="text")
    assert list(report.receipt.recipes) == ["text"]
    assert {(Path(s.name).name, s.detail) for s in report.skipped} == {
        ("main.cpp", "not text"),
        ("data.csv", "not text"),
    }


@pytest.mark.parametrize("form", ["bytes", "consonants"])
def test_bytes_and_consonants_take_everything(tmp_path: Path, form: str) -> None:
    works = {
        "ann/main.cpp": c_program(1),
        "ben/data.csv": "a,b,c\n1,2,(3)\n" * 9,
        "cyd/essay.txt": "some words " * 9,
    }
    report = chaffinch.compare([class_of(tmp_path, works)], language=form)
    assert report.skipped == ()
    assert list(report.receipt.recipes) == [form]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("c", "C or C++"),
        ("c++", "C or C++"),
        ("cuda", "C++ or CUDA"),
        ("js", "JavaScript or TypeScript"),
        ("python+names", "Python"),
    ],
)
def test_messages_call_languages_what_people_call_them(tmp_path: Path, asked: str, shown: str) -> None:
    endings = {"c": "c", "c++": "cpp", "cuda": "cu", "js": "js", "python+names": "py"}
    works = {f"s{n}/main.{endings[asked]}": "x = 1;\n" * 20 for n in range(2)} | {"s0/main.f90": "x = 1\n"}
    report = chaffinch.compare([class_of(tmp_path, works)], language=asked)
    assert [s.detail for s in report.skipped] == [f"not {shown}"]
