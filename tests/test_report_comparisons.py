"""Reports of real comparisons: earlier work, aligned sides, what was not compared, verdicts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

import chaffinch
from chaffinch import Document, Report
from chaffinch.report import case_file, case_files, save, to_json
from chaffinch.types import Coverage, Match, Pair, Span, Submission
from tests.made_reports import pair, report, submission
from tests.programs import WRITERS, Style, functions

if TYPE_CHECKING:
    from tests.browsing import Open

pytest_plugins = "tests.browsing"


def program(seed: int, prefix: str, count: int = 12) -> bytes:
    return WRITERS["py"](functions(seed, count), Style(prefix)).encode()


def commented(text: bytes) -> bytes:
    """Return the program with a comment, which has no symbols, after every third line."""
    lines = text.split(b"\n")
    return b"\n".join(line + b"\n# a comment" * (n % 3 == 0) for n, line in enumerate(lines))


@pytest.fixture(scope="module")
def two() -> Report:
    """A program, and a copy with other names and more lines."""
    both = Document("one.py", program(1, "a")), Document("two.py", commented(program(1, "b")))
    return chaffinch.compare(both, threshold=0, top=None)


def pane(page: Page, side: int) -> Locator:
    return page.locator(".scroller").nth(side)


def statement(line: str) -> str:
    """Return a line without names, numbers and spaces."""
    return re.sub(r"\b[ab]?\w+\b|\s", "", line)


def test_earlier_work_of_the_same_name_is_another_submission(tmp_path: Path) -> None:
    for folder, seed in (("new/ann", 1), ("new/bob", 2), ("old/ann", 1), ("old/cyd", 2)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "main.py").write_bytes(program(seed, folder[0]))
    result = chaffinch.compare([tmp_path / "new"], old=[tmp_path / "old"])
    assert {(p.left, p.right) for p in result.pairs} == {("ann", "ann (old)"), ("bob", "cyd")}
    matches = [m for p in to_json(result)["pairs"] for m in p["matches"]]
    assert all(m["left"]["lines"] and m["right"]["lines"] for m in matches)
    case_files(result, tmp_path / "cases", 2)
    (case,) = (tmp_path / "cases").glob("?? ann - ann (old).html")
    page = case.read_text("utf-8")
    assert "<title>ann and ann (old): case file</title>" in page
    assert str(Path("old", "ann", "main.py")) in page
    same = Document("a.py", program(1, "a"))
    result = chaffinch.compare([same, same], old=[same, same], threshold=0)
    assert [s.name for s in (*result.submissions, *result.old)] == [
        "a.py",
        "a.py (2)",
        "a.py (old)",
        "a.py (old 2)",
    ]
    assert len(result.pairs) == 5


def test_a_click_aligns_the_other_side(two: Report, open_page: Open, tmp_path: Path) -> None:
    save(two, tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", "#/pair/0")
    lines = pane(page, 0).locator(".line:has(.m)")
    for number in (40, 70, 15):
        line = lines.nth(number)
        line.scroll_into_view_if_needed()
        piece = line.locator(".m").first
        piece.click()
        page.wait_for_timeout(100)
        box = piece.bounding_box()
        assert box
        beside = [
            one.inner_text()
            for one in pane(page, 1).locator(".line").all()
            if (other := one.bounding_box()) and abs(other["y"] - box["y"]) < 12
        ]
        assert statement(line.inner_text()) in {statement(text) for text in beside}


def test_a_case_file_has_the_same_statements_side_by_side(two: Report, tmp_path: Path) -> None:
    case_file(two, two.pairs[0], tmp_path / "case.html")
    page = (tmp_path / "case.html").read_text("utf-8")
    rows = re.findall(
        r"<tr><td class=\"n\">\d*</td><td.*?>(.*?)</td><td class=\"n\">\d*</td><td.*?>(.*?)</td></tr>", page
    )
    beside = [[re.sub("<.*?>", "", cell).strip() for cell in row] for row in rows]
    programs = [(left, right) for left, right in beside if left and right and "a comment" not in right]
    assert len(programs) > 50
    assert sum(statement(left) == statement(right) for left, right in programs) / len(programs) > 0.95


def test_a_match_scrolls_into_view_wherever_it_begins_in_a_line(open_page: Open, tmp_path: Path) -> None:
    passage = "a long passage that both of them have, word for word, " * 4
    texts = ["left " * 3000 + passage + "end " * 500, "right " * 2000 + passage + "over " * 700]
    both = [Document(f"{n}.txt", text.encode()) for n, text in enumerate(texts)]
    save(chaffinch.compare(both, threshold=0, top=None), tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", "#/pair/0")
    expect(page.locator(".position")).to_have_text("1 match")
    page.keyboard.press("n")
    for _ in range(2):
        for side in (0, 1):
            expect(pane(page, side).locator(".on.run").first).to_be_in_viewport(ratio=0.1)
        page.get_by_label("Wrap lines").uncheck()


def overlapping() -> Report:
    """Return a report with a match that lies within another one on the left side only."""
    text = "".join(f"line {n}\n" for n in range(30))
    works = [
        Submission(name, (Document(name, text.encode(), "utf-8", "plain", "text"),)) for name in ("a", "b")
    ]
    inner, outer = (Span("a", 70, 140), Span("b", 150, 220)), (Span("a", 0, 200), Span("b", 0, 140))
    matches = tuple(Match(*spans, 50, 50, (spans,), 2) for spans in (outer, inner))
    return report(works, [Pair("a", "b", 0.5, Coverage(0.5, 0.5), 5.0, 50, 50, 9, matches)])


def test_the_chosen_one_of_overlapping_matches_is_on_top(open_page: Open, tmp_path: Path) -> None:
    save(overlapping(), tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", "#/pair/0")
    left = pane(page, 0)
    expect(left.locator('[data-m="2"].m')).not_to_have_count(0)  # the shorter one
    expect(page.locator(".position")).to_have_text("2 matches")
    page.keyboard.press("n")
    expect(left.locator('[data-m="2"].m')).to_have_count(0)
    assert "".join(left.locator('.m.on[data-m="1"]').all_inner_texts()).count("line") == 26
    left.locator('.line[data-n="14"] .m').click()  # both matches are here, so it chooses the other
    expect(page.locator(".position")).to_have_text("Match 2 of 2")
    expect(left.locator('.m.on[data-m="2"]')).not_to_have_count(0)


def test_base_code_is_grey_and_listed(open_page: Open, tmp_path: Path) -> None:
    given = program(7, "g", 4)
    both = [Document(f"{n}.py", given + b"\n\n" + program(1, "ab"[n])) for n in range(2)]
    result = chaffinch.compare(both, base=[Document("given.py", given)], threshold=0, top=None)
    assert list(result.receipt.base) == ["given.py"]
    assert result.receipt.base_symbols["python"] > 50
    assert set(result.ignored) == {"0", "1"}
    save(result, tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", "#/pair/0")
    lines = given.decode().strip().count("\n") + 1
    expect(pane(page, 0).locator(".ignored")).to_have_count(lines)
    expect(page.locator(".toolbar")).to_contain_text("Grey: not compared")
    page.goto((tmp_path / "report.html").as_uri() + "#/skipped")
    card = page.locator(".card").first
    expect(card).to_contain_text("of base code")
    expect(card).to_contain_text("given.py")


def test_code_of_too_many_owners_is_counted_apart_from_base_code(tmp_path: Path) -> None:
    common = program(7, "g", 4)
    class_ = [Document(f"{n}.py", common + b"\n\n" + program(n + 20, "a", 4)) for n in range(6)]
    result = chaffinch.compare(class_, max_owners=3)
    assert result.receipt.max_owners == 3
    assert result.receipt.base_symbols == {"python": 0}
    assert result.receipt.symbols_with_more_owners["python"] > 300


def test_verdicts_of_a_file_replace_those_of_the_browser(open_page: Open, tmp_path: Path) -> None:
    works = [submission(name, {f"{name}.py": f"print('{name}')\n" * 9}) for name in ("ann", "bob", "cyd")]
    result = report(works, [pair(works[0], works[1])])
    save(result, tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    key = page.evaluate("JSON.parse(document.getElementById('index').textContent).pairs[0].key")
    page.locator("tbody .verdict").select_option("no")
    theirs = {"verdict": "copied", "note": "as Ann said"}
    verdicts = {"verdicts": {key: theirs, "another": {"verdict": "no", "note": "not of these"}}}
    save(result, tmp_path / "report.html", verdicts=verdicts)
    page.reload()
    expect(page.locator("tbody .verdict")).to_have_value("copied")
    page.locator("tbody .verdict").select_option("common source")
    page.reload()
    expect(page.locator("tbody .verdict")).to_have_value("common source")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export verdicts").click()
    exported = json.loads(download.value.path().read_text("utf-8"))["verdicts"]
    assert exported["another"]["note"] == "not of these"
    assert exported[key]["verdict"] == "common source"
    save(result, tmp_path / "nameless.html", verdicts=verdicts, anonymize=True)
    written = (tmp_path / "nameless.html").read_text("utf-8")
    assert "said" in written
    assert "Ann" not in written
    assert "not of these" not in written


def test_going_back_returns_to_the_same_row(open_page: Open, tmp_path: Path) -> None:
    works = [submission(f"s{n:03}", {f"{n}.py": f"x = {n}\n"}) for n in range(40)]
    pairs = [pair(a, b) for i, a in enumerate(works) for b in works[:i]]
    save(report(works, pairs), tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    page.get_by_role("button", name="Show more").click()
    row = page.locator("tbody tr").nth(400)
    row.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 1000
    row.locator(".rank a").click()
    expect(page.locator(".position")).to_be_visible()
    page.go_back()
    expect(page.locator("tbody tr").nth(400)).to_be_visible()
    assert abs(page.evaluate("scrollY") - place) < 5
    page.get_by_role("link", name="Method").click()
    assert page.evaluate("scrollY") == 0
    page.get_by_role("link", name="Pairs").click()
    page.get_by_label("Verdicts shown").select_option("copied")
    expect(page.locator("tbody")).to_have_text("No pair fits your search.")
    page.get_by_label("Verdicts shown").select_option("not decided")
    expect(page.locator("tbody tr")).to_have_count(300)


def test_dates_are_in_case_files(two: Report, tmp_path: Path) -> None:
    case_file(replace(two, dates={"one": "2026-03-01T14:05:00"}), two.pairs[0], tmp_path / "case.html")
    assert "Handed in: the left side on 2026-03-01 14:05." in (tmp_path / "case.html").read_text("utf-8")
