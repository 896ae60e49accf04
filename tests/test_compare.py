"""Compare end to end: from files and the command line to pairs, matches and pages."""

from __future__ import annotations

import json
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chaffinch
from chaffinch import Document, Recipe, Report
from chaffinch.comparison import listed_pairs
from chaffinch.native import fingerprint as native
from chaffinch.recipe import recipe_for
from chaffinch.report import anonymous_report, case_file
from chaffinch.report.export import to_json
from tests import indexed, made
from tests.programs import WRITERS, Function, Style, functions

LANGUAGES = sorted(WRITERS)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    done = [sys.executable, "-m", "chaffinch", *map(str, arguments)]
    return subprocess.run(done, capture_output=True, text=True)


def write(folder: Path, work: dict[str, str], extension: str) -> Path:
    for name, text in work.items():
        (folder / name).mkdir(parents=True)
        (folder / name / f"main.{extension}").write_text(text)
    return folder


def ranked(report: Report) -> list[tuple[str, str]]:
    return [(p.left, p.right) for p in report.pairs]


def disguises(original: list[Function], other: list[Function]) -> dict[str, tuple[list[Function], Style]]:
    """Return what a copy may look like."""
    shuffled = original[:]
    random.Random(1).shuffle(shuffled)
    return {
        "verbatim": (original, Style()),
        "renamed": (original, Style(prefix="count_of_")),
        "reformatted": (original, Style(indent=1)),
        "reordered": (shuffled, Style(prefix="x")),
        "merged": (original[:3] + other[:3], Style(prefix="y")),
        "half": (original[:3] + functions(77, 3), Style(prefix="z")),
    }


@pytest.mark.parametrize("extension", LANGUAGES)
def test_copies_are_found_in_every_disguise_and_rank_before_the_unrelated(
    extension: str, tmp_path: Path
) -> None:
    writer = WRITERS[extension]
    original, other = functions(1), functions(2)
    work = {"original": writer(original, Style()), "other": writer(other, Style())}
    work |= {name: writer(*how) for name, how in disguises(original, other).items()}
    work |= {f"unrelated{seed}": writer(functions(seed), Style(prefix=f"n{seed}_")) for seed in range(10, 22)}
    done = command("compare", write(tmp_path / "class", work, extension), "--json", "--threshold", 0)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    scores = {tuple(sorted((p["left"], p["right"]))): p for p in report["pairs"]}
    unrelated = [p for names, p in scores.items() if all(n.startswith("unrelated") for n in names)]
    highest = max((p["score"] for p in unrelated), default=0.0)
    surprising = max((p["surprise"] for p in unrelated), default=0.0)
    for name in disguises(original, other):
        pair = scores[tuple(sorted(("original", name)))]
        assert pair["score"] > highest, name
        assert pair["surprise"] > surprising, name
        assert pair["matches"]
    assert scores["merged", "other"]["score"] > highest
    same = scores["original", "verbatim"]
    assert (same["score"], same["coverage"]) == (1.0, {"left": 1.0, "right": 1.0})
    assert scores["original", "renamed"]["coverage"] == {"left": 1.0, "right": 1.0}


def test_prose_is_compared_whatever_its_format(tmp_path: Path) -> None:
    essays = {seed: made.prose(8, seed) for seed in range(8)}
    folder = tmp_path / "class"
    folder.mkdir()
    for seed, paragraphs in essays.items():
        (folder / f"student{seed}.txt").write_bytes(made.txt(paragraphs))
    (folder / "copier.pdf").write_bytes(made.pdf(essays[3]))
    (folder / "half.docx").write_bytes(made.docx(essays[4][:4] + made.prose(4, 99)))
    report = chaffinch.compare([folder])
    assert set(ranked(report)[:2]) == {("copier", "student3"), ("half", "student4")}
    pair = next(p for p in report.pairs if p.left == "copier")
    assert pair.coverage.right > 0.97
    copier = next(s for s in report.submissions if s.name == "copier")
    assert copier.documents[0].place(pair.matches[0].left.start).startswith("page 1")


