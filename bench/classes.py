"""Labelled collections of others: whether what was copied comes first, and how much of it is found.

`python -m bench.classes --data DIR` needs the collections under DIR; what is not there is not measured.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, groupby
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from bench import table
from bench.table import Row
from chaffinch import File
from chaffinch.comparison.compare import compare
from chaffinch.comparison.score import weight
from chaffinch.types import Match, Pair, Report

# What is asked for; of the rivals that are run here, none reaches it.
PRECISION = {"Z5/Z2": 0.42, "Z4/Z3": 0.33, "Z4/Z4": 0.24}
WITH_MOSS = 0.90
IRPLAG = 0.75
CONPLAG = {"version_1": ("raw", 0.92), "version_2": ("without templates", 0.95)}
CLOUGH = {"cut": 0.95, "light": 1.0, "heavy": 0.97}
VERBATIM = 0.99
KINDS = ("01-no-plagiarism", "02-no-obfuscation", "03-random-obfuscation", "04-translation-obfuscation",
         "05-summary-obfuscation")  # fmt: skip

LARGEST = 250  # programs; of a larger class every pair with its matches is gigabytes
_FIRST = 10_000  # pairs are ranked of a larger one; a labelled pair behind them counts as not found
_MISLABELLED = {"g2pE_taskc.txt", "g4pD_taskb.txt"}

Names = frozenset[str]


def auc(copies: Sequence[float], others: Sequence[float]) -> float:
    """How probably a copy has more than another; half for as much."""
    less = np.searchsorted(np.sort(others), copies, "left")
    not_more = np.searchsorted(np.sort(others), copies, "right")
    return float((less + not_more).sum()) / 2 / max(len(copies) * len(others), 1)


def average_precision(
    figures: Mapping[Names, float], labelled: set[Names], among: set[Names] | None = None
) -> float:
    """The mean over the labelled pairs of the precision down to each, pairs with equal figures taken together.

    It is 0 for one that has no figure. Of all pairs some may be left out.
    """
    if among is not None:
        figures = {pair: figure for pair, figure in figures.items() if pair in among}
        labelled = labelled & among
    found = seen = 0
    total = 0.0
    for _, equal in groupby(sorted(figures, key=figures.__getitem__, reverse=True), key=figures.__getitem__):
        pairs = set(equal)
        seen += len(pairs)
        found += (here := len(pairs & labelled))
        total += here * found / seen
    return total / max(len(labelled), 1)


def each_once(programs: Mapping[str, bytes], labelled: set[Names]) -> set[Names]:
    """All pairs of programs, those that are byte for byte the same under one of their names only.

    Many names stand for one program in assignment after assignment, and no label says so: a copy of it is
    labelled under one name, and under the other it would count as a false alarm.
    """
    known = frozenset().union(*labelled)
    names = {programs[name]: name for name in sorted(programs, key=lambda name: (name in known, name))}
    return set(map(frozenset, combinations(names.values(), 2)))


def weights(pairs: Sequence[Pair]) -> dict[Names, float]:
    """By which a report ranks them."""
    scores, surprise = (np.array([getattr(pair, of) for pair in pairs]) for of in ("score", "surprise"))
    return dict(zip(map(names, pairs), weight(surprise, scores).tolist(), strict=True))


def everything(documents: Sequence[File]) -> Report:
    """All pairs with anything in common."""
    return compare(documents, threshold=0, top=None)


def ranking(documents: Sequence[File]) -> Report:
    """As many pairs as a class of any size can have listed."""
    if len(documents) <= LARGEST:
        return everything(documents)
    return compare(documents, threshold=0, top=_FIRST)


def document(path: Path, name: str = "") -> File:
    return File(name or path.name, path.read_bytes())


def rows(data: Path | None) -> list[Row]:
    collections: dict[str, Callable[[Path], Iterator[Row]]] = {
        "code/homework_A2016": homework,
        "code/irplag": irplag,
        "code/conplag_train": conplag,
        "text/clough_stevenson": clough,
        "text/pan13_train_sample": pan,
    }
    found: list[Row] = []
    for name, measure in collections.items():
        if data and (data / name).exists():
            found += measure(data / name)
        else:
            found.append(Row(name, None, note="needs --data with it"))
    return found


def labels(root: Path) -> dict[str, set[Names]]:
    """The pairs of files that are known to be copies, by assignment."""
    found: dict[str, set[Names]] = {}
    assignment = ""
    for line in (root / "ground-truth-static.txt").read_text().splitlines():
        if line.startswith("- "):
            assignment = line.partition("/")[2]
            continue
        programs = [f"{name}.c" for name in line.split(",")]
        there = [name for name in programs if (root / "src" / assignment / name).exists()]
        found.setdefault(assignment, set()).update(map(frozenset, combinations(there, 2)))
    return found


def homework(root: Path) -> Iterator[Row]:
    """Students' programs in C: what was judged to be copied, and what MOSS says."""
    with (root / "moss_pairs.csv").open() as file:
        moss = {
            (line["filename0"].partition("/")[2], line["filename1"].rpartition("/")[2]): float(line["percent"])
            for line in csv.DictReader(file)
        }
    by_assignment: dict[str, dict[Names, float]] = {}
    for (first, second), percent in moss.items():
        assignment, _, name = first.rpartition("/")
        by_assignment.setdefault(assignment, {})[frozenset((f"{name}.c", f"{second}.c"))] = percent
    theirs: list[float] = []
    ours: list[tuple[float, float]] = []
    means: list[list[float]] = []
    for assignment, labelled in labels(root).items():
        paths = sorted((root / "src" / assignment).iterdir())
        report = ranking([document(path) for path in paths])
        figures = weights(report.pairs), {names(pair): pair.score for pair in report.pairs}
        once = each_once({path.name: path.read_bytes() for path in paths}, labelled)
        means.append([average_precision(of, labelled, among) for among in (None, once) for of in figures])
        what = f"average precision, {assignment}, {len(report.submissions)} programs, {len(labelled)} copies"
        yield Row(f"{what}, in the report's order", means[-1][0], least=PRECISION.get(assignment))
        yield Row(f"{what}, by score", means[-1][1])
        if len(paths) > LARGEST:
            continue  # MOSS has pairs that are not among the first
        pairs = {names(pair): pair for pair in report.pairs}
        for who, percent in by_assignment.get(assignment, {}).items():
            theirs.append(percent)
            pair = pairs.get(who)
            ours.append((pair.score, (pair.coverage.left + pair.coverage.right) / 2) if pair else (0, 0))
    variants = [
        f"{of}{among}" for among in ("", ", each program once") for of in ("in the report's order", "by score")
    ]
    for variant, mean in zip(variants, np.mean(means, axis=0).tolist(), strict=True):
        yield Row(f"average precision, mean of these assignments, {variant}", mean)
    # MOSS leaves out what more than ten have, and the score nearly does; coverage is of all that is the same.
    for i, (what, least) in enumerate({"score": WITH_MOSS, "mean coverage": None}.items()):
        correlation = np.corrcoef(theirs, [numbers[i] for numbers in ours])[0, 1]
        what = f"correlation of MOSS's percentage with {what}, {len(ours):,} pairs"
        yield Row(what, float(correlation), least=least)


