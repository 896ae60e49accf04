"""The matches of a search, made in one native call, are those of a comparison."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from chaffinch.matching.joined_stream import join_streams
from chaffinch.matching.matches import GAP, PairMatches
from chaffinch.native.pairs import Corpus, find_matches
from chaffinch.recipe import Recipe
from chaffinch.types import Document
from tests.indexed import Make, document, text


@pytest.mark.parametrize("front", ["text", "python"])
@pytest.mark.parametrize("seed", range(12))
def test_matches_are_those_that_comparing_finds(make: Make, front: str, seed: int) -> None:
    """With passages that are repeated, moved or cut short, and characters that are several symbols."""
    chance = random.Random(seed)
    recipe = Recipe(front, k=10, w=12)
    pieces = [
        text(chance.randint(1, 40), (seed, i)) + chance.choice(["", " ﬃ", " ½ é", " x = 1\n"]) for i in range(8)
    ]

    def made(name: str) -> Document:
        chosen = chance.choices(pieces, k=chance.randint(0, 9))
        joined = chance.choice([" ", " ﬁ ", "\n"]).join(chosen)
        return Document(name, joined[chance.randint(0, 20) :].encode(), "utf-8", "plain", front)

    index = make(recipe=recipe)
    documents = {name: made(name) for name in "abcdef"}
    index.add(documents.values())
    query = made("query")
    hits = {hit.document.name: hit for hit in index.search(query)}
    expected = {}
    for name, stored in documents.items():
        left, right = join_streams([[query], [stored]], recipe)
        collection = Corpus([left.symbols, right.symbols], [left.prints, right.prints])
        runs = find_matches(collection, np.array([[0, 1]]), recipe.k, GAP, recipe.guarantee or 0)
        common = PairMatches(left, right, runs, 0, False)
        matches, _ = common.matches_and_repeats()
        if matches:
            covered = [c / max(stream.size, 1) for c, stream in zip(common.covered, (left, right), strict=True)]
            expected[name] = matches, covered
    assert hits.keys() == expected.keys()
    for name, (matches, covered) in expected.items():
        assert [replace(m, owners=2) for m in hits[name].matches] == list(matches)
        assert [hits[name].containment.query, hits[name].containment.document] == covered


@pytest.mark.parametrize("boilerplate", [False, True])
@pytest.mark.parametrize("window", [None, 40])
def test_a_match_tells_how_many_documents_have_it(make: Make, boilerplate: bool, window: int | None) -> None:
    licence, rare, common = text(80, "licence"), text(60, "rare"), text(60, "common")
    index = make()
    if boilerplate:
        index.add(document("LICENCE", licence), boilerplate=True)
    for n in range(5):
        index.add(document(f"d{n}", text(30, n), common, *([rare] if n < 3 else [])))
    query = f"{licence}\n{rare}\n{licence}\n{common}"
    for hit in index.search(query, window=window):
        told = {query.encode()[m.left.start : m.left.end].decode(): m.owners for m in hit.matches}
        assert [owners for said, owners in told.items() if common[10:50] in said] == [5]
        assert [owners for said, owners in told.items() if rare[10:50] in said] == [3] * (
            hit.document.name < "d3"
        )


@pytest.mark.parametrize("window", [None, 26, 60, 90])
def test_a_wider_window_shows_as_much_of_repetitive_text(make: Make, window: int | None) -> None:
    index = make()
    index.add(document("d", "a" * 100))
    (hit,) = index.search("a" * 120, window=window)
    assert hit.containment.query == 1
    assert min(m.left.start for m in hit.matches) == 0
    assert max(m.left.end for m in hit.matches) == 120
