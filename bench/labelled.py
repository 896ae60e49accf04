"""Labelled programs -> how well scores, and the report's order, tell copies from other pairs.

`python -m bench.labelled --data DIR` also chooses the constants of the score without each collection, and shows
what that collection then reaches.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import attacks, table
from bench.measures import Names, auc, average_precision, document, each_once, everything, names, ranking
from bench.table import Row
from chaffinch import File, types
from chaffinch.comparison import pair_score, score
from chaffinch.types import Pair

BOUNDS = {
    "IR-Plag, AUC, a task at once": (0.79, None),
    "ConPlag raw, AUC, one class": (0.93, None),
    "ConPlag raw, AUC, two at a time": (0.93, None),
    "ConPlag without templates, AUC, one class": (0.97, None),
    "ConPlag without templates, AUC, two at a time": (0.975, None),
    "SOCO, C, average precision": (None, 0.70),
    "SOCO, Java, average precision": (None, 0.845),
    "homework, each program once, mean average precision": (None, 0.59),
    "attacks, worst single one, AUC": (0.99, None),
    "attacks, all at once, AUC": (0.97, None),
}
"""What the score and the order must reach at least."""
WORSE_ORDER = -0.01
"""The order may be worse than the score by this much."""
CHOICES: dict[str, tuple[float, ...]] = {
    "LITERALS": (0.3, 0.5, 0.7),
    "SHOWN_PART": (0.3, 0.5, 0.7),
    "SURPRISE_POWER": (0.15, 0.25, 0.4),
    "VIEW_POWER": (2, 4, 8),
}
"""Constants of the score that are chosen by such collections, and other values to try, one at a time."""
_HOMES: tuple[Any, ...] = (score, pair_score, types)


class Figures(NamedTuple):
    """What a collection reaches by score, and in the report's order."""

    by_score: float
    in_order: float


Measured = dict[str, Figures]


def _aucs(copies: list[Figures], others: list[Figures]) -> Figures:
    return Figures(*(auc([p[i] for p in copies], [p[i] for p in others]) for i in (0, 1)))


def _of(pairs: Mapping[Names, Pair], one: str, other: str) -> Figures:
    pair = pairs.get(frozenset((one, other)))
    return Figures(pair.score, pair.weight) if pair else Figures(0.0, 0.0)


def _pairs(documents: list[File]) -> dict[Names, Pair]:
    return {names(pair): pair for pair in everything(documents).pairs}


def irplag(root: Path) -> Measured:
    """Compare the original of each task with disguised copies and with other work."""
    copies: list[Figures] = []
    others: list[Figures] = []
    for task in sorted(root.iterdir()):
        (original,) = sorted((task / "original").rglob("*.java"))
        paths = [original, *(path for path in sorted(task.rglob("*.java")) if path != original)]
        documents = [document(path, f"{i}.java") for i, path in enumerate(paths)]
        pairs = _pairs(documents)
        for path, other in zip(paths[1:], documents[1:], strict=True):
            known = others if "non-plagiarized" in path.parts else copies
            known.append(_of(pairs, documents[0].name, other.name))
    return {"IR-Plag, AUC, a task at once": _aucs(copies, others)}


def conplag(root: Path) -> Measured:
    """Measure labelled pairs of Java programs from a contest."""
    with (root / "labels.csv").open() as file:
        verdicts = [(line["sub1"], line["sub2"], line["verdict"] == "1") for line in csv.DictReader(file)]
    measured: Measured = {}
    for version, what in (("version_1", "raw"), ("version_2", "without templates")):
        programs: dict[str, File] = {}
        alone: tuple[list[Figures], list[Figures]] = ([], [])
        for one, other, is_copy in verdicts:
            home = root / version / f"{one}_{other}"
            both = [document(home / f"{name}.java", f"{name}.java") for name in (one, other)]
            programs |= {program.name: program for program in both}
            alone[is_copy].append(_of(_pairs(both), both[0].name, both[1].name))
        pairs = _pairs([*programs.values()])
        together: tuple[list[Figures], list[Figures]] = ([], [])
        for one, other, is_copy in verdicts:
            together[is_copy].append(_of(pairs, f"{one}.java", f"{other}.java"))
        measured[f"ConPlag {what}, AUC, one class"] = _aucs(together[True], together[False])
        measured[f"ConPlag {what}, AUC, two at a time"] = _aucs(alone[True], alone[False])
    return measured


