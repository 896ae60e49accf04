"""Whatever its bytes and name, a file is read or reported, with little time and memory."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

import chaffinch
from chaffinch import Document, File, Recipe, Skipped
from chaffinch.languages import language
from chaffinch.read.for_recipe import ready_for
from chaffinch.read.ready import ready_documents
from tests import made

EXTENSIONS = (*made.FORMATS, "ipynb", "eml", "mbox", "zip", "tar", "gz", "7z", "c", "py")
STARTS = [b"", b"%PDF-1.7\n", b"PK\x03\x04", b"\x1f\x8b\x08\0", b"BZh9", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c",
          b"{\\rtf1",
          b"<html>", b'{"nbformat": 4, "cells": [', b"From: a\nTo: b\n\n", b"\\documentclass{a}", b"---\n",
          bytes.fromhex("d0cf11e0a1b11ae1")]  # fmt: skip


def read(document: File) -> list[Document | Skipped]:
    found = list(ready_documents(document))
    for each in found:
        assert each.name.startswith(document.name)
        if isinstance(each, Document):
            recipe = Recipe(each.language or "text")
            prints = chaffinch.fingerprint(each, recipe)
            assert not len(prints) or int(prints.ends.max()) <= len(ready_for(each, recipe).data)
        else:
            assert each.detail
    return found


@pytest.mark.parametrize("start", STARTS, ids=repr)
def test_random_bytes_as_every_format(start: bytes) -> None:
    noise = random.Random(repr(start))
    for extension in EXTENSIONS:
        for size in (0, 1, 300, 5000):
            read(File(f"x.{extension}", start + noise.randbytes(size)))


@pytest.mark.parametrize("extension", [e for e in made.FORMATS if e != "ps"])
def test_damaged_files_are_read_or_reported(extension: str) -> None:
    noise = random.Random(extension)
    whole = made.FORMATS[extension](made.prose(8))
    for _ in range(60):
        bad = bytearray(whole)
        for _ in range(noise.randint(1, 30)):
            at = noise.randrange(len(bad))
            bad[at : at + noise.choice([0, 1, 1, 50])] = noise.randbytes(noise.choice([0, 1, 1, 40]))
        read(File(f"x.{extension}", bytes(bad)))


@pytest.mark.parametrize("front", [*language.languages(), "text", "consonants", "bytes"])
def test_random_bytes_as_every_language(front: str) -> None:
    noise = random.Random(front)
    for size in (0, 1, 2, 3000):
        data = noise.randbytes(size)
        stream = chaffinch.stream(File("x", data, "latin-1", "plain", front), Recipe(front))
        assert (stream.ends > stream.starts).all()
        assert not len(stream) or int(stream.ends[-1]) <= size


_LIMITED = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20,) * 2)
from chaffinch import cli
cli.main(sys.argv[2:])
"""


def limited(megabytes: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command line with limited memory, for at most a minute."""
    command = [sys.executable, "-c", _LIMITED, str(megabytes), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_a_line_of_500_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    words = b"a line without an end that goes on and on, number after number 0123456789 "
    with path.open("wb") as file:
        for _ in range(500):
            file.write(words * ((1 << 20) // len(words)))
    done = limited(2500, "fingerprint", path, "-w", "4000")
    assert done.returncode == 0, done.stderr
    done = limited(2500, "fingerprint", path, "-l", "c", "-w", "4000")
    assert done.returncode == 0, done.stderr


def test_a_folder_of_bombs_costs_little_and_tells(tmp_path: Path) -> None:
    zeros = made.zipped({f"{i}.txt": bytes(40 << 20) for i in range(4)})
    (tmp_path / "bomb.zip").write_bytes(made.zipped({f"{i}.zip": zeros for i in range(50)}))
    nested = made.zipped({"essay.txt": "the innermost words"})
    for _ in range(200):
        nested = made.zipped({"next.zip": nested})
    (tmp_path / "nested.zip").write_bytes(nested)
    (tmp_path / "good.txt").write_text("Some words that must not be lost, whatever the others do to us here.")
    (tmp_path / "loop").symlink_to(tmp_path)
    done = limited(1500, "fingerprint", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "good.txt" in done.stdout
    assert "bomb.zip" in done.stderr
    assert "nested.zip" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("extension", ["html", "tex", "md", "rtf", "txt", "c", "py", "ipynb", "eml"])
def test_deep_nesting_and_what_is_never_closed(extension: str) -> None:
    for opening in (
        b"<div>",
        b"{",
        b"\\begin{a}",
        b"[",
        b"(",
        b'"',
        b"/*",
        b"<!--",
        b"```\n",
        b"$",
        b"> ",
        b"{\\b ",
        b"&",
    ):
        for times in (200, 20_000):
            read(File(f"x.{extension}", opening * times + b"words at the bottom of it all"))
