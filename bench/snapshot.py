"""Write the results of comparing many classes to a file, and compare two such files.

Run it before and after a change that must not change any result. It uses only the public interface, so it
also runs with another version of the package: `PYTHONPATH=OTHER/src python -m bench.snapshot OTHER.json`, then
`python -m bench.snapshot NEW.json --compare OTHER.json`. The exit code is 1 if the results differ.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import chaffinch
from bench.generated import GeneratedClass, notebook_class, program_class, prose_class

SAMPLES = Path(__file__).parent.parent / "tests" / "data" / "languages"
LARGE_CLASS = 150
"""Submissions: enough that far from every pair is listed."""
DIFFERENCES_SHOWN = 30

Results = dict[str, Any]


def write_demo(folder: Path) -> None:
    """Write the demo class with the installed command, under the folder names of generated classes."""
    run_command("demo", "--no-open", str(folder / "demo"))
    for path in (folder / "demo").iterdir():
        if path.is_dir():
            earlier_work = any(entry.is_dir() for entry in path.iterdir())
            name = "class" if path.name == "class" else "old" if earlier_work else "base"
            shutil.copytree(path, folder / name)
    shutil.rmtree(folder / "demo")


def run_command(*arguments: str) -> str:
    """Run the command line of the package that is imported here."""
    source = Path(chaffinch.__file__).parent.parent
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-m", "chaffinch", *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def generated_classes() -> Iterator[tuple[str, GeneratedClass]]:
    """Yield a class in every language, then larger and mixed ones, prose and notebooks."""
    classes: dict[str, GeneratedClass] = {}
    extensions = {
        name: language["extensions"][0]
        for name, language in json.loads(run_command("languages", "--json")).items()
    }
    for name, extension in extensions.items():
        classes[name] = program_class(name, extension, samples(name))
        yield name, classes[name]
    yield "c, large", program_class("c, large", "c", samples("c"), LARGE_CLASS)
    prose = prose_class()
    yield "prose", prose
    yield "notebooks", notebook_class(classes["python"], prose)
    together = [classes["c"], classes["cc"], classes["java"], classes["javascript"], prose]
    yield (
        "several languages",
        GeneratedClass(*(joined(part) for part in zip(*map(parts, together), strict=True))),
    )


def samples(language: str) -> tuple[str, str]:
    one, two = ((SAMPLES / f"{language}.{which}").read_text("utf-8") for which in ("one", "two"))
    return one, two


def parts(generated: GeneratedClass) -> tuple[dict[str, bytes], ...]:
    return generated.submissions, generated.base, generated.old


def joined(files: Iterable[dict[str, bytes]]) -> dict[str, bytes]:
    return {path: data for some in files for path, data in some.items()}


def snapshot() -> Results:
    """Return the results of every class and every way of comparing it."""
    results: Results = {}
    with TemporaryDirectory() as temporary:
        demo = Path(temporary, "demo class")
        demo.mkdir()
        write_demo(demo)
        results |= results_of_class(demo)
        for name, generated in generated_classes():
            folder = Path(temporary, name)
            for path, data in generated.files().items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
            results |= results_of_class(folder)
    return results


def results_of_class(folder: Path) -> Results:
    """Compare a class in several ways. Paths are relative, so that no result names a temporary folder."""
    os.chdir(folder)
    files = sorted(path for path in Path().rglob("*") if path.is_file())
    inputs = sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()
    reports = {
        "as a teacher does": chaffinch.compare("class", base="base", old="old"),
        "every pair": chaffinch.compare("class", threshold=0, top=None if len(files) < LARGE_CLASS else 600),
        "at most 4 owners": chaffinch.compare("class", max_owners=4, threads=1),
        "as consonants": chaffinch.compare("class", language="consonants", old=["old"], top=20),
    }
    return {f"{folder.name}: {way}": {"inputs": inputs} | results_of(report) for way, report in reports.items()}


def results_of(report: chaffinch.Report) -> Results:
    """Return what a report says, without wording."""
    return {
        "submissions": [[s.name, [d.name for d in s.documents]] for s in (*report.submissions, *report.old)],
        "pairs": {f"{pair.left} - {pair.right}": results_of_pair(pair) for pair in report.pairs},
        "order": [f"{pair.left} - {pair.right}" for pair in report.pairs],
        "clusters": [[list(cluster.submissions), cluster.score] for cluster in report.clusters],
        "common": [[*span(passage.span), passage.symbols, passage.owners] for passage in report.common],
        "background": list(report.background),
        "skipped": [skipped.name for skipped in report.skipped],
        "ignored": {name: [span(s) for s in spans] for name, spans in report.ignored.items()},
    }


def results_of_pair(pair: chaffinch.Pair) -> Results:
    return {
        "score": pair.score,
        "coverage": [pair.coverage.left, pair.coverage.right],
        "surprise": pair.surprise,
        "longest": pair.longest,
        "matches": [results_of_match(match) for match in pair.matches],
        "repeats": [results_of_match(match) for match in pair.repeats],
    }


def results_of_match(match: chaffinch.Match) -> Results:
    return {
        "left": span(match.left),
        "right": span(match.right),
        "symbols": match.symbols,
        "longest": match.longest,
        "owners": match.owners,
        "runs": [[*span(left)[1:], *span(right)[1:]] for left, right in match.runs],
    }


def span(span: chaffinch.Span) -> list[Any]:
    return [span.document, span.start, span.end]


def differences(new: Any, old: Any, path: str = "") -> Iterator[str]:
    """Yield every value that differs, with the path to it."""
    if isinstance(new, dict) and isinstance(old, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            here = f"{path} > {key}" if path else key
            if key not in new or key not in old:
                yield f"{here}: only in the {'new' if key in new else 'old'} file"
            else:
                yield from differences(new[key], old[key], here)
    elif isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        for i, (ours, theirs) in enumerate(zip(new, old, strict=True)):
            yield from differences(ours, theirs, f"{path}[{i}]")
    elif new != old:
        yield f"{path}: {json.dumps(new)[:200]}, was {json.dumps(old)[:200]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.snapshot", description=__doc__)
    parser.add_argument("file", type=Path, help="where to write the results")
    parser.add_argument("--compare", type=Path, metavar="OTHER", help="a file written before, to compare with")
    options = parser.parse_args()
    other = json.loads(options.compare.read_text("utf-8")) if options.compare else None
    file = options.file.resolve()
    file.write_text(json.dumps(results := snapshot(), ensure_ascii=False), "utf-8")
    print(f"{len(results)} comparisons, {sum(len(r['pairs']) for r in results.values()):,} pairs -> {file}")
    if other is None:
        return 0
    different = list(differences(json.loads(file.read_text("utf-8")), other))
    print(*different[:DIFFERENCES_SHOWN], f"{len(different):,} differences", sep="\n")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