def names(pair: Pair) -> Names:
    return frozenset((pair.left, pair.right))


def irplag(root: Path) -> Iterator[Row]:
    """Each task's original against all others: by hand disguised on six levels, or not copied."""
    variants = {"a task at once": to_original, "two at a time": _two_at_a_time}
    for variant, scores_of in variants.items():
        pooled, by_level = disguised(root, scores_of)
        yield Row(f"IR-Plag, AUC, {variant}", pooled, least=IRPLAG)
        for level, area in by_level.items():
            yield Row(f"IR-Plag, AUC, {variant}, {level}", area)


def disguised(root: Path, scores_of: Callable[[list[File]], list[float]]) -> tuple[float, dict[str, float]]:
    """The areas under the curve, of all levels and of each, by the scores of a task's first document with the
    others."""
    scores: dict[str, list[float]] = {}
    for task in sorted(root.iterdir()):
        (original,) = sorted((task / "original").rglob("*.java"))
        others = [path for path in sorted(task.rglob("*.java")) if path != original]
        kinds = [path.relative_to(task).parts[:-2][-1] for path in others]
        unnamed = [document(path, f"{i}.java") for i, path in enumerate([original, *others])]
        for kind, score in zip(kinds, scores_of(unnamed), strict=True):
            scores.setdefault(kind, []).append(score)
    none = scores.pop("non-plagiarized")
    pooled = [score for level in scores.values() for score in level]
    return auc(pooled, none), {level: auc(scores[level], none) for level in sorted(scores)}


def to_original(documents: list[File]) -> list[float]:
    scores = {names(pair): pair.score for pair in everything(documents).pairs}
    return with_first(documents, scores)


def with_first(documents: list[File], scores: Mapping[Names, float]) -> list[float]:
    """The scores of the first with each of the others."""
    return [scores.get(frozenset((documents[0].name, other.name)), 0.0) for other in documents[1:]]


def _two_at_a_time(documents: list[File]) -> list[float]:
    return [two(documents[0], other) for other in documents[1:]]


def two(one: File, other: File) -> float:
    """The score of two that nobody else is compared with."""
    return max((pair.score for pair in everything([one, other]).pairs), default=0.0)


