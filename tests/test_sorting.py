"""The list can be sorted by surprise, score, size or longest run, and holds the first pairs by that figure."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Document, Pair
from chaffinch.cli import main
from chaffinch.comparison import listed_pairs, ranking
from chaffinch.comparison.options import SORTS
from chaffinch.errors import BadRecipe
from chaffinch.report import anonymous_report
from tests import made
from tests.programs import WRITERS, Style, functions

FIGURES = {"surprise": "surprise", "score": "score", "size": "symbols", "longest": "longest"}


def school() -> list[Document]:
    """Return programs and essays of different lengths that share parts of different lengths."""
    rng = random.Random(0)
    stock = [f for seed in range(6) for f in functions(seed, 3)]
    programs = (WRITERS["py"](rng.sample(stock, rng.randint(2, 9)), Style(f"v{i}")) for i in range(20))
    work = [Document(f"{n:02}.py", text.encode()) for n, text in enumerate(programs)]
    paragraphs = made.prose(30, 1)
    for n in range(10):
        text = "\n".join([*rng.sample(paragraphs, rng.randint(2, 9)), *made.prose(5, 100 + n)])
        work.append(Document(f"{n:02}.txt", text.encode()))
    return work


def figures(pairs: tuple[Pair, ...], sort: str) -> list[float]:
    return [getattr(pair, FIGURES[sort]) for pair in pairs]


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("threshold", [0.0, 0.1])
def test_the_list_is_the_first_pairs_by_the_figure(
    sort: str, threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed_pairs, "MATCHED_AT_ONCE", 7)
    work = school()
    own_order = chaffinch.compare(work, threshold=threshold, top=None).pairs
    # Python's sort is stable, too: equal pairs stay in the report's own order.
    expected = sorted(own_order, key=lambda pair: -getattr(pair, FIGURES[sort]))
    assert expected != list(own_order)
    assert len({*figures(own_order, sort)}) > 9
    for top in (1, 10, None):
        report = chaffinch.compare(work, threshold=threshold, top=top, sort=sort)
        assert list(report.pairs) == expected[:top]
        assert report.receipt.to_dict()["sort"] == sort
    assert "sort" not in chaffinch.compare(work).receipt.to_dict()


@pytest.mark.parametrize("sort", SORTS)
def test_in_a_huge_class_the_first_of_the_own_order_are_sorted(
    sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "EXACT_PAIRS", 20)
    monkeypatch.setattr(ranking, "LEAST_EXAMINED", 10)
    monkeypatch.setattr(ranking, "EXAMINED_PER_LISTED", 1)
    own_order = chaffinch.compare(school(), top=10, threshold=0).pairs
    in_order = chaffinch.compare(school(), top=10, threshold=0, sort=sort).pairs
    assert in_order == tuple(sorted(own_order, key=lambda pair: -getattr(pair, FIGURES[sort])))


def test_sorting_by_surprise_changes_nothing_where_there_is_none() -> None:
    work = school()[:4]
    assert (
        chaffinch.compare(work, threshold=0, sort="surprise").pairs
        == chaffinch.compare(work, threshold=0).pairs
    )


@pytest.mark.parametrize("sort", SORTS)
def test_an_anonymous_report_has_the_same_order_whatever_the_names(sort: str) -> None:
    work = school()
    other_names = [Document(f"z{99 - n}{Path(d.name).suffix}", d.data) for n, d in enumerate(work)]
    lists = []
    for documents in (work, other_names):
        report = chaffinch.compare(documents, threshold=0, sort=sort)
        hidden = anonymous_report(report)
        assert figures(hidden.pairs, sort) == figures(report.pairs, sort)
        lists.append([(pair.left, pair.right, pair.symbols) for pair in hidden.pairs])
    assert lists[0] == lists[1]


def test_pages_and_commands_sort_too(tmp_path: Path) -> None:
    for document in school():
        (tmp_path / document.name).write_bytes(document.data)
    arguments = ["compare", str(tmp_path), "--sort", "size", "--top", "5", "--threshold", "0"]
    pairs = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)["pairs"]
    sizes = [pair["symbols"] for pair in pairs]
    assert len(sizes) == 5
    assert sizes == sorted(sizes, reverse=True)
    shown = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "report.html")]).stdout
    rows = [line.split() for line in shown.splitlines() if "%" in line]
    assert [int(row[3]) for row in rows] == sizes
    wrong = CliRunner().invoke(main, ["compare", str(tmp_path), "--sort", "name"])
    assert wrong.exit_code == 2
    with pytest.raises(
        BadRecipe, match="sort is 'name'; choose one of surprise, score, size, longest, or None"
    ):
        chaffinch.compare(school(), sort="name")
