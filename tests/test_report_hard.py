"""Difficult reports in a real browser: hostile, long, empty and anonymous ones, and case files."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, expect

from chaffinch.errors import SkipReason
from chaffinch.languages import language
from chaffinch.report import case_file, save
from chaffinch.types import Cluster, Coverage, Document, Match, Pair, Receipt, Skipped, Span, Submission
from tests.made_reports import SORTING, pair, report, submission

if TYPE_CHECKING:
    from tests.browsing import Open

pytest_plugins = "tests.browsing"


HOSTILE = (
    "<script>alert(1)</script>",
    "\"quotes' & `ticks`\n</script><!--",
    "\u202egnp.tfel ot thgir\u202c \u05e9\u05dc\u05d5\u05dd",
    "n" * 300,
    "{{style}} __proto__ \u2028 \udcff",
)


def test_hostile_names_are_only_names(open_page: Open, tmp_path: Path) -> None:
    works = [submission(name, {name + ".py": SORTING + "# " + HOSTILE[0]}) for name in HOSTILE]
    hostile_report = report(
        works,
        clusters=[Cluster(HOSTILE, 0.9)],
        skipped=[Skipped(HOSTILE[1], SkipReason.DAMAGED, HOSTILE[0])],
        receipt=Receipt(base={HOSTILE[0]: HOSTILE[1]}),
    )
    for path in (tmp_path / "report.html", tmp_path / "folder"):
        save(hostile_report, path)
        page = open_page(path if path.suffix else path / "index.html")
        expect(page.locator(".pairs tbody tr")).to_have_count(10)
        assert page.locator(".pairs .name").first.inner_text() == HOSTILE[0]
        for at in (
            "pair/0",
            "pair/9",
            "submission/1",
            "submission/3",
            "skipped",
            "method",
            "pair/99",
            "toString",
            "pair/x",
        ):
            page.evaluate(f"location.hash = '#/{at}'")
            page.wait_for_timeout(50)
            assert page.locator("h1").is_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), at
    case_file(hostile_report, hostile_report.pairs[0], tmp_path / "case.html")
    expect(open_page(tmp_path / "case.html").locator("h1")).to_contain_text(HOSTILE[0])


@pytest.mark.parametrize(
    ("encoding", "junk"), [("utf-8", b"\xff\xfe "), ("utf-16", b""), ("utf-16-le", b""), ("cp1252", b"")]
)
def test_what_is_marked_is_the_match(open_page: Open, tmp_path: Path, encoding: str, junk: bytes) -> None:
    before = "zuerst ü ä\r\n" if encoding == "cp1252" else "zuerst \U0001f600 ü 日本\r\n"
    shared = "größer() {\n  gleich;\n}"
    data = junk + (before + shared + " danach").encode(encoding)
    start = len(junk + before.encode(encoding))
    end = len(junk + (before + shared).encode(encoding))
    works = [Submission(name, (Document(name, data, encoding, "plain", "text"),)) for name in ("one", "two")]
    spans = Span("one", start, end), Span("two", start, end)
    both = replace(pair(works[0], works[1]), matches=(Match(*spans, 9, 9, (spans,), 2),))
    save(report(works, [both]), tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", "#/pair/0")
    expect(page.locator(".pane").nth(1).locator(".m")).to_have_text(["größer() {", "  gleich;", "}"])
    case_file(report(works, [both]), both, tmp_path / "case.html")
    marks = re.findall("<mark.*?><b>(.*?)</b></mark>", (tmp_path / "case.html").read_text("utf-8"))
    assert marks == [line for line in shared.split("\n") for _ in range(2)]


def test_long_files_with_many_matches_work(open_page: Open, tmp_path: Path) -> None:
    lines = [f"value_{n} = compute({n}, 'text')  # line {n}\n" for n in range(20_000)]
    text = "".join(lines).encode()
    at = [0]
    for line in lines:
        at.append(at[-1] + len(line))
    works = [Submission(name, (Document(name, text, "utf-8", "code", "python"),)) for name in ("one", "two")]
    matches = []
    for n in range(5000):
        there = (n * 7919) % 5000
        spans = Span("one", at[4 * n], at[4 * n + 2]), Span("two", at[4 * there], at[4 * there + 2])
        matches.append(Match(*spans, 14, 14, (spans,), 2))
    both = Pair("one", "two", 0.5, Coverage(0.5, 0.5), 5.0, 14, 14, 2, tuple(matches))
    save(report(works, [both]), tmp_path / "report.html")
    page = open_page(tmp_path / "report.html", "#/pair/0")
    expect(page.locator(".position")).to_have_text("5,000 matches")
    page.keyboard.press("p")
    expect(page.locator(".position")).to_have_text("Match 5,000 of 5,000")
    expect(page.locator(".pane").nth(0).locator(".on").first).to_be_in_viewport()
    expect(page.locator(".pane").nth(1).locator(".on").first).to_be_in_viewport()
    for _ in range(5):
        page.keyboard.press("n")
    expect(page.locator(".position")).to_have_text("Match 5 of 5,000")
    expect(page.locator(".pane").nth(1).locator(".on").first).to_be_in_viewport()
    page.get_by_label("Only matches").check()
    expect(page.locator(".pane").nth(1).locator(".on").first).to_be_in_viewport()


def test_a_case_file_works_without_scripts_and_saves_a_verdict_with_them(
    open_page: Open, tmp_path: Path
) -> None:
    class_report = report([submission(name, {name + ".py": SORTING}) for name in ("one", "two")])
    case_file(class_report, class_report.pairs[0], tmp_path / "case.html")
    assert (tmp_path / "case.html").stat().st_size < 1_000_000
    plain = open_page(tmp_path / "case.html", scripts=False)
    expect(plain.get_by_text("def merge(left, right):").first).to_be_visible()
    expect(plain.get_by_role("button")).to_have_count(0)
    page = open_page(tmp_path / "case.html")
    page.get_by_label("common source").check()
    page.get_by_label("Notes").fill("<b>Both</b> had the book.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save a copy").click()
    download.value.save_as(tmp_path / "decided.html")
    again = open_page(tmp_path / "decided.html", scripts=False)
    expect(again.get_by_label("common source")).to_be_checked()
    expect(again.get_by_label("Notes")).to_have_value("<b>Both</b> had the book.")


def test_anonymous_reports_have_no_name(open_page: Open, tmp_path: Path) -> None:
    text = "# Joan Whitlock (jw@uni.example) and RASMUS\n" + SORTING
    joan = submission("Joan Whitlock", {"joan_whitlock/a.py": text})
    rasmus = submission("rasmus", {"rasmus/joan.py": text.replace("numbers", "whitlocks")})
    class_report = report(
        [joan, rasmus],
        clusters=[Cluster(("Joan Whitlock", "rasmus"), 0.9)],
        skipped=[Skipped("ulf.png", SkipReason.NOT_TEXT, "ulf.png is no text")],
    )
    save(class_report, tmp_path / "folder", anonymize=True)
    for path in (tmp_path / "folder").rglob("*.*"):
        assert not re.search("joan|whitlock|rasmus|ulf|uni.example", path.read_text("utf-8"), re.I), path
    page = open_page(tmp_path / "folder" / "index.html", "#/pair/0")
    expect(page.locator(".scroller").first.locator(".line").first).to_have_text(
        re.compile(r"# Student \d \(\(e-mail\)\) and Student \d")
    )


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_any_number_of_pairs_is_listed(open_page: Open, tmp_path: Path, count: int) -> None:
    works = [submission(f"student {n}", {f"{n}.py": SORTING}) for n in range(46)]
    pairs = [
        Pair(a.name, b.name, 0.5, Coverage(0.5, 0.5), float("inf"), 9, 9, 1, ())
        for a in works
        for b in works
        if a.name < b.name
    ]
    save(report(works, pairs[:count]), tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    expect(page.locator(".facts")).to_contain_text("1 pair listed" if count == 1 else f"{count:,} pairs listed")
    if count == 0:
        expect(page.get_by_text("No pair is listed")).to_be_visible()
    if count == 1000:
        expect(page.locator(".pairs tbody tr")).to_have_count(300)
        page.get_by_role("button", name="Show more").click()
        expect(page.locator(".pairs tbody tr")).to_have_count(1000)


def test_a_folder_joins_small_parts_into_few_files(open_page: Open, browser: Browser, tmp_path: Path) -> None:
    works = [submission(f"{n}", {f"{n}.py": f"# {n}\n" + SORTING * 150}) for n in range(12)]
    half = Coverage(0.5, 0.5)
    pairs = [Pair(a.name, b.name, 0.5, half, 1.0, 9, 9, 1, ()) for a, b in combinations(works, 2)]
    save(report(works, pairs), tmp_path / "folder")
    files = sorted((tmp_path / "folder" / "data").glob("[ps][0-9]*.js"))
    assert len(files) == 5
    assert max(file.stat().st_size for file in files) < 350_000
    page = open_page(tmp_path / "folder" / "index.html")
    for n in (0, 30, 65):
        page.evaluate(f"location.hash = '#/pair/{n}'")
        for side, name in enumerate((pairs[n].left, pairs[n].right)):
            expect(page.locator(".scroller").nth(side).locator(".line").first).to_have_text(f"# {name}")
    files[-1].unlink()
    broken = browser.new_page()
    broken.goto((tmp_path / "folder" / "index.html").as_uri() + f"#/pair/{len(pairs) - 1}")
    expect(broken.get_by_text(f"data/{files[-1].name} is missing.")).to_be_visible()


def test_every_language_has_syntax_colours(open_page: Open, tmp_path: Path) -> None:
    folder = Path(__file__).parent / "data" / "languages"
    names = language.languages()
    documents = [Document(n, (folder / f"{n}.one").read_bytes(), "utf-8", "code", n) for n in names]
    works = [Submission(name, tuple(documents)) for name in ("one", "two")]
    save(
        report(works, [Pair("one", "two", 0.5, Coverage(0.5, 0.5), 1.0, 1, 1, 1, ())]), tmp_path / "report.html"
    )
    page = open_page(tmp_path / "report.html", "#/pair/0")
    for n, name in enumerate(names):
        page.locator("select.files").first.select_option(str(n))
        expect(page.locator(".pane").first.locator(".k").first, name).to_be_attached()
        whole = page.locator(".pane").first.locator(".lines").evaluate("e => e.textContent")
        assert whole == documents[n].data.decode().replace("\n", ""), name


def test_replacing_long_names_moves_no_match(open_page: Open, tmp_path: Path) -> None:
    """A label has another length than the name it replaces, but the match after it is still marked."""
    data = b"# Maximiliana Wolkenstein, Wolkenstein\nshared = 1\n"
    works = [
        Submission(name, (Document(name, data, "utf-8", "code", "python"),))
        for name in ("Maximiliana Wolkenstein", "Bo")
    ]
    spans = Span(works[0].name, data.index(b"shared"), len(data) - 1), Span("Bo", 2, data.index(b",") - 3)
    both = Pair(works[0].name, "Bo", 0.5, Coverage(0.5, 0.5), 1.0, 1, 9, 1, (Match(*spans, 9, 9, (spans,), 2),))
    save(report(works, [both]), tmp_path / "report.html", anonymize=True)
    page = open_page(tmp_path / "report.html", "#/pair/0")
    expect(page.locator(".pane").nth(0).locator(".m")).to_have_text(["shared = 1"])
    expect(page.locator(".pane").nth(1).locator(".m")).to_have_text(re.compile(r"^Student \d$"))
