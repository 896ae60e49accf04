"""Programs under the names of data, and prose under the names of programs, are compared as what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import chaffinch
from chaffinch import Document, File
from chaffinch.languages import language
from chaffinch.languages.by_content import is_prose, plain_program
from chaffinch.read.file_kinds import is_data
from tests import made
from tests.content_samples import NOT_PROGRAMS, PROGRAMS
from tests.test_languages_by_content import c_program, class_of

ESSAY = made.txt(made.prose(8)).decode()
DATA_ENDINGS = ("csv", "json", "dat", "log", "xml", "properties", "yaml", "ini")
ENDINGS = (*DATA_ENDINGS, "in", "out", "md", "html", "tex", "eml")


def only_document(name: str, text: str) -> Document:
    (document,) = chaffinch.documents([File(name, text.encode())])
    assert isinstance(document, Document)
    return document


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["c", "java", "python"])
def test_a_program_under_the_name_of_data_or_a_document_is_a_program(name: str, ending: str) -> None:
    document = only_document(f"work.{ending}", PROGRAMS[name])
    assert (document.language, document.format) == (name, "plain")
    assert document.data == PROGRAMS[name].encode()


OTHER_FILES = {
    "code in cells": "id,code\n" + "".join(f'{n},"int f{n}(int x) {{ return x; }}"\n' for n in range(20)),
    "a chapter": "\\section{Code}\n\\begin{lstlisting}\n"
    + PROGRAMS["c"]
    + "\\end{lstlisting}\n\\subsection{More}\n",
    "markup": "<project>\n  <name>a</name>\n  <code>int main(void) { return 0; }</code>\n</project>\n",
    "a page": "<p>One</p>\n<script>\n" + PROGRAMS["javascript"] + "</script>\n",
    "indented Markdown": "# Notes\n\n" + "".join(f"    {line}\n" for line in PROGRAMS["c"].splitlines()),
    "YAML": "---\nname: x\nrun: |\n" + "".join(f"  {line}\n" for line in PROGRAMS["python"].splitlines()),
    "a log": "".join(f"2024-01-0{n} INFO Main.java: System.out.println({n});\n" for n in range(9)),
    "a traceback": 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    return g(x)\n' * 9,
    "properties": "".join(f"app.value{n} = new Thing({n});\n" for n in range(20)),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", [*NOT_PROGRAMS, *OTHER_FILES])
def test_data_and_documents_are_no_programs(name: str, ending: str) -> None:
    text = (NOT_PROGRAMS | OTHER_FILES)[name]
    assert plain_program(text.encode()) is None
    documents = [
        d for d in chaffinch.documents([File(f"work.{ending}", text.encode())]) if isinstance(d, Document)
    ]
    assert {d.language for d in documents} <= {"text"}


@pytest.mark.parametrize("ending", ["py", "c", "java", "js", "rb", "R", "vb"])
def test_prose_under_the_name_of_a_program_is_text(ending: str) -> None:
    assert only_document(f"essay.{ending}", ESSAY).language == "text"


@pytest.mark.parametrize("name", ["essay.txt", "essay"])
def test_a_first_line_for_an_interpreter_does_not_make_prose_a_program(name: str) -> None:
    assert only_document(name, "#!/usr/bin/python\n" + ESSAY).language == "text"
    assert only_document(name, "#!/usr/bin/python\n" + PROGRAMS["python"]).language == "python"


def test_programs_with_much_prose_in_comments_are_programs() -> None:
    for sample in (Path(__file__).parent / "data" / "languages").iterdir():
        assert not is_prose(sample.read_bytes(), sample.stem), sample
    commented = "".join(f"# {line}\n" for line in ESSAY.splitlines())
    assert only_document("a.py", commented + "x = 1\n").language == "python"
    assert only_document("a.py", f'"""{ESSAY}"""\nfrom a import b\nfrom c import d\n').language == "python"
    for name, text in PROGRAMS.items():
        assert not is_prose(text.encode(), name)
    assert "python" in language.languages()


@pytest.mark.parametrize("ending", DATA_ENDINGS)
def test_an_essay_under_the_name_of_data_is_no_data(ending: str) -> None:
    assert not is_data(only_document(f"essay.{ending}", ESSAY))
    for name in ("a table", "JSON", "numbers", "settings", "errors"):
        assert is_data(only_document(f"data.{ending}", NOT_PROGRAMS[name]))


def test_disguised_copies_are_found_and_noted(tmp_path: Path) -> None:
    works = {
        "ann/main.c": c_program(1),
        "ben/data.csv": c_program(1, "w"),
        "cyd/main.c": c_program(2),
        "cyd/essay.txt": ESSAY,
        "dan/main.c": c_program(3),
        "dan/essay.py": ESSAY,
        "eve/main.c": c_program(4),
        "eve/log.dat": ESSAY,
    }
    report = chaffinch.compare([class_of(tmp_path, works)])
    pairs = {(p.left, p.right) for p in report.pairs}
    assert {("ann", "ben"), ("cyd", "dan"), ("cyd", "eve"), ("dan", "eve")} <= pairs
    noted = {Path(name).name: note.detail.rpartition(" ")[2] for note in report.notes for name in note.names}
    assert noted == {"data.csv": "c", "essay.py": "text", "log.dat": "text"}
