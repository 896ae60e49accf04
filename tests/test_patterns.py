"""Patterns match what the user means, and a pattern that matches nothing is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaffinch.read.rules import Rules
from tests.archives import zipped
from tests.test_untidy_folders import made, program, read_of, run

WORK = {f"{name}/{file}.py": program(n) for n, name in enumerate(("ann", "ben", "cy")) for file in ("a", "b")}


def test_include_wins_inside_an_excluded_archive(tmp_path: Path) -> None:
    for name in ("ann", "ben"):
        members = {"main.py": program(1).encode(), "lib/a.txt": b"some words", "lib/b.py": program(2).encode()}
        (tmp_path / f"{name}.zip").write_bytes(zipped(members))
    documents, skipped = read_of(tmp_path, exclude=["ben.zip"], include=["main.py"])
    assert documents["ben"] == ["ben.zip/main.py"]
    assert skipped == {"ben.zip": "excluded by the pattern 'ben.zip'"}
    assert read_of(tmp_path, exclude=["ben.zip"])[0].keys() == {"ann"}
    assert read_of(tmp_path, exclude=["ben.zip"], include=["nothing"])[0].keys() == {"ann"}
    assert len(read_of(tmp_path, exclude=["*.zip"], include=["ben.zip"])[0]["ben"]) == 3


@pytest.mark.parametrize("pattern", ["caf\u00e9*", "cafe\u0301*"])
def test_accents_match_however_they_are_stored(pattern: str) -> None:
    rules = Rules.of(exclude=pattern).below("class")
    assert rules.excludes("class/caf\u00e9s.c")
    assert rules.excludes("class/cafe\u0301s.c")


def students(root: Path, pattern: str) -> set[str]:
    """Return the students of whom something is read although the pattern is excluded."""
    return {name for name, documents in read_of(root, exclude=[pattern])[0].items() if documents}


def test_paths_match_as_they_are_shown(tmp_path: Path) -> None:
    root = made(tmp_path / "class", WORK)
    for pattern in ("class/ann", str(root / "ann"), f"{root}/ann/", "class/ann/*.py"):
        assert students(root, pattern) == {"ben", "cy"}, pattern
    for pattern in (str(tmp_path), f"{tmp_path}/", str(root), "/class/ann"):
        assert students(root, pattern) == {"ann", "ben", "cy"}, pattern


def test_a_pattern_that_matches_nothing_is_named(tmp_path: Path) -> None:
    root = made(tmp_path / "class", WORK)
    arguments = ["--exclude", "a.py", "--exclude", "A.PY", "--exclude", "ann/*", "--include", "*.rs"]
    done = run("compare", root, *arguments, "-o", tmp_path / "report.html")
    warnings = [line for line in done.stderr.splitlines() if "matches no" in line]
    assert warnings == [f"chaffinch: the pattern {p!r} matches no file or folder" for p in ("*.rs", "A.PY")]
