"""The figures of a pair are the same in Python, JSON, CSV, the pages and on the terminal."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Document, Report
from chaffinch.cli import main
from chaffinch.report import case_file, to_csv, to_json
from chaffinch.report.figures import receipt_in_words
from chaffinch.report.pages.view import View
from chaffinch.types import Receipt
from tests.programs import WRITERS, Style, functions


def python(name: str, *seeds: int) -> Document:
    """Return a program with a few functions of each seed."""
    text = "\n".join(WRITERS["py"](functions(seed, 4), Style()) for seed in seeds)
    return Document(f"{name}.py", text.encode())


def class_of(size: int) -> list[Document]:
    """Return a class in which the first two share half of their programs."""
    return [python("ann", 1, 2), python("ben", 1, 3), *(python(f"s{n}", 10 + n) for n in range(size - 2))]


def rows(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(report))))


def in_pages(report: Report) -> dict[str, Any]:
    """Return the first pair as the pages show it."""
    pair: dict[str, Any] = View(report, anonymize=False, verdicts=None).index()["pairs"][0]
    return pair


@pytest.mark.parametrize("size", [2, 4, 5])
def test_a_tiny_class_has_no_surprise_anywhere(size: int, tmp_path: Path) -> None:
    report = chaffinch.compare(class_of(size), threshold=0)
    is_known = size == 5
    pair = report.pairs[0]
    assert (pair.left, pair.right) == ("ann", "ben")
    assert (pair.surprise is not None) == is_known
    assert (to_json(report)["pairs"][0]["surprise"] is not None) == is_known
    assert (rows(report)[0]["surprise"] != "") == is_known
    assert (in_pages(report)["surprise"] is not None) == is_known
    case_file(report, pair, tmp_path / "case.html")
    assert ("<b>–</b><span>surprise</span>" in (tmp_path / "case.html").read_text()) != is_known
    for document in class_of(size):
        (tmp_path / document.name).write_bytes(document.data)
    done = CliRunner().invoke(main, ["compare", str(tmp_path), "-o", str(tmp_path / "report.html")])
    (line,) = (line for line in done.stdout.splitlines() if line.endswith("ann  -  ben"))
    assert (line.split()[1] == "-") != is_known


def test_earlier_work_shows_what_is_usual_too() -> None:
    new, old = class_of(2), class_of(5)[2:]
    assert chaffinch.compare(new, old=old).pairs[0].surprise is not None


def test_copies_in_a_tiny_class_are_a_cluster_and_weaker_pairs_are_not() -> None:
    copies = [python("ann", 1), python("ben", 1), python("cat", 2)]
    (cluster,) = chaffinch.compare(copies, threshold=0).clusters
    assert cluster.submissions == ("ann", "ben")
    weaker = chaffinch.compare([python("ann", 1, 2, 3), python("ben", 1, 4, 5)], threshold=0)
    assert weaker.pairs[0].score < 0.5
    assert weaker.clusters == ()


def test_symbols_and_fingerprints_are_those_that_both_have() -> None:
    base = python("base", 7)
    once, twice = python("once", 1, 7), python("twice", 1, 1, 7)
    (pair,) = chaffinch.compare([once, twice], base=[base], threshold=0).pairs
    recipe = chaffinch.Recipe("python")
    own = chaffinch.stream(python("own", 1), recipe)
    assert abs(pair.symbols - len(own)) <= 4  # once, although the other one has it twice; base code never
    prints = {*chaffinch.fingerprint(python("own", 1), recipe).hashes.tolist()}
    assert pair.fingerprints is not None
    assert abs(pair.fingerprints - len(prints)) <= 4
    swapped = chaffinch.compare([twice, once], base=[base], threshold=0).pairs[0]
    assert (swapped.symbols, swapped.fingerprints) == (pair.symbols, pair.fingerprints)


def test_symbols_and_fingerprints_are_the_same_in_every_output(tmp_path: Path) -> None:
    report = chaffinch.compare(class_of(6), threshold=0)
    pair = report.pairs[0]
    figures = (pair.symbols, pair.fingerprints)
    in_json, in_csv = to_json(report)["pairs"][0], rows(report)[0]
    assert (in_json["symbols"], in_json["fingerprints"]) == figures
    assert (in_pages(report)["symbols"], in_pages(report)["fingerprints"]) == figures
    assert (in_csv["symbols"], in_csv["fingerprints"]) == tuple(map(str, figures))
    case_file(report, pair, tmp_path / "case.html")
    page = (tmp_path / "case.html").read_text()
    assert f"<b>{pair.symbols:,}</b><span>symbols in matches</span>" in page
    assert f"<b>{pair.fingerprints:,}</b><span>shared fingerprints</span>" in page


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (0.15036117543134442, "pairs that weigh at least 0.15 stand out from the class"),
        (None, "no pair stands out"),
    ],
)
def test_the_method_page_explains_the_lines(line: float | None, shown: str) -> None:
    assert receipt_in_words(Receipt(lines={"c": line}))["lines"] == {"c": shown}
