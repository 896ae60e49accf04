"""Generate small classes with known copies, the same on every run, in any language that has sample programs."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape

Lines = list[str]
Files = dict[str, bytes]
"""The bytes of each file by its path."""

AUTHORS = 6
_WORD = re.compile(r"\b[A-Za-z]\w{2,}\b")
_SIMPLE_LINE = re.compile(r"[^\"'`#%;!{}*/\\<>]*")
"""A line without quotes, comment marks or braces: its words can be mixed and the rest still lexes."""

_VOCABULARY = re.findall(
    r"\w+",
    """
the a one every some any this that old new small large early late north south river mountain city village road
harbour engine letter number theory measure answer question teacher student harvest winter summer market price
machine signal pattern colour shadow bridge window garden forest island machine history science language reason
memory method result error model sample paper chapter figure table answers grows falls turns carries follows
explains repeats changes measures compares describes supports denies crosses reaches leaves enters becomes keeps
slowly quickly often rarely again almost together against between under above before after during without within
because although while when where unless until therefore however moreover meanwhile and or but not only also
""",
)


@dataclass(frozen=True, slots=True)
class GeneratedClass:
    """The files of a class by path: submissions, base code and earlier work each in a folder."""

    submissions: Files
    base: Files = field(default_factory=dict)
    old: Files = field(default_factory=dict)

    def files(self) -> Files:
        folders = {"class": self.submissions, "base": self.base, "old": self.old}
        return {f"{name}/{path}": data for name, files in folders.items() for path, data in files.items()}


def program_class(
    language: str, extension: str, samples: tuple[str, str], authors: int = AUTHORS
) -> GeneratedClass:
    """Mix the lines of two programs into a class with copies, base code, common code and earlier work."""
    rng = random.Random(f"class in {language}")
    one, two = (text.splitlines() for text in samples)
    originals = [_own_program(rng, one, two) for _ in range(authors)]
    base = _own_program(rng, one, two)[:14]
    common = _own_program(rng, one, two)[:18]
    renamed = _renamer(rng, *samples)
    programs: dict[str, Lines] = {f"author{i}": lines for i, lines in enumerate(originals)}
    programs["verbatim"] = originals[0]
    programs["renamed"] = renamed(originals[1])
    programs["reordered"] = _reordered(rng, originals[2])
    programs["half"] = originals[3][: len(originals[3]) // 2] + _own_program(rng, one, two)
    programs["padded"] = _padded(rng, originals[4], one)
    programs["disguised"] = renamed(_reordered(rng, _padded(rng, originals[5], two)))
    programs["mixed"] = originals[1][:20] + originals[2][-20:] + originals[4][10:25]
    for i, (name, lines) in enumerate(programs.items()):
        if i % 2 == 0:
            programs[name] = base + lines
        if i % 3 == 0:
            programs[name] = programs[name] + common
    files = {f"{name}/main.{extension}": _text(lines) for name, lines in programs.items()}
    files |= _split(rng, "spread", extension, originals[0])
    files[f"short/main.{extension}"] = _text(one[:2])
    files[f"empty/main.{extension}"] = b""
    files["binary/main.o"] = bytes(range(256)) * 8
    old_originals = [_own_program(rng, one, two) for _ in range(2)]
    files[f"from_last_year/main.{extension}"] = _text(renamed(old_originals[0]))
    old = {f"last{i}/main.{extension}": _text(base + lines) for i, lines in enumerate(old_originals)}
    old[f"author3/main.{extension}"] = _text(originals[3])
    return GeneratedClass(files, {f"starter.{extension}": _text(base)}, old)


def prose_class() -> GeneratedClass:
    """Write essays in several formats, with copied, disguised, rearranged and quoted passages."""
    rng = random.Random("class in prose")
    essays = [[_sentence(rng) for _ in range(40)] for _ in range(8)]
    task = [_sentence(rng) for _ in range(6)]
    quoted = [_sentence(rng) for _ in range(5)]
    texts = {f"author{i}": _paragraphs(essay) for i, essay in enumerate(essays)}
    texts["verbatim"] = texts["author0"]
    texts["reordered"] = _paragraphs(rng.sample(essays[1], len(essays[1])))
    texts["half"] = _paragraphs(essays[2][:20] + [_sentence(rng) for _ in range(20)])
    texts["changed"] = _paragraphs([_changed_words(rng, sentence) for sentence in essays[3]])
    texts["disguised"] = _disguised(texts["author4"])
    texts["repeated"] = _paragraphs(essays[5][:10] + essays[6][:10] + essays[5][:10])
    texts["patchwork"] = _paragraphs([s for essay in essays for s in essay[10:15]])
    for i, name in enumerate(texts):
        texts[name] = (_paragraphs(task) if i % 2 == 0 else "") + texts[name]
        texts[name] += _paragraphs(quoted) if i % 3 == 0 else ""
    formats: list[tuple[str, Callable[[str], str]]] = [
        ("txt", str),
        ("md", lambda text: "# An essay\n\n" + text.replace("because", "*because*")),
        ("html", lambda text: _page(text)),
        ("tex", lambda text: f"\\documentclass{{article}}\n\\begin{{document}}\n{text}\\end{{document}}\n"),
    ]
    files = {}
    for i, (name, text) in enumerate(texts.items()):
        extension, write = formats[i % len(formats)]
        files[f"{name}/essay.{extension}"] = write(text).encode()
    old_essays = [[_sentence(rng) for _ in range(30)] for _ in range(2)]
    files["from_last_year/essay.txt"] = _paragraphs(old_essays[0][5:25]).encode()
    files["short/essay.txt"] = b"Too short."
    old = {f"last{i}/essay.txt": _paragraphs(essay).encode() for i, essay in enumerate(old_essays)}
    return GeneratedClass(files, {"task.md": _paragraphs(task).encode()}, old)


def notebook_class(programs: GeneratedClass, prose: GeneratedClass) -> GeneratedClass:
    """Put each program into the cells of a notebook, between paragraphs of an essay."""
    paragraphs = "\n\n".join(data.decode() for data in prose.submissions.values()).split("\n\n")
    rng = random.Random("class in notebooks")

    def notebook(data: bytes) -> bytes:
        lines = data.decode().splitlines()
        cells = []
        for start in range(0, len(lines), 12):
            cells.append({"cell_type": "markdown", "metadata": {}, "source": rng.choice(paragraphs)})
            source = [line + "\n" for line in lines[start : start + 12]]
            cells.append({"cell_type": "code", "metadata": {}, "source": source, "outputs": []})
        metadata = {"language_info": {"name": "python"}}
        return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}).encode()

    def notebooks(files: Mapping[str, bytes]) -> Files:
        return {
            re.sub(r"\.py$", ".ipynb", path): notebook(data)
            for path, data in files.items()
            if path.endswith(".py")
        }

    # Some submissions stay programs, so that notebooks are compared with them too.
    unchanged = {path: data for i, (path, data) in enumerate(programs.submissions.items()) if i % 4 == 3}
    return GeneratedClass(
        notebooks(programs.submissions) | unchanged, dict(programs.base), notebooks(programs.old)
    )


def _own_program(rng: random.Random, one: Lines, two: Lines) -> Lines:
    """Return blocks of lines in random order, with the words of some lines mixed. Chance shares little."""
    pool = [line for line in one + two if line.strip()]
    lines: Lines = []
    for _ in range(5):
        start = rng.randrange(len(pool))
        block = pool[start : start + rng.randrange(2, 6)] + rng.sample(pool, min(9, len(pool)))
        lines += [_mixed_words(rng, line) if rng.random() < 0.5 else line for line in block]
        lines.append("")
    return lines


def _mixed_words(rng: random.Random, line: str) -> str:
    if not _SIMPLE_LINE.fullmatch(line):
        return line
    words = line.split()
    rng.shuffle(words)
    indent = line[: len(line) - len(line.lstrip())]
    return indent + " ".join(words)


def _renamer(rng: random.Random, one: str, two: str) -> Callable[[Lines], Lines]:
    """Return a function that renames identifiers: the words that only one of the samples has, so no keyword."""
    names = sorted(set(_WORD.findall(one)) ^ set(_WORD.findall(two)))
    new_names = {name: f"name{rng.randrange(1000)}" for name in names}
    return lambda lines: [_WORD.sub(lambda word: new_names.get(word[0], word[0]), line) for line in lines]


def _reordered(rng: random.Random, lines: Lines) -> Lines:
    """Return the blocks between blank lines in another order."""
    blocks = "\n".join(lines).split("\n\n")
    rng.shuffle(blocks)
    return "\n\n".join(blocks).split("\n")


def _padded(rng: random.Random, lines: Lines, other: Lines) -> Lines:
    """Insert a foreign line every few lines."""
    padded: Lines = []
    for i, line in enumerate(lines):
        padded.append(line)
        if i % 9 == 8:
            padded.append(rng.choice(other))
    return padded


def _split(rng: random.Random, name: str, extension: str, lines: Lines) -> Files:
    """Spread a program over two files in a folder of its own."""
    middle = rng.randrange(len(lines) // 3, 2 * len(lines) // 3)
    return {
        f"{name}/first.{extension}": _text(lines[:middle]),
        f"{name}/deeper/second.{extension}": _text(lines[middle:]),
    }


def _text(lines: Lines) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _sentence(rng: random.Random) -> str:
    words = [rng.choice(_VOCABULARY) for _ in range(rng.randrange(7, 18))]
    return " ".join(words).capitalize() + rng.choice([".", ".", ".", "?", "!"])


def _paragraphs(sentences: list[str]) -> str:
    """Return the sentences in paragraphs of five."""
    paragraphs = [" ".join(sentences[i : i + 5]) for i in range(0, len(sentences), 5)]
    return "\n\n".join(paragraphs) + "\n\n"


def _changed_words(rng: random.Random, sentence: str) -> str:
    return " ".join(rng.choice(_VOCABULARY) if rng.random() < 0.1 else word for word in sentence.split())


def _disguised(text: str) -> str:
    """Change case, spacing and letters that look alike; the canonical text stays the same."""
    look_alikes = str.maketrans({"a": "а", "e": "é", "o": "ο"})
    return "\n\n".join(
        [part.upper(), part.translate(look_alikes), part.replace(" ", "  \u200b")][i % 3]
        for i, part in enumerate(text.split("\n\n"))
    )


def _page(text: str) -> str:
    paragraphs = "".join(f"<p>{escape(part)}</p>\n" for part in text.split("\n\n"))
    return f"<!DOCTYPE html>\n<html><head><title>An essay</title></head><body>\n{paragraphs}</body></html>\n"