def soco(root: Path) -> Measured:
    """Measure programs with known copies among them, in C and in Java."""
    measured: Measured = {}
    for folder, language in (("c", "C"), ("java", "Java")):
        lines = (root / f"SOCO14-{folder}.qrel").read_text().splitlines()
        copies = {frozenset(line.split()) for line in lines if line.strip()}
        pairs = _pairs([document(path) for path in sorted((root / folder).iterdir())])
        measured[f"SOCO, {language}, average precision"] = Figures(
            average_precision({who: pair.score for who, pair in pairs.items()}, copies),
            average_precision({who: pair.weight for who, pair in pairs.items()}, copies),
        )
    return measured


def homework_labels(root: Path) -> dict[str, set[Names]]:
    """Return the pairs of files that are known to be copies, by assignment."""
    copies: dict[str, set[Names]] = {}
    assignment = ""
    for line in (root / "ground-truth-static.txt").read_text().splitlines():
        if line.startswith("- "):
            assignment = line.partition("/")[2]
            continue
        programs = [f"{name}.c" for name in line.split(",")]
        there = [name for name in programs if (root / "src" / assignment / name).exists()]
        copies.setdefault(assignment, set()).update(map(frozenset, combinations(there, 2)))
    return copies


def homework(root: Path) -> Measured:
    """Measure student programs in C against the judged copies."""
    means = []
    for assignment, copies in homework_labels(root).items():
        paths = sorted((root / "src" / assignment).iterdir())
        pairs = {names(pair): pair for pair in ranking([document(path) for path in paths]).pairs}
        once = each_once({path.name: path.read_bytes() for path in paths}, copies)
        by_score = {who: pair.score for who, pair in pairs.items()}
        in_order = {who: pair.weight for who, pair in pairs.items()}
        means.append([average_precision(of, copies, once) for of in (by_score, in_order)])
    mean = Figures(*np.mean(means, axis=0).tolist())
    return {"homework, each program once, mean average precision": mean}


def disguised() -> Measured:
    """Measure generated programs against disguised copies of them."""
    figures = attacks.all_measured()
    each = {
        attack: _aucs([Figures(*v) for v in values], [Figures(*v) for v in figures[""]])
        for attack, values in figures.items()
        if attack not in ("", attacks.EVERYWHERE)
    }
    all_at_once = each.pop("all at once")
    worst = Figures(*(min(of[i] for of in each.values()) for i in (0, 1)))
    return {"attacks, worst single one, AUC": worst, "attacks, all at once, AUC": all_at_once}


def measure(data: Path) -> dict[str, Measured]:
    """Return what each collection under the folder reaches."""
    collections: dict[str, Callable[[Path], Measured]] = {
        "code/irplag": irplag,
        "code/conplag_train": conplag,
        "code/soco14_train": soco,
        "code/homework_A2016": homework,
    }
    measured = {name: of(data / name) for name, of in collections.items() if (data / name).exists()}
    return measured | {"attacks": disguised()}


def rows(data: Path) -> Iterator[Row]:
    for measured in measure(data).values():
        for what, (by_score, in_order) in measured.items():
            least = BOUNDS.get(what, (None, None))
            yield Row(f"{what}, by score", by_score, least=least[0])
            yield Row(f"{what}, in the report's order", in_order, least=least[1])
            yield Row(f"{what}, the order less the score", in_order - by_score, least=WORSE_ORDER)


def chosen_without(data: Path) -> Iterator[Row]:
    """Choose each constant by all collections except one, and yield what that one then reaches."""
    tried = {"as they are": measure(data)}
    for constant, values in CHOICES.items():
        usual = next(getattr(home, constant) for home in _HOMES if hasattr(home, constant))
        for value in values:
            if value != usual:
                _set(constant, value)
                tried[f"{constant} = {value}"] = measure(data)
                _set(constant, usual)
    for left_out in tried["as they are"]:
        best = max(tried, key=lambda how: _mean_without(tried[how], left_out))
        for what, (by_score, in_order) in tried[best][left_out].items():
            yield Row(f"{what}, constants chosen without it ({best}), by score", by_score)
            yield Row(f"{what}, constants chosen without it ({best}), in the report's order", in_order)


def _set(constant: str, value: float) -> None:
    for home in _HOMES:
        if hasattr(home, constant):
            setattr(home, constant, value)


def _mean_without(measured: Mapping[str, Measured], left_out: str) -> float:
    """Return the mean over the other collections, each of which counts the same."""
    others = [of for name, of in measured.items() if name != left_out]
    return float(np.mean([np.mean([*of.values()]) for of in others]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.labelled", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    print(table.plain([*rows(data), *chosen_without(data)]))


if __name__ == "__main__":
    main()
