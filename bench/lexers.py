"""Compare with other lexers on the same files, each in a virtual environment under bench/.peers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import chaffinch
from bench import damage
from bench.peers import PeerFailed, environment, run
from bench.speed import best_of
from bench.table import Row
from chaffinch import Recipe

# The packages to install, and how many times as fast ours must be.
LEXERS = {
    "pygments": (["pygments==2.21.0"], 100),
    "tree-sitter": (
        [
            "tree-sitter==0.26.0",
            "tree-sitter-c==0.24.2",
            "tree-sitter-java==0.23.5",
            "tree-sitter-python==0.25.0",
            "tree-sitter-javascript==0.25.0",
        ],
        10,
    ),
}
SAMPLE = 400_000  # bytes

_HERE = Path(__file__).parent


def rows(language: str, files: Sequence[bytes], folder: Path) -> list[Row]:
    """Measure how many times as fast ours is, and how much the others find in a program that lost lines."""
    sample: list[bytes] = []
    for data in files:
        sample.append(data)
        if sum(map(len, sample)) >= SAMPLE:
            break
    losses = list(damage.damaged(sample))
    wholes = _written(folder, f"{language}-whole", sample)
    parts = _written(folder, f"{language}-part", [b"".join(damage.remaining(*loss)) for loss in losses])
    recipe = Recipe(language)
    measured = []
    for name, (requirements, least) in LEXERS.items():
        what = f"times as fast as {requirements[0].replace('==', ' ')}, {language}"
        try:
            python = environment(name, *requirements)
            theirs = json.loads(run([python, _HERE / "lexer.py", name, language, *wholes]))
            after = json.loads(run([python, _HERE / "lexer.py", name, language, *parts]))
        except PeerFailed as error:
            measured.append(Row(what, None, least=least, note=str(error)))
            continue
        ours = best_of(9, {"": lambda: [chaffinch.stream(data, recipe) for data in sample]})[""]
        measured.append(Row(what, theirs["seconds"] / ours, "×", least=least))
        survival = _survival(losses, theirs, after)
        measured.append(Row(f"{damage.K}-grams that {name} keeps, {language}", survival.share))
        measured.append(Row(f"{damage.K}-grams that {name} keeps, {language}, of all grams", survival.plain))
    return measured


Lexed = dict[str, list[list[int]]]


def _survival(losses: Sequence[tuple[bytes, set[int]]], whole: Lexed, part: Lexed) -> damage.Survival:
    survival = damage.Survival()
    columns = zip(losses, whole["kinds"], whole["starts"], whole["ends"], part["kinds"], strict=True)
    for (data, lines), *numbers in columns:
        kinds, starts, ends, after = (np.array(column, np.uint64) for column in numbers)
        survival.add(kinds, starts, ends, after, damage.deleted(data, lines))
    return survival


def _written(folder: Path, name: str, files: Sequence[bytes]) -> list[Path]:
    home = folder / name
    home.mkdir()
    paths = [home / f"{i:04}" for i in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    return paths
