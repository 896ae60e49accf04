"""The settings of a koala index: given when it is created, kept with it, shown, exported, in both stores."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from chaffinch import fingerprinting as api
from chaffinch.index.index import Index, open_for_import
from chaffinch.recipe import FIXED_SIZE
from tests.indexed import document, edited, text, words
from tests.koalas import chaffinch, searched, stored

_GIVEN = {"k": 11, "stored": 30, "searched": 200, "scheme": "rare", "skip": 40, "frequent": 3, "ignored": 2}


def _settings(index: Index) -> dict[str, object]:
    """Return the settings in the words of `Index.create`."""
    settings, recipe = index.store.settings, index.recipe
    of_recipe = {"k": recipe.k, "searched": recipe.w, "scheme": recipe.scheme, "skip": recipe.skip}
    return of_recipe | {name: getattr(settings, name) for name in ("stored", "frequent", "ignored")}


def test_all_settings_are_kept_and_exported(where: str, tmp_path: Path) -> None:
    said = [document(f"d{i}", text(300, i)) for i in range(3)]
    with Index.create(where, "koala", **_GIVEN) as index:  # type: ignore[arg-type]
        index.add(said)
        assert (len(stored(index, "d0")), len(searched(index, said[0]))) == (30, 200)
    with Index.open(where) as again:
        assert _settings(again) == _GIVEN
        assert [hit.document.name for hit in again.search(said[1])] == ["d1"]
        again.export(tmp_path / "all.jsonl")
        with open_for_import(tmp_path / "copy.index", tmp_path / "all.jsonl") as copy:
            copy.import_(tmp_path / "all.jsonl")
            assert copy.store.settings == again.store.settings
            assert [stored(copy, d.name) == stored(again, d.name) for d in said] == [True] * 3


def test_the_command_line_takes_and_shows_all_settings(where: str) -> None:
    options = [part for name, value in _GIVEN.items() if name != "k" for part in (f"--{name}", value)]
    made = chaffinch("index", "create", where, "--recipe", "koala", "-k", _GIVEN["k"], *options)
    assert made.exit_code == 0, made.output
    with Index.open(where) as index:
        assert _settings(index) == _GIVEN
    shown = chaffinch("index", "info", where).output
    assert "k=11 w=200 rare skip=40" in shown
    assert "30 of 200 fingerprints stored; a search ignores up to 2 that 3 or more documents have" in shown
    result = json.loads(chaffinch("index", "info", where, "--json").output)
    shown_by_json = {name: result["recipe"][name] for name in ("k", "scheme", "skip")}
    shown_by_json |= {"searched": result["recipe"]["w"]}
    assert shown_by_json | {name: result[name] for name in ("stored", "frequent", "ignored")} == _GIVEN


def test_other_recipes_have_no_such_settings(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i"):
        result = json.loads(chaffinch("index", "info", tmp_path / "i", "--json").output)
        assert not result.keys() & {"frequent", "ignored"}


def test_shorter_grams_find_more_heavily_edited_copies(tmp_path: Path) -> None:
    original = words(1500, "original")
    query = " ".join(edited(original, 0.15))
    shares = []
    for k in (8, 20, 60):
        with Index.create(tmp_path / str(k), "koala", content="none", k=k, stored=500) as index:
            index.add(document("d", " ".join(original)))
            shares.append(max((hit.containment.document for hit in index.search(query)), default=0.0))
    assert shares[0] > shares[1] > shares[2]


@pytest.mark.parametrize("scheme", FIXED_SIZE)
def test_either_scheme_finds_edited_copies_and_skips_the_start(tmp_path: Path, scheme: str) -> None:
    original = words(3000, "original")
    with Index.create(tmp_path / "i", "koala", content="none", scheme=scheme, skip=150) as index:
        index.add(document("d", " ".join(original)))
        (hit,) = index.search(" ".join(edited(original, 0.03)))
        assert hit.containment.document > 0.4
        assert api.fingerprint(" ".join(original), index.recipe).positions.min() >= 150


def test_by_default_boilerplate_is_not_preferred(tmp_path: Path) -> None:
    """A document repeats the words of its subject, so what it says once is often what all documents say."""
    subject = random.Random(1).choices(words(30, "subject"), k=3000)
    boilerplate = text(300, "boilerplate")
    said = document("d", " ".join(subject), boilerplate)
    in_boilerplate = {}
    for scheme in (None, "rare"):
        with Index.create(tmp_path / str(scheme), "koala", scheme=scheme) as index:
            starts = api.fingerprint(said, index.recipe).starts
            in_boilerplate[scheme] = np.count_nonzero(starts > len(said.data) - len(boilerplate)) / len(starts)
    assert in_boilerplate[None] < 0.15
    assert in_boilerplate["rare"] > 0.3
