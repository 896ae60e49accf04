"""You choose how short a match may be and how long a run must be to be found, and the guarantee follows."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import chaffinch
from chaffinch import Document, Recipe, Report
from chaffinch.cli import main
from chaffinch.errors import BadRecipe
from chaffinch.types import Coverage
from tests import indexed
from tests.programs import WRITERS, Style, functions

CHOICES = [(5, 4), (5, 1), (12, 9), (50, 50), (50, 1), (7, 100)]


def essays(shared_letters: int) -> list[Document]:
    """Return two essays that share one run of this many letters and no other letter, and four others."""
    rng = random.Random(1)
    run = "".join(rng.choices("abcdefghij", k=shared_letters))
    texts = {
        name: "".join(rng.choices(letters, k=400)) for name, letters in (("y", "klmnopq"), ("z", "rstuvwx"))
    }
    pair = [Document(f"{name}.txt", f"{text} {run} {text[::-1]}".encode()) for name, text in texts.items()]
    return pair + [Document(f"{n}.txt", indexed.text(150, n).encode()) for n in range(4)]


def longest(report: Report) -> int:
    return max((pair.longest for pair in report.pairs if (pair.left, pair.right) == ("y", "z")), default=0)


@pytest.mark.parametrize(("k", "w"), CHOICES)
def test_the_guarantee_follows_what_you_choose(k: int, w: int) -> None:
    t = w + k - 1
    found = chaffinch.compare(essays(t), k=k, w=w, threshold=0)
    assert longest(found) == t
    assert all(match.longest >= k for pair in found.pairs for match in pair.places)
    recipe = found.receipt.recipes["text"]
    assert (recipe["k"], recipe["w"], recipe["guarantee"]) == (k, w, t)
    assert longest(chaffinch.compare(essays(k - 1), k=k, w=w, threshold=0)) == 0


@pytest.mark.parametrize(("k", "w"), CHOICES)
def test_copies_rank_first_whatever_you_choose(k: int, w: int) -> None:
    work = {f"s{n}": (functions(n), Style(f"v{n}")) for n in range(12)}
    work["copy"] = (functions(3), Style("other"))
    class_ = [Document(f"{name}.c", WRITERS["c"](*how).encode()) for name, how in work.items()]
    report = chaffinch.compare(class_, k=k, w=w)
    first = report.pairs[0]
    assert {first.left, first.right} == {"s3", "copy"}
    assert first.score > 0.9
    assert first.coverage == Coverage(1, 1)
    assert first.fingerprints == len({*chaffinch.fingerprint(class_[3], Recipe("c", k=k, w=w)).hashes.tolist()})
    assert [cluster.submissions for cluster in report.clusters] == [("copy", "s3")]


def test_one_of_the_two_is_enough_and_both_hold_for_every_language() -> None:
    program = WRITERS["py"](functions(1), Style()).encode()
    text = indexed.text(150, "shared").encode()
    class_ = [
        Document(f"{name}.{kind}", data) for name in "ab" for kind, data in (("py", program), ("txt", text))
    ]
    recipes = chaffinch.compare(class_, k=30).receipt.recipes
    assert {name: (recipe["k"], recipe["w"]) for name, recipe in recipes.items()} == {
        "python": (30, 9),
        "text": (30, 18),
    }
    recipes = chaffinch.compare(class_, w=7).receipt.recipes
    assert {name: recipe["guarantee"] for name, recipe in recipes.items()} == {"python": 18, "text": 24}


@pytest.mark.parametrize(("k", "w"), [(5, 4), (50, 50)])
def test_base_code_is_the_same_whatever_you_choose(k: int, w: int) -> None:
    base = Document("base.py", WRITERS["py"](functions(90, 1), Style()).encode())
    assert 20 < len(chaffinch.stream(base, Recipe("python"))) < 200
    own = (WRITERS["py"](functions(n), Style()).encode() for n in range(6))
    class_ = [Document(f"{n}.py", base.data + b"\n" + text) for n, text in enumerate(own)]
    usual = chaffinch.compare(class_, base=base, threshold=0)
    chosen = chaffinch.compare(class_, base=base, threshold=0, k=k, w=w)
    assert chosen.receipt.base_symbols == usual.receipt.base_symbols
    assert chosen.ignored == usual.ignored


def test_a_copy_with_many_small_changes_is_found_with_a_long_k_too() -> None:
    """The two share one long piece, which is a small part of both, and most of the short ones."""
    rng = random.Random(1)
    terms = [f"{left} {sign} " for left in ("y", "(y)", "f(y)", "y[y]") for sign in "+-*/%&|^"]
    lines = [f"x = {''.join(rng.choices(terms, k=5))}y" for _ in range(300)]
    edited = [line + "; pass" * (n > 12 and n % 2) for n, line in enumerate(lines)]
    both = [Document("a.py", "\n".join(lines).encode()), Document("b.py", "\n".join(edited).encode())]
    for k in (12, 80):
        (pair,) = chaffinch.compare(both, k=k).pairs
        assert pair.longest >= 100, k
        assert pair.score > 0.4, k


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k is 0; give 1 to 2048"),
        ({"k": 3}, "k is 3; choose 4 or more: any two works share shorter pieces"),
        ({"k": 5000}, "k is 5000; give 1 to 2048"),
        ({"w": 0}, "w is 0; give 1 to 65536"),
        ({"k": 2.5}, "k is 2.5; give a whole number"),
        ({"w": "9"}, "w is '9'; give a whole number"),
    ],
)
def test_bad_lengths_are_refused_with_a_sentence(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadRecipe, match=message):
        chaffinch.compare(essays(40), **options)
    if all(isinstance(number, int) for number in options.values()):
        (name, number), *_ = options.items()
        done = CliRunner().invoke(main, ["compare", str(tmp_path), f"-{name}", str(number)])
        assert (done.exit_code, done.stdout) == (2, "")
        assert message in done.stderr


def test_the_command_takes_both(tmp_path: Path) -> None:
    for document in essays(30):
        (tmp_path / document.name).write_bytes(document.data)
    for k, w, count in ((10, 20, 1), (31, 1, 0)):
        arguments = ["compare", str(tmp_path), "-k", str(k), "-w", str(w), "--threshold", "0", "--json"]
        result = json.loads(CliRunner().invoke(main, arguments).stdout)
        assert [(p["left"], p["right"]) for p in result["pairs"]] == [("y", "z")] * count
        assert result["receipt"]["recipes"]["text"]["guarantee"] == k + w - 1