@pytest.mark.parametrize("edited", [False, True])
def test_base_code_does_not_count_even_with_small_edits(edited: bool, tmp_path: Path) -> None:
    writer = WRITERS["py"]
    given = writer(functions(50, 5), Style())
    (tmp_path / "given.py").write_text(given)
    if edited:
        lines = given.splitlines()
        given = "\n".join(
            f"{line}  # edited\n    extra = {i}" if i % 9 == 4 else line for i, line in enumerate(lines)
        )
    work = {f"s{seed}": given + "\n" + writer(functions(seed, 3), Style()) for seed in range(1, 8)}
    work["copy"] = given + "\n" + writer(functions(3, 3), Style(prefix="other"))
    folder = write(tmp_path / "class", work, "py")
    with_base = chaffinch.compare([folder], base=[tmp_path / "given.py"], threshold=0, top=None)
    without = chaffinch.compare([folder], threshold=0, top=None)
    assert ranked(with_base)[0] == ("copy", "s3")
    others = [p for p in with_base.pairs if (p.left, p.right) != ("copy", "s3")]
    assert max((p.coverage.left for p in others), default=0) < 0.2
    assert min(p.coverage.left for p in without.pairs) > 0.3
    assert with_base.receipt.base_symbols["python"] > 1000


ANSWERS = [
    "max(values) if values else start",
    "sum(v * v for v in values)",
    "[v for v in values if v > start]",
    "dict(enumerate(values, start))",
    "values[start:] + values[:start]",
    "len(values) and values[0]",
    "sorted(values, key=abs)[start]",
    "any(v is start for v in values)",
]


def filled_in(answers: list[str]) -> str:
    """Return functions with a blank in each, as a teacher hands them out."""
    return "".join(
        f"""def task{i}(values, start=0, verbose=False):
    if verbose:
        print("values:", len(values), "from", start)
    if not isinstance(values, list):
        raise TypeError("this takes a list")
    result = {answer}
    if verbose:
        print("the result of {i} is", result)
    return result


"""
        for i, answer in enumerate(answers)
    )


def test_answers_written_into_base_code_count() -> None:
    """Even though each answer is shorter than a gram."""
    everyone = {f"s{i}": filled_in(random.Random(i).choices(ANSWERS, k=5)) for i in range(9)}
    everyone |= {"ann": filled_in(ANSWERS[:5]), "ben": filled_in(ANSWERS[:5])}
    work = [Document(f"{name}.py", text.encode()) for name, text in everyone.items()]
    base = Document("given.py", filled_in(["None"] * 5).encode())
    report = chaffinch.compare(work, base=base, threshold=0, top=None)
    first = report.pairs[0]
    assert (first.left, first.right) == ("ann", "ben")
    assert 0.7 < first.score < 1  # forty tokens are not much
    assert (first.coverage.left, first.coverage.right) == (1, 1)
    answers = [everyone["ann"].encode()[a.start : a.end].decode() for m in first.matches for a, _ in m.runs]
    assert all(one.startswith(answer) for one, answer in zip(answers, ANSWERS[:5], strict=True))
    assert answers[:4] == ANSWERS[:4]
    for pair in report.pairs[1:]:
        left, right = (re.findall("result = (.*)", everyone[name]) for name in (pair.left, pair.right))
        same = sum(a == b for a, b in zip(left, right, strict=True))
        assert pair.coverage.left < (0.3 if same == 0 else 0.8)


@pytest.mark.parametrize("blanks", [1, 3])
def test_answers_in_many_files_of_a_form_are_found_if_a_file_has_enough(blanks: int, tmp_path: Path) -> None:
    """Each is shorter than a gram. Together they are not, but a match never spans files."""
    for i in range(5):
        given = made.prose(blanks + 1, 700 + i)
        for name in ("ann", "ben", "cyd", "base"):
            answer = {"base": "", "cyd": f"{i}kkkkkkk{i}"}.get(name, f"{i}zqxjvkw{i}")
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / f"q{i}.txt").write_text(f"\n{answer}\n".join(given))
    work = [tmp_path / name for name in ("ann", "ben", "cyd")]
    pairs = chaffinch.compare(work, base=tmp_path / "base", threshold=0).pairs
    if blanks == 1:
        assert pairs == ()
        return
    (pair,) = pairs
    assert (pair.left, pair.right, pair.coverage.left) == ("ann", "ben", 1)
    assert 0.4 < pair.score < 1  # a few words are not much
    assert [Path(match.left.document).name for match in pair.matches] == [f"q{i}.txt" for i in range(5)]
    assert {match.symbols for match in pair.matches} == {27}


