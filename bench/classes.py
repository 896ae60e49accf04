"""Measure on labelled collections whether copies rank first, and how much of the copied text is found.

`python -m bench.classes --data DIR` needs the collections under DIR, and leaves out those that are missing.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from bench import labelled, table
from bench.labelled import homework_labels
from bench.measures import (
    LARGEST,
    Names,
    auc,
    average_precision,
    document,
    each_once,
    everything,
    names,
    ranking,
    weights,
)
from bench.table import Row
from chaffinch import File
from chaffinch.comparison.compare import compare
from chaffinch.types import Match

# Lower bounds, above what any of the rivals reaches.
WITH_MOSS = 0.90
IRPLAG = 0.75
CLOUGH = {"cut": 0.95, "light": 1.0, "heavy": 0.97}
VERBATIM = 0.99
KINDS = ("01-no-plagiarism", "02-no-obfuscation", "03-random-obfuscation", "04-translation-obfuscation",
         "05-summary-obfuscation")  # fmt: skip

_MISLABELLED = {"g2pE_taskc.txt", "g4pD_taskb.txt"}


def rows(data: Path | None) -> list[Row]:
    collections: dict[str, Callable[[Path], Iterator[Row]]] = {
        "code/homework_A2016": homework,
        "code/irplag": irplag,
        "text/clough_stevenson": clough,
        "text/pan13_train_sample": pan,
    }
    measured: list[Row] = []
    for name, measure in collections.items():
        if data and (data / name).exists():
            measured += measure(data / name)
        else:
            measured.append(Row(name, None, note="needs --data with this collection"))
    return [*(labelled.rows(data) if data else []), *measured]


def homework(root: Path) -> Iterator[Row]:
    """Measure student programs in C against the judged copies and the percentages of MOSS."""
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
    for assignment, copies in homework_labels(root).items():
        paths = sorted((root / "src" / assignment).iterdir())
        report = ranking([document(path) for path in paths])
        figures = weights(report.pairs), {names(pair): pair.score for pair in report.pairs}
        once = each_once({path.name: path.read_bytes() for path in paths}, copies)
        means.append([average_precision(of, copies, among) for among in (None, once) for of in figures])
        what = f"average precision, {assignment}, {len(report.submissions)} programs, {len(copies)} copies"
        yield Row(f"{what}, in the report's order", means[-1][0])
        yield Row(f"{what}, by score", means[-1][1])
        if len(paths) > LARGEST:
            continue  # MOSS lists pairs that are not ranked here
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
    # MOSS ignores code that more than ten share, and the score nearly does; coverage counts all shared code.
    for i, (what, least) in enumerate({"score": WITH_MOSS, "mean coverage": None}.items()):
        correlation = np.corrcoef(theirs, [numbers[i] for numbers in ours])[0, 1]
        what = f"correlation of MOSS's percentage with {what}, {len(ours):,} pairs"
        yield Row(what, float(correlation), least=least)


def irplag(root: Path) -> Iterator[Row]:
    """Compare the original of each task with copies disguised by hand on six levels, and with other work."""
    variants = {"a task at once": to_original, "two at a time": _two_at_a_time}
    for variant, scores_of in variants.items():
        pooled, by_level = disguised(root, scores_of)
        yield Row(f"IR-Plag, AUC, {variant}", pooled, least=IRPLAG)
        for level, area in by_level.items():
            yield Row(f"IR-Plag, AUC, {variant}, {level}", area)


def disguised(root: Path, scores_of: Callable[[list[File]], list[float]]) -> tuple[float, dict[str, float]]:
    """Return the AUC of all levels and of each, from the scores of the original with the others."""
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
    """Return the scores of the first document with each of the others."""
    return [scores.get(frozenset((documents[0].name, other.name)), 0.0) for other in documents[1:]]


def _two_at_a_time(documents: list[File]) -> list[float]:
    return [two(documents[0], other) for other in documents[1:]]


def two(one: File, other: File) -> float:
    """Return the score of two documents compared alone."""
    return max((pair.score for pair in everything([one, other]).pairs), default=0.0)


def clough(root: Path) -> Iterator[Row]:
    """Measure short answers that students wrote with or without copying from an article."""
    scores: dict[str, list[float]] = {}
    with (root / "file_information.csv").open() as file:
        answers = [line for line in csv.DictReader(file) if line["File"] not in _MISLABELLED]
    for task in sorted({line["Task"] for line in answers}):
        of_task = [line for line in answers if line["Task"] == task and line["Category"] != "orig"]
        paths = [root / "docs" / f"orig_task{task}.txt", *(root / "docs" / line["File"] for line in of_task)]
        task_scores = to_original([document(path) for path in paths])
        for line, score in zip(of_task, task_scores, strict=True):
            scores.setdefault(line["Category"], []).append(score)
    for kind, least in CLOUGH.items():
        yield Row(f"Clough and Stevenson, AUC, {kind}", auc(scores[kind], scores["non"]), least=least)


def pan(root: Path) -> Iterator[Row]:
    """Measure essays with passages of a source in them, verbatim or disguised."""
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
        common, reported, planted = tallies.tolist()
        if kind.startswith("01"):
            yield Row("PAN13, alarms where nothing was copied", listed, most=0)
            yield Row("PAN13, pairs with any match where nothing was copied", matched)
            continue
        least = VERBATIM if kind.startswith("02") else None
        yield Row(f"PAN13, {kind}, characters found of those copied", common / planted, least=least)
        yield Row(f"PAN13, {kind}, characters copied of those found", common / max(reported, 1), least=least)
        what = f"PAN13, {kind}, characters copied of those found, repeats too"
        yield Row(what, with_repeats[0] / max(with_repeats[1], 1))
        yield Row(f"PAN13, {kind}, pairs with a match", matched / len(pairs))
        yield Row(f"PAN13, {kind}, pairs listed", listed / len(pairs))


def _characters(both: tuple[File, File], plan: Path, matches: Sequence[Match]) -> NDArray[np.float64]:
    """Count the characters of both texts that are copied and found, found, and copied."""
    tallies = np.zeros(3)
    features = [f for f in ElementTree.parse(plan).iter("feature") if f.get("name") == "plagiarism"]
    for text, side in zip(both, ("this", "source"), strict=True):
        copied, reported = np.zeros((2, len(text.data)), bool)
        begins = (np.frombuffer(text.data, np.uint8) & 0xC0) != 0x80  # a character, in UTF-8
        at = np.append(np.flatnonzero(begins), len(text.data))
        for feature in features:
            start = int(feature.get(f"{side}_offset", 0))
            copied[at[start] : at[start + int(feature.get(f"{side}_length", 0))]] = True
        for match in matches:
            for span in (match.left, match.right):
                if span.document == text.name:
                    reported[span.start : span.end] = True
        tallies += [(mask & begins).sum() for mask in (copied & reported, reported, copied)]
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.classes", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR")
    print(table.plain(rows(parser.parse_args().data)))


if __name__ == "__main__":
    main()
