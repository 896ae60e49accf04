"""A choice of fingerprints that was rotated never comes back, whatever is done with the document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chaffinch.index.index import Index, open_for_import
from chaffinch.index.records import today
from tests.indexed import Make, document, text
from tests.koalas import chaffinch, stored

SAID = document("d", text(600, "said"))


def replaced(index: Index) -> None:
    index.replace(document("d", text(600, "said"), "one more line"))
    assert index.replace(SAID).replaced == ["d"]


def removed_and_added(index: Index) -> None:
    index.remove("d")
    index.add(SAID)


def added_by_another_name(index: Index) -> None:
    index.remove("d")
    index.add(document("e", text(600, "said")))
    index.remove("e")
    index.add(SAID)


@pytest.mark.parametrize("change", [replaced, removed_and_added, added_by_another_name])
def test_a_choice_that_was_rotated_never_comes_back(make: Make, change: Callable[[Index], None]) -> None:
    index = make("koala")
    index.add([SAID, document("other", text(100, "other"))])
    seen = [stored(index, "d")]
    for _ in range(4):
        assert index.rotate(["d"]).rotated == ["d"]
        latest = stored(index, "d")
        change(index)
        assert stored(index, "d") == latest, "what was rotated to is still what is stored"
        assert all(len(latest & old) < 40 for old in seen)
        seen.append(latest)
    assert index.verify() == []


def test_an_import_goes_on_where_the_export_was(make: Make, tmp_path: Path) -> None:
    index = make("koala")
    index.add(SAID)
    first = stored(index, "d")
    index.rotate()
    index.rotate(["d"])
    second = stored(index, "d")
    index.export(tmp_path / "all.jsonl")
    with open_for_import(tmp_path / "copy", tmp_path / "all.jsonl") as copy:
        copy.import_(tmp_path / "all.jsonl")
        assert stored(copy, "d") == second
        removed_and_added(copy)
        assert stored(copy, "d") == second
        copy.rotate()
        assert len(stored(copy, "d") & (first | second)) < 60


def test_documents_of_one_generation_choose_alike(make: Make) -> None:
    """So a passage that many share is seen to be frequent."""
    index = make("koala")
    index.add([SAID, document("copy", text(600, "said"))])
    assert stored(index, "d") == stored(index, "copy")
    index.rotate()
    assert stored(index, "d") == stored(index, "copy")


def test_old_choices_are_rotated_on_schedule(make: Make, where: str, tmp_path: Path) -> None:
    index = make("koala")
    index.add([SAID, document("new", text(200, "new"))])
    index.export(tmp_path / "all.jsonl")
    index.remove("d")
    first, *lines = (tmp_path / "all.jsonl").read_text().splitlines()
    documents = [json.loads(line) for line in lines]
    for d in documents:
        assert (d["registered"], d["chosen"]) == (today().isoformat(),) * 2
    documents[0] |= {"registered": "1996-03-01", "chosen": "1996-08-01"}
    (tmp_path / "all.jsonl").write_text("\n".join([first, *map(json.dumps, documents)]))
    assert index.import_(tmp_path / "all.jsonl") == 1
    old = stored(index, "d")
    index.close()
    for days, names in ((1_000_000, []), (90, ["d"]), (90, []), (0, [])):
        done = chaffinch("index", "rotate", where, "--older-than", days, "--json")
        assert json.loads(done.stdout)["rotated"] == names
    index = make()
    assert stored(index, "d") != old
    kept = {d.name: d for d in index}
    assert kept["d"].registered.isoformat() == "1996-03-01"
    assert kept["d"].chosen == today()


def test_an_export_with_dates_that_cannot_be_is_refused(make: Make, tmp_path: Path) -> None:
    index = make("koala")
    index.add(SAID)
    index.export(tmp_path / "all.jsonl")
    first, line = (tmp_path / "all.jsonl").read_text().splitlines()
    for wrong in ({"chosen": "1996-03-01"}, {"registered": "soon"}, {"registered": 5}, {"stream": "xyz"}):
        changed = json.dumps(json.loads(line) | wrong)
        (tmp_path / "wrong.jsonl").write_text(f"{first}\n{changed}\n")
        done = chaffinch("index", "import", tmp_path / "copy", tmp_path / "wrong.jsonl")
        assert done.exit_code == 2
        assert "not an exported document" in done.output
