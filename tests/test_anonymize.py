"""Reports without names: what files are called, in which order things stand, what is told of dates."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch.cli import main
from chaffinch.report import anonymous_report, case_files, save, to_csv, to_json
from chaffinch.report.anonymize.anonymous_report import everybody
from chaffinch.report.pages.view import View
from chaffinch.types import Cluster, Coverage, File, Report, Span
from tests.made_reports import SORTING, pair, report, submission

NAMES = ("Ann Lee", "Bo Chan", "Cy Dorn")


def classroom(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def run(*arguments: object) -> tuple[str, str]:
    done = CliRunner().invoke(main, ["compare", *map(str, arguments), "--anonymize"])
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def files_of(told: dict[str, Any]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for document in told["documents"]:
        found[document["submission"]].append(document["name"])
    return dict(found)


@pytest.mark.parametrize(
    ("file", "shown", "options"),
    [
        ("{name}_1234{n}/stats.py", "{label}/stats.py", ["--student-pattern", r"_(\d+)"]),
        ("{name}_1234{n}/{name} 1/{name}.py", "{label}/file 1.py", ["--student-pattern", r"_(\d+)"]),
        ("{joined}_100{n}_500{n}_hw.py", "{label}/file 1.py", []),
        ("{name}_100{n}_assignsubmission_file/hw.py", "{label}/hw.py", []),
        ("{name}_100{n}_assignsubmission_file_/src/x{n}.py", "{label}/src/file 1.py", []),
        ("{name}.py", "{label}.py", []),
        ("{name}/{name}.py", "{label}/file 1.py", []),
    ],
)
def test_only_what_several_have_is_shown_of_a_path(
    tmp_path: Path, file: str, shown: str, options: list[str]
) -> None:
    work = {
        file.format(name=name, n=n, joined="".join(name.lower().split()[::-1])): f"{SORTING}# {n}\n"
        for n, name in enumerate(NAMES)
    }
    told = json.loads(run(classroom(tmp_path / "class", work), "--json", *options)[0])
    labels = [f"Student {n}" for n in (1, 2, 3)]
    assert files_of(told) == {label: [f"{tmp_path}/class/{shown.format(label=label)}"] for label in labels}
    for one in told["pairs"]:
        for match in one["matches"]:
            for side in ("left", "right"):
                assert match[side]["file"] in files_of(told)[one[side]]
                assert match[side]["lines"]


def test_who_is_in_earlier_work_too_is_one_student(tmp_path: Path) -> None:
    for folder in ("new", "old"):
        work = {f"{name}_1234{n}/a.py": f"{SORTING}# {folder} {n}\n" for n, name in enumerate(NAMES)}
        classroom(tmp_path / folder, work)
    shown, _ = run(tmp_path / "new", "--old", tmp_path / "old", "--json", "--student-pattern", r"_(\d+)")
    assert not re.search("Ann|Chan|Dorn|1234", shown)
    assert {len(set(names)) for names in files_of(json.loads(shown)).values()} == {1}


def test_no_two_documents_of_a_submission_have_one_name() -> None:
    names = ["ann/x/main.py", "ann/y/main.py", "ann/file 2.py", "ann/ann.py", "ann/Ann.py", "ann/lib.zip/a.py"]
    ann = submission("ann", {name: f"{SORTING}# {name}\n" for name in names})
    ben = submission("ben", {name.replace("ann/", "ben/"): SORTING for name in names if "x" not in name})
    made = report([ann, ben])
    told = to_json(anonymous_report(made))
    assert {len(set(found)) for found in files_of(told).values()} == {len(names), len(names) - 1}
    shown = {
        s["name"]: [f["name"] for f in s["files"]]
        for s in View(made, anonymize=True, verdicts=None).index()["submissions"]
    }
    assert shown == files_of(told)
    assert not any(re.search("ann|ben", name, re.I) for found in shown.values() for name in found)


def test_archives_and_documents_keep_what_is_theirs() -> None:
    zips = [submission(name, {f"c/{name}.zip/src/main.py": SORTING + name}) for name in NAMES]
    assert files_of(to_json(anonymous_report(report(zips, [])))) == {
        f"Student {n}": [f"c/Student {n}.zip/src/main.py"] for n in (1, 2, 3)
    }
    made = chaffinch.compare([File(f"{name}.py", (SORTING + name).encode()) for name in NAMES])
    assert files_of(to_json(anonymous_report(made))) == {f"Student {n}": [f"Student {n}.py"] for n in (1, 2, 3)}


@pytest.fixture(scope="module")
def works() -> list[str]:
    return [f"x = {n}\n" * n + SORTING + f"print({n})\n" * 5 for n in range(5)]


def made(works: list[str], names: str) -> Report:
    """A report of these works by students of these names, as comparing makes it: in the order of names."""
    by_name = sorted(zip(names, works, strict=True))
    everyone = [submission(f"{name}-student", {f"{name}-student/a.py": text}) for name, text in by_name]
    size = {s.name: len(s.documents[0].data) for s in everyone}
    pairs = [
        replace(pair(a, b, 0.5), coverage=Coverage(size[a.name] / 2000, size[b.name] / 2000))
        for a, b in combinations(everyone, 2)
    ]
    spans = {s.name: (Span(s.documents[0].name, 0, 5),) for s in everyone}
    return replace(
        report(everyone, pairs, clusters=[Cluster(tuple(size), 0.5)]),
        ignored=spans,
        dates={name: f"2026-03-01T10:{at % 60:02}:00" for name, at in size.items()},
    )


def test_nothing_depends_on_names(works: list[str], tmp_path: Path) -> None:
    """Whoever is called what, the anonymous report is the same, byte for byte."""
    written = []
    for names in ("abcde", "edcba", "caebd"):
        told = made(works, names)
        folder = tmp_path / names
        save(told, folder / "report", anonymize=True)
        case_files(told, folder / "cases", 10, redact=True)
        (folder / "x.json").write_text(json.dumps(to_json(anonymous_report(told))))
        (folder / "x.csv").write_text(to_csv(anonymous_report(told)))
        written.append({p.relative_to(folder): p.read_bytes() for p in folder.rglob("*.*") if p.is_file()})
    assert len(written[0]) == 17
    assert written[0] == written[1] == written[2]


def test_all_is_in_the_order_of_the_labels(works: list[str]) -> None:
    named = made(works, "edcba")
    told = anonymous_report(named)
    labels = [f"Student {n}" for n in range(1, 6)]
    assert [s.name for s in told.submissions] == labels
    assert list(told.dates) == list(told.ignored) == list(told.clusters[0].submissions) == labels
    assert [(p.left, p.right) for p in told.pairs] == list(combinations(labels, 2))
    rows = list(csv.reader(io.StringIO(to_csv(told))))[1:]
    assert [tuple(row[:2]) for row in rows] == list(combinations(labels, 2))
    data = {s.name: s.documents[0].data for s in told.submissions}
    for one in told.pairs:
        assert one.coverage == Coverage(len(data[one.left]) / 2000, len(data[one.right]) / 2000)
        for match in one.matches:
            for left, right in match.runs:
                assert data[one.left][left.start : left.end] == data[one.right][right.start : right.end]


def test_words_of_the_receipt_are_nobodys_names() -> None:
    names = ("max", "base", "python", "symbols")
    told = chaffinch.compare([File(f"{n}.py", SORTING.encode()) for n in names], base=File("max.py", b"x"))
    shown = anonymous_report(told).receipt
    assert replace(shown, base=told.receipt.base) == told.receipt
    assert not any("max" in path for path in shown.base)


def test_case_files_without_names_have_the_keys_of_the_report(tmp_path: Path) -> None:
    same = report([submission(name, {f"{name}.py": SORTING}) for name in NAMES])
    case_files(same, tmp_path, 3, redact=True, verdicts=None)
    keys = View(same, anonymize=True, verdicts=None).keys.values()
    pages = [path.read_text("utf-8") for path in sorted(tmp_path.iterdir())]
    assert {key for key in keys for page in pages if key in page} == set(keys)
    assert len(pages) == len(set(keys)) == 3


def test_a_row_of_dates_is_told_as_a_row(tmp_path: Path) -> None:
    folder = classroom(tmp_path / "class", {f"{name}/a.py": SORTING for name in NAMES})
    table = tmp_path / "dates.csv"
    table.write_text("name,date\nAnn Lee,2026-03-01\nWinfried,2026-03-01\n", "utf-8")
    shown, told = run(folder, "-o", tmp_path / "r.html", "--metadata", table)
    assert "row 3 of dates.csv: no submission has this name" in told
    assert "Winfried" not in shown + told
    by_name = chaffinch.compare([folder], dates={"Winfried": "2026-03-01"})
    assert [(s.name, s.detail) for s in anonymous_report(by_name).skipped] == [
        ("a date", "no submission has this name")
    ]


SENTENCE = "I will mark each rose and grant access"


def shown(names: Sequence[str], text: str, *, near: bool = True) -> str:
    """Return a text of the first student as it is shown; or, if not near, as that of an unpaired student."""
    students = [submission(name, {f"{name}.txt": "x"}) for name in (*names, "Far Away")]
    labelled = everybody(report(students, []))
    out = labelled.text(text, names[0] if near else "Far Away")
    for name, letter in zip(names, "ABC", strict=False):
        out = out.replace(labelled.labels[name], f"<{letter}>")
    return out


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE, "will_change = mark", "As you will. Grant it!", "They will grant it", "Mark my words, Rose",
        "the willing granted roses", "x = will(grant)", "WILL_CHANGE",
    ],
)  # fmt: skip
def test_ordinary_words_stay_though_they_are_in_a_name(text: str) -> None:
    assert shown(["will-grant", "mark-rose"], f"{text}\n{SENTENCE}") == f"{text}\n{SENTENCE}"


@pytest.mark.parametrize(
    "name",
    [
        "Will Grant", "Grant, Will", "will-grant", "WillGrant", "willGrant", "will_grant", "GRANT WILL",
        "willgrant", "grantwill", "wgrant", "grantw", "WGrant", "will.grant", "W. Grant", "Will\n    Grant",
        "Will\u00a0Grant", "Will&nbsp;Grant", "W\u0131ll Gr\u00e0nt", "\uff37ill Gr\u0430nt",
        "Wi\u200bll Grant",
        "<b>Will</b> <i>Grant",
        "Wi<b>ll</b> Grant", r"\textbf{Will} Gr\'ant", "Will%20Grant",
    ],
)  # fmt: skip
def test_the_full_name_and_accounts_go_though_their_parts_are_ordinary_words(name: str) -> None:
    for near in (True, False):
        out = shown(["will-grant", "mark-rose"], f"{SENTENCE}.\nThe author, {name}, {SENTENCE}", near=near)
        assert re.sub(r"<[bi]>|\\textbf{", "", out) == f"{SENTENCE}.\nThe author, <A>, {SENTENCE}"


@pytest.mark.parametrize(
    "word", ["bill", "page", "may", "june", "young", "king", "long", "art", "max", "min", "lee"]
)
def test_a_part_is_a_name_unless_it_is_used_as_a_word(word: str) -> None:
    for name in (f"{word}-xanthou", f"Xanthou {word.title()}"):
        assert shown([name], f"Thanks, {word.title()}!") == "Thanks, <A>!"
        assert shown([name], f"Thanks, {word.title()}!", near=False) == f"Thanks, {word.title()}!"
        for use in (f"this {word} is a word", f"x = {word}(1, 2)"):
            text = f"{use}; {word.title()}, {word}_x, {word}s"
            assert shown([name], text) == text
            assert shown([name], f"{use}; {word.title()} Xanthou") == f"{use}; <A>"


CODE = """def will(grant):
    return Will(grant) + bill.page(may, long)
