"""Measure speed: the selection kernels, the whole line, two cores against one, start-up."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import chaffinch
from bench.table import Row
from bench.texts import repeated, scripts

MB = 1_000_000
_CORE = Path(__file__).parent.parent / "core"

# How many times as fast as the loop in figure 5 of the paper selection must be, by instruction level.
GAINS = {"avx512": 5.0, "avx2": 2.5, "portable": 1.2}


def best_of(rounds: int, works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the seconds of the fastest run of each. They take turns, so that noise affects all alike."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            result = work()
            best[name] = min(best[name], time.perf_counter() - start)
            del result  # freeing it is not part of the work
    return best


def kernels(english: bytes, folder: Path) -> list[Row]:
    """Compare selection on one core, 64-bit hashes, k = 50 and w = 100, with figure 5 and with memcpy."""
    sample = folder / "english.txt"
    sample.write_bytes(repeated(english, 64 * MB))
    command = ["cargo", "run", "--quiet", "--release", "--example", "kernel", "--", str(sample)]
    try:
        lines = subprocess.run(
            command, cwd=_CORE, check=True, capture_output=True, text=True, timeout=600
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return [Row("selection against figure 5", None, note=f"could not run cargo: {error}")]
    took = {(name, k, w): float(seconds) for name, k, w, seconds, _ in map(str.split, lines.splitlines())}
    shape = ("50", "100")
    rows = []
    for level, gain in GAINS.items():
        what = f"selection, {level}, against figure 5 at (50, 100)"
        selection = took.get((f"select-{level}", *shape))
        rows.append(
            Row(what, None, "×", least=gain, note="not on this machine")
            if selection is None
            else Row(what, took["figure-5", *shape] / selection, "×", least=gain)
        )
    what = "selection, avx512, against memcpy at (50, 100)"
    fast = took.get(("select-avx512", *shape))
    rows.append(
        Row(what, None, "%", least=7, note="not on this machine")
        if fast is None
        else Row(what, 100 * took["memcpy", "0", "0"] / fast, "%", least=7)
    )
    return rows


def whole_line(english: bytes) -> list[Row]:
    """Measure bytes to fingerprints through the API, default recipe. One document uses one thread."""
    texts = {"ASCII": english} | scripts(english)
    documents = {name: repeated(text, 16 * MB) for name, text in texts.items()}
    took = best_of(9, {name: partial(chaffinch.fingerprint, data) for name, data in documents.items()})
    bounds = {"ASCII": 300.0, "mixed": 120.0}
    return [
        Row(
            f"bytes to fingerprints, {name}",
            len(documents[name]) / seconds / MB,
            "MB/s",
            least=bounds.get(name),
        )
        for name, seconds in took.items()
    ]


def growth(english: bytes) -> list[Row]:
    """Measure longer documents: the rate stays the same if time is linear."""
    documents = {f"{size} MB": repeated(english, size * MB) for size in (1, 10, 100)}
    took = best_of(5, {name: partial(chaffinch.fingerprint, data) for name, data in documents.items()})
    return [
        Row(
            f"bytes to fingerprints, ASCII, one document of {name}", len(documents[name]) / seconds / MB, "MB/s"
        )
        for name, seconds in took.items()
    ]


def two_cores(english: bytes) -> list[Row]:
    """Measure 10,000 documents of 16 KB, including the serial part in Python."""
    text = repeated(english, 10_000 * 16_384)
    documents = [text[i : i + 16_384] for i in range(0, len(text), 16_384)]
    cores = []

    def two() -> object:
        wall, cpu = time.perf_counter(), time.process_time()
        prints = chaffinch.fingerprint_all(documents, threads=2)
        cores.append((time.process_time() - cpu) / (time.perf_counter() - wall))
        return prints

    took = best_of(9, {"one": partial(chaffinch.fingerprint_all, documents, threads=1), "two": two})
    return [
        Row("two cores against one, 10,000 documents of 16 KB", took["one"] / took["two"], "×", least=1.7),
        # Well under 2 means that something else was running, and the row above says little.
        Row("cores in use with two threads, best run", max(cores)),
        Row("the same documents on one core", len(text) / took["one"] / MB, "MB/s"),
    ]


def start_up() -> list[Row]:
    """Measure the CPU time of a process that imports the package and does nothing else."""
    return [
        Row("import chaffinch, CPU time", _cpu("import chaffinch"), "ms", most=120),
        Row(
            "from chaffinch import fingerprint, CPU time",
            _cpu("from chaffinch import fingerprint"),
            "ms",
            most=120,
        ),
        Row("Python alone, CPU time", _cpu("pass"), "ms"),
    ]


def _cpu(statement: str) -> float:
    """Return milliseconds, the best of 5."""

    def cpu_seconds() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    best = float("inf")
    for _ in range(5):
        before = cpu_seconds()
        subprocess.run([sys.executable, "-c", statement], check=True, timeout=60)
        best = min(best, cpu_seconds() - before)
    return 1000 * best
