"""A query that repeats itself: repetition adds nothing to the order of hits or to resemblance."""

from __future__ import annotations

import pytest

from chaffinch.index.answers import Hit
from tests.indexed import Make, document, text

KINDS = pytest.mark.parametrize("recipe", ["text", "koala"])
CONTENTS = pytest.mark.parametrize("content", ["text", "none"])


def within_bounds(hit: Hit) -> bool:
    return 0 < hit.resemblance <= min(hit.containment.query, hit.containment.document) + 1e-9


@KINDS
@CONTENTS
def test_a_repeated_slogan_does_not_outrank_the_source(make: Make, recipe: str, content: str) -> None:
    index = make(recipe, content=content)
    source, slogan = text(560, "source"), text(40, "slogan")
    index.add(document(f"other {n:02}", text(500, n)) for n in range(10))
    index.add([document("slogan", slogan, text(800, "own")), document("source", source)])
    answer = index.search(document("query", source, *[slogan] * 40))
    assert answer[0].document.name == "source"
    assert all(within_bounds(hit) for hit in answer)


@CONTENTS
def test_copies_in_the_query_do_not_change_weights(make: Make, content: str) -> None:
    index = make(content=content)
    source = text(400, "source")
    index.add([document("source", source), document("excerpt", text(900, "own"), source[:1200])])
    once, often = (index.search(document("query", *[source] * n)) for n in (1, 20))
    assert [hit.document.name for hit in once] == [hit.document.name for hit in often]
    # Where copies meet, the query has a few fingerprints of its own.
    assert [hit.weight for hit in often] == pytest.approx([hit.weight for hit in once], rel=0.05)


@KINDS
@CONTENTS
@pytest.mark.parametrize("copies", [2, 20])
def test_a_query_of_many_copies_contains_the_document(
    make: Make, recipe: str, content: str, copies: int
) -> None:
    index = make(recipe, content=content)
    source = text(400, "source")
    index.add(document("source", source))
    (hit,) = index.search(document("query", *[source] * copies))
    assert hit.relation == "contains"
    assert hit.resemblance == pytest.approx(1 / copies, rel=0.1)
    assert within_bounds(hit)


@KINDS
def test_a_document_of_many_copies_contains_the_query(make: Make, recipe: str) -> None:
    index = make(recipe)
    source = text(400, "source")
    index.add(document("copies", *[source] * 20))
    (hit,) = index.search(document("query", source))
    assert hit.relation == "contained"
    assert hit.resemblance == pytest.approx(1 / 20, rel=0.1)


@KINDS
def test_a_paper_does_not_resemble_copies_of_one_of_its_pages(make: Make, recipe: str) -> None:
    index = make(recipe)
    page = text(400, "page")
    index.add(document("paper", text(500, "before"), page, text(1500, "behind")))
    (hit,) = index.search(document("query", *[page] * 20))
    assert hit.containment.query > 0.95
    assert hit.containment.document == pytest.approx(1 / 6, rel=0.1)
    assert within_bounds(hit)
    assert hit.relation == "contained"
