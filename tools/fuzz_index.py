"""Damage a small index in many ways, use it, and complain about a wrong answer, a hang or an unclear error.

Run `python tools/fuzz_index.py --all` to flip every byte of every file. `--round N` flips other bits of it. A
single damage takes about a tenth of a second.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.damaging import Damage, Damaging, cuts, flip, flips, zeroed_blocks

RECIPES = ("text", "koala")


def search(seconds: float) -> bool:
    """Flip random bytes for some seconds. Return whether all was well."""
    each = seconds / len(RECIPES)
    return _run_all(lambda damaging: _random_flips(damaging, time.monotonic() + each))


def _random_flips(damaging: Damaging, end: float) -> Iterator[Damage]:
    files = [(file, (damaging.where / file).read_bytes()) for file in damaging.files()]
    files = [(file, whole) for file, whole in files if whole]
    chance = random.Random()
    while time.monotonic() < end:
        file, whole = chance.choice(files)
        yield flip(file, whole, chance.randrange(len(whole)), chance.randrange(1 << 30))


def _everything(damaging: Damaging, round_number: int) -> Iterable[Damage]:
    blocks = [zeroed_blocks(damaging, size) for size in (512, 4096)]
    return chain(cuts(damaging, 40), *blocks, flips(damaging, 1, round_number))


def _run_all(damages: Callable[[Damaging], Iterable[Damage]]) -> bool:
    return sum(_run(recipe, damages) for recipe in RECIPES) == len(RECIPES)


def _run(recipe: str, damages: Callable[[Damaging], Iterable[Damage]]) -> bool:
    with TemporaryDirectory() as folder:
        damaging, count, problems = Damaging(Path(folder), recipe), 0, 0
        for damage in damages(damaging):
            count += 1
            for problem in damaging.problems(damage):
                problems += 1
                print(f"index {recipe}: {problem}", flush=True)
    print(f"index {recipe}: {count} damaged, {problems} problems", flush=True)
    return not problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--all", action="store_true", help="flip every byte; takes hours")
    parser.add_argument("--round", type=int, default=0, help="which bits --all flips")
    options = parser.parse_args()
    if options.all:
        return 0 if _run_all(lambda damaging: _everything(damaging, options.round)) else 1
    return 0 if search(options.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
