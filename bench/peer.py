"""Time another package: `peer.py NAME FILE K W` prints the seconds of each variant, as JSON.

Runs in the environment of that package, so it imports nothing of this project.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

ROUNDS = 2


def copydetect(text: str, k: int, w: int) -> dict[str, Callable[[], object]]:
    """Do what its get_document_fingerprints does. The package on PyPI lacks the C extension."""
    utils = import_module("copydetect.utils")
    return {"same k and w": lambda: utils.winnow(utils.hashed_kgrams(text, k), w, remove_duplicates=False)}


def winnowing(text: str, k: int, w: int) -> dict[str, Callable[[], object]]:
    """Run its function, which has a window of 4 built in, and the same steps with our window."""
    module = import_module("winnowing")

    def same() -> object:
        grams = module.kgrams(module.sanitize(enumerate(text)), k)
        return set(map(module.select_min, module.kgrams(map(module.winnowing_hash, grams), w)))

    return {"same k and w": same, "same k, its own w = 4": lambda: module.winnow(text, k)}


def main() -> None:
    name, file, k, w = sys.argv[1:]
    text = Path(file).read_text("ascii")
    works = {"copydetect": copydetect, "winnowing": winnowing}[name](text, int(k), int(w))
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for variant, work in works.items():
            start = time.perf_counter()
            work()
            best[variant] = min(best[variant], time.perf_counter() - start)
    print(json.dumps(best))


if __name__ == "__main__":
    main()
