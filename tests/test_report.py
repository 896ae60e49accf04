"""The pages of a report in a real browser: lists, pairs, verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, expect

from chaffinch.errors import SkipReason
from chaffinch.report import save
from chaffinch.types import Cluster, Passage, Report, Skipped, Span
from tests.made_reports import SORTING, pair, report, submission

if TYPE_CHECKING:
    from tests.browsing import Open

pytest_plugins = "tests.browsing"


@pytest.fixture(scope="module")
def class_report() -> Report:
    """Three submissions that share code, one of them in two files, and two that do not."""
    own = "".join(f"def step_{n}(value):\n    return value * {n}\n\n\n" for n in range(60))
    anna = submission("Anna", {"anna/sorting.py": own + SORTING, "anna/extra.py": "x = 1\ny = 2\nz = 3\n"})
    begin, end = SORTING.split("\n\n\ndef merge")
    changed = begin + "\n" + "# between\n" * 50 + "def merge" + end
    changed = changed.replace("smaller", "least").replace('"sorted"', "'sorted'")
    bert = submission(
        "Bert",
        {"bert/begin.py": "x = 1\ny = 2\nz = 3\n", "bert/main.py": "pass\n" * 90 + changed},
    )
    cleo = submission("Cleo", {"cleo/all.py": "import this\n" * 30 + SORTING})
    dora, emil = submission("Dora", {"d.py": "print(1)\n"}), submission("Emil", {"e.py": "print(2)\n"})
    pairs = [pair(anna, bert, 0.9, 7.5), pair(anna, cleo, 0.5, 3.25), pair(bert, cleo, 0.45, 9.0)]
    first = replace(pairs[0].matches[0], owners=5)
    pairs[0] = replace(pairs[0], matches=(first, *pairs[0].matches[1:]))
    return report(
        [anna, bert, cleo, dora, emil],
        pairs,
        clusters=[Cluster(("Anna", "Bert", "Cleo"), 0.9)],
        common=[Passage(Span("cleo/all.py", 0, 36), 9, 4)],
        skipped=[Skipped("fred/photo.png", SkipReason.NOT_TEXT, "an image")],
    )


@pytest.fixture(scope="module", params=["report.html", "folder"])
def saved(
    request: pytest.FixtureRequest, class_report: Report, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The report as one file, and as a folder."""
    path = tmp_path_factory.mktemp("saved") / str(request.param)
    save(class_report, path)
    return path if path.suffix else path / "index.html"


def names_in_rows(page: Page) -> list[str]:
    return [
        " ".join(row.locator(".submission-cell").all_inner_texts())
        for row in page.locator(".pairs tbody tr").all()
    ]


def test_pairs_are_ranked_sorted_and_found(saved: Path, open_page: Open) -> None:
    page = open_page(saved)
    assert names_in_rows(page) == ["Anna Bert", "Anna Cleo", "Bert Cleo"]
    page.get_by_role("button", name="Surprise").click()
    assert names_in_rows(page) == ["Bert Cleo", "Anna Bert", "Anna Cleo"]
    page.get_by_role("button", name="Surprise").click()
    assert names_in_rows(page) == ["Anna Cleo", "Anna Bert", "Bert Cleo"]
    for column in ("Score", "Left in matches", "Right in matches", "Longest run", "Matches", "Left", "Right"):
        page.get_by_role("button", name=column, exact=True).click()
        expect(page.locator("th[aria-sort]")).to_have_text(column)
    page.get_by_role("button", name="#", exact=True).click()
    assert names_in_rows(page) == ["Anna Bert", "Anna Cleo", "Bert Cleo"]
    page.keyboard.press("/")
    page.keyboard.type("bert")
    assert sorted(names_in_rows(page)) == ["Anna Bert", "Bert Cleo"]
    page.get_by_label("Search").fill("nobody")
    expect(page.locator(".pairs tbody")).to_have_text("No pair fits your search.")


def test_every_page_shows_its_data(saved: Path, open_page: Open) -> None:
    page = open_page(saved)
    expect(page.locator(".histogram .tick")).to_have_count(3)
    assert page.locator(".graph circle").count() == 3
    page.get_by_role("link", name="Anna and Bert: 90%").click(force=True)
    expect(page.locator(".names")).to_have_text("AnnaandBert")
    page.get_by_role("link", name="Submissions").click()
    expect(page.locator("tbody tr")).to_have_count(5)
    page.get_by_role("link", name="Anna").click()
    expect(page.locator("h1")).to_have_text("Anna")
    expect(page.locator(".chips li")).to_have_text(["Bert", "Cleo"])
    expect(page.locator(".file")).to_have_text(["anna/sorting.py", "anna/extra.py"])
    assert len(names_in_rows(page)) == 2
    page.get_by_role("link", name="Skipped").click()
    expect(page.get_by_text("an image")).to_be_visible()
    page.locator("summary").click()
    expect(page.locator(".passage pre")).to_contain_text("import this")
    page.get_by_role("link", name="Method").click()
    expect(page.get_by_text("every shared run of 20 symbols is found; nothing shorter than 12")).to_be_visible()


