"""What a caller in Python gets wrong is an error that says what to give instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chaffinch
from chaffinch import Document, File
from chaffinch.errors import BadPattern, BadRecipe
from tests.test_untidy_folders import made, program, read_of

TWO = [File("a.py", b"x = 1"), File("b.py", b"y = 2")]
ANY: Any = chaffinch
"""The package without types, because these calls are wrong."""


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ANY.Document("a.py", b"x", language=5), TypeError, "a str such as 'python', not 5"),
        (
            lambda: ANY.Document("a.py", bytearray(b"x")),
            TypeError,
            "a name and bytes, not 'a.py' and bytearray",
        ),
        (
            lambda: ANY.Document("a.py", b"x", format="nonsense"),
            BadRecipe,
            "unknown format 'nonsense'; leave it out",
        ),
        (
            lambda: ANY.Document("a.py", b"x", encoding="nonsense"),
            BadRecipe,
            "unknown encoding 'nonsense'; leave",
        ),
        (lambda: ANY.compare([File("a", b"x", format="no"), *TWO]), BadRecipe, "a: unknown format 'no'"),
        (lambda: ANY.compare([File("a", b"x", encoding="no"), *TWO]), BadRecipe, "a: unknown encoding 'no'"),
        (lambda: ANY.compare(TWO, dates=5), TypeError, "dates is a dict with a date for each name, not 5"),
        (lambda: ANY.compare(TWO, exclude=b"*.py"), BadPattern, r"b'\*.py' is not a str, such as '\*.txt'"),
        (lambda: ANY.compare(TWO, exclude=5), BadPattern, "5 is not a str"),
        (lambda: ANY.compare(TWO, include=[b"*.py"]), BadPattern, "is not a str"),
        (lambda: ANY.compare(TWO, threads=0), BadRecipe, "threads is 0; choose 1 or more"),
        (lambda: ANY.fingerprint_all(TWO, threads=-1), BadRecipe, "threads is -1; choose 1 or more"),
    ],
)
def test_errors(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_formats_and_encodings_that_exist_can_be_given() -> None:
    assert Document("a", b"<p>x", format="html").format == "html"
    assert Document("a", b"x", encoding="Latin1").data == b"x"


def test_of_identical_files_the_one_with_the_name_of_a_program_is_kept(tmp_path: Path) -> None:
    work = {"ann/main_program.py": program(1), "ann/a.txt": program(1), "ben/b.py": program(2)}
    documents, skipped = read_of(made(tmp_path, work))
    assert documents["ann"] == ["ann/main_program.py"]
    assert skipped == {"ann/a.txt": "the same as main_program.py of this student"}
