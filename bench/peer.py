"""Times one peer, run by the Python that has it: `peer.py NAME FILE K W` prints seconds by variant, as JSON.

It stands alone, as nothing of this project is installed there.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

ROUNDS = 2


def copydetect(text: str, k: int, w: int) -> dict[str, Callable[[], object]]:
    """As its own get_document_fingerprints does; what PyPI has is without its C extension."""
    utils = import_module("copydetect.utils")
    return {"same k and w": lambda: utils.winnow(utils.hashed_kgrams(text, k), w, remove_duplicates=False)}


def winnowing(text: str, k: int, w: int) -> dict[str, Callable[[], object]]:
    """Its own function has windows of 4 built in; the same steps with our window stand beside it."""
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