def total(page, may, long):
    x = bill_page + page.bill + billPage + WILL_GRANT + bill_page_count
    return bill.page, may, long
class Page:
    def mark(self, Will, Grant): return [Will,Grant], [Will, Grant]
"""
PROSE = (
    "We left in May. It rained as hard as it may. The billing: bill, page by page. On the bill page you see.\n"
    "A may long be argued. Will, grant me this. May long ago was cold. May is a month, Bill. (Will) [Grant]\n"
    "Who will grant it?\n"
)
WORDS = ("Will Grant", "May Long", "Bill Page")


@pytest.mark.parametrize("writers", [("Ann Lee", "Bo Chan"), ("May Long", "Bill Page"), WORDS])
@pytest.mark.parametrize("text", [CODE, PROSE, CODE + PROSE])
def test_names_of_ordinary_words_falsify_no_evidence(writers: Sequence[str], text: str) -> None:
    everyone = dict.fromkeys((*WORDS, "Ann Lee", "Bo Chan"), "x\n") | dict.fromkeys(writers, text)
    students = [submission(name, {f"{name}.txt": text}) for name, text in everyone.items()]
    paired = [pair(a, b) for a, b in combinations(students, 2) if {a.name, b.name} <= {*writers}]
    names = everybody(report(students, paired))
    for writer in writers:
        assert names.text(text, writer) == text
        for name in (
            "Will Grant",
            "Grant, Will",
            "# WillGrant",
            "/will-grant/",
            "'will_grant'",
            "by will grant",
        ):
            redacted = names.text(text + name, writer).removeprefix(text)
            assert names.labels["Will Grant"] in redacted
            assert not re.search("will|grant", redacted, re.I)


@pytest.mark.parametrize("text", ["f(anna, mueller)", "anna(mueller)", "Anna + Mueller", "f(Anna, Mueller)"])
def test_a_label_never_takes_the_place_of_brackets_commas_and_operators(text: str) -> None:
    marks = re.sub(r"\w", "", text)
    assert re.sub(r"\w|[<>]", "", shown(["Anna Mueller"], text)) == marks
    assert shown(["Anna Mueller"], text, near=False) == text


@pytest.mark.parametrize(
    ("name", "accounts"),
    [
        ("Jean-Luc Picard", "jlpicard picardjl jpicard"),
        ("Picard, Jean-Luc", "jlpicard picardjl"),
        ("Ludwig van Beethoven", "lvbeethoven beethovenlv lbeethoven"),
        ("Ana María López García", "amlgarcia garciaaml"),
    ],
)
def test_accounts_of_several_initials_go(name: str, accounts: str) -> None:
    for account in accounts.split():
        for near in (True, False):
            assert shown([name], f"# {account}, /home/{account}/x", near=near) == "# <A>, /home/<A>/x"


def test_case_files_hide_what_the_report_hides(tmp_path: Path) -> None:
    """A part of the name of a third student, who is paired with one of the two, is hidden in both."""
    text = f"{SORTING}# Thanks to Ophelia and to Bo\n"
    students = [submission(name, {f"{name}.py": text}) for name in ("Ann Lee", "Bo Chan", "Ophelia Dorn")]
    three = report(students)
    note = {"verdict": "", "note": "Ask Ophelia"}
    case_files(
        three,
        tmp_path,
        3,
        redact=True,
        verdicts=dict.fromkeys(View(three, anonymize=False, verdicts=None).keys.values(), note),
    )
    pages = [path.read_text("utf-8") for path in sorted(tmp_path.iterdir())]
    assert len(pages) == 3
    assert not any("Ophelia" in page for page in pages)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Anna Mueller", "Anna and mueller_sort and Annas or AMueller", "<A> and <A>_sort and <A>s or <A>"),
        ("Luis Muñoz", "Munoz MUÑOZ Mun\u0303oz", "<A>"),
        ("Mary O'Brien", "OBrien or Mary O’Brien", "<A> or <A>"),
        ("Jan van der Berg", "van der Waals, Jan v. Berg or J. Berg", "van der Waals, <A> v. <A> or <A>"),
        ("Nguyễn Thị", "Nguyen or Thi Nguyen", "<A> or <A>"),
        ("王小明", "作者王小明写", "作者<A>写"),
        ("Иванов Пётр", "ПЕТР ИВАНОВ; Иванов", "<A>; <A>"),
        ("muelleranna", "Anna Müller; annamueller; the Mueller Anna", "<A>; <A>; the <A>"),
        ("Anna Mueller_12345_assignsubmission_file", "a file of Anna Mueller", "a file of <A>"),
        ("1234567", "id 1234567, 12345678", "id <A>, 12345678"),
        ("Ng", "Ng, ng, NG, Nguyen", "<A>, ng, NG, Nguyen"),
        ("Xu Li", "by Xu Li; li or xu", "by <A>; li or xu"),
        ("max", "x = max(a, b) by Max", "x = max(a, b) by <A>"),
        ("Paul Rice", "the price is 3", "the price is 3"),
        ("Anna Maria Schulz", "Anna Schulz", "<A>"),
        ("J.-L. Picard", "J.-L. Picard or J. L. Picard", "<A> or <A>"),
        ("Anna Mueller", "by Mueller. A dog. Anna. Mueller", "by <A>. A dog. <A>. <A>"),
        ("Anna Mueller", "j.mueller@x.de, mueller(at)x, username=mueller", "(e-mail), <A>(at)x, username=<A>"),
        ("Anna Mueller", "<td>anna.mueller</td> x = annamueller + 1", "<td><A></td> x = <A> + 1"),
        ("Anna Mueller", '"\\nanna mueller" and \\"Anna\\"', '"\\n<A>" and \\"<A>\\"'),
    ],
)  # fmt: skip
def test_names_of_many_kinds(name: str, text: str, expected: str) -> None:
    assert shown([name], text) == expected


def test_a_word_that_others_write_is_ordinary() -> None:
    works = {"Jo King": "The King said so.\n", "Ann Lee": "The King died.\n", "Bo Chan": "A King, then.\n"}
    students = [submission(name, {f"{name}.txt": text}) for name, text in works.items()]
    assert everybody(report(students, [])).text("The King", "Jo King") == "The King"
    assert everybody(report(students[:2], [])).text("The King", "Jo King").startswith("The Student ")
    paired = everybody(report(students, [pair(students[0], students[1])]))
    assert "King" not in paired.text("The King", "Jo King")


def test_an_account_that_several_mention_is_still_a_name() -> None:
    works = dict.fromkeys(
        ("Anna Sorensen", "Ann Lee", "Bo Chan", "Cy Dorn"), "Signed sorensena!\n(asorensen)\n"
    )
    students = [submission(name, {f"{name}.txt": text}) for name, text in works.items()]
    names = everybody(report(students, []))
    label = names.labels["Anna Sorensen"]
    for name, text in works.items():
        assert names.text(text, name) == f"Signed {label}!\n({label})\n"


def test_an_account_in_copied_code_goes_and_an_ordinary_word_stays() -> None:
    code = f"{SENTENCE}\nwill_change = 1\n# Will Grant, wgrant\nread('/home/wgrant/x')\nwgrant_sort(x)\n"
    works = dict.fromkeys(("will-grant", "mark-rose", "Ann Lee", "Bo Chan"), code)
    works |= {"Paul Rice": "(price)", "Cy Dorn": "price = 3\n(price)", "Di Eck": "(price)"}
    students = [submission(name, {f"{name}.txt": text}) for name, text in works.items()]
    names = everybody(report(students, [pair(students[0], students[1])]))
    label = names.labels["will-grant"]
    for name, text in works.items():
        assert names.text(text, name) == text.replace("Will Grant", label).replace("wgrant", label)
    without = everybody(report([s for s in students if s.name != "Cy Dorn"], []))
    assert without.text("(price)", "Di Eck") == f"({without.labels['Paul Rice']})"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Tom Baer", "bar = foo(bar)"),
        ("hasan", "has_an_item"),
        ("arch", "char c"),
        ("Morgan Freeman", "free man"),
    ],
)
def test_what_only_resembles_a_name_stays(name: str, text: str) -> None:
    assert shown([name], text) == text
