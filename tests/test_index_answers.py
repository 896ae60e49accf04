"""The answers of an index in unusual cases, for every store."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from chaffinch.errors import ChaffinchError
from chaffinch.index.index import open_for_import
from chaffinch.index.records import Metadata
from tests.indexed import Make, document, text


@pytest.mark.parametrize("content", ["text", "none"])
def test_boilerplate_before_and_behind_a_match_leaves_the_match(make: Make, content: str) -> None:
    index = make(content=content)
    licence, shared = text(300, "licence"), text(60, "shared")
    index.add(document("LICENCE", licence), boilerplate=True)
    index.add(document("d", text(100, 1), shared, licence))
    for query in (f"{licence}\n{shared}", f"{shared}\n{licence}", f"{text(50, 2)} {shared} {licence} x"):
        (hit,) = index.search(query)
        at = query.index(shared)
        assert 0 < hit.containment.query <= 1
        assert 0 < hit.containment.document <= 1
        for match in hit.matches:
            assert at - 30 <= match.left.start
            assert match.left.end <= at + len(shared) + 30


@pytest.mark.parametrize("top", [1, 2, 20, None])
def test_documents_with_nothing_but_edited_boilerplate_take_nobodys_place(make: Make, top: int | None) -> None:
    """They share fingerprints across the edits, but have no match."""
    index = make()
    form, answers = [text(12, ("form", n)) for n in range(30)], [text(3, ("answer", n)) for n in range(30)]
    filled = " ".join(f"{asked} {answer}" for asked, answer in zip(form, answers, strict=True))
    index.add(document("form", " ".join(form)), boilerplate=True)
    index.add(document(f"filled {n:02}", text(50, n), filled) for n in range(45))
    shared = [text(9, ("shared", n)) for n in range(2)]
    index.add(document(f"source {n}", text(50, ("source", n)), shared[n]) for n in range(2))
    answer = index.search(
        "\n".join([filled, text(20, "own"), shared[0], text(20, "own too"), shared[1]]), top=top
    )
    assert answer.found == 47
    assert {hit.document.name for hit in answer} <= {"source 0", "source 1"}
    assert len(answer) == min(top or 2, 2)


@pytest.mark.parametrize("window", [50, 100, 300])
@pytest.mark.parametrize("content", ["text", "none"])
def test_a_wider_window_does_not_change_what_a_share_means(make: Make, content: str, window: int) -> None:
    index = make(content=content)
    index.add(document("d", text(2000, "d")))
    (hit,) = index.search(text(2000, "d"), window=window)
    assert hit.containment.query == 1
    assert hit.containment.document > 0.7


def test_equal_documents_come_in_the_order_of_their_names(make: Make) -> None:
    index = make()
    for n in reversed(range(30)):
        index.add(document(f"d{n:02}", text(60, "same")))
    assert [hit.document.name for hit in index.search(text(60, "same"))] == [f"d{n:02}" for n in range(20)]


def test_what_is_said_about_a_document_can_be_replaced(make: Make) -> None:
    index = make()
    index.add(document("d", text(60, 1)))
    metadata = Metadata(url="https://example.org/d")
    assert index.replace(document("d", text(60, 1)), metadata=metadata).replaced == ["d"]
    assert index.search(text(60, 1))[0].document.metadata.url == "https://example.org/d"
    assert index.replace(document("d", text(60, 1)), metadata=metadata).already == ["d"]


def test_one_add_with_the_same_name_or_content_twice_says_so(make: Make) -> None:
    index = make()
    one, two = text(60, 1), text(60, 2)
    report = index.add([document("a", one), document("a", one), document("a", two), document("b", one)])
    assert (report.added, report.already) == (["a", "b"], ["a"])
    assert [s.name for s in report.skipped] == ["a"]
    assert report.copies == [("b", "a")]


def test_odd_languages_and_halves_of_characters_in_json_lines_do_no_harm(make: Make, tmp_path: Path) -> None:
    index = make("code")
    program = "int main(void) { int total = 0; for (int i = 0; i < 9; i++) total += i * i; return total; }"
    named = [json.dumps({"name": name, "text": program, "language": "c"}) for name in ("a", "\ud800")]
    odd = ("en", "", "../c", "a\0b", 7)
    others = [json.dumps({"name": f"odd {n}", "text": "x", "language": said}) for n, said in enumerate(odd)]
    (tmp_path / "x.jsonl").write_text("\n".join([*named, *others]))
    report = index.add(tmp_path / "x.jsonl")
    assert len(report.added) == 2
    assert len(report.skipped) == 5


def test_a_repetitive_text_without_contents_costs_little(make: Make) -> None:
    index = make(content="none")
    chance = random.Random(1)
    phrases = [text(12, n) for n in range(40)]
    both = [" ".join(chance.choice(phrases) for _ in range(2000)) for _ in range(2)]
    index.add(document("d", both[0]))
    (hit,) = index.search(both[1])
    assert hit.containment.query > 0.5


@pytest.mark.parametrize("period", [1, 30])
def test_what_repeats_without_end_is_one_match_without_contents(make: Make, period: int) -> None:
    index = make(content="none")
    said = (text(10, "row").replace(" ", "")[:period]) * (20_000 // period)
    index.add(document("d", said))
    hit, *_ = index.search(f"{said}b")
    longest = max(hit.matches, key=lambda m: m.symbols)
    assert longest.left.end - longest.left.start > 0.99 * len(said)
    assert longest.right.end - longest.right.start > 0.99 * len(said)
    assert len(hit.matches) < 5


@pytest.mark.parametrize(
    "wrong",
    [
        lambda line: line[: len(line) // 2],
        lambda line: line.replace('"name": "d1"', '"name": 7'),
        lambda line: line.replace('"postings": ', '"postings": 1'),
        lambda line: line.replace('"hashes": "', '"hashes": "!!'),
        lambda line: "[]",
    ],
)
def test_a_damaged_export_is_reported_with_its_line(
    make: Make, tmp_path: Path, wrong: Callable[[str], str]
) -> None:
    index = make()
    index.add([document(f"d{i}", text(60, i)) for i in range(3)])
    index.export(tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    lines[2] = wrong(lines[2])
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    with (
        open_for_import(tmp_path / "copy.index", tmp_path / "all.jsonl") as copy,
        pytest.raises(ChaffinchError, match=r"all\.jsonl:3: "),
    ):
        copy.import_(tmp_path / "all.jsonl")
