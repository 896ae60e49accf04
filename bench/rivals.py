"""Compare whole commands on whole classes: CPU time, memory, and whether copies rank first.

`python -m bench.rivals [--data DIR]` takes student programs in C from the data, or generates some. Each rival
has its own environment under bench/.peers; sim is the Debian package similarity-tester.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import table
from bench.classes import disguised, to_original, with_first
from bench.labelled import homework_labels
from bench.measures import LARGEST, Names, average_precision, document, each_once, ranking, weights
from bench.peers import PeerFailed, environment
from bench.programs import TASKS, authors
from bench.table import Row
from chaffinch import File

SIZES = (400, 1600, 6400)
CPU, MEMORY, GROWTH = 1.6, 150, 6
"""Upper bounds: seconds and MB for 1,600 programs, and how many times as long four times as many may take."""
LIMIT = 300  # seconds for one command
_LISTED = 500

_PEERS = Path(__file__).parent / ".peers"

# Run a command in its own process group. A small process has to start it: until the command replaces it, a new
# process counts as large as the one that started it.
_LAUNCHER = """
import json, os, resource, signal, subprocess, sys
limit, *command = sys.argv[1:]
process = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL)
try:
    code = process.wait(float(limit))
except subprocess.TimeoutExpired:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    code = None
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]), file=sys.stderr)
"""

_COPYDETECT = """
import sys, copydetect
home, language = sys.argv[1:]
detector = copydetect.CopyDetector(test_dirs=[home], extensions=[language], display_t=0, silent=True)
detector.run()
for (i, j) in zip(*(detector.similarity_matrix[:, :, 0] > 0).nonzero()):
    print(detector.test_files[i], detector.ref_files[j], max(detector.similarity_matrix[i, j]), sep="\\t")
