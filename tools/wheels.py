"""Build the source package and manylinux wheels into dist, check their symbols, and run the demo from each.

Zig links (ziglang on PyPI), so that a wheel built on any Linux runs on systems as old as manylinux2014.
A target that Rust has no standard library for on this machine is left out with a message.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")


def run(program: str, *arguments: str | Path) -> None:
    """Run a program of this environment; a failure ends the build."""
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([BIN / program, *arguments], check=True, cwd=ROOT, env=environment)


def has_standard_library(target: str) -> bool:
    command = ["rustc", "--print", "target-libdir", "--target", target]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "core")
    folder = Path(done.stdout.strip())
    return done.returncode == 0 and folder.is_dir() and any(folder.glob("libstd-*"))


def try_demo(package: Path) -> None:
    """Install a package into a new environment and run the demo from it, away from the sources."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
        subprocess.run([python, "-m", "chaffinch", "demo", "--no-open", "demo"], check=True, cwd=folder)
        assert Path(folder, "demo", "report.html").stat().st_size > 0


def main() -> None:
    run("pip", "install", "--quiet", "--group", "wheel")
    shutil.rmtree(DIST, ignore_errors=True)
    run("maturin", "sdist", "--out", DIST)
    for target in TARGETS:
        if has_standard_library(target):
            options = ("--release", "--zig", "--compatibility", "manylinux2014", "--target", target)
            run("maturin", "build", *options, "--out", DIST)
        else:
            print(f"No wheel for {target}: run `rustup target add {target}` first.")
    for wheel in DIST.glob("*.whl"):
        run("auditwheel", "show", wheel)
    here = f"*_{platform.machine()}.whl"
    for package in (*DIST.glob("*.tar.gz"), *DIST.glob(here)):
        try_demo(package)
    print("Built:", *(path.name for path in sorted(DIST.iterdir())), sep="\n  ")


if __name__ == "__main__":
    main()
