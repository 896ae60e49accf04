"""The order of the hits of a search: relatives first, whatever everybody has."""

from __future__ import annotations

import random

import pytest

from tests.indexed import Make, document, edited, text, words


@pytest.mark.parametrize(("recipe", "kept_words"), [("text", 60), ("koala", 250)])
def test_legal_text_that_everybody_has_does_not_outrank_a_relative(
    make: Make, recipe: str, kept_words: int
) -> None:
    index = make(recipe)
    legal, kept = text(600, "legal"), text(kept_words, "kept")
    index.add(document(f"other {n:03}", text(300, n), legal) for n in range(120))
    index.add(document("earlier", text(300, "earlier"), kept))
    answer = index.search(document("revised", text(300, "revised"), kept, legal))
    assert answer[0].document.name == "earlier"
    assert answer.found >= 100


def test_long_documents_do_not_outrank_a_relative_by_what_they_share_with_many(make: Make) -> None:
    index = make()
    idioms = [text(12, ("idiom", n)) for n in range(80)]
    for n in range(30):
        chosen = random.Random(n).sample(idioms, 40)
        index.add(document(f"long {n:02}", *(f"{idiom} {text(60, (n, idiom))}" for idiom in chosen)))
    kept = text(60, "kept")
    index.add(document("earlier", text(200, "earlier"), kept))
    query = document("revised", *(f"{idiom} {text(9, idiom)}" for idiom in idioms), kept)
    assert index.search(query)[0].document.name == "earlier"


def test_a_book_that_contains_the_query_comes_before_notes_that_share_a_part(make: Make) -> None:
    index = make()
    query = words(120, "query")
    index.add(document("book", text(20_000, "before"), " ".join(query), text(20_000, "behind")))
    index.add(document(f"note {n}", " ".join(query[20 * n : 20 * n + 40]), text(10, n)) for n in range(4))
    answer = index.search(document("query", " ".join(query)))
    assert answer[0].document.name == "book"
    assert answer[0].relation == "contained"


def test_a_long_query_finds_the_short_document_that_it_contains(make: Make) -> None:
    index = make()
    legal, short = text(300, "legal"), text(60, "short")
    index.add(document(f"other {n:02}", text(400, n), legal) for n in range(40))
    index.add(document("short", short))
    answer = index.search(document("book", text(5000, "one"), short, text(5000, "two"), legal))
    assert answer[0].document.name == "short"
    assert answer[0].relation == "contains"


def test_drafts_of_one_document_come_before_one_that_shares_a_passage(make: Make) -> None:
    index = make()
    draft = words(800, "draft")
    index.add(document(f"draft {n:02}", " ".join(edited(draft, 0.02, n))) for n in range(12))
    index.add(document("other", text(800, "other"), quoted := text(20, "quoted")))
    answer = index.search(document("draft 12", " ".join(edited(draft, 0.02, 12)), quoted))
    assert {hit.document.name[:5] for hit in answer.hits[:12]} == {"draft"}


@pytest.mark.parametrize("content", ["text", "none"])
def test_the_first_hits_are_the_first_of_all_hits(make: Make, content: str) -> None:
    """Sizes are read for some candidates at a time, and this does not show."""
    index = make(content=content)
    passages = [text(15, ("passage", n)) for n in range(30)]
    for n in range(90):
        chance = random.Random(n)
        own = text(chance.choice([5, 200, 1000]), n)
        index.add(document(f"d{n:02}", own, *chance.sample(passages, chance.randint(1, 12))))
    query = document("query", *passages, text(100, "own"))
    everything = index.search(query, top=None)
    assert len(everything) == everything.found == 90
    assert all(hit.weight > 0 for hit in everything)
    for top in (1, 3, 20, 50):
        assert index.search(query, top=top).hits == everything.hits[:top]
