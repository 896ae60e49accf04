"""What is behind the pages: places in text, names taken out, JSON, CSV, drawings, case files."""

from __future__ import annotations

import csv
import io
import json
import re
from bisect import bisect_right
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jinja2 import UndefinedError

from chaffinch.errors import SkipReason
from chaffinch.report import case_file, save, to_csv, to_json
from chaffinch.report.anonymize.anonymous_report import everybody, only
from chaffinch.report.document_text import DocumentText, decode
from chaffinch.report.pages import page
from chaffinch.report.pages.cluster_layout import draw
from chaffinch.report.pages.page import script_json, template
from chaffinch.report.pages.view import View
from chaffinch.report.report_texts import ReportTexts
from chaffinch.report.verdicts import pair_keys
from chaffinch.types import Cluster, Document, Match, Passage, Receipt, Report, Section, Skipped, Span
from tests.made_reports import SORTING, pair, report, submission


@pytest.fixture(scope="module")
def small() -> Report:
    anna = submission("anna-schmidt", {"anna-schmidt/a.py": SORTING})
    bert = submission("bert", {"bert/b.py": SORTING.replace("merged", "joined"), "bert/c.py": "print(1)\n"})
    text = Document(
        "bert/essay.pdf",
        b"One.\nTwo.\nThree.\n",
        "utf-8",
        "pdf",
        "text",
        (Section(0, "page 1"), Section(5, "page 2")),
    )
    bert = replace(bert, documents=(*bert.documents, text))
    return report(
        [anna, bert],
        clusters=[Cluster(("anna-schmidt", "bert"), 0.9)],
        common=[
            Passage(Span("anna-schmidt/a.py", 0, 20), 9, 5),
            Passage(Span("base.py", 0, 9), 4, 7),
        ],
        skipped=[Skipped("zoe/picture.png", SkipReason.NOT_TEXT, "no text in zoe/picture.png")],
    )


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16", "utf-16-be", "utf-32-le", "cp1252", "iso2022_jp", "gb18030"]
)
def test_bytes_are_found_in_the_text_of_every_encoding(encoding: str) -> None:
    whole = "first läine\nthe näme\nlast" if encoding != "iso2022_jp" else "first 日本\nthe 日本\nlast"
    start = len(whole[:12].encode(encoding))
    end = len(whole[:20].encode(encoding))
    text = decode(Document("a", whole.encode(encoding), encoding, "plain", "text"))
    assert text.text.removeprefix("\ufeff") == whole
    assert text.text[slice(*text.span(start, end))] == whole[12:20]


def test_invalid_bytes_and_wide_characters_move_nothing() -> None:
    data = b"\xff\xfe" + "😀x\r\ny\rz".encode() + b"\xc3"
    text = decode(Document("a", data, "utf-8", "plain", "text"))
    assert text.text == "\ufffd\ufffd😀x\r\ny\nz\ufffd"
    characters = text.characters(np.array([2, 6, 7]))
    assert characters.tolist() == [2, 3, 4]
    assert text.units(characters).tolist() == [2, 4, 5]  # as JavaScript counts
    assert text.line_range(3, len(text.text)) == (1, 3)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\r", "\r\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp1252", "cp500", "gb18030"]
)
def test_lines_are_those_that_an_editor_shows(encoding: str, mark: str, end: str) -> None:
    one_byte = encoding in ("cp1252", "cp500")
    like_ends = "" if one_byte else "\u0a0d \u0d0a \u2028 "  # they have the bytes of line ends in UTF-16
    lines = ["first" if one_byte else mark + "first", like_ends + "näxt", "", "last" + like_ends, ""]
    whole = end.join(lines)
    ends = [found.end() for found in re.finditer("\r\n|\r|\n", whole)]
    document = Document("a", whole.encode(encoding), encoding, "plain", "text")
    shown = decode(document)
    for n in range(len(whole) + 1):
        offset = len(whole[:n].encode(encoding))
        line = 1 + bisect_right(ends, n)
        assert document.place(offset) == f"line {line}"
        assert shown.line_range(*shown.span(offset, offset)) == (line, line)


