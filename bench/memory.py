"""Measure peak memory beyond what must be held: the input and 20 bytes per fingerprint.

`python -m bench.memory PATH` fingerprints a file or all files of a folder and prints, as JSON, the growth of
its memory, the size of the input and the number of fingerprints.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import chaffinch
from bench.table import Row
from bench.texts import repeated

MIB = 1 << 20
BYTES_PER_FINGERPRINT = 20
CONSTANT = 64  # MiB

_STATUS = Path("/proc/self/status")


def rows(english: bytes, folder: Path) -> list[Row]:
    """Measure one long file and many short ones."""
    if not _STATUS.exists():
        return [Row("memory", None, most=CONSTANT, note="not on this machine: no /proc")]
    long = folder / "long.txt"
    long.write_bytes(repeated(english, 512 * MIB))
    many = folder / "many"
    many.mkdir()
    part = repeated(english, 128 << 10)
    for i in range(2000):
        (many / f"{i:04}.txt").write_bytes(part)
    return [
        _over("one file of 512 MB", long),
        _over("2,000 files of 128 KB", many),
    ]


def _over(what: str, path: Path) -> Row:
    """Measure the memory used beyond the input and its fingerprints."""
    command = [sys.executable, "-m", "bench.memory", str(path)]
    # In a fresh interpreter: earlier measurements have grown this one.
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout)
    held = done["input"] + BYTES_PER_FINGERPRINT * done["fingerprints"]
    return Row(
        f"memory beyond the input and 20 bytes per fingerprint ({held / MIB:,.0f} MiB), {what}",
        (done["growth"] - held) / MIB,
        "MiB",
        most=CONSTANT,
    )


def status(field: str) -> int:
    """Return a size in bytes. Not getrusage: a new process inherits the peak of the process that started it."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


def main() -> None:
    path = Path(sys.argv[1])
    chaffinch.fingerprint(b"warm-up " * 100)
    before = status("VmRSS")
    if path.is_dir():
        files = sorted(path.iterdir())
        count = sum(map(len, chaffinch.fingerprint_all(files)))
        size = sum(file.stat().st_size for file in files)
    else:
        count = len(chaffinch.fingerprint(path))
        size = path.stat().st_size
    print(json.dumps({"growth": status("VmHWM") - before, "input": size, "fingerprints": count}))


if __name__ == "__main__":
    main()
