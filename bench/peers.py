"""Compare with other packages that winnow, each in a virtual environment under bench/.peers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import chaffinch
from bench.speed import best_of
from bench.table import Row
from bench.texts import repeated

PEERS = {"copydetect": "0.5.0", "winnowing": "0.2.1"}
SIZE = 1_000_000
TIMES_FASTER = 200

_HERE = Path(__file__).parent


class PeerFailed(Exception):
    """A peer could not be installed or run."""


def rows(english: bytes, folder: Path) -> list[Row]:
    """Measure how many times as fast as each peer the whole line is, with the default k and w."""
    text = repeated(english, SIZE)
    sample = folder / "sample.txt"
    sample.write_bytes(text)
    recipe = chaffinch.Recipe()
    measured = []
    for name, version in PEERS.items():
        what = f"times as fast as {name} {version}"
        try:
            python = environment(name, f"{name}=={version}")
            theirs: dict[str, float] = {}
            ours = float("inf")
            for _ in range(2):  # in turn with ours
                timed = run([python, _HERE / "peer.py", name, sample, recipe.k, recipe.w])
                for variant, seconds in json.loads(timed).items():
                    theirs[variant] = min(seconds, theirs.get(variant, seconds))
                ours = min(ours, best_of(10, {"": lambda: chaffinch.fingerprint(text)})[""])
        except PeerFailed as error:
            measured.append(Row(what, None, least=TIMES_FASTER, note=str(error)))
            continue
        measured += [
            Row(f"{what}, {variant}", seconds / ours, "×", least=TIMES_FASTER)
            for variant, seconds in theirs.items()
        ]
    return measured


def environment(name: str, *requirements: str) -> Path:
    """Return the Python of a virtual environment with these packages."""
    home = _HERE / ".peers" / name
    python = home / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", home])
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements])
    return python


def run(command: list[object]) -> str:
    """Return what a command prints."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerFailed(f"could not run: {error}") from None
    if done.returncode:
        message = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise PeerFailed(f"could not be installed or run: {message[-1]}")
    return done.stdout