def test_lines_are_counted_from_the_start_of_a_section() -> None:
    pages = ["one\r\ntwo\r\n", "three\rfour\r", "\nfive\n"]
    for encoding in ("utf-8", "utf-16-le", "utf-32-be"):
        starts = [len("".join(pages[:n]).encode(encoding)) for n in range(3)]
        sections = tuple(Section(start, f"page {n}") for n, start in enumerate(starts, 1))
        document = Document("a", "".join(pages).encode(encoding), encoding, "plain", "text", sections)
        places = {
            word: document.place(document.data.index(word.encode(encoding)))
            for word in ("one", "two", "three", "four", "five")
        }
        assert places == {
            "one": "page 1, line 1",
            "two": "page 1, line 2",
            "three": "page 2, line 1",
            "four": "page 2, line 2",
            "five": "page 3, line 2",
        }


def test_places_follow_the_text_when_names_change_its_length() -> None:
    text = DocumentText("by Anna, sort").edited([(3, 7, "Student A")])
    assert text.text == "by Student A, sort"
    assert text.text[slice(*text.span(5, 5))] == "Student A"  # from within the name to within it
    assert text.text[slice(*text.span(9, 13))] == "sort"


@pytest.mark.parametrize(
    "text",
    [
        "Anna Schmidt", "SCHMIDT, ANNA", "anna.schmidt", "annaSchmidt()", "my_anna_sort", "schmidtsort",
        "Annas sort", "anna-schmidt@uni.example", "def anna(): pass", "Schmidt", "ANNA2",
    ],
)  # fmt: skip
def test_names_go_however_they_are_written(small: Report, text: str) -> None:
    left = only(everybody(small), "anna-schmidt", "bert").text(text).lower()
    assert "anna" not in left
    assert "schmidt" not in left


def test_words_that_only_contain_a_short_name_stay(small: Report) -> None:
    assert only(everybody(small), "anna-schmidt", "bert").text("savanna libertine 12") == "savanna libertine 12"


def test_accents_and_shared_parts(small: Report) -> None:
    names = [
        submission(f"submission_{name}", {f"{name}.py": name}) for name in ("Jürgen", "Zoë", "Núñez", "17")
    ]
    redact = everybody(report(names, []))
    owner = "submission_Jürgen"
    assert "rgen" not in redact.text("juergen jurgen Jürgen ju\u0308rgen", owner)
    assert redact.text("a submission of 17", owner) == "a submission of 17"
    assert redact.file("submission_17", "x/submission_17.py") == f"x/{redact.labels['submission_17']}.py"


def redacted(names: list[str], text: str) -> set[str]:
    """A text as it is shown as the first one's own and as that of the last, who has no pair with the first."""
    redact = everybody(report([submission(name, {f"{name}.py": name}) for name in names], []))
    return {redact.text(text, owner).replace(redact.labels[names[0]], "Who") for owner in (names[0], names[-1])}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("muelleranna", "Anna Mueller"), ("muelleranna", "Mueller, Anna"), ("muelleranna", "anna_mueller"),
        ("muelleranna", "MÜLLER Anna"), ("picardjeanluc", "Jean-Luc Picard"),
        ("muelleranna (12)", "Anna Mueller"), ("Nguyen Van Anh", "Anh Nguyen Van"), ("李小明", "李 小明"),
        ("Smith-Jones Kate", "Kate Smith-Jones"), ("jane doe 12345", "Doe, Jane"),
        ("o'brien mary", "Mary O'Brien"),
        ("delacruzmaria", "Maria de la Cruz"), ("garciajose", r"Jos\'e Garc{\'i}a"),
        ("jose-garcia", "José García"), ("jose-garcia", "GARCÍA, JOSÉ"),
        ("jose-garcia", "Jose\u0301 Garci\u0301a"),
        ("anna-mueller", "Anna Müller"), ("anna-muller", "Müller, Anna"), ("bjorn-aas", "Bjørn Ås"),
        ("José García", "Jose Garcia"), ("Bjørn Ås", "Aas, Bjorn"),
        ("nguyen van", "Nguye\u0302\u0303n Va\u0306n"),
        ("zoe-mueller", "Zo&euml; M&uuml;ller"), ("zoe-muller", "Zo&#235; M&#xfc;ller"),
        ("anna-mueller", "Anna&nbsp;Mueller"), ("will-griffiths", "Will Griﬃths"),
        ("juergen-weiss", r'J\"urgen Wei{\ss}'), ("jurgen-weiss", r'J{\"u}rgen Wei\ss{}'),
        ("rene-jose", r"Ren\'e Jos\'{e}"), ("bjorn-aas", r"Bj\o rn \r{A}s"), ("bjoern-aas", r"Bj{\o}rn \AA s"),
        ("caslav-ilic", r"\v{C}aslav Ili\'c"),
    ],
)  # fmt: skip
def test_names_go_in_words_of_their_own_and_with_accents(name: str, text: str) -> None:
    for around in ("{}", "by {}.", "für {}, où ça?\n"):
        assert redacted([name, "Somebody"], around.format(text)) == {around.format("Who")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hasan", "she has an idea; an has"), ("Morgan Freeman", "a free man"), ("lee", "sléep fleeß élee"),
        ("jose", "Joséphine"), ("aas", "as Åse"), ("muelleranna", "Anna went to the Mueller house"),
    ],
)  # fmt: skip
def test_words_that_are_not_the_name_stay(name: str, text: str) -> None:
    assert redacted([name, "Somebody"], text) == {text}


