"""A document is called identical only if it is, and reorganised if it has the same text in another order."""

from __future__ import annotations

import random

import numpy as np
import pytest

from chaffinch.index.evidence import moved_share
from chaffinch.index.index import Index
from chaffinch.index.records import Metadata
from tests.indexed import Make, document, edited, text, words

INDEXES = [
    ("koala", "text"),
    ("koala", "search-set"),
    ("koala", "none"),
    ("text", "text"),
    ("text", "none"),
]


def relations(index: Index, said: list[str]) -> list[str]:
    return [str(hit.relation) for hit in index.search(" ".join(said))]


@pytest.mark.parametrize(("recipe", "content"), INDEXES)
def test_what_is_shuffled_is_reorganised_and_never_identical(make: Make, recipe: str, content: str) -> None:
    index = make(recipe, content=content)
    originals = [words(900, i) for i in range(12)]
    index.add(document(f"d{i}", " ".join(said)) for i, said in enumerate(originals))
    for i, said in enumerate(originals):
        assert relations(index, said) == ["identical"]
        for parts in (2, 3, 5):
            size = len(said) // parts
            blocks = [said[n * size : (n + 1) * size] for n in range(parts)]
            blocks = blocks[1:] + blocks[:1] if parts == 2 else random.Random(i).sample(blocks, parts)
            shuffled = [word for block in blocks for word in block]
            if shuffled != said:
                assert relations(index, shuffled) == ["reorganised"]


@pytest.mark.parametrize(("recipe", "content"), INDEXES)
def test_an_edit_that_changes_no_length_is_not_identical(make: Make, recipe: str, content: str) -> None:
    index = make(recipe, content=content)
    said = words(3000, "said")
    index.add(document("d", " ".join(said)))
    for at in range(100, 2900, 100):
        changed = [*said[:at], said[at].translate(str.maketrans("bcdfg", "hjklm")) + "b", *said[at + 1 :]]
        assert relations(index, changed) == ["edited"]


@pytest.mark.parametrize(("recipe", "content"), [i for i in INDEXES if i != ("koala", "none")])
def test_edited_and_reorganised_are_told_apart_where_it_can_be_seen(
    make: Make, recipe: str, content: str
) -> None:
    index = make(recipe, content=content)
    said = words(1500, "said")
    index.add(document("d", " ".join(said)))
    changed = edited(said, 0.005)
    assert relations(index, changed) == ["edited"]
    if content == "text" or recipe == "text":
        assert relations(index, [*changed[700:], *changed[:700]]) == ["reorganised"]


def test_a_part_that_both_repeat_is_no_other_order() -> None:
    runs = [(0, 100, 0, 100), (100, 150, 100, 150), (100, 150, 300, 350), (150, 300, 150, 300)]
    assert moved_share(np.array(runs, np.uint32)) == 0
    swapped = [(0, 100, 100, 200), (100, 200, 0, 100)]
    assert moved_share(np.array(swapped, np.uint32)) == 0.5
    assert moved_share(np.empty((0, 4), np.uint32)) == 0


def test_what_is_known_of_a_document_is_changed_and_kept(make: Make) -> None:
    index = make()
    first = Metadata("https://example.org/d", "ann@example.org", "1996-03-01")
    index.add([document("d", text(100, "d")), document("e", text(100, "e"))], metadata=first)
    index.add(document("form", text(50, "form")), boilerplate=True)
    assert index.set("d", url="https://example.org/new") == ["d"]
    assert index.set(["d", "nobody", "e"], contact="", date=None) == ["d", "e"]

    def known(name: str) -> Metadata:
        return next(d.metadata for d in index if d.name == name)

    assert known("d") == Metadata("https://example.org/new", None, "1996-03-01")
    assert known("e") == Metadata("https://example.org/d", None, "1996-03-01")
    assert index.replace(document("d", text(120, "d")), metadata=Metadata(contact="bob")).replaced == ["d"]
    assert known("d") == Metadata("https://example.org/new", "bob", "1996-03-01")
    index.replace(document("form", text(60, "form")))
    assert [d.name for d in index if d.boilerplate] == ["form"]
    index.replace(document("form", text(60, "form")), boilerplate=False)
    assert [d.name for d in index if d.boilerplate] == []
    assert len(index.search(text(120, "d"))) == 1
    assert index.verify() == []
