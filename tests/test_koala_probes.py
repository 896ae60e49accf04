"""Probing a koala index for its secret is noticed, and honest searches are not, in every store."""

from __future__ import annotations

import random

import pytest

from chaffinch.index.index import Index
from tests.indexed import Make, document, edited, text, words
from tests.koalas import SECRET

SIZE, PIECE, STEP = 600, 8, 3
"""Words. A gram of 20 consonants has about five, so every gram lies in a piece, and has its fourth word."""
TARGET = words(SIZE, "target")


@pytest.fixture(autouse=True)
def _known_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chaffinch.index.index.secrets.randbits", lambda bits: SECRET)


def filled(index: Index) -> Index:
    index.add([document("target", " ".join(TARGET)), *(document(f"d{i}", text(300, i)) for i in range(20))])
    return index


def names(index: Index) -> list[str]:
    return [probed.name for probed in index.suspicious()]


def filler(kind: str, count: int, number: int) -> list[str]:
    if kind == "random":
        return words(count, ("filler", number))
    chance = random.Random(number)
    start = chance.randrange(300 - count)
    return words(300, chance.randrange(20))[start : start + count]


def probe(index: Index, starts: list[int], kind: str = "random") -> list[int]:
    """Search for pieces of the target, each inside filler, and return where those begin that find it."""
    found = []
    for start in starts:
        around = filler(kind, 30, start)
        query = [*around[:15], *TARGET[start : start + PIECE], *around[15:]]
        if any(hit.document.name == "target" for hit in index.search(" ".join(query), top=None)):
            found.append(start)
    return found


def test_who_finds_out_what_is_stored_escapes_until_it_is_rotated(make: Make) -> None:
    index = filled(make("koala", content="search-set", stored=20, searched=200))
    found = probe(index, list(range(0, SIZE - PIECE + 1, STEP)))
    evading = list(TARGET)
    for start in found:
        evading[start + PIECE // 2] = f"other{start}"
    assert sum(a != b for a, b in zip(evading, TARGET, strict=True)) < 0.09 * SIZE
    assert all(hit.containment.document < 0.15 for hit in index.search(" ".join(evading)))
    assert names(index) == ["target"]
    assert index.rotate(names(index)).rotated == ["target"]
    assert names(index) == []
    (hit,) = index.search(" ".join(evading))
    assert hit.document.name == "target"
    assert hit.containment.document > 0.5


@pytest.mark.parametrize("kind", ["random", "other documents"])
def test_the_probing_is_noticed_before_it_is_done(make: Make, kind: str) -> None:
    index = filled(make("koala", content="none", stored=60, searched=600))
    starts = list(range(0, SIZE - PIECE + 1, STEP))
    random.Random(3).shuffle(starts)
    probe(index, starts[: len(starts) * 3 // 4], kind)
    assert names(index) == ["target"]


def test_probing_with_copies_that_lack_a_piece_is_noticed(make: Make) -> None:
    index = filled(make("koala", content="none", stored=60, searched=600))
    for start in range(0, SIZE, 12):
        index.search(" ".join([*TARGET[:start], *words(12, start), *TARGET[start + 12 :]]))
    assert names(index) == ["target"]


def test_probing_counts_where_the_document_is_not_among_the_hits_shown(make: Make) -> None:
    index = filled(make("koala", content="none", stored=60, searched=600))
    for start in range(0, SIZE - PIECE + 1, STEP):
        query = [*words(300, start % 20)[:60], *TARGET[start : start + PIECE]]
        (hit,) = index.search(" ".join(query), top=1)
        assert hit.document.name != "target"
    assert names(index) == ["target"]


def test_taking_the_document_out_and_in_does_not_clear_it(make: Make) -> None:
    index = filled(make("koala", content="none", stored=60, searched=600))
    target = document("target", " ".join(TARGET))
    starts = list(range(0, SIZE - PIECE + 1, STEP))
    probe(index, starts[: len(starts) * 3 // 4])
    index.remove("target")
    assert names(index) == []
    index.add(target)
    assert names(index) == ["target"]
    index.replace(document("target", " ".join(TARGET), "another line"))
    assert names(index) == ["target"]
    index.remove("target")
    index.merge()  # forgets documents that are gone
    index.add(target)
    assert names(index) == []


def test_honest_searches_are_not_suspicious(make: Make) -> None:
    index = filled(make("koala", content="none"))
    own = " ".join(TARGET)
    for i in range(60):
        index.search(own)  # a nervous author
        index.search(text(300, f"unrelated {i}"))
    draft = list(TARGET)
    for i in range(9):  # versions of a draft
        draft = edited(draft, 0.02, i)
        index.search(" ".join(draft))
    passages = [TARGET[start : start + 40] for start in (50, 200, 430)]
    for i in range(60):  # many quote the same passages
        quoted = passages[min(i % 7, 2)]
        index.search(" ".join([*words(60, ("before", i)), *quoted, *words(60, ("after", i))]))
    for i in range(20):
        index.search(" ".join(edited(words(300, i), 0.1)))
    assert names(index) == []