def test_places_in_a_long_text_with_accents_are_those_of_the_names() -> None:
    filler = "Über größere Mühen & Nöte, d\\'ej\\`a vu. " * 400
    text = f'{filler}Von J&uuml;rgen M\\"uller. {filler}Jürgen\n{filler}'
    shown = redacted(["juergen-mueller", "Somebody"], text)
    assert f"{filler}Von Who. {filler}Who\n{filler}" in shown


def test_old_work_is_not_called_old() -> None:
    new, old = submission("ann", {"ann/a.py": "1"}), submission("ann (old)", {"b": "2"})
    assert everybody(replace(report([new], []), old=(old,))).text("an old book", "ann (old)") == "an old book"


def test_json_has_everything_and_is_json(small: Report) -> None:
    found = json.loads(json.dumps(to_json(small), allow_nan=False))
    first = found["pairs"][0]
    assert (first["left"], first["right"], first["score"]) == ("anna-schmidt", "bert", 0.9)
    assert first["coverage"] == {"left": 0.99, "right": 0.81}
    match = first["matches"][0]
    assert match["left"] == {
        "file": "anna-schmidt/a.py",
        "start": 0,
        "end": match["left"]["end"],
        "lines": [1, 23],
    }
    assert {d["name"] for d in found["documents"]} == {
        "anna-schmidt/a.py",
        "bert/b.py",
        "bert/c.py",
        "bert/essay.pdf",
    }
    assert all(len(d["sha256"]) == 64 for d in found["documents"])
    assert found["clusters"] == [{"submissions": ["anna-schmidt", "bert"], "score": 0.9}]
    assert found["skipped"][0]["detail"].startswith("no text")
    assert [c["owners"] for c in found["common"]] == [5, 7]
    assert found["common"][1]["lines"] is None
    assert len(found["background"]) == 20


def test_json_tells_pages(small: Report) -> None:
    essay = submission("clara", {"e": replace(small.submissions[1].documents[2], name="e")})
    found = to_json(report([*small.submissions, essay]))["pairs"]
    places = [m["right"]["place"] for p in found for m in p["matches"] if "place" in m["right"]]
    assert places == ["page 1, line 1"]


def test_csv_is_no_formula() -> None:
    names = ["=1+1", "+a", "-a", "@a", '"quoted",\nname', "plain"]
    made = [submission(name, {f"{n}.py": SORTING}) for n, name in enumerate(names)]
    rows = list(csv.reader(io.StringIO(to_csv(report(made)))))
    assert len(rows) == 16
    for row in rows[1:]:
        assert row[0][0] not in "=+-@"
        assert row[1][0] not in "=+-@"
    assert rows[5][0] == "'=1+1"
    assert rows[5][1] == "plain"


def test_templates_escape_every_value_and_miss_none() -> None:
    hostile = "{{ script }} {% raw %} </script>\"'&"
    values = {"style": hostile, "index": hostile, "chunks": [(hostile, hostile)], "script": "end"}
    page = template("report.html").render(values)
    shown = "{{ script }} {% raw %} &lt;/script&gt;&#34;&#39;&amp;"
    assert page.count(shown) == 4
    with pytest.raises(UndefinedError, match="'script' is undefined"):
        template("report.html").render({name: value for name, value in values.items() if name != "script"})


