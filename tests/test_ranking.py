"""The list of pairs does not depend on how many are scored, and the receipt says if scores are estimated."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import chaffinch
from chaffinch import Report
from chaffinch.comparison import ranking, score
from tests.programs import WRITERS, Style, functions


def school(folder: Path) -> Path:
    """Write programs in two languages that all share something, some of them much."""
    rng = random.Random(0)
    stock = [f for seed in range(6) for f in functions(seed, 3)]
    for i in range(24):
        (folder / f"s{i:02}").mkdir(parents=True)
        for language in ("c", "py")[: 1 + i % 3]:
            text = WRITERS[language](rng.sample(stock, 6), Style(f"v{i}"))
            (folder / f"s{i:02}" / f"main.{language}").write_text(text)
    return folder


def few_scored(monkeypatch: pytest.MonkeyPatch, pairs: int) -> None:
    monkeypatch.setattr(ranking, "EXACT_PAIRS", 20)
    monkeypatch.setattr(ranking, "SCORED_PAIRS", pairs)
    monkeypatch.setattr(ranking, "LEAST_EXAMINED", 10)
    monkeypatch.setattr(score, "BLOCK_PAIRS", 17)


@pytest.mark.parametrize(("top", "threshold"), [(1, None), (5, 0.0), (5, 0.4), (500, None), (None, 0.0)])
def test_the_first_pairs_are_the_same_if_few_are_scored(
    top: int | None, threshold: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def report() -> Report:
        return chaffinch.compare([school_folder], top=top, threshold=threshold)

    school_folder = school(tmp_path)
    all_scored = report()
    few_scored(monkeypatch, 60)
    some_scored = report()
    assert some_scored.pairs == all_scored.pairs
    assert sum(some_scored.background) == sum(all_scored.background) == 24 * 23 // 2
    estimated = some_scored.receipt.to_dict().get("background")
    assert (estimated is None) == (top is None or top == 500)
    if estimated is None:
        assert replace(some_scored, receipt=all_scored.receipt) == all_scored


def test_an_estimate_is_near_what_it_estimates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = chaffinch.compare([school(tmp_path)], top=1).background
    few_scored(monkeypatch, 130)
    report = chaffinch.compare([tmp_path], top=1)
    assert re.fullmatch(r"estimated from 1\d\d of 2\d\d scores", report.receipt.to_dict()["background"])
    assert sum(abs(a - b) for a, b in zip(exact, report.background, strict=True)) < sum(exact) / 4


def test_pairs_are_ordered_by_score_and_a_little_of_the_surprise(tmp_path: Path) -> None:
    pairs = chaffinch.compare([school(tmp_path)], top=None, threshold=0).pairs
    surprises = [pair.surprise for pair in pairs if pair.surprise is not None]
    weights = [
        pair.score * (1 + max(surprise, 0)) ** 0.25 for surprise, pair in zip(surprises, pairs, strict=True)
    ]
    assert weights == pytest.approx([pair.weight for pair in pairs])
    assert len(set(weights)) > 20
    assert all(a >= b - 1e-9 for a, b in pairwise(weights))
    assert surprises != sorted(surprises, reverse=True)
    assert [p.score for p in pairs] != sorted((p.score for p in pairs), reverse=True)


def test_the_share_of_the_larger_program_counts_a_little_in_a_class() -> None:
    rng = np.random.default_rng(0)
    small, *others = (rng.integers(0, 500, 200, np.uint32) for _ in range(30))
    streams = [small, np.concatenate([small, *others[:9]]), small, *others]
    pairs, lengths = np.array([[0, 1], [0, 2]], np.uint32), np.array([4, 4], np.uint8)

    def overlap(count: int, larger: float) -> list[float]:
        return list(score.overlaps(streams[:count], pairs, lengths, larger, 1))

    assert overlap(len(streams), 0)[0] > 0.9
    within, identical = overlap(len(streams), 0.2)
    assert 0.3 < within < 0.8
    assert identical == 1
    assert within < overlap(8, 0.2)[0] < 0.9  # few others do not show what is usual
