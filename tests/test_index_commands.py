"""The commands of an index, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chaffinch.cli import main
from chaffinch.index.records import today
from tests.indexed import edited, text, words
from tests.made import docx, html, pdf, prose, zipped
from tests.programs import WRITERS, Style, functions


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def told(*arguments: object, code: int = 0) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return an index of a folder with three texts."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.txt").write_text(text(200, i))
    assert run("index", "create", tmp_path / "a.index").exit_code == 0
    assert run("index", "add", tmp_path / "a.index", folder).exit_code == 0
    return tmp_path / "a.index"


def test_a_file_is_searched_for_and_shown(archive: Path, tmp_path: Path) -> None:
    query = tmp_path / "query.txt"
    query.write_text(text(50, "own") + "\n" + " ".join(words(200, 1)[40:120]))
    shown = run("search", archive, query)
    assert shown.exit_code == 0
    assert "1.txt" in shown.output
    answer = told("search", archive, query)
    (hit,) = answer["hits"]
    assert hit["document"].endswith("1.txt")
    assert set(hit) >= {"query", "document", "containment", "resemblance", "relation", "matches"}
    assert set(hit["containment"]) == {"query", "document"}
    (match,) = hit["matches"]
    said = query.read_bytes()[match["query"]["start"] : match["query"]["end"]]
    assert said in (tmp_path / "texts" / "1.txt").read_bytes()
    assert answer["queries"][0]["receipt"]["recipe"]["guarantee"] == 50


def test_the_exit_code_shows_that_nothing_was_found(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text(text(100, "new"))
    assert run("search", archive, tmp_path / "new.txt").exit_code == 1


def test_a_report_of_a_search_shows_both_sides(archive: Path, tmp_path: Path) -> None:
    query = tmp_path / "query.txt"
    query.write_text(text(200, 2))
    assert run("search", archive, query, "-o", tmp_path / "report.html").exit_code == 0
    assert "2.txt" in (tmp_path / "report.html").read_text()


def test_documents_are_added_removed_and_replaced(archive: Path, tmp_path: Path) -> None:
    again = told("index", "add", archive, tmp_path / "texts")
    assert (again["added"], len(again["already"])) == ([], 3)
    name = str(tmp_path / "texts" / "1.txt")
    (tmp_path / "texts" / "1.txt").write_text(text(200, "new"))
    refused = told("index", "add", archive, name, code=2)
    assert "replace" in refused["skipped"][0]["detail"]
    assert told("index", "replace", archive, name)["replaced"] == [name]
    assert told("index", "remove", archive, name)["removed"] == [name]
    assert told("index", "remove", archive, name, code=2)["missing"] == [name]
    assert told("index", "info", archive)["documents"] == 2
    assert told("index", "merge", archive)["segments"] == 1
    assert told("index", "verify", archive)["problems"] == []


def test_formats_archives_and_json_lines_are_added(archive: Path, tmp_path: Path) -> None:
    said = prose(20)
    (tmp_path / "a.pdf").write_bytes(pdf(said))
    (tmp_path / "b.zip").write_bytes(zipped({"in/one.docx": docx(said), "in/two.html": html(said)}))
    (tmp_path / "c.jsonl").write_text(json.dumps({"name": "three", "text": "\n".join(said)}))
    (tmp_path / "d.bin").write_bytes(bytes(range(256)) * 10)
    files = [tmp_path / name for name in ("a.pdf", "b.zip", "c.jsonl", "d.bin")]
    added = told("index", "add", archive, *files, code=2)
    assert len(added["added"]) == 4
    assert [s["detail"] for s in added["skipped"]] == ["binary, not text"]
    (tmp_path / "q.txt").write_text("\n".join(said))
    hits = told("search", archive, tmp_path / "q.txt")["hits"]
    assert len(hits) == 4
    assert all(hit["containment"]["query"] > 0.9 for hit in hits)


def test_what_is_said_about_a_document_is_shown(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(text(100, "p"))
    said = ("--url", "https://example.org/p.txt", "--contact", "ann@example.org", "--date", "1996-01-02")
    assert run("index", "add", archive, tmp_path / "p.txt", *said).exit_code == 0
    (hit,) = told("search", archive, tmp_path / "p.txt")["hits"]
    assert (hit["url"], hit["contact"]) == ("https://example.org/p.txt", "ann@example.org")
    listed = told("index", "info", archive, "--documents")["documents_list"]
    assert listed[-1]["date"] == "1996-01-02"
    assert listed[-1]["registered"] == hit["registered"] == today().isoformat()
    assert f"{today()}  {tmp_path / 'texts' / '0.txt'}" in run("index", "info", archive, "--documents").output
    shown = run("search", archive, tmp_path / "p.txt").output
    assert all(part in shown for part in ("https://example.org/p.txt", "ann@example.org"))


def test_what_is_said_about_a_document_is_changed(archive: Path, tmp_path: Path) -> None:
    name = str(tmp_path / "texts" / "1.txt")
    assert told("index", "set", archive, name, "--url", "https://example.org/1", "--contact", "ann")["set"] == [
        name
    ]
    (tmp_path / "texts" / "1.txt").write_text(text(200, 1) + " and more")
    assert told("index", "replace", archive, name, "--contact", "")["replaced"] == [name]
    assert told("index", "set", archive, name, "nobody", "--date", "1996", code=2)["missing"] == ["nobody"]
    (known,) = (d for d in told("index", "info", archive, "--documents")["documents_list"] if d["name"] == name)
    assert (known["url"], known["contact"], known["date"]) == ("https://example.org/1", None, "1996")
    refused = run("index", "set", archive, name)
    assert (refused.exit_code, "Give --url" in refused.output) == (2, True)


def test_an_export_makes_another_index(archive: Path, tmp_path: Path) -> None:
    assert told("index", "export", archive, tmp_path / "all.jsonl.gz")["documents"] == 3
    assert told("index", "import", tmp_path / "b.index", tmp_path / "all.jsonl.gz")["documents"] == 3
    assert told("index", "info", tmp_path / "b.index")["documents"] == 3
    (tmp_path / "no.jsonl").write_text("{}")
    refused = run("index", "import", tmp_path / "c.index", tmp_path / "no.jsonl")
    assert (refused.exit_code, "not an index" in refused.output) == (2, True)


def test_an_export_is_the_same_bytes_whenever_it_is_written(archive: Path, tmp_path: Path) -> None:
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        assert run("index", "export", archive, tmp_path / name).exit_code == 0
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()


def test_a_name_that_is_no_text_can_be_removed(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "caf\udce9.txt").write_text(text(60, "odd"))
    name = str(tmp_path / "caf\udce9.txt")
    assert run("index", "add", archive, name).exit_code == 0
    assert run("index", "remove", archive, name).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["index", "info", "nowhere"], "index create"),
        (["search", "nowhere", "x"], "index create"),
        (["index", "create", "x", "--recipe", "klingon"], "choose one of"),
        (["index", "create", "x", "--stored", "5"], "koala"),
        (["index", "create", "x", "--recipe", "koala", "--stored", "5000"], "fewer than"),
    ],
)
def test_a_mistake_gives_a_message_without_a_traceback(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_an_error(archive: Path) -> None:
    assert run("index", "add", archive, "nowhere.txt").exit_code == 2
    assert run("search", archive, "nowhere.txt").exit_code == 2


@pytest.mark.parametrize(
    "command", [["search", "INDEX"], ["index", "add", "INDEX"], ["fingerprint"], ["submissions"]]
)
def test_an_archive_of_which_nothing_can_be_read_is_an_error(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [str(archive) if word == "INDEX" else word for word in command]
    bomb, words = b"0" * (20 << 20), text(100, 1).encode()
    Path("folder").mkdir()
    for name, members, code in (
        ("bomb", {"b.txt": bomb}, {2}),
        ("both", {"b.txt": bomb, "in/c.txt": words}, {0, 1}),
        ("picture", {"b.png": bomb}, {1}),
        ("folder/bomb", {"b.txt": bomb}, {2}),
    ):
        Path(f"{name}.zip").write_bytes(zipped(members))
        assert run(*command, f"{name}.zip").exit_code in code, name
    assert run(*command, "folder").exit_code == 1


@pytest.mark.parametrize("kind", ["text", "code"])
def test_compare_takes_an_index_as_earlier_work(tmp_path: Path, kind: str) -> None:
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
    if kind == "text":
        olds = {f"{i}.txt": text(300, i) for i in range(5)}
        news = {"ann.txt": " ".join(edited(words(300, 3), 0.03)), "bob.txt": text(300, "bob")}
        copied = ("ann", "3.txt")
    else:
        olds = {f"{i}.py": WRITERS["py"](functions(i), Style()) for i in range(5)}
        renamed = WRITERS["py"](functions(3), Style(prefix="my_", indent=2))
        news = {"ann.py": renamed, "bob.py": WRITERS["py"](functions(77), Style())}
        copied = ("ann", "3.py")
    for folder, files in (("old", olds), ("new", news)):
        for name, said in files.items():
            (tmp_path / folder / name).write_text(said)
    index = tmp_path / "old.index"
    assert run("index", "create", index, "--recipe", kind).exit_code == 0
    assert run("index", "add", index, tmp_path / "old").exit_code == 0
    found = told("compare", tmp_path / "new", "--old", index)["pairs"]
    assert {(p["left"], Path(p["right"]).name) for p in found if p["score"] > 0.5} == {copied}


def test_compare_takes_the_boilerplate_of_an_index_as_base_code(tmp_path: Path) -> None:
    licence, shared = text(60, "licence"), text(20, "shared")
    index, new, old, given = (tmp_path / name for name in ("old.index", "new", "old.txt", "licence.txt"))
    new.mkdir()
    given.write_text(licence)
    old.write_text(f"{licence}\n{text(40, 'old')}\n{shared}")
    (new / "ann.txt").write_text(f"{licence}\n{text(40, 'ann')}\n{shared}")
    (new / "bob.txt").write_text(f"{text(30, 'bob')}\n{licence}\n{text(40, 'bob too')}")
    assert run("index", "create", index).exit_code == 0
    assert run("index", "add", index, given, "--boilerplate").exit_code == 0
    assert run("index", "add", index, old).exit_code == 0
    found = told("compare", new, "--old", index, "--threshold", "0")
    assert list(found["receipt"]["base"]) == [str(given)]
    (pair,) = found["pairs"]
    assert (pair["left"], Path(pair["right"]).name) == ("ann", "old.txt")
    assert pair["longest"] < 200  # letters: what was shared, not the licence


def test_compare_tells_that_an_index_without_texts_will_not_do(tmp_path: Path) -> None:
    index = tmp_path / "old.index"
    assert run("index", "create", index, "--no-content").exit_code == 0
    (tmp_path / "new.txt").write_text("words")
    result = run("compare", tmp_path / "new.txt", "--old", index)
    assert result.exit_code == 2
    assert "no texts" in result.output


def test_an_old_text_that_is_damaged_costs_only_itself(tmp_path: Path) -> None:
    index, new = tmp_path / "old.index", tmp_path / "new"
    new.mkdir()
    (new / "ann.txt").write_text(text(200, 1) + "\n" + text(200, 2))
    for n in (1, 2):
        (tmp_path / f"{n}.txt").write_text(text(200, n))
    assert run("index", "create", index).exit_code == 0
    assert run("index", "add", index, tmp_path / "1.txt", tmp_path / "2.txt").exit_code == 0
    with (index / "texts-0001.dat").open("r+b") as file:
        file.write(b"damaged")
    found = told("compare", new, "--old", index)
    assert [Path(p["right"]).name for p in found["pairs"]] == ["2.txt"]
    assert [Path(s["name"]).name for s in found["skipped"]] == ["1.txt"]
