"""Measure classes whose programs repeat a few statements: time, memory, matches and the size of the report.

`python -m bench.repetition COUNT` compares this many programs and prints the figures as JSON; with `all` after
it, every pair is listed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import chaffinch
from bench.memory import MIB, status
from bench.table import Row
from chaffinch import Document
from chaffinch.comparison.options import TOP
from tests import repetitive

PROGRAMS = (20, 500)
EVERY_PAIR_OF = 200
"""Programs. Time and memory grow with the number of pairs."""
SECONDS = 60
MEMORY = 1000  # MiB
MATCHES = 150
"""Of a pair. A program of 5 KB has room for this many runs of t symbols."""
REPORT = 10  # MB
EVERY_PAIR = "all"


def rows() -> Iterator[Row]:
    for count in PROGRAMS:
        figures = _in_new_process(str(count))
        what = f"{count} programs of 5 KB from five shapes of statements"
        yield Row(f"{what}: CPU time with the report", figures["seconds"], "s", most=SECONDS)
        yield Row(f"{what}: peak memory", figures["memory"], "MiB", most=MEMORY)
        yield Row(f"{what}: matches of a pair, at most", figures["matches"], most=MATCHES)
        yield Row(f"{what}: report", figures["report"], "MB", most=REPORT)
    figures = _in_new_process(str(EVERY_PAIR_OF), EVERY_PAIR)
    what = f"{EVERY_PAIR_OF} such programs, all {figures['pairs']:,.0f} pairs"
    yield Row(f"{what}: CPU time without a report", figures["seconds"], "s")
    yield Row(f"{what}: peak memory", figures["memory"], "MiB", most=MEMORY)


def _in_new_process(*arguments: str) -> dict[str, float]:
    """Measure in a fresh interpreter: earlier measurements have grown this one."""
    command = [sys.executable, "-m", "bench.repetition", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=1800)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    count, every_pair = int(sys.argv[1]), EVERY_PAIR in sys.argv[2:]
    documents = [Document(f"s{n:03}.c", repetitive.program(n).encode()) for n in range(count)]
    size = 0
    start = time.process_time()
    report = chaffinch.compare(documents, threshold=0, top=None if every_pair else TOP)
    if not every_pair:
        with TemporaryDirectory() as folder:
            report.save(Path(folder) / "report.html")
            size = (Path(folder) / "report.html").stat().st_size
    seconds = time.process_time() - start
    figures = {
        "seconds": seconds,
        "memory": status("VmHWM") / MIB,
        "pairs": len(report.pairs),
        "matches": max(len(pair.places) for pair in report.pairs[:TOP]),
        "report": size / 1e6,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
