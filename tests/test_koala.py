"""Koala's way as a recipe: a few secret fingerprints of each document, found whatever is chosen of them."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from chaffinch.errors import IndexTrouble
from chaffinch.index.answers import relation
from chaffinch.index.index import Index
from chaffinch.index.koala import selection
from chaffinch.native import segment as core_index
from tests.indexed import document, edited, text, words
from tests.koalas import CONTENTS, SECRET, Make, maker, named, searched, stored


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    return maker(tmp_path, monkeypatch)


@pytest.fixture(params=CONTENTS)
def content(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("size", [600, 130, 22, 6])
def test_stored_are_a_strict_subset_that_changes_and_always_finds(make: Make, content: str, size: int) -> None:
    index = make(content=content, skip=0)
    said = document("d", text(size, "said"))
    index.add([said, document("other", text(600, "other"))])
    seen = []
    for round_number in range(5):
        of_it = stored(index, "d")
        assert of_it < searched(index, said)
        assert len(of_it) == min(100, len(searched(index, said)) - 1)
        seen.append(of_it)
        assert named(index.search(said), "d") == [(1.0, 1.0, "identical")]
        assert len(index.search(said)) == 1
        if round_number == 3:
            index.merge()
        report = index.rotate(["d"], sources=[said] if content == "none" else ())
        assert (report.rotated, report.skipped) == (["d"], [])
    assert len({frozenset(s) for s in seen}) > (3 if size > 6 else 1)
    if size == 600:  # about one in ten stays
        assert all(len(a & b) < 30 for a, b in pairwise(seen))
    assert index.verify() == []
    assert len(index) == 2


def test_another_secret_stores_and_searches_by_other_fingerprints(make: Make) -> None:
    said = text(600, "said")
    sets = []
    for secret in (1, 2, SECRET):
        index = make(secret)
        index.add(document("d", said))
        sets.append((stored(index, "d"), searched(index, said)))
    for (a, b), (c, d) in pairwise(sets):
        assert not a & c
        assert not b & d


def test_documents_without_a_kept_text_need_their_sources(make: Make, tmp_path: Path) -> None:
    index = make(content="none")
    (tmp_path / "papers").mkdir()
    for i in range(3):
        (tmp_path / "papers" / f"p{i}.txt").write_text(text(300, i))
    index.add(tmp_path / "papers")
    index.add(document("copy", text(300, 1)))
    names = sorted(d.name for d in index)
    refused = index.rotate()
    assert (refused.rotated, sorted(s.name for s in refused.skipped)) == ([], names)
    assert all("sources" in s.detail for s in refused.skipped)
    (tmp_path / "papers" / "p2.txt").write_text(text(300, "changed"))
    report = index.rotate(["nobody", *names], sources=[tmp_path / "papers", tmp_path / "gone"])
    assert sorted(report.rotated) == [n for n in names if not n.endswith("p2.txt")]
    assert sorted(Path(s.name).name for s in report.skipped) == ["gone", "nobody", "p2.txt"]


def test_documents_too_short_to_be_found_are_kept_and_rotated(make: Make, content: str) -> None:
    index = make(content=content)
    said = [document("empty"), document("short", "a few words"), document("one", "bcdfghjklmnpqrstvwxz")]
    index.add(said[0])
    index.add(said[1:])
    for _ in range(3):
        assert [len(index.search(d)) for d in said] == [0, 0, 1]
        assert sorted(index.rotate(sources=said).rotated) == ["empty", "one", "short"]
    assert index.verify() == []


def test_what_stores_everything_has_nothing_to_choose(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i") as index, pytest.raises(IndexTrouble, match="nothing to choose"):
        index.rotate()


@pytest.mark.slow
def test_no_document_disappears_from_those_who_search_meanwhile(
    make: Make, content: str, tmp_path: Path
) -> None:
    index = make(content=content)
    said = [document(f"d{i}", text(150, i)) for i in range(12)]
    index.add(said)
    program = (
        "import sys\nfrom pathlib import Path\nfrom chaffinch.index.index import Index\n"
        "from tests.indexed import text\nindex = Index.open(sys.argv[1])\nprint(len(index), flush=True)\n"
        "answers = []\nwhile not Path(sys.argv[2]).exists():\n"
        "    answers += [[str(h.relation) for h in index.search(text(150, i))] for i in range(12)]\n"
        "print({tuple(a) for a in answers})\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, index.store.where, tmp_path / "stop"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout
    assert other.stdout.readline() == "12\n"
    wrong: list[object] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            for d in said[:4]:
                if (found := named(index.search(d), d.name)) != [(1.0, 1.0, "identical")]:
                    wrong.append(found)

    looking = threading.Thread(target=look)
    looking.start()
    for i in range(12):
        index.rotate(sources=said)
        if i % 5 == 4:
            index.merge()
    done.set()
    (tmp_path / "stop").touch()
    looking.join()
    assert other.communicate()[0] == "{('identical',)}\n"
    assert wrong == []


@pytest.mark.slow
def test_flooding_with_copies_cannot_hide_a_document(make: Make, content: str) -> None:
    index = make(content=content)
    original = words(700, "original")
    index.add(document("original", " ".join(original)))
    index.add(document(f"copy{i}", " ".join(original)) for i in range(100))
    index.add(document(f"near{i}", " ".join(edited(original, 0.02, i))) for i in range(100))
    answer = index.search(" ".join(original), top=None)
    assert len(answer) == 201
    assert named(answer, "original") == [(1.0, 1.0, "identical")]
    assert {h.relation for h in answer if h.document.name.startswith("near")} <= {"edited", "revised"}
    (changed,) = named(index.search(" ".join(edited(original, 0.01)), top=None), "original")
    assert min(changed[:2]) > 0.75
    index.rotate(sources=[document("", " ".join(original))])
    assert named(index.search(" ".join(original), top=None), "original") == [(1.0, 1.0, "identical")]


def test_passages_that_four_documents_share_are_ignored_and_listed(make: Make) -> None:
    index = make(content="none")
    passage = text(24, "passage")
    papers = [document(f"d{i}", text(100, i), passage, text(100, -i - 1)) for i in range(6)]
    query = f"{text(250, 'query')}\n\n{passage}"
    index.add(papers[:3])
    three = index.search(query)
    assert not [d for d in three.discounted if d.reason == "ignored"]
    assert len(three) == 3
    index.add(papers[3:])
    six = index.search(query)
    told = [d for d in six.discounted if d.reason == "ignored"]
    assert told
    assert all(d.owners >= 4 and d.span.end > len(query) - len(passage) - 90 for d in told)
    assert sum(h.containment.document for h in six) < sum(h.containment.document for h in three)
    own = index.search(papers[0])
    assert named(own, "d0") == [(1.0, 1.0, "identical")]
    assert own[0].document.name == "d0"


def test_no_more_than_so_many_are_ignored(make: Make) -> None:
    passage = text(100, "passage")
    query = f"{text(300, 'query')}\n\n{passage}"
    found = {}
    for ignored in (0, 10, 1000):
        index = make(content="none", ignored=ignored, skip=0)
        index.add(document(f"d{i}", text(80, i), passage) for i in range(5))
        found[ignored] = [h.weight for h in index.search(query)]
    assert len(found[0]) == len(found[10]) == 5
    assert sum(found[10]) < sum(found[0])
    assert sum(found[1000]) < sum(found[10])  # left is what fewer than four happen to store
    many = make(content="none", ignored=1000, frequent=6, skip=0)
    many.add(document(f"d{i}", text(80, i), passage) for i in range(5))
    assert [h.weight for h in many.search(query)] == pytest.approx(found[0], abs=1e-9)


def test_the_six_relations_have_their_names(make: Make, content: str) -> None:
    index = make(content=content)
    original, own = words(3000, "original"), words(6000, "own")
    index.add(document("original", " ".join(original)))
    index.add(document(f"d{i}", text(800, i)) for i in range(20))
    queries = {
        "identical": original,
        "edited": edited(original, 0.01),
        "revised": original[:1250] + own[:1000] + original[1500:2800],
        "contained": original[500:1700],
        "contains": own[:2000] + original + own[2000:4000],
        "shares passages": own[:3000] + original[:350],
    }
    found = {name: index.search(" ".join(query)) for name, query in queries.items()}
    assert {name: [h.relation for h in answer] for name, answer in found.items()} == {n: [n] for n in queries}
    assert {h.note for answer in found.values() for h in answer} == {""}
    reordered = original[1500:] + original[:1500]
    assert index.search(" ".join(reordered))[0].relation == "reorganised"
    inside, around = found["contained"][0].containment, found["contains"][0].containment
    assert (inside.query, around.document) == pytest.approx((1, 1), abs=0.15)
    assert inside.document == pytest.approx(1200 / 3000, abs=0.12)
    assert around.query == pytest.approx(3000 / 7000, abs=0.12)


def test_a_paragraph_of_a_book_has_a_note(make: Make) -> None:
    book, alike = words(12_000, "book"), words(300, "alike")
    index = make(content="none")
    index.add([document("book", " ".join(book)), document("alike", " ".join(alike))])
    answer = index.search(" ".join(book[2000:2300]))
    (hit,) = answer
    assert max(hit.containment.query, hit.containment.document) < 0.2
    assert hit.relation == "shares passages"
    assert "40 times as long" in hit.note
    assert "compare" in hit.note
    low = index.search(" ".join(alike[:60] + words(240, "more")))
    assert low[0].containment.document < 0.4
    assert low[0].note == ""
    whole = make(content="text")
    whole.add(document("book", " ".join(book)))
    (hit,) = whole.search(" ".join(book[2000:2300]))
    assert (hit.relation, hit.note) == ("contained", "")


def test_shares_are_shares_whatever_the_lengths() -> None:
    chance = random.Random(3)
    how = selection.settings(1, "text", {}).recipe
    for _ in range(2000):
        sizes = chance.choice([0, 5, 19, 20, 21, 999, 5000, 10**6]), chance.randrange(10**5)
        common = chance.randrange(101)
        of_query, of_document = selection.shares(common / 100, common, sizes, how)
        assert 0 <= of_query <= 1
        assert 0 <= of_document <= 1
    for n in (20, 21, 1019, 1020, 1021, 5000, 10**7):
        assert selection.shares(1.0, 100, (n, n), how) == (1.0, 1.0)
        assert selection.shares(0.5, 50, (n, n), how) == (0.5, 0.5)
    assert relation(1.0, 1.0, (500, 500)) == "identical"
    assert relation(1.0, 1.0, (500, 501)) == "edited"


def test_every_share_of_any_two_documents_is_one(make: Make, content: str) -> None:
    chance = random.Random(8)
    passages = [text(chance.choice([3, 8, 40, 300, 2000]), i) for i in range(12)]
    said = [document(f"d{i}", *chance.choices(passages, k=chance.randint(1, 5))) for i in range(40)]
    index = make(content=content)
    index.add(said[0], boilerplate=True)
    index.add(said[1:30])
    for d in said:
        for hit in index.search(d, effort=chance.choice([0.0, 0.5, 1.0]), top=None):
            shares = hit.containment.query, hit.containment.document, hit.resemblance
            assert all(0 <= share <= 1 for share in shares)
            assert hit.weight > 0


def test_less_effort_is_an_estimate_and_calls_nothing_identical(make: Make) -> None:
    index = make(content="none")
    index.add(document("d", text(900, "d")))
    answer = index.search(text(900, "d"), effort=0.3)
    assert answer.receipt.looked_up == 300
    (hit,) = answer
    assert hit.relation in ("edited", "revised")
    assert 0.5 < hit.containment.document <= 1


def test_a_preamble_at_the_start_is_passed_over(make: Make, content: str) -> None:
    preamble = text(45, "the university and its address")
    said = [document(f"d{i}", preamble, text(700, i)) for i in range(3)]
    for skip, others in ((0, 2), (300, 0)):
        index = make(content=content, skip=skip)
        index.add(said)
        for d in said:
            answer = index.search(d)
            assert named(answer, d.name) == [(1.0, 1.0, "identical")]
            assert len(answer) == 1 + others


def test_nothing_is_met_by_chance(make: Make) -> None:
    index = make()
    chance = np.random.default_rng(9)
    count = 3_000_000
    hashes = chance.integers(0, 2**64, count, np.uint64, endpoint=False)
    owners = np.repeat(np.arange(count // 100, dtype=np.uint32), 100)
    postings = core_index.Postings(hashes, owners, np.zeros(count, np.uint32))
    built = core_index.build(postings, hash_bits=index.store.settings.hash_bits)
    segment = core_index.Segment(built, "made")
    asked = chance.integers(0, 2**64, (20, 1000), np.uint64, endpoint=False)
    assert [len(core_index.lookup([segment], a, np.empty(0, np.uint32)).queries) for a in asked] == [0] * 20
    assert len(core_index.lookup([segment], hashes[:1000], np.empty(0, np.uint32)).queries) == 1000
    assert len(built) < 6 * count