def top(page: Page, side: int, number: int) -> float:
    """Return how many pixels below the top of its pane a match begins."""
    pane = page.locator(".scroller").nth(side)
    box, frame = pane.locator(f'[data-m="{number}"]').first.bounding_box(), pane.bounding_box()
    assert box
    assert frame
    return box["y"] - frame["y"]


def test_keys_step_through_matches_and_align_them(saved: Path, open_page: Open) -> None:
    page = open_page(saved, "#/pair/0")
    which, files = page.locator(".position"), page.locator("select.files")
    expect(which).to_have_text("3 matches")
    page.keyboard.press("n")
    expect(which).to_have_text("Match 1 of 3")
    expect(page.locator(".detail")).to_contain_text("; also in 3 other submissions")
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Next match").click()
    expect(which).to_have_text("Match 3 of 3")
    expect(files.nth(0)).to_have_value("1")  # this match is in other files, on both sides
    expect(files.nth(1)).to_have_value("0")
    page.keyboard.press("p")
    expect(which).to_have_text("Match 2 of 3")
    expect(files.nth(0)).to_have_value("0")
    assert abs(top(page, 0, 2) - top(page, 1, 2)) < 40
    page.locator(".scroller").nth(1).evaluate("pane => pane.scrollTop = 0")
    page.locator(".scroller").nth(0).locator('[data-m="2"]').nth(3).click()
    page.wait_for_timeout(100)
    assert page.locator(".scroller").nth(1).locator(".on").count() > 5
    assert page.locator(".scroller").nth(1).evaluate("pane => pane.scrollTop") > 0
    files.nth(0).select_option("1")
    expect(page.locator(".scroller").nth(0).locator(".line")).to_have_count(4)


def test_folding_leaves_only_matches(saved: Path, open_page: Open) -> None:
    page = open_page(saved, "#/pair/1")
    right = page.locator(".scroller").nth(1)
    expect(right.locator(".line")).to_have_count(54)
    expect(right.locator(".o").first).to_be_attached()
    page.get_by_label("Only matches").check()
    fold = right.get_by_role("button", name="… 28 lines …")
    expect(fold).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".position")).to_have_text("Match 1 of 1")
    fold.click()
    expect(right.locator(".line")).to_have_count(54)
    assert "def" in right.locator(".k").all_inner_texts()
    assert right.locator(".m.run").count() > 5
    assert right.locator("[data-tag]").count() == 1


def test_dark_and_light_can_be_switched(saved: Path, open_page: Open) -> None:
    page = open_page(saved)
    shade = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(shade)
    page.get_by_role("button", name="Switch between dark and light").click()
    dark = page.evaluate(shade)
    assert light != dark
    page.reload()
    assert page.evaluate(shade) == dark
    assert open_page(saved, dark=True).evaluate(shade) == dark


def test_verdicts_are_stored_exported_and_imported(
    class_report: Report, saved: Path, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(saved)
    page.locator("tbody .verdict").nth(1).select_option("copied")
    page.locator("tbody .note").nth(1).fill('asked "both" </script>')
    page.reload()
    expect(page.locator("tbody .verdict").nth(1)).to_have_value("copied")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export verdicts").click()
    exported = json.loads(download.value.path().read_text("utf-8"))
    assert list(exported["verdicts"].values()) == [{"verdict": "copied", "note": 'asked "both" </script>'}]
    # Verdicts belong to contents, so a later run with other names has them too.
    swapped = [replace(p, left=p.right, right=p.left, matches=()) for p in class_report.pairs[::-1]]
    save(replace(class_report, pairs=tuple(swapped)), tmp_path / "later.html", verdicts=exported)
    later = open_page(tmp_path / "later.html", "#/pair/1")
    expect(later.locator(".verdict")).to_have_value("copied")
    expect(later.locator(".note")).to_have_value('asked "both" </script>')
    other = open_page(saved)
    (tmp_path / "verdicts.json").write_text(json.dumps(exported), "utf-8")
    other.locator("#import").set_input_files(tmp_path / "verdicts.json")
    expect(other.locator("tbody .verdict").nth(1)).to_have_value("copied")
    (tmp_path / "broken.json").write_text("no", "utf-8")
    other.locator("#import").set_input_files(tmp_path / "broken.json")
    expect(other.get_by_role("status")).to_have_text("This file contains no verdicts.")


def test_a_browser_that_cannot_unpack_the_report_says_so(saved: Path, open_page: Open, tmp_path: Path) -> None:
    if saved.name != "index.html":
        page = open_page(saved)
        page.evaluate("delete window.DecompressionStream")
        page.evaluate("location.hash = '#/pair/0'")
        expect(page.get_by_text("save the report as a folder")).to_be_visible()
