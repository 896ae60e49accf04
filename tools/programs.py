"""Find the programs that tests run, and install those that are missing: `python tools/programs.py`.

Needs nothing but the standard library. With apt-get it installs as root or with sudo; on any other system it
prints what to install and exits with 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def find_browser() -> Path | None:
    """Return Chromium or Chrome."""
    paths = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    return next((Path(path) for path in paths if path), None)


def find_postgres() -> Path | None:
    """Return the folder of initdb and postgres, the newest version first. Debian keeps it off the PATH."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda folder: (len(folder.parent.name), folder.parent.name),
        reverse=True,
    )
    on_path = [Path(path).resolve().parent for path in [shutil.which("initdb")] if path]
    complete = (f for f in (*versions, *on_path) if (f / "initdb").exists() and (f / "postgres").exists())
    return next(complete, None)


def _finder(program: str) -> Callable[[], Path | None]:
    def find() -> Path | None:
        path = shutil.which(program)
        return Path(path) if path else None

    return find


FINDERS: Mapping[str, Callable[[], Path | None]] = {
    "browser": find_browser,
    "postgres": find_postgres,
    "ghostscript": _finder("gs"),
    "sevenzip": _finder("7z"),
    "antiword": _finder("antiword"),
    "catdoc": _finder("catdoc"),
    "tesseract": _finder("tesseract"),
    "node": _finder("npm"),
}
"""How to find each program, by the name of the pytest marker for tests that need it."""

PACKAGES = {
    "browser": "chromium",
    "postgres": "postgresql",
    "ghostscript": "ghostscript",
    "sevenzip": "p7zip-full",
    "antiword": "antiword",
    "catdoc": "catdoc",
    "tesseract": "tesseract-ocr",
    "node": "npm",
}
"""The Debian package of each program."""


def missing() -> list[str]:
    return [name for name, find in FINDERS.items() if find() is None]


def main() -> int:
    if not missing():
        return 0
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends"]
    install += [PACKAGES[name] for name in missing()]
    if os.name == "nt" or os.geteuid() != 0:
        install = ["sudo", *install]
    print(f"The tests need programs that are missing: {', '.join(missing())}.")
    if not shutil.which("apt-get") or not shutil.which(install[0]):
        print(f"Install them, then run this again. On Debian or Ubuntu: {' '.join(install)}")
        return 1
    prefix = install[: install.index("apt-get")]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    print(f"Installing: {' '.join(install)}", flush=True)
    # Lists of packages are often stale or absent on a new machine; if this fails, installing says why.
    subprocess.run([*prefix, "apt-get", "update", "-q"], env=environment, stdout=subprocess.DEVNULL)
    done = subprocess.run(install, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode or missing():
        print(f"Still missing: {', '.join(missing())}. Install by hand: {' '.join(install)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
