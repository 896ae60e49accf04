"""Recipes: what is refused, what is promised, what may be compared."""

from __future__ import annotations

from typing import Any

import pytest

from chaffinch import BadRecipe, ChaffinchError, Recipe, RecipeMismatch, fingerprint
from chaffinch.languages import language
from chaffinch.native import fingerprint as core
from chaffinch.native.fingerprint import Source


@pytest.mark.parametrize(
    "bad",
    [
        {"k": 0}, {"k": -1}, {"k": 2049}, {"k": 2.5}, {"k": True}, {"k": "9"}, {"w": 0}, {"w": 65537},
        {"front": "runes"}, {"scheme": "best"}, {"ties": "left"}, {"seed": -1}, {"seed": 2**64},
        {"scheme": "rare", "skip": -1}, {"scheme": "rare", "skip": 2**32}, {"scheme": "rare", "skip": 1.0},
    ],
)  # fmt: skip
def test_a_bad_recipe_is_refused_with_the_remedy(bad: dict[str, Any]) -> None:
    with pytest.raises(BadRecipe, match=r"(give|choose) "):
        Recipe(**bad)


@pytest.mark.parametrize(
    ("recipe", "t"),
    [
        (Recipe("text", k=25, w=26), 50),
        (Recipe(k=50, w=100, scheme="winnow"), 149),
        (Recipe(k=9, scheme="all"), 9),
        (Recipe(scheme="safe-mod-p"), 50),
        (Recipe(scheme="mod-p"), None),
        (Recipe(scheme="every"), None),
        (Recipe(scheme="smallest"), None),
        (Recipe("consonants", k=20, w=1000, scheme="rare"), None),
    ],
)
def test_the_guarantee(recipe: Recipe, t: int | None) -> None:
    assert recipe.guarantee == t


def test_a_recipe_survives_json_and_refuses_another_version() -> None:
    recipe = Recipe("consonants", k=20, w=7, ties="rightmost", seed=99)
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    with pytest.raises(RecipeMismatch, match="make it again"):
        Recipe.from_dict(recipe.to_dict() | {"version": 0})
    with pytest.raises(BadRecipe, match="not a recipe"):
        Recipe.from_dict({"front": "text", "colour": "blue"})


def test_fingerprints_of_different_recipes_are_not_compared() -> None:
    Recipe().check(Recipe(), "a")
    with pytest.raises(RecipeMismatch, match="archive was made with text/1 k=25 w=26"):
        Recipe(k=26).check(Recipe(), "archive")


def test_the_secret_is_not_shown() -> None:
    assert "4711" not in str(Recipe(seed=4711))
    assert "4711" not in repr(Recipe(seed=4711))
    with pytest.raises(RecipeMismatch, match="another seed"):
        Recipe(seed=4711).check(Recipe(seed=4712), "archive")


def test_another_seed_chooses_and_names_otherwise() -> None:
    text = "the quick brown fox jumps over the lazy dog " * 30
    plain, secret = fingerprint(text), fingerprint(text, Recipe(seed=12345))
    assert plain.positions.tolist() != secret.positions.tolist()
    assert not set(plain.hashes.tolist()) & set(secret.hashes.tolist())


def test_a_window_may_widen_only() -> None:
    with pytest.raises(BadRecipe, match="give 26"):
        fingerprint("abc", window=25)
    with pytest.raises(BadRecipe, match="no window to widen"):
        fingerprint("abc", Recipe(scheme="all"), window=30)
    assert len(fingerprint("abcdefghijklmnopqrstuvwxyz" * 9, window=60))


def test_a_level_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAFFINCH_LEVEL", "mmx")
    with pytest.raises(BadRecipe, match="CHAFFINCH_LEVEL"):
        fingerprint("abc")


def test_a_failure_of_the_core_is_an_error_not_an_abort() -> None:
    with pytest.raises(ChaffinchError, match="no encoding 99"):
        core.fingerprint([Source(b"abc", 99)], Recipe())


def test_every_change_of_a_language_table_changes_the_version_of_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Recipe("code").version
    tables = {name: language.table(name) for name in language.languages()}
    # A sum of versions would not notice that one goes up and another down.
    c, java = tables["c"], tables["java"]
    tables["c"] = c | {"version": c["version"] + 1, "keywords": c["keywords"] + " gained"}
    tables["java"] = java | {"version": java["version"] - 1}
    with monkeypatch.context() as patch:
        patch.setattr(language, "table", tables.__getitem__)
        language.tables_hash.cache_clear()
        assert Recipe("code").version != before
    language.tables_hash.cache_clear()
    assert Recipe("code").version == before