@pytest.mark.parametrize("seed", range(8))
def test_copies_between_base_code_are_found_wherever_they_moved(seed: int) -> None:
    chance = random.Random(seed)
    writer = WRITERS["py"]
    given = [writer([f], Style()) for f in functions(50, 6)]
    shared = [writer([f], Style()) for f in functions(seed, 2)]

    def work(name: str, number: int) -> Document:
        own = [writer([f], Style()) for f in functions(number, 2)]
        pieces = [[g] for g in given]
        for piece in [*own, *shared]:
            chance.choice(pieces).append(piece)
        return Document(name, "".join(p for among in pieces for p in among).encode())

    both = work("one.py", 1000 + seed), work("two.py", 2000 + seed)
    base = Document("given.py", "".join(given).encode())
    (pair,) = chaffinch.compare(both, base=base, threshold=0).pairs
    for side, document in enumerate(both):
        marked = np.zeros(len(document.data), bool)
        for run in (run for m in pair.matches for run in m.runs):
            marked[run[side].start : run[side].end] = True
        for piece in shared:
            at = document.data.index(piece.encode())
            assert marked[at : at + len(piece)].mean() > 0.8
        for piece in given:
            at = document.data.index(piece.encode())
            assert marked[at : at + len(piece)].mean() < 0.1


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_every_run_of_t_symbols_is_found_in_any_file(seed: int, with_base: bool, tmp_path: Path) -> None:
    """Functions as short as the guarantee allows, put into files in any order."""
    chance = random.Random(seed)
    longer = [WRITERS["c"]([f], Style()) for f in functions(seed, 4)]
    short = [
        f"int twice{i}(int n) {{ if (n < {i}) return {i}; return n {op} n; }}\n" for i, op in enumerate("+*-")
    ]
    assert all(len(chaffinch.stream(one, recipe_for("c"))) >= (recipe_for("c").guarantee or 0) for one in short)

    def files(name: str) -> None:
        pieces = [*longer, *short]
        chance.shuffle(pieces)
        cuts = sorted(chance.sample(range(1, len(pieces)), 2))
        for i, (start, end) in enumerate(pairwise([0, *cuts, len(pieces)])):
            path = tmp_path / name / f"{i}.c"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(pieces[start:end]))

    files("class/ann")
    files("class/ben")
    if with_base:
        for i, piece in enumerate(longer[:2]):
            (tmp_path / "given").mkdir(exist_ok=True)
            (tmp_path / "given" / f"{i}.c").write_text(piece)
    base = [tmp_path / "given"] if with_base else []
    (pair,) = chaffinch.compare(tmp_path / "class", base=base, threshold=0).pairs
    assert all(m.symbols >= recipe_for("c").k for m in pair.matches)
    for side in range(2):
        for path in sorted((tmp_path / "class" / ("ann", "ben")[side]).iterdir()):
            spans = [run[side] for m in pair.matches for run in m.runs if run[side].document == str(path)]
            text = path.read_text()
            marked = np.zeros(len(text), bool)
            for span in spans:
                marked[span.start : span.end] = True
            for piece in [*longer[2 * with_base :], *short]:
                if piece in text:
                    # Code that looks like base code does not count anywhere.
                    share = marked[text.index(piece) :][: len(piece)].mean()
                    assert share > (0.6 if with_base else 0.9), (piece, path.name)


@pytest.mark.parametrize("size", [10, 40])
def test_a_template_that_all_share_is_not_surprising(size: int) -> None:
    template = made.prose(12, 500)
    work = [Document(f"{i}.txt", "\n".join([*template, *made.prose(6, i)]).encode()) for i in range(size)]
    work.append(Document("copy.txt", work[3].data))
    report = chaffinch.compare(work, threshold=0, top=None)
    unusual = {(p.left, p.right): p.surprise or 0.0 for p in report.pairs}
    assert unusual.pop(("3", "copy")) > 5
    assert max(unusual.values()) < 3


