"""Fuzz the readers of the native core for some seconds each, and keep an input that breaks one or is slow.

Then damage an index, see fuzz_index.py.

Run `python tools/fuzz.py --seconds 60`; `--again TARGET FILE` tries one input again. The checks are in
core/examples/fuzz.rs. The seeds are the samples of every language and some pages and texts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from chaffinch.languages.language import languages, records

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tools import fuzz_index, fuzz_slow  # noqa: E402

OUTPUT = ROOT / "core" / "target" / "fuzz"
TARGETS = ("code", "html", "text")

PAGES = (
    "<!doctype html><html><title>T</title><style>p {}</style><body><p class='a>b'>caf&eacute; &#233;",
    '<div id="x"><!-- out --><script>if (a < b) {}</script>1 < 2 &amp;&nbsp;&NotEqualTilde;<br/><![CDATA[',
)
TEXTS = (
    "Plain words, 123 of them.",
    "Être ou ne pas être, ça va ﬃ ½ ﷺ",
    "吾輩は猫である 한국어 текст \U0001d49c",
)


def _write(folder: Path, tables: Path, target: str) -> None:
    """Write the language tables, and seeds: four bytes that choose how to read, and a document."""
    folder.mkdir()
    for number, language in enumerate(languages()):
        table = b"\x1e".join(b"\x1f".join(f.encode() for f in row) for row in records(language))
        (tables / f"{number:03}").write_bytes(table)
        if target == "code":
            for which in ("one", "two"):
                sample = (ROOT / "tests" / "data" / "languages" / f"{language}.{which}").read_bytes()
                (folder / f"{language}-{which}").write_bytes(bytes([number, 0, number, 37]) + sample[:1500])
    for i, text in enumerate({"html": PAGES, "text": TEXTS, "code": ()}[target]):
        for how in range(8):
            encoding = {2: "utf-16-le", 3: "utf-32-le"}.get(how, "utf-8") if target == "text" else "utf-8"
            (folder / f"{i}-{how}").write_bytes(bytes([how, 0, how, 37]) + text.encode(encoding))


def _built() -> Path:
    """Build with coverage and all checks, in a separate folder because the flags differ."""
    flags = "-C instrument-coverage --cfg coverage"
    environment = os.environ | {"RUSTFLAGS": flags, "LLVM_PROFILE_FILE": os.devnull}
    command = ["cargo", "build", "-q", "--profile", "checked", "--example", "fuzz", "--target-dir", str(OUTPUT)]
    subprocess.run(command, cwd=ROOT / "core", env=environment, check=True)
    return OUTPUT / "checked" / "examples" / "fuzz"


def _run(program: Path, target: str, seconds: float, again: str | None) -> bool:
    with TemporaryDirectory() as name:
        seeds, tables = Path(name) / "seeds", Path(name) / "tables"
        tables.mkdir()
        _write(seeds, tables, target)
        failing = OUTPUT / f"{target}.input"
        command = [str(program), target, str(seconds), str(tables), str(seeds), str(failing)]
        command += [again] if again else []
        environment = os.environ | {"LLVM_PROFILE_FILE": os.devnull}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    print(f"{target}: {done.stdout.strip()}", flush=True)
    if done.returncode and not again:
        print(f"{target}: the failing input is {failing}; try it again with --again {target} {failing}")
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="time for each target")
    parser.add_argument("--again", nargs=2, metavar=("TARGET", "FILE"), help="try only this input")
    options = parser.parse_args()
    program = _built()
    if options.again:
        return 0 if _run(program, options.again[0], 0, options.again[1]) else 1
    done = [_run(program, target, options.seconds, None) for target in TARGETS]
    done.append(fuzz_slow.search(options.seconds, OUTPUT / "slow.input"))
    done.append(fuzz_index.search(options.seconds))
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