"""

_DOLOS = """
const { Dolos } = require("@dodona/dolos-lib");
const [language, ...files] = process.argv.slice(1);
new Dolos({ language }).analyzePaths(files).then((report) => {
    for (const pair of report.allPairs())
        console.log([pair.leftFile.path, pair.rightFile.path, pair.similarity].join("\\t"));
});
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What a command used and printed."""

    cpu: float
    memory: float
    """MB. The largest of its processes."""
    output: str


Ranked = list[tuple[float, str, str]]
"""A figure and two submissions each."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another tool: how to install it, its usual command for a class in C and an output folder, and its ranking
    of a class in a language."""

    install: Callable[[], object]
    command: Callable[[Path, Path], list[object]]
    ranking: Callable[[Path, Path, str], Ranked]
    is_quick: bool = False
    """Whether it ranks a class of hundreds within a minute."""


def timed(command: list[object], home: Path, fine: tuple[int, ...] = (0,)) -> Run:
    """Run a command for a limited time. An exit code that is not in `fine` is a failure."""
    launched = [sys.executable, "-c", _LAUNCHER, str(LIMIT), *map(str, command)]
    # The results of compare50 change from run to run unless the hash seed is fixed.
    settings = os.environ | {"PYTHONHASHSEED": "50", "NODE_PATH": str(_PEERS / "dolos" / "node_modules")}
    done = subprocess.run(launched, cwd=home, capture_output=True, env=settings)
    messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
    code, cpu, memory = json.loads(messages.pop())
    if code is None:
        raise PeerFailed(f"more than {LIMIT} s")
    if code not in fine:
        raise PeerFailed(f"could not be run: {messages[-1] if messages else f'exit code {code}'}")
    return Run(cpu, memory, done.stdout.decode("utf-8", "replace"))


def _python(name: str) -> Path:
    return _PEERS / name / "bin" / "python"


def _files(home: Path, language: str) -> list[Path]:
    return sorted(home.glob(f"*/program.{language}"))


def _columns(output: str) -> Ranked:
    """Return the pairs of an output whose lines have two paths and a figure."""
    cells = [line.split("\t") for line in output.splitlines()]
    return [(float(figure), Path(one).parent.name, Path(other).parent.name) for one, other, figure in cells]


def _installed_dolos() -> None:
    home = _PEERS / "dolos"
    if not (home / "node_modules" / "@dodona" / "dolos-lib").exists():
        home.mkdir(parents=True, exist_ok=True)
        timed(["npm", "install", "--no-audit", "--no-fund", "--prefix", home, "@dodona/dolos-lib@3.5.1"], home)


def _installed_sim() -> None:
    if not shutil.which("sim_c"):
        raise PeerFailed("not installed: apt-get install similarity-tester")


def _dolos(home: Path, language: str) -> list[object]:
    return ["node", "--eval", _DOLOS, language, *_files(home, language)]


def _of_copydetect(home: Path, out: Path, language: str) -> Ranked:
    return _columns(timed([_python("copydetect"), "-c", _COPYDETECT, home, language], home).output)


def _of_compare50(home: Path, out: Path, language: str) -> Ranked:
    command = [_python("compare50"), "-m", "compare50", *sorted(home.iterdir()), "-n", _LISTED, "-o", out / "r"]
    timed(command, home)
    graph = re.search(
        r"var GRAPH = (\{.*\});?\s*$", (out / "r" / "index.html").read_text("utf-8"), re.MULTILINE
    )
    links = json.loads(graph[1])["links"] if graph else []
    return [(link["value"], Path(link["source"]).name, Path(link["target"]).name) for link in links]


def _of_sim(home: Path, out: Path, language: str) -> Ranked:
    lines = timed([f"sim_{language}", "-p", "-e", *_files(home, language)], home).output
    pairs = re.findall(r"^(\S+) consists for (\d+) % of (\S+) material$", lines, re.MULTILINE)
    return [(float(percent), Path(one).parent.name, Path(other).parent.name) for one, percent, other in pairs]


RIVALS = {
    "copydetect 0.5.0": Rival(
        lambda: environment("copydetect", "copydetect==0.5.0"),
        lambda home, out: [
            _python("copydetect"),
            "-m",
            "copydetect",
            "-t",
            home,
            "-e",
            "c",
            "-a",
            "-O",
            out / "r",
        ],
        _of_copydetect,
    ),
    "compare50 1.2.15": Rival(
        lambda: environment("compare50", "compare50==1.2.15"),
        lambda home, out: [_python("compare50"), "-m", "compare50", *sorted(home.iterdir()), "-o", out / "r"],
        _of_compare50,
    ),
    "sim": Rival(_installed_sim, lambda home, out: ["sim_c", "-p", *_files(home, "c")], _of_sim, is_quick=True),
    "Dolos 3.5.1": Rival(
        _installed_dolos,
        lambda home, out: _dolos(home, "c"),
        lambda home, out, language: _columns(timed(_dolos(home, language), home).output),
        is_quick=True,
    ),
}


def rows(data: Path | None) -> Iterator[Row]:
    homework, irplag = (
        data / "code" / name if data and (data / "code" / name).exists() else None
        for name in ("homework_A2016", "irplag")
    )
    with TemporaryDirectory() as folder:
        home = Path(folder)
        yield from _costs(_classes(homework, home), home)
        if homework:
            yield from _precision(homework, home)
        else:
            yield Row(
                "average precision, ours minus the best rival",
                None,
                least=0,
                note="needs --data with this collection",
            )
        if irplag:
            yield from _disguised(irplag, home)
        else:
            yield Row(
                "IR-Plag, AUC, ours minus the best rival",
                None,
                least=0,
                note="needs --data with this collection",
            )


def _classes(homework: Path | None, folder: Path) -> dict[int, Path]:
    """Return a folder for each class size, with one folder per program."""
    if homework:
        programs = [path.read_bytes() for path in sorted((homework / "src").rglob("*.c"))]
    else:
        each = -(-SIZES[-1] // len(TASKS))
        programs = [p.text("c").encode() for task in TASKS for p in authors(task, each, 0)]
    for size in SIZES:
        _laid_out({f"p{i:04}": program for i, program in enumerate(programs[:size])}, folder / str(size))
    return {size: folder / str(size) for size in SIZES}


def _laid_out(programs: dict[str, bytes], home: Path, language: str = "c") -> Path:
    for name, program in programs.items():
        (home / name).mkdir(parents=True)
        (home / name / f"program.{language}").write_bytes(program)
    return home


def _costs(classes: dict[int, Path], folder: Path) -> Iterator[Row]:
    took: dict[int, float] = {}
    for size, home in classes.items():
        command: list[object] = [
            sys.executable,
            "-m",
            "chaffinch",
            "compare",
            home,
            "-o",
            folder / f"ours-{size}",
        ]
        run = timed(command, folder, fine=(0, 1))  # 1 means that no pair is listed
        took[size] = run.cpu
        bounded = size == 1600
        yield Row(f"{size:,} programs, ours, CPU", run.cpu, "s", most=CPU if bounded else None)
        yield Row(f"{size:,} programs, ours, memory", run.memory, "MB", most=MEMORY if bounded else None)
    for small, large in pairwise(SIZES):
        what = f"CPU time at {large:,} programs / at {small:,}, ours"
        yield Row(what, took[large] / took[small], "×", most=GROWTH)
    for name, rival in RIVALS.items():
        try:
            rival.install()
            run = timed(rival.command(classes[1600], _new_folder(folder / name)), folder)
        except PeerFailed as error:
            yield Row(f"1,600 programs, {name}, CPU", None, note=str(error))
            continue
        yield Row(f"1,600 programs, {name}, CPU", run.cpu, "s")
        yield Row(f"1,600 programs, {name}, memory", run.memory, "MB")
        yield Row(f"times as fast as {name}, 1,600 programs", run.cpu / took[1600], "×")


def _precision(homework: Path, folder: Path) -> Iterator[Row]:
    for assignment, labelled in homework_labels(homework).items():
        paths = sorted((homework / "src" / assignment).iterdir())
        programs = {path.name: path.read_bytes() for path in paths}
        home = _laid_out(programs, folder / assignment / "class")
        theirs: dict[str, dict[Names, float]] = {}
        for name, rival in RIVALS.items():
            if len(paths) > LARGEST and not rival.is_quick:
                continue
            try:
                rival.install()
                theirs[name] = _figures(
                    rival.ranking(home, _new_folder(folder / assignment / name), "c"), set(programs)
                )
            except PeerFailed as error:
                yield Row(f"average precision, {assignment}, {name}", None, note=str(error))
        ours = weights(ranking([document(path) for path in paths]).pairs)
        variants = {"": None, ", each program once": each_once(programs, labelled)}
        for variant, among in variants.items():
            what = f"average precision, {assignment}{variant}"
            figure = average_precision(ours, labelled, among)
            yield Row(f"{what}, ours", figure)
            of_rivals = {name: average_precision(of, labelled, among) for name, of in theirs.items()}
            for name, of in of_rivals.items():
                yield Row(f"{what}, {name}", of)
            what += ", ours minus the best rival"
            if of_rivals:
                yield Row(what, figure - max(of_rivals.values()), least=0)
            else:
                yield Row(what, None, least=0, note="no rival could be run")


def _disguised(irplag: Path, folder: Path) -> Iterator[Row]:
    ours, _ = disguised(irplag, to_original)
    yield Row("IR-Plag, AUC, ours", ours)
    theirs: dict[str, float] = {}
    for name, rival in RIVALS.items():

        def scores_of(documents: list[File], rival: Rival = rival) -> list[float]:
            programs = {one.name: one.data for one in documents}
            with TemporaryDirectory(dir=folder) as here:
                home = _laid_out(programs, Path(here, "class"), "java")
                ranked = rival.ranking(home, _new_folder(Path(here, "out")), "java")
            return with_first(documents, _figures(ranked, set(programs)))

        try:
            rival.install()
            theirs[name], _ = disguised(irplag, scores_of)
        except PeerFailed as error:
            yield Row(f"IR-Plag, AUC, {name}", None, note=str(error))
            continue
        yield Row(f"IR-Plag, AUC, {name}", theirs[name])
    what = "IR-Plag, AUC, ours minus the best rival"
    if theirs:
        yield Row(what, ours - max(theirs.values()), least=0)
    else:
        yield Row(what, None, least=0, note="no rival could be run")


def _new_folder(folder: Path) -> Path:
    """Create the output folder: some rivals do not."""
    folder.mkdir(parents=True)
    return folder


def _figures(ranked: Ranked, submissions: set[str]) -> dict[Names, float]:
    """Return the higher figure of both directions for each pair."""
    figures: dict[Names, float] = {}
    for figure, one, other in ranked:
        if one != other:
            both = frozenset((one, other))
            figures[both] = max(figure, figures.get(both, figure))
    if not figures or not all(both <= submissions for both in figures):
        raise PeerFailed("its output could not be understood")  # and must not count as a bad ranking
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.rivals", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR")
    print(table.plain(list(rows(parser.parse_args().data))))


if __name__ == "__main__":
    main()