def test_matches_that_are_built_on_use_equal_those_built_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["\n".join(made.prose(3, seed % 7)) for seed in range(20)]
    programs = [WRITERS["py"](functions(seed % 5, 2), Style()) for seed in range(20)]
    work = [Document(f"{i}.txt", text.encode()) for i, text in enumerate(texts)]
    work += [Document(f"{i}.py", text.encode()) for i, text in enumerate(programs)]
    at_once = chaffinch.compare(work, threshold=0, top=None).pairs
    monkeypatch.setattr(listed_pairs, "BUILT_AT_ONCE", 3)
    assert len(at_once) > 3
    later = chaffinch.compare(work, threshold=0, top=None).pairs
    assert pickle.loads(pickle.dumps(later)) == later == at_once
    assert {type(pair.matches) for pair in at_once} == {tuple}
    assert hash(later) == hash(at_once)
    assert repr(later) == repr(at_once)


def test_code_that_everybody_has_is_listed_as_common(tmp_path: Path) -> None:
    writer = WRITERS["c"]
    shared = writer(functions(50, 2), Style())
    work = {f"s{seed}": shared + writer(functions(seed, 3), Style()) for seed in range(12)}
    report = chaffinch.compare([write(tmp_path / "class", work, "c")])
    assert report.common
    assert {passage.owners for passage in report.common} == {12}
    masked = chaffinch.compare([tmp_path / "class"], threshold=0, top=None, max_owners=6)
    assert max((p.coverage.left for p in masked.pairs), default=0) < 0.2


def test_earlier_work_is_compared_with_new_work_but_not_with_itself(tmp_path: Path) -> None:
    writer = WRITERS["java"]
    write(tmp_path / "old", {f"old{s}": writer(functions(s), Style()) for s in (1, 1001)}, "java")
    (tmp_path / "old" / "twin").mkdir()
    (tmp_path / "old" / "twin" / "main.java").write_text(writer(functions(1), Style()))
    write(
        tmp_path / "new",
        {"copier": writer(functions(1), Style(prefix="q")), "fair": writer(functions(5), Style())},
        "java",
    )
    report = chaffinch.compare([tmp_path / "new"], old=[tmp_path / "old"], threshold=0, top=None)
    assert set(ranked(report)[:2]) == {("copier", "old1"), ("copier", "twin")}
    assert ("old1", "twin") not in ranked(report)
    assert len(report.old) == 3


def test_matches_cross_the_files_of_a_submission_but_not_languages(tmp_path: Path) -> None:
    writer = WRITERS["py"]
    original, other = functions(1), functions(2)
    one = tmp_path / "class" / "one"
    two = tmp_path / "class" / "two"
    for folder in (one, two, tmp_path / "class" / "three"):
        folder.mkdir(parents=True)
    (one / "a.py").write_text(writer(original[:3], Style()))
    (one / "b.py").write_text(writer(original[3:], Style()))
    (one / "main.c").write_text(WRITERS["c"](other, Style()))
    (two / "all.py").write_text(writer(original, Style(prefix="w")))
    (tmp_path / "class" / "three" / "main.c").write_text(WRITERS["c"](other, Style(prefix="u")))
    report = chaffinch.compare([tmp_path / "class"], threshold=0, top=None)
    pairs = {(p.left, p.right): p for p in report.pairs}
    files = {(Path(m.left.document).name, Path(m.right.document).name) for m in pairs["one", "two"].matches}
    assert files == {("a.py", "all.py"), ("b.py", "all.py")}
    assert pairs["one", "two"].coverage.right > 0.95
    assert 0.2 < pairs["one", "two"].coverage.left < 0.8  # the program in C counts on this side
    assert ("three", "two") not in pairs