def test_scripts_cannot_be_left() -> None:
    hostile = "</script><!-- & \u2028"
    assert not re.search(r"[<>&\u2028]", script_json([hostile]))
    assert json.loads(script_json([hostile])) == [hostile]


def test_drawings_are_the_same_and_apart() -> None:
    clusters = [(30, {(a, (a * 7 + 1) % 30): 0.5 for a in range(30)}), (2, {(0, 1): 1.0}), (1, {})]
    first, again = draw(clusters), draw(clusters)
    assert first == again
    places = [place for cluster in first.places for place in cluster]
    assert len(set(places)) == 33
    assert all(0 < x < first.width and 0 < y < first.height for x, y in places)
    assert len(draw([(2000, {})]).places[0]) == 2000
    assert draw([]) == (0, 0, [])


def test_a_rerun_writes_the_same_bytes(small: Report, tmp_path: Path) -> None:
    for run in ("a", "b"):
        save(small, tmp_path / run / "report.html", anonymize=run == "c")
        save(small, tmp_path / run / "folder", anonymize=True)
        case_file(small, small.pairs[0], tmp_path / run / "case.html", redact=True)
    found = {run: sorted((tmp_path / run).rglob("*.*")) for run in ("a", "b")}
    assert len(found["a"]) == 7
    for one, other in zip(found["a"], found["b"], strict=True):
        assert one.read_bytes() == other.read_bytes()
    save(report(small.submissions, []), tmp_path / "a" / "folder")
    left = {path.name for path in (tmp_path / "a" / "folder" / "data").iterdir()}
    assert left == {"report.css", "report.js"}  # nothing of another report