def conplag(root: Path) -> Iterator[Row]:
    """Pairs of a contest's programs in Java."""
    with (root / "labels.csv").open() as file:
        verdicts = [(line["sub1"], line["sub2"], line["verdict"] == "1") for line in csv.DictReader(file)]
    for version, (what, least) in CONPLAG.items():
        alone: dict[bool, list[float]] = {True: [], False: []}
        programs: dict[str, File] = {}
        for one, other, copied in verdicts:
            home = root / version / f"{one}_{other}"
            both = [document(home / f"{name}.java", f"{name}.java") for name in (one, other)]
            programs |= {program.name: program for program in both}
            alone[copied].append(two(*both))
        scores = {names(pair): pair.score for pair in everything(list(programs.values())).pairs}
        together: dict[bool, list[float]] = {True: [], False: []}
        for one, other, copied in verdicts:
            together[copied].append(scores.get(frozenset((f"{one}.java", f"{other}.java")), 0.0))
        yield Row(f"ConPlag {what}, AUC, two at a time", auc(alone[True], alone[False]), least=least)
        yield Row(f"ConPlag {what}, AUC, all at once", auc(together[True], together[False]))


def clough(root: Path) -> Iterator[Row]:
    """Short answers that students wrote with, or without, an article before them."""
    scores: dict[str, list[float]] = {}
    with (root / "file_information.csv").open() as file:
        answers = [line for line in csv.DictReader(file) if line["File"] not in _MISLABELLED]
    for task in sorted({line["Task"] for line in answers}):
        of_task = [line for line in answers if line["Task"] == task and line["Category"] != "orig"]
        paths = [root / "docs" / f"orig_task{task}.txt", *(root / "docs" / line["File"] for line in of_task)]
        found = to_original([document(path) for path in paths])
        for line, score in zip(of_task, found, strict=True):
            scores.setdefault(line["Category"], []).append(score)
    for kind, least in CLOUGH.items():
        yield Row(f"Clough and Stevenson, AUC, {kind}", auc(scores[kind], scores["non"]), least=least)


def pan(root: Path) -> Iterator[Row]:
    """Essays with passages of a source in them, verbatim or not."""
    for kind in KINDS:
        listed = matched = 0
        tallies, with_repeats = np.zeros((2, 3))
        pairs = [line.split() for line in (root / kind / "pairs").read_text().splitlines()]
        for suspicious, source in pairs:
            both = document(root / "susp" / suspicious), document(root / "src" / source)
            report = everything(both)
            matched += any(pair.matches for pair in report.pairs)
            listed += bool(compare(both).pairs)
            plan = root / kind / f"{suspicious.removesuffix('.txt')}-{source}"
            matches = [match for pair in report.pairs for match in pair.matches]
            repeats = [match for pair in report.pairs for match in pair.repeats]
            tallies += _characters(both, plan.with_suffix(".xml"), matches)
            with_repeats += _characters(both, plan.with_suffix(".xml"), [*matches, *repeats])
        common, found, planted = tallies.tolist()
        if kind.startswith("01"):
            yield Row("PAN13, alarms where nothing was copied", listed, most=0)
            yield Row("PAN13, pairs with any match where nothing was copied", matched)
            continue
        least = VERBATIM if kind.startswith("02") else None
        yield Row(f"PAN13, {kind}, characters found of those copied", common / planted, least=least)
        yield Row(f"PAN13, {kind}, characters copied of those found", common / max(found, 1), least=least)
        what = f"PAN13, {kind}, characters copied of those found, repeats too"
        yield Row(what, with_repeats[0] / max(with_repeats[1], 1))
        yield Row(f"PAN13, {kind}, pairs with a match", matched / len(pairs))
        yield Row(f"PAN13, {kind}, pairs listed", listed / len(pairs))


def _characters(both: tuple[File, File], plan: Path, matches: Sequence[Match]) -> NDArray[np.float64]:
    """Of both texts: characters that are found and were copied, that are found, that were copied."""
    tallies = np.zeros(3)
    features = [f for f in ElementTree.parse(plan).iter("feature") if f.get("name") == "plagiarism"]
    for text, side in zip(both, ("this", "source"), strict=True):
        copied, found = np.zeros((2, len(text.data)), bool)
        begins = (np.frombuffer(text.data, np.uint8) & 0xC0) != 0x80  # a character, in UTF-8
        at = np.append(np.flatnonzero(begins), len(text.data))
        for feature in features:
            start = int(feature.get(f"{side}_offset", 0))
            copied[at[start] : at[start + int(feature.get(f"{side}_length", 0))]] = True
        for match in matches:
            for span in (match.left, match.right):
                if span.document == text.name:
                    found[span.start : span.end] = True
        tallies += [(mask & begins).sum() for mask in (copied & found, found, copied)]
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.classes", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR")
    print(table.plain(rows(parser.parse_args().data)))


if __name__ == "__main__":
    main()