def test_c_renamed_to_cpp_is_still_compared(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(WRITERS["c"](functions(1), Style()))
    (tmp_path / "two.cpp").write_text(WRITERS["c"](functions(1), Style(prefix="a")))
    assert ranked(chaffinch.compare([tmp_path])) == [("one", "two")]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("front", ["python", "text"])
def test_any_run_of_t_symbols_is_inside_a_match_and_nothing_is_shorter_than_k(seed: int, front: str) -> None:
    chance = random.Random(seed)
    recipe = recipe_for(front)
    t = recipe.guarantee
    assert t is not None
    words = [
        "if",
        "else",
        "(",
        ")",
        "+",
        "while",
        "x",
        "1",
        "=",
        ":",
        "[",
        "]",
        "return",
        "not",
        "and",
        "or",
        "-",
        "*",
    ]
    if front == "text":
        words = list("abcdefghijklmnopqrstuvwxyz")

    def tokens(n: int) -> list[str]:
        return [chance.choice(words) for _ in range(n)]

    shared = tokens(t)
    texts = [" ".join([*tokens(300), *shared, *tokens(300)]).encode() for _ in range(2)]
    left, right = (
        Document(name, text, "utf-8", "plain", front) for name, text in zip("lr", texts, strict=True)
    )
    (pair,) = chaffinch.compare([left, right], threshold=0, top=None).pairs
    for side, document in (("left", left), ("right", right)):
        start = document.data.index(" ".join(shared).encode())
        end = start + len(" ".join(shared).encode())
        spans = [getattr(m, side) for m in pair.matches]
        assert any(s.start <= start and end <= s.end for s in spans)
    assert pair.longest >= t
    for m in pair.matches:
        for a, b in m.runs:
            streams = [
                chaffinch.stream(
                    Document("x", d.data[s.start : s.end], "utf-8", "plain", front), recipe
                ).symbols.tolist()
                for d, s in ((left, a), (right, b))
            ]
            assert streams[0] == streams[1]
            assert len(streams[0]) >= recipe.k


@pytest.mark.parametrize("seed", range(10))
def test_repeated_code_has_a_match_for_every_pair_of_places(seed: int) -> None:
    chance = random.Random(seed)
    left, right, other = (WRITERS["c"](functions(seed + n, 6), Style()).splitlines() for n in range(3))
    first = chance.randrange(len(other) - 12)
    planted = "\n".join(other[first : first + 12]).strip()

    def document(name: str, lines: list[str]) -> tuple[Document, list[int]]:
        cuts = sorted(chance.sample(range(1, len(lines)), 2))
        parts = ["\n".join(lines[a:b]) + "\n" for a, b in pairwise([0, *cuts, len(lines)])]
        whole = f"{parts[0]}int same;\n{planted}\n{parts[1]}{planted}\n{parts[2]}"
        return Document(name, whole.encode()), [whole.index(planted), whole.rindex(planted)]

    (one, lefts), (two, rights) = document("l.c", left), document("r.c", right)
    (pair,) = chaffinch.compare([one, two], threshold=0, top=None).pairs
    for a, b in product(lefts, rights):
        assert any(
            m.left.start <= a
            and a + len(planted) <= m.left.end
            and m.right.start <= b
            and b + len(planted) <= m.right.end
            for m in pair.matches
        )


def test_a_second_place_of_a_passage_in_prose_is_a_repeat_and_counts_as_covered(tmp_path: Path) -> None:
    pages = [indexed.text(60, ("page", n)) for n in range(4)]
    sentence = pages[0][100:160]
    left = Document("l.txt", "\n".join([pages[1], pages[0]]).encode())
    right = Document("r.txt", "\n".join([pages[2], sentence, pages[3], pages[0]]).encode())
    report = chaffinch.compare([left, right], threshold=0, top=None)
    (pair,) = report.pairs
    (match,), (repeat,) = pair.matches, pair.repeats
    assert (match.left.start, match.right.start) == (left.data.index(b"\n") + 1, right.data.rindex(b"\n") + 1)
    assert right.data[repeat.right.start : repeat.right.end].decode().strip() in sentence
    assert match.left.start < repeat.left.start < repeat.left.end < match.left.end
    assert pair.coverage.right > pair.coverage.left * len(left.data) / len(right.data)
    (exported,) = to_json(report)["pairs"][0]["repeats"]
    assert (exported["right"]["start"], exported["right"]["end"]) == (repeat.right.start, repeat.right.end)
    case_file(report, pair, tmp_path / "case.html")
    assert (tmp_path / "case.html").read_text().count("repeats part of a longer match") == 1


def test_scores_are_symmetric_and_bounded(tmp_path: Path) -> None:
    texts = [WRITERS["py"](functions(seed), Style()) for seed in (1, 2, 1)] + [
        WRITERS["py"](functions(1, 2), Style())
    ]
    documents = [Document(f"d{i}.py", text.encode()) for i, text in enumerate(texts)]
    forth = chaffinch.compare(documents, threshold=0, top=None)
    back = chaffinch.compare(documents[::-1], threshold=0, top=None)
    ours = {frozenset((p.left, p.right)): p for p in forth.pairs}
    theirs = {frozenset((p.left, p.right)): p for p in back.pairs}
    assert ours.keys() == theirs.keys()
    for names, pair in ours.items():
        assert pair.score == theirs[names].score
        assert 0 <= pair.score <= 1
        assert (
            0
            <= min(pair.coverage.left, pair.coverage.right)
            <= max(pair.coverage.left, pair.coverage.right)
            <= 1
        )
    assert ours[frozenset(("d0", "d2"))].score == 1


def test_the_score_leaves_out_what_the_class_shares_but_not_what_a_few_copied() -> None:
    writer = WRITERS["py"]
    shared = functions(50, 4)

    def scores(seeds: list[int], threshold: float) -> dict[tuple[str, str], float]:
        texts = [writer([*shared, *functions(seed, 2)], Style(prefix=f"p{i}_")) for i, seed in enumerate(seeds)]
        documents = [Document(f"{i:02}.py", text.encode()) for i, text in enumerate(texts)]
        pairs = chaffinch.compare(documents, threshold=threshold, top=None).pairs
        return {(p.left, p.right): p.score for p in pairs}

    three = scores([1, 2, 3], 0)
    assert min(three.values()) > 0.4
    many = scores([*range(1, 30), 1], 0)
    copied = many.pop(("00", "29"))
    assert copied > 0.9 > 0.3 > max(many.values())
    assert scores([*range(1, 30), 1], 0.25).items() <= {("00", "29"): copied, **many}.items()


@pytest.mark.parametrize("count", [2, 5])
def test_small_and_uniform_classes(count: int, tmp_path: Path) -> None:
    work = {f"s{i}": WRITERS["c"](functions(1), Style()) for i in range(count)}
    folder = write(tmp_path / "class", work, "c")
    done = command("compare", folder, "-o", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()
    report = chaffinch.compare([folder])
    assert len(report.pairs) == count * (count - 1) // 2
    assert all(p.score == 1 for p in report.pairs)


def test_one_unreadable_file_does_not_affect_the_others(tmp_path: Path) -> None:
    work = {f"s{seed}": WRITERS["py"](functions(seed), Style()) for seed in range(20)}
    work["copy"] = WRITERS["py"](functions(7), Style(prefix="c"))
    folder = write(tmp_path / "class", work, "py")
    (folder / "s3" / "report.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "s4" / "photo.png").write_bytes(b"\x89PNG" + bytes(100))
    report = chaffinch.compare([folder])
    assert ranked(report)[0] == ("copy", "s7")
    assert sorted(Path(s.name).name for s in report.skipped) == ["photo.png", "report.pdf"]


def test_strange_names_do_no_harm(tmp_path: Path) -> None:
    names = ["<script>alert(1)</script>", "a'b\"c", "x\ny", "\u202egnirts", "n" * 200, "=1+1"]
    texts = [WRITERS["py"](functions(1), Style(prefix)) for prefix in "abcdef"]
    documents = [
        Document(name, text.encode(), "utf-8", "plain", "python")
        for name, text in zip(names, texts, strict=True)
    ]
    report = chaffinch.compare(documents)
    assert len(report.pairs) == 15
    report.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert(1)" not in page


def test_a_rerun_is_byte_identical_with_any_number_of_threads(tmp_path: Path) -> None:
    work = {f"s{seed}": WRITERS["js"](functions(seed % 7), Style(prefix=f"p{seed}")) for seed in range(14)}
    folder = write(tmp_path / "class", work, "js")
    for name, threads in (("one.html", 1), ("two.html", 2)):
        chaffinch.compare([folder], threads=threads).save(tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    once, again = (command("compare", folder, "--json") for _ in range(2))
    assert once.stdout == again.stdout


def test_the_command_says_what_it_found(tmp_path: Path) -> None:
    work = {f"s{seed}": WRITERS["py"](functions(seed), Style()) for seed in range(5)}
    work["copy"] = WRITERS["py"](functions(3), Style(prefix="c"))
    folder = write(tmp_path / "class", work, "py")
    done = command("compare", folder, "-o", tmp_path / "out", "--csv", tmp_path / "pairs.csv")
    assert done.returncode == 0, done.stderr
    assert "copy  -  s3" in done.stdout
    assert (tmp_path / "out" / "index.html").exists()
    assert "copy,s3" in (tmp_path / "pairs.csv").read_text()
    assert command("compare", tmp_path / "gone", "--json").returncode == 2
    assert command("compare", folder, "-l", "klingon").returncode == 2
    assert "Traceback" not in command("compare", folder, "--student-pattern", "(").stderr


def test_a_program_is_lexed_once_even_for_the_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lexed: list[object] = []

    def recorded(sources: Sequence[native.Source]) -> tuple[Any, list[Any]]:
        lexed.extend(source.data for source in sources if isinstance(source.table, native.Language))
        return native_sources(sources)

    native_sources = native.native_sources
    monkeypatch.setattr(native, "native_sources", recorded)
    programs = [WRITERS["py"](functions(seed % 3), Style(prefix=f"p{seed}")).encode() for seed in range(6)]
    report = chaffinch.compare([Document(f"{i}.py", data) for i, data in enumerate(programs)])
    assert len(report.pairs) >= 3
    report.save(tmp_path / "report.html")
    case_file(report, report.pairs[0], tmp_path / "case.html")
    assert sorted(map(str, lexed)) == sorted(map(str, programs))


def test_a_report_has_the_streams_of_listed_pairs() -> None:
    texts = [*(WRITERS["py"](functions(1), Style(prefix=p)) for p in "ab"), WRITERS["c"](functions(9), Style())]
    works = [Document(name, text.encode()) for name, text in zip(("a.py", "b.py", "c.c"), texts, strict=True)]
    report = chaffinch.compare(works)
    assert list(report.streams) == [("a", "a.py"), ("b", "b.py")]
    for document in works[:2]:
        stream = report.streams[document.name.removesuffix(".py"), document.name]
        alone = chaffinch.stream(document, Recipe("python"))
        for name in ("symbols", "starts", "ends"):
            assert np.array_equal(getattr(stream, name), getattr(alone, name))
    anonymous = anonymous_report(report)
    names = {name for pair in anonymous.pairs for name in (pair.left, pair.right)}
    listed = {(s.name, d.name) for s in anonymous.submissions for d in s.documents if s.name in names}
    assert anonymous.streams.keys() == listed


def test_the_receipt_says_in_numbers_what_is_listed() -> None:
    works = [Document(f"{i}.py", WRITERS["py"](functions(1), Style()).encode()) for i in range(2)]
    receipt = to_json(chaffinch.compare(works))["receipt"]
    also_listed = {"score": 0.8, "surprise": 5.0, "run": 90}
    assert (receipt["threshold"], receipt["also_listed"]) == (None, also_listed)
    assert 0.1 < receipt["lines"]["python"] <= 1
    receipt = to_json(chaffinch.compare(works, threshold=0.4, top=7, max_owners=3))["receipt"]
    assert (receipt["threshold"], receipt["also_listed"], receipt["top"], receipt["max_owners"]) == (
        0.4,
        None,
        7,
        3,
    )
    assert receipt["recipes"]["python"]["guarantee"] == recipe_for("python").guarantee
    assert not {"old_indexes", "background"} & receipt.keys()
