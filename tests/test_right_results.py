"""Scores and lists that hold in untidy classes: little content, common content, rings, dead code, templates."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import chaffinch
from chaffinch import Document, File, Pair, Recipe, Report
from chaffinch.comparison.chance import Chance
from chaffinch.comparison.pair_score import shown_score
from chaffinch.comparison.views import Tokens, views
from tests import made
from tests.programs import WRITERS, Style, functions

GIVEN = WRITERS["py"](functions(500, 2), Style("given"))


def program(seed: int, count: int = 6) -> str:
    return WRITERS["py"](functions(seed, count), Style(f"v{seed}_"))


def compare(texts: Mapping[str, str], threshold: float | None = None, top: int | None = 500) -> Report:
    documents = [Document(f"{name}.py", text.encode()) for name, text in texts.items()]
    return chaffinch.compare(documents, threshold=threshold, top=top)


def pair_of(report: Report, *names: str) -> Pair:
    (pair,) = (p for p in report.pairs if {p.left, p.right} == set(names))
    return pair


def with_dead_code(text: str, every: int) -> str:
    """Insert a statement that does nothing before some of the lines."""
    rng, lines = random.Random(0), []
    for number, line in enumerate(text.splitlines()):
        if number % every == 0 and line.startswith("    ") and not line.rstrip().endswith(":"):
            space = line[: len(line) - len(line.lstrip())]
            lines.append(f"{space}unused{number} = {rng.randrange(9)} * {rng.randrange(9)} - [{number}][0]")
        lines.append(line)
    return "\n".join(lines)


def test_a_small_shared_file_in_another_language_lifts_no_pair(tmp_path: Path) -> None:
    for n in range(5):  # fewer than make a file common
        home = tmp_path / f"s{n}"
        home.mkdir()
        (home / "main.py").write_text(program(n))
        (home / "Makefile").write_text("all: main\n\tgcc -o main main.c -lm -Wall -Wextra -O2 -g\n")
        (home / "notes.md").write_text("\n\n".join([made.prose(1, 99)[0], *made.prose(3, n)]))
    report = chaffinch.compare([tmp_path], threshold=0, top=None)
    assert len(report.pairs) == 10
    assert max(pair.score for pair in report.pairs) < 0.2
    assert chaffinch.compare([tmp_path]).pairs == ()


def test_a_language_counts_by_its_share_of_the_work(tmp_path: Path) -> None:
    for name in ("ann", "ben", "cyd", "dan", "eve"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(program(len(name) + ord(name[0]), 9))
        copied = name in ("ann", "ben")
        script = WRITERS["js"](functions(1 if copied else ord(name[0]), 3), Style())
        (tmp_path / name / "page.js").write_text(script)
    report = chaffinch.compare([tmp_path], threshold=0, top=None)
    score = next(pair.score for pair in report.pairs if (pair.left, pair.right) == ("ann", "ben"))
    assert 0.35 < score < 0.55  # the root of a quarter, which is its share of each work


def test_a_copy_with_dead_code_is_listed_before_weaker_pairs() -> None:
    texts = {f"s{n:02}": program(n) for n in range(25)} | {"copy": with_dead_code(program(3), 2)}
    report = compare(texts)
    first = report.pairs[0]
    assert {first.left, first.right} == {"s03", "copy"}
    assert len(report.pairs) <= 2


def test_a_given_function_that_all_have_lists_nobody() -> None:
    texts = {f"s{n:03}": f"{GIVEN}\n{program(n, 3)}" for n in range(200)}
    report = compare(texts)
    assert len(report.pairs) <= 2
    assert report.clusters == ()
    copied = compare(texts | {"copy": texts["s007"].replace("v7_", "w")})
    assert {copied.pairs[0].left, copied.pairs[0].right} == {"s007", "copy"}
    assert len(copied.pairs) <= 3


@pytest.mark.parametrize("members", [2, 4, 7])
def test_a_ring_of_up_to_a_third_stays_unusual(members: int) -> None:
    ring = {f"r{n}": program(100).replace("v100_", f"n{n}") for n in range(members)}
    report = compare({f"s{n:02}": program(n) for n in range(22 - members)} | ring)
    names = set(ring)
    listed = [pair for pair in report.pairs if {pair.left, pair.right} <= names]
    assert len(listed) == members * (members - 1) // 2
    assert all((pair.surprise or 0) > 5 for pair in listed)
    assert {*report.clusters[0].submissions} == names


def test_a_ring_that_shares_half_of_its_work_is_listed() -> None:
    shared = program(100, 3)
    ring = {f"r{n}": f"{shared.replace('v100_', f'n{n}')}\n{program(50 + n, 3)}" for n in range(7)}
    report = compare({f"s{n:02}": program(n) for n in range(15)} | ring)
    assert len([pair for pair in report.pairs if pair.left in ring and pair.right in ring]) == 21
    assert {*report.clusters[0].submissions} == {*ring}


def test_a_threshold_does_what_it_says() -> None:
    texts = {f"s{n:02}": program(n) for n in range(12)} | {"copy": program(3).replace("v3_", "w")}
    everything = compare(texts, threshold=0, top=None).pairs
    for threshold in (0.02, 0.05, 0.5):
        listed = compare(texts, threshold=threshold, top=None).pairs
        assert [(p.left, p.right) for p in listed] == [
            (p.left, p.right) for p in everything if p.score >= threshold
        ]


def test_little_content_is_little_evidence() -> None:
    interfaces = [
        File(f"{name}.java", f"public interface {name} {{ void {verb}(int {noun}); }}".encode())
        for name, verb, noun in (("Walker", "walk", "far"), ("Singer", "sing", "loud"), ("Cook", "fry", "egg"))
    ]
    assert max((p.score for p in chaffinch.compare(interfaces, threshold=0).pairs), default=0) < 0.4
    lines = 40 * ["x = f(y) + g(z) * 2"]
    scores = [
        compare({"a": "\n".join(lines[:n]), "b": "\n".join(lines[:n])}, 0).pairs[0].score for n in (2, 9, 40)
    ]
    assert scores[0] < 0.6 < scores[1] < scores[2] == 1


def test_a_skeleton_that_many_hand_in_untouched_says_nothing() -> None:
    skeleton = "class Main:\n    def run(self, argument):\n        pass  # your answer\n\nMain().run(None)\n"
    texts = {f"s{n:02}": skeleton for n in range(30)} | {f"t{n:02}": program(n) for n in range(40)}
    report = compare(texts, threshold=0, top=None)
    assert max(p.score for p in report.pairs if p.left < "t" and p.right < "t") < 0.2
    assert compare(texts).pairs == ()
    several = {f"s{n}": program(50) for n in range(5)} | {f"t{n:02}": program(n) for n in range(20)}
    assert {p.score for p in compare(several).pairs} == {1.0}


def test_a_class_in_which_all_have_the_same_has_scores() -> None:
    for text in (program(1), "x = f(y) + g(z) * 2\n", program(1, 1)):
        report = compare({f"s{n:02}": f"{text}# {n}\n" for n in range(14)}, 0, None)
        assert len(report.pairs) == 91
        assert all(0 <= pair.score <= 1 for pair in report.pairs)


def test_a_copy_in_another_order_scores_high() -> None:
    parts = [program(n, 1) for n in range(12)]
    order = random.Random(1).sample(range(12), 12)
    texts = {f"s{n:02}": program(20 + n) for n in range(10)}
    texts |= {"ann": "\n".join(parts), "ben": "\n".join(parts[n] for n in order)}
    pair = pair_of(compare(texts, 0), "ann", "ben")
    assert min(pair.coverage.left, pair.coverage.right) > 0.98
    assert pair.score > 0.9


def test_scores_follow_what_is_shown() -> None:
    """The part that follows grows with the works: a few changes leave a short one without long runs."""
    scores, sizes = np.full(3, 0.8), np.array([20.0, 200.0, 2000.0])
    little = shown_score(scores, np.full((3, 2), 0.1), np.zeros(3), sizes)
    assert (np.diff(little) < 0).all()
    assert little[2] < 0.5
    full = shown_score(scores, np.ones((3, 2)), np.zeros(3), sizes)
    assert (np.diff(full) > 0).all()
    assert full[2] > 0.9
    usual = shown_score(scores, np.full((3, 2), 0.9), np.full(3, 0.9), sizes)
    assert (usual <= 0.8).all()
    assert shown_score(np.ones(1), np.ones((1, 2)), np.zeros(1), np.array([500.0])) == 1


def test_literals_are_evidence_and_others_do_not_lower_a_score() -> None:
    def text(seed: int, words: int, first: int) -> str:
        rng = random.Random(words)
        said = (f"print('{rng.random()}', {rng.randrange(1000, 9999)})" for _ in range(12))
        return "\n".join([program(seed, 2), *said, program(first, 1)])

    texts = {f"s{n:02}": text(n, n, n + 50) for n in range(12)}
    same = pair_of(compare(texts | {"same": text(20, 3, 53)}, 0, None), "s03", "same").score
    other = pair_of(compare(texts | {"same": text(20, 21, 53)}, 0, None), "s03", "same").score
    assert same > other > 0


def test_library_names_and_literals_are_seen_and_braces_are_not() -> None:
    text = """
        int main() { int x = own(42); if (x) { printf("hello", x); } else puts("no"); return own(7); }
        int own(int y) { return y; }
    """
    stream = chaffinch.stream(text.encode(), Recipe("c"))
    again = chaffinch.stream(text.replace("printf", "scanf").replace("own", "mine").encode(), Recipe("c"))
    tokens = [
        Tokens(s.symbols, chaffinch.stream(t.encode(), Recipe("c+names")).symbols, s.ends - s.starts)
        for s, t in ((stream, text), (again, text.replace("printf", "scanf").replace("own", "mine")))
    ]
    outside, literals = views(tokens)
    assert [len(one) for one in outside] == [len(stream) - text.count("{") - text.count("}")] * 2
    assert np.flatnonzero(outside[0] != outside[1]).size == 1  # the name of the library, not their own
    assert [len(one) for one in literals] == [3, 3]
    assert np.array_equal(literals[0], literals[1])


def test_pairs_that_share_a_template_alone_are_not_held() -> None:
    template = "\n".join(made.prose(12, 1000))
    essays = [File(f"{n}.txt", f"{template}\n{chr(10).join(made.prose(4, n))}".encode()) for n in range(300)]
    report = chaffinch.compare(essays)
    assert report.receipt.candidate_pairs < 300
    assert report.pairs == ()
    copied = File("copy.txt", essays[5].data)
    assert {chaffinch.compare([*essays, copied]).pairs[0].score} == {1.0}


def test_the_line_is_where_chance_explains_the_rest() -> None:
    rng = np.random.default_rng(1)
    by_chance, none = rng.exponential(0.1, 5000), np.zeros(5000)
    chance = Chance.of_class(by_chance, none, np.ones(5000), 100)
    assert chance.fading == pytest.approx(0.1, rel=0.1)
    descending = -np.sort(-by_chance)
    assert (by_chance >= chance.line(descending)).sum() <= 3
    copies = np.append(by_chance, np.full(500, 0.9))
    with_copies = Chance.of_class(copies, np.append(none, np.full(500, 9.0)), np.ones(5500), 100)
    line = with_copies.line(-np.sort(-copies))
    assert (by_chance >= line).sum() <= 0.25 * (copies >= line).sum()
    assert line < 0.9
    without = np.empty(0)
    assert Chance.of_class(without, without, without, 0).line(without) == np.inf
    one = Chance.of_class(np.array([0.5]), np.zeros(1), np.ones(1), 2)
    assert one.line(np.array([0.5])) == 0.5


def test_who_hands_in_nothing_or_writes_in_another_language_changes_nothing() -> None:
    """They share nothing with anybody, and so do not show what is usual."""

    def figures(more: Mapping[str, str]) -> list[tuple[float, float | None]]:
        works = [Document(name, text.encode()) for name, text in {**texts, **more}.items()]
        (copied,) = chaffinch.compare(works).pairs
        assert {copied.left, copied.right} == {"copy", "s03"}
        report = chaffinch.compare(works, threshold=0, top=None)
        return [(pair.score, pair.surprise) for pair in report.pairs]

    texts = {f"s{n:02}.py": f"{GIVEN}\n{program(n, 2)}" for n in range(14)}
    texts["copy.py"] = texts["s03.py"].replace("v3_", "w")
    alone = figures({})
    assert figures({f"empty{n}.py": "# to do\n" for n in range(20)}) == alone
    scripts = {f"t{n}.js": WRITERS["js"](functions(60 + n), Style()) for n in range(12)}
    assert len(figures(scripts)) >= len(alone)


def test_what_is_less_than_usual_in_one_language_does_not_excuse_the_other(tmp_path: Path) -> None:
    template = "\n\n".join(made.prose(6, 900))
    for n in range(12):
        home = tmp_path / f"s{n:02}"
        home.mkdir()
        (home / "main.py").write_text(program(3 if n == 7 else n).replace("v3_", f"w{n}_"))
        (home / "notes.md").write_text(
            made.prose(2, n)[0] if n in (3, 7) else f"{template}\n\n{made.prose(1, n)[0]}"
        )
    first = chaffinch.compare([tmp_path]).pairs[0]
    assert (first.left, first.right) == ("s03", "s07")
    assert (first.surprise or 0) > 10


def test_clusters_do_not_depend_on_how_many_pairs_are_listed() -> None:
    ring = {f"r{n}": program(100).replace("v100_", f"n{n}") for n in range(5)}
    texts = {f"s{n:02}": program(n) for n in range(15)} | ring
    assert compare(texts, top=2).clusters == compare(texts).clusters
    assert len(compare(texts).clusters[0].submissions) == 5