class _Parsed(HTMLParser):
    """The text of a page outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if self.inside not in ("script", "style"):
            self.found.append(data)


def test_a_case_file_is_complete_without_scripts(small: Report, tmp_path: Path) -> None:
    case_file(small, small.pairs[0], tmp_path / "case.html")
    text = "".join(_Parsed((tmp_path / "case.html").read_text("utf-8")).found)
    for wanted in (
        "anna-schmidt",
        "bert/b.py",
        "def sort(numbers):",
        "not decided",
        "every shared run of 20",
        "90%",
    ):
        assert wanted in text
    assert all(d["sha256"] in text for d in to_json(small)["documents"])


def test_a_redacted_case_file_has_no_name(tmp_path: Path) -> None:
    signed = "# by Jane Smithers, jsmithers@uni.example, with Bob\n" + SORTING.replace(
        "merged", "smithers_merged"
    )
    jane = submission("Jane Smithers", {"Jane_Smithers/jane.py": signed})
    carl = submission(
        "Carl Ottokar",
        {"carl ottokar/x.py": signed.replace("numbers", "values") + "# thanks, carlOttokar & Dora Lang\n"},
    )
    other = submission("Dora Lang", {"d.py": "1"})
    verdicts = {"verdicts": {"0" * 32: {"verdict": "no", "note": ""}, "x": 3}}
    made = report([jane, carl, other], [pair(jane, carl)], receipt=Receipt(base={"/home/Jane Smithers/x": "0"}))
    case_file(made, made.pairs[0], tmp_path / "case.html", redact=True, verdicts=verdicts)
    page = (tmp_path / "case.html").read_text("utf-8").lower()
    for name in ("jane", "smithers", "carl", "ottokar", "dora", "lang ", "uni.example"):
        assert name not in page.replace('lang="en"', "")
    assert "student a_merged" in page
    assert "another student" in page


def test_a_case_file_stays_small(tmp_path: Path) -> None:
    lines = [f"value_{n} = compute({n}) & <{n}>\n" if n % 9 else f"# ü {n}\n" for n in range(20_000)]
    long = "".join(lines)
    one = submission("one", {f"{n}.txt": "x" for n in range(3000)} | {"a.py": long, "line.js": "x<" * 400_000})
    two = submission("two", {"b.py": long.replace("value", "number"), "line.js": "x<" * 400_000})
    made = report([one, two], [], receipt=Receipt(base={f"word{n}": "0" for n in range(20_000)}))
    whole = Span("a.py", 0, len(long.encode())), Span("b.py", 0, len(long.replace("value", "number").encode()))
    wide = Span("line.js", 600_000, 700_000), Span("line.js", 600_000, 700_000)
    first = replace(pair(submission("one", {}), submission("two", {})))
    both = replace(first, matches=tuple(Match(*spans, 900, 900, (spans,), 2) for spans in (whole, wide)))
    case_file(made, both, tmp_path / "case.html")
    size = (tmp_path / "case.html").stat().st_size
    assert 500_000 < size < 1_000_000
    assert "more lines" in (tmp_path / "case.html").read_text("utf-8")


def test_a_case_file_is_written_even_if_a_document_is_missing(tmp_path: Path) -> None:
    one, two = submission("one", {"a.py": "x = 1\n"}), submission("two", {"b.py": "x = 1\n"})
    spans = Span("a.py", 0, 5), Span("gone.py", 0, 5)
    both = replace(pair(one, two), matches=(Match(*spans, 3, 3, (spans,), 2),))
    case_file(report([one, two], [both]), both, tmp_path / "case.html")
    assert "gone.py" in (tmp_path / "case.html").read_text("utf-8")


def test_verdicts_are_kept_under_the_contents() -> None:
    def keys(names: str, **work: str) -> dict[frozenset[str], str]:
        return pair_keys(report([submission(name, {name: work.get(name, SORTING)}) for name in names]))

    same = keys("abc")
    assert len(set(same.values())) == 3
    # Who is added has no part in it, though all have handed in the same.
    assert {both: key for both, key in keys("0abcd").items() if both in same} == same
    assert list(keys("zy").values()) == list(keys("ab").values())
    assert keys("ab", b="x" * 99)[frozenset("ab")] == keys("abcd", b="x" * 99, c="y", d="z")[frozenset("ab")]


def test_without_names_nobody_guesses_who_handed_in_the_same() -> None:
    def index(names: str, verdicts: dict[str, object] | None = None) -> dict[str, Any]:
        same = report([submission(n, {n + ".py": SORTING}) for n in names])
        return View(same, anonymize=True, verdicts=verdicts).index()

    assert {pair["key"] for pair in index("abc")["pairs"]} == {pair["key"] for pair in index("xyz")["pairs"]}
    named = pair_keys(report([submission(n, {n + ".py": SORTING}) for n in "abc"]))
    theirs = {"verdict": "copied", "note": "admitted"}
    told = index("abc", {"verdicts": {named[frozenset("ab")]: theirs}})
    assert [told["verdicts"].get(pair["key"]) for pair in told["pairs"]].count(theirs) == 1


def test_folders_that_all_have_in_common_are_not_shown() -> None:
    made = [submission(name, {f"/home/x/class/{name}/main.py": "1"}) for name in ("anna", "antje")]
    texts = ReportTexts(report(made, []))
    assert texts.short("/home/x/class/anna/main.py") == "anna/main.py"
    assert ReportTexts(report([], [])).short("a/b") == "a/b"


def test_the_types_of_the_scripts_name_what_the_view_writes(small: Report) -> None:
    """types.d.ts is what the scripts are checked against."""
    types = (Path(page.__file__).parent.parent / "static" / "types.d.ts").read_text("utf-8")

    def fields(interface: str) -> set[str]:
        body = re.search(rf"interface {interface} {{\n(.*?)\n}}", types, re.S)
        assert body
        return set(re.findall(r"^  (\w+)\??:", body[1], re.M))

    view = View(replace(small, dates={"bert": "2026-03-01"}), anonymize=False, verdicts=None)
    index, chunks = view.index(), dict(view.chunks())
    assert {*index, "files"} == fields("Index")
    assert set(index["submissions"][0]) == fields("Submission")
    assert set(index["submissions"][0]["files"][0]) == fields("SourceFile")
    assert set(index["pairs"][0]) == fields("Pair")
    assert set(index["clusters"][0]) == fields("Cluster")
    assert set(index["graph"]) == fields("Graph")
    assert set(index["common"][0]) == fields("Passage")
    assert set(chunks["s0"][0]) == fields("DocumentText")
    row = re.search(r"type MatchRow = \[\n(.*?)\n\]", types, re.S)
    assert row
    assert len(chunks["p0"][0]) == len(row[1].split("\n"))


def test_texts_of_unknown_documents_are_none(small: Report) -> None:
    texts = ReportTexts(small)
    assert texts.span("bert", Span("nothing", 0, 1)) is None
    assert texts.span("nobody", Span("bert/b.py", 0, 1)) is None
