"""The order in which paths, names and documents are given changes no result."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Document
from chaffinch.cli import main
from chaffinch.report.export import to_json
from tests.indexed import text

SHARED = [text(30, n) for n in range(3)]


def run(*arguments: object) -> str:
    return CliRunner().invoke(main, [*map(str, arguments), "--json"]).stdout


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return three texts that share passages, and an empty file."""
    monkeypatch.chdir(tmp_path)
    for n, passage in enumerate(SHARED):
        parts = text(20, ("own", n)), SHARED[0], passage, SHARED[0], text(20, ("last", n))
        Path(f"{n}.txt").write_text(" ".join(parts))
    Path("empty.txt").write_text("")
    return [Path("1.txt"), Path("0.txt"), Path("empty.txt"), Path("2.txt")]


@pytest.mark.parametrize(
    "command", ["fingerprint", "submissions", "compare", "compare --base", "compare --old"]
)
def test_of_a_command(files: list[Path], command: str) -> None:
    name, *option = command.split()
    given = files
    if option:
        given = [Path("0.txt"), Path("1.txt")]
        Path("more.txt").write_text(f"{SHARED[0]} {text(20, 'more')}")
    others = [Path("more.txt"), Path("2.txt")] if option else []
    results = {
        run(name, *order, *(part for path in late for part in (*option, path)))
        for order in permutations(given)
        for late in permutations(others)
    }
    assert len(results) == 1
    assert json.loads(results.pop())


def test_of_documents_in_memory() -> None:
    documents = [
        Document(f"{n}.txt", f"{text(20, ('own', n))} {SHARED[0]} {passage} {SHARED[0]}".encode())
        for n, passage in enumerate(SHARED)
    ]
    results = {
        json.dumps(to_json(chaffinch.compare(order, threshold=0, top=None)))
        for order in permutations(documents)
    }
    assert len(results) == 1


def test_of_an_index(files: list[Path]) -> None:
    results = set()
    Path("copy.txt").write_bytes(Path("1.txt").read_bytes())
    for n, order in enumerate(permutations([*files, Path("copy.txt")])):
        if n % 10:
            continue
        where = f"{n}.index"
        run("index", "create", where)
        results.add(
            (
                run("index", "add", where, *order),
                run("search", where, *order),
                run("index", "info", where, "--documents").replace(where, "index"),
                run("index", "remove", where, "gone", *reversed(order)),
            )
        )
    assert len(results) == 1
    added, searched, *_ = map(json.loads, results.pop())
    assert added["copies"] == [{"name": "copy.txt", "of": "1.txt"}]
    assert [query["query"] for query in searched["queries"]] == [
        "0.txt",
        "1.txt",
        "2.txt",
        "copy.txt",
        "empty.txt",
    ]


def test_of_an_export(files: list[Path]) -> None:
    exports = set()
    for n, order in enumerate((files, files[::-1])):
        run("index", "create", f"{n}.index")
        run("index", "add", f"{n}.index", *order)
        run("index", "export", f"{n}.index", "all.jsonl")
        exports.add(Path("all.jsonl").read_bytes())
    assert len(exports) == 1
