"""Measures all, prints the table and writes it to bench/results; exit code 1 if something misses its bound."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import (
    attacks,
    classes,
    density,
    documents,
    index,
    memory,
    peers,
    reading,
    rivals,
    speed,
    table,
    texts,
)
from bench.table import Row
from bench.texts import Texts
from chaffinch.native import fingerprint as core

RESULTS = Path(__file__).parent / "results"


def measure(found: Texts, folder: Path, data: Path | None) -> list[Row]:
    """Every row; the folder is for what must be a file."""
    return [
        *speed.kernels(found.english, folder),
        *speed.whole_line(found.english),
        *speed.growth(found.english),
        *peers.rows(found.english, folder),
        *speed.two_cores(found.english),
        *reading.rows(found, folder),
        *documents.rows(found.english, data),
        *density.rows(found),
        *speed.start_up(),
        *memory.rows(found.english, folder),
    ]


def machine() -> dict[str, str]:
    """What the figures depend on."""
    return {
        "processor": _processor(),
        "cores": str(core.threads_available()),
        "level": os.environ.get("CHAFFINCH_LEVEL", core.levels()[-1]),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    """By its name where the system tells it; platform seldom knows more than the architecture."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="text/ and code/ to use, not the standard library"
    )
    parser.add_argument("part", nargs="?", choices=("core", "compare", "index", "all"), default="all")
    asked = parser.parse_args()
    missed = False
    found = texts.directory(asked.data) if asked.data else texts.standard_library()
    origin = "given" if asked.data else "the standard library's"
    sizes = f"{origin}, {len(found.english):,} bytes English, {len(found.code):,} code"
    if asked.part in ("core", "all"):
        with TemporaryDirectory() as folder:
            missed |= write("core", measure(found, Path(folder), asked.data), sizes)
    if asked.part in ("compare", "all"):
        rows = [*attacks.rows(), *classes.rows(asked.data), *rivals.rows(asked.data)]
        missed |= write("compare", rows, "given" if asked.data else "made")
    if asked.part in ("index", "all"):
        with TemporaryDirectory() as folder:
            missed |= write("index", list(index.rows(found, Path(folder))), sizes)
    return int(missed)


def write(name: str, rows: list[Row], origin: str) -> bool:
    """The table, printed and in its files; tells whether something misses its bound."""
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
