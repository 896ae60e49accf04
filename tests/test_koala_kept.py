"""A koala index over the years: probes, the secret, settings, exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chaffinch import BadRecipe, Recipe, RecipeMismatch
from chaffinch import fingerprinting as api
from chaffinch.index.index import Index, open_for_import
from chaffinch.index.koala.probes import FILE
from tests.indexed import document, edited, text, words
from tests.koalas import CONTENTS, SECRET, Make, chaffinch, maker, searched, stored


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    return maker(tmp_path, monkeypatch)


@pytest.fixture(params=CONTENTS)
def content(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_many_slightly_different_queries_are_suspicious(make: Make, content: str) -> None:
    index = make(content=content)
    target, other = words(400, "target"), words(400, "other")
    index.add([document("target", " ".join(target)), document("other", " ".join(other))])
    for i in range(12):
        index.search(" ".join(other))
        index.search(text(400, f"unrelated {i}"))
    assert index.suspicious() == []
    for i in range(60):
        assert len(index.suspicious()) == (i >= 50), i
        index.search(" ".join(edited(target, 0.05, i)))
    assert [(p.name, p.searches, p.stored) for p in index.suspicious()] == [("target", 60, 100)]
    index.rotate(["target"], sources=[document("", " ".join(target))])
    assert index.suspicious() == []


def test_searching_for_a_document_piece_by_piece_is_noticed(make: Make) -> None:
    index = make()
    target = words(1200, "target")
    index.add(document("target", " ".join(target)))
    for i in range(118):
        index.search(" ".join(target[10 * i : 10 * i + 20]))
    assert [probed.name for probed in index.suspicious()] == ["target"]
    index.remove("target")
    assert index.suspicious() == []


@pytest.mark.parametrize("how", ["a folder", "no database", "empty"])
def test_where_nothing_can_be_counted_it_still_searches(make: Make, how: str) -> None:
    index = make()
    index.add(document("d", text(300, "d")))
    path = Path(index.store.where) / FILE
    if how == "a folder":
        path.mkdir()
    else:
        path.write_bytes(b"nothing of the kind" * 100 if how == "no database" else b"")
    for i in range(60):
        assert len(index.search(" ".join(edited(words(300, "d"), 0.05, i)))) == 1
    assert len(index.suspicious()) == (how != "a folder")
    assert index.rotate().rotated == ["d"]
    assert index.info().documents == 1


def test_an_index_that_nobody_probes_has_no_counter(make: Make, tmp_path: Path) -> None:
    with Index.create(tmp_path / "plain") as plain:
        plain.add(document("d", text(100, "d")))
        plain.search(text(100, "d"))
        plain.suspicious()
        plain.remove("d")
    assert not (tmp_path / "plain" / FILE).exists()


def test_the_command_line_of_it(tmp_path: Path) -> None:
    where = tmp_path / "papers.index"
    made = chaffinch("index", "create", where, "--recipe", "koala", "--stored", 60, "--searched", 600, "--json")
    assert json.loads(made.output)["recipe"]["w"] == 600
    target = words(500, "target")
    (tmp_path / "target.txt").write_text(" ".join(target))
    assert chaffinch("index", "add", where, tmp_path / "target.txt").exit_code == 0
    for i in range(30):
        (tmp_path / "query.txt").write_text(" ".join(edited(target, 0.03, i)))
        assert chaffinch("search", where, tmp_path / "query.txt").exit_code == 0
    shown = chaffinch("index", "info", where)
    assert "60 of 600 fingerprints stored" in shown.output
    assert "suspicious: 30 different searches told" in shown.output
    assert f"of 60 stored fingerprints apart: {tmp_path / 'target.txt'}; rotate it" in shown.output
    told = json.loads(chaffinch("index", "info", where, "--json").output)
    (probed,) = told["suspicious"]
    assert (probed["name"], probed["searches"], probed["stored"]) == (str(tmp_path / "target.txt"), 30, 60)
    assert (told["stored"], told["postings"]) == (60, 60)
    rotated = chaffinch("index", "rotate", where, "--suspicious", "--json")
    assert json.loads(rotated.output)["rotated"] == [str(tmp_path / "target.txt")]
    assert "suspicious:" not in chaffinch("index", "info", where).output
    assert chaffinch("index", "rotate", where, "--suspicious").exit_code == 1


def test_the_secret_is_nowhere_to_be_seen(make: Make, tmp_path: Path) -> None:
    index = make()
    (tmp_path / "d.txt").write_text(text(300, "d"))
    index.add(tmp_path / "d.txt")
    where = index.store.where
    answer = index.search(tmp_path / "d.txt")
    shown = [repr(x) for x in (index.recipe, index.store.settings, index.info(), answer, list(index), index)]
    shown += [str(index.recipe), json.dumps(answer.receipt.to_dict())]
    with pytest.raises(RecipeMismatch, match="another seed") as refused:
        Index.open(where, Recipe("consonants", k=20, w=1000, scheme="smallest", skip=100, seed=5))
    shown.append(str(refused.value))
    index.close()
    for command in (
        ["index", "info", where, "--documents"],
        ["search", where, tmp_path / "d.txt"],
        ["index", "rotate", where],
        ["index", "merge", where],
        ["index", "verify", where],
        ["index", "create", tmp_path / "other", "--recipe", "koala"],
    ):
        shown += [chaffinch(*command).output, chaffinch(*command, "--json").output]
    for form in (str(SECRET), f"{SECRET:x}", f"{SECRET:X}", repr(SECRET.to_bytes(8, "little"))):
        assert not [s for s in shown if form in s]
    chaffinch("index", "export", where, tmp_path / "all.jsonl")
    assert str(SECRET) in (tmp_path / "all.jsonl").read_text()


def test_an_export_keeps_the_choices(make: Make, content: str, tmp_path: Path) -> None:
    index = make(content=content, frequent=5, ignored=7, stored=80)
    said = [document(f"d{i}", text(300, i)) for i in range(5)]
    index.add(said)
    index.rotate(["d1", "d2"], sources=said)
    index.rotate(["d2"], sources=said)
    index.export(tmp_path / "all.jsonl.gz")
    with open_for_import(tmp_path / "copy.index", tmp_path / "all.jsonl.gz") as copy:
        copy.import_(tmp_path / "all.jsonl.gz")
        assert copy.store.settings == index.store.settings
        assert list(copy) == list(index)
        for d in said:
            assert stored(copy, d.name) == stored(index, d.name)
            assert copy.search(d).hits == index.search(d).hits
        assert copy.rotate(sources=said).skipped == []
        assert stored(copy, "d2") < searched(index, said[2])
        assert stored(copy, "d2") != stored(index, "d2")


def test_settings_are_kept_and_used(make: Make) -> None:
    index = make(stored=7, searched=50, skip=3)
    said = text(300, "said")
    index.add(document("d", said))
    index.add(document("two", text(14, "two")))
    assert (len(stored(index, "d")), len(searched(index, said))) == (7, 50)
    again = Index.open(index.store.where)
    assert again.store.settings == index.store.settings
    assert (again.recipe.w, again.recipe.skip, again.store.settings.stored) == (50, 3, 7)
    assert api.fingerprint(text(14, "two"), again.recipe).positions.min() >= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stored": 0}, "stored is 0; give 1 to 999, fewer than are searched with"),
        ({"stored": 1000}, "stored is 1000; give 1 to 999"),
        ({"searched": 1}, "searched is 1; give 2 to 65536"),
        ({"searched": 70_000}, "searched is 70000; give 2 to 65536"),
        ({"searched": 50}, "searched is 50; give more than the 100 stored"),
        ({"skip": -1}, "skip is -1; give 0 to"),
        ({"frequent": 1}, "frequent is 1; give 2 to"),
        ({"ignored": -1}, "ignored is -1; give 0 to"),
        ({"stored": 2.5}, "stored is 2.5; give 1 to"),
        ({"k": 0}, "k is 0; give 1 to 2048"),
        ({"k": "20"}, "k is '20'; give 1 to 2048"),
        ({"scheme": "winnow"}, "scheme is 'winnow'; with the recipe koala, choose smallest or rare"),
        ({"scheme": ""}, "scheme is ''; with the recipe koala"),
        ({"content": "words"}, "content is 'words'; choose one of text, search-set, none"),
    ],
)
def test_what_is_out_of_range_is_refused(make: Make, options: dict[str, object], message: str) -> None:
    with pytest.raises(BadRecipe) as refused:
        make(**options)
    assert message in str(refused.value)


def test_the_command_line_refuses_with_what_to_do(tmp_path: Path) -> None:
    where = tmp_path / "i"
    for given, message in (
        (["--recipe", "koala", "--stored", 0], "give 1 to 999"),
        (["--recipe", "koala", "--skip", -5], "give 0 to"),
        (["--recipe", "koala", "-k", 0], "k is 0; give 1 to 2048"),
        (["--recipe", "koala", "-w", 9], "give --searched"),
        (["--recipe", "koala", "--scheme", "winnow"], "'winnow' is not one of 'smallest', 'rare'"),
        (["--recipe", "koala", "--frequent", 1], "frequent is 1; give 2 to"),
        (["--recipe", "koala", "--ignored", -1], "ignored is -1; give 0 to"),
        (["--stored", 50], "only the recipe koala takes stored"),
        (["--keep-search-set"], "choose text or none"),
        (["--recipe", "koala", "--no-content", "--keep-search-set"], "exclude each other"),
    ):
        done = chaffinch("index", "create", where, *given)
        assert done.exit_code == 2
        assert message in done.output
        assert not where.exists()
