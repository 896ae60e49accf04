"""Measure everything, print the tables and write them to bench/results; exit with 1 if a bound is missed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import (
    archive,
    attacks,
    classes,
    density,
    documents,
    index,
    koala,
    memory,
    peers,
    reading,
    repetition,
    rivals,
    speed,
    table,
    texts,
)
from bench.table import Row
from bench.texts import Texts
from chaffinch.native import fingerprint as core

RESULTS = Path(__file__).parent / "results"


def measure(samples: Texts, folder: Path, data: Path | None) -> list[Row]:
    """Return the rows about fingerprints. Files that have to be on disk go into the folder."""
    return [
        *speed.kernels(samples.english, folder),
        *speed.whole_line(samples.english),
        *speed.growth(samples.english),
        *peers.rows(samples.english, folder),
        *speed.two_cores(samples.english),
        *reading.rows(samples, folder),
        *documents.rows(samples.english, data),
        *density.rows(samples),
        *speed.start_up(),
        *source_lines(),
        *memory.rows(samples.english, folder),
    ]


def source_lines() -> list[Row]:
    """Count the lines of the package and its core, without tests and benchmarks."""
    root = Path(__file__).parent.parent
    folders = {root / "src" / "chaffinch": ("*.py", "*.js"), root / "core" / "src": ("*.rs",)}
    paths = [path for folder, patterns in folders.items() for p in patterns for path in folder.rglob(p)]
    sources = [path.read_text("utf-8") for path in paths if "_native" not in path.parts]
    return [Row("lines of source: Python, Rust, JavaScript", sum(len(text.splitlines()) for text in sources))]


def machine() -> dict[str, str]:
    """Return what the figures depend on."""
    return {
        "processor": _processor(),
        "cores": str(core.threads_available()),
        "level": os.environ.get("CHAFFINCH_LEVEL", core.levels()[-1]),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    """Return the name of the processor. The platform module seldom knows more than the architecture."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="a folder with text/ and code/ to measure on, instead of the standard library",
    )
    parser.add_argument(
        "part",
        nargs="?",
        choices=("core", "compare", "rivals", "archive", "koala", "index", "all"),
        default="all",
    )
    options = parser.parse_args()
    missed = False
    samples = texts.directory(options.data) if options.data else texts.standard_library()
    origin = "given" if options.data else "the standard library's"
    sizes = f"{origin}, {len(samples.english):,} bytes English, {len(samples.code):,} code"
    if options.part in ("core", "all"):
        with TemporaryDirectory() as folder:
            missed |= write("core", measure(samples, Path(folder), options.data), sizes)
    if options.part in ("compare", "all"):
        rows = [*attacks.rows(), *repetition.rows(), *classes.rows(options.data)]
        missed |= write("compare", rows, "given" if options.data else "made")
    if options.part in ("rivals", "all"):
        missed |= write("rivals", list(rivals.rows(options.data)), "given" if options.data else "made")
    if options.part in ("archive", "index", "all"):
        with TemporaryDirectory() as folder:
            missed |= write("archive", list(archive.rows(samples.english, Path(folder))), sizes)
    if options.part in ("koala", "all"):
        with TemporaryDirectory() as folder:
            missed |= write("koala", list(koala.rows(samples.english, Path(folder), options.data)), sizes)
    if options.part in ("index", "all"):
        with TemporaryDirectory() as folder:
            missed |= write("index", list(index.rows(samples, Path(folder))), sizes)
    return int(missed)


def write(name: str, rows: list[Row], origin: str) -> bool:
    """Print the table, write it to its files, and return whether a bound is missed."""
    about = machine() | {"texts": origin}
    print(table.plain(rows))
    RESULTS.mkdir(exist_ok=True)
    as_json = {"machine": about, "rows": [row.to_dict() for row in rows]}
    (RESULTS / f"{name}.json").write_text(json.dumps(as_json, indent=1, ensure_ascii=False) + "\n", "utf-8")
    described = "; ".join(f"{key}: {value}" for key, value in about.items())
    (RESULTS / f"{name}.md").write_text(f"{described}\n\n{table.markdown(rows)}\n", "utf-8")
    return any(row.ok is False for row in rows)


if __name__ == "__main__":
    sys.exit(main())
