"""Programs and pages made to break a reader: random, unclosed, deeply nested, endless.

What must be fast runs in a process with limits. They are generous: linear time is seconds, and what looks for
an end again and again takes hours.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from chaffinch import File, Recipe, stream
from chaffinch.languages import language
from chaffinch.types import Stream

SECONDS = 60
MEGABYTES = 1

OPENINGS = [
    "/*", '"', "'", "`", 'R"x(', "<<EOF", "<<-EOF\n", "--[==[", "[=", "{-", "(*", '"""', "'''", "#|", "#", "r#",
    'r#"', "%q(", "=begin\n", "/* \\", "\\\n", '"\\', "'\\", "<?ph", "?>", "qw(", "<<~SQL", '#"', "0x", "1e+",
    "1.", "$", " #",
]  # fmt: skip
PAGE_OPENINGS = [
    "<!--", "<!-- -", "<script>", "<script></", "<style>", "&", "&#", "&amp", "&#x", "<", "</", "<a b='",
    '<a b="', "<!", "<?", "<svg><math>", "<![CDATA[", "<p a=\"'", "<script></scrip",
]  # fmt: skip


def is_sound(found: Stream, size: int) -> bool:
    in_order = bool((found.starts[1:] >= found.ends[:-1]).all()) and bool((found.starts < found.ends).all())
    return in_order and (not len(found) or int(found.ends[-1]) <= size)


def limited(program: str, megabytes: int | None = None) -> str:
    """Return the output of a program, with limited memory and a minute of time."""

    def limit() -> None:
        if megabytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS, preexec_fn=limit
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", language.languages())
def test_random_bytes(name: str) -> None:
    data = random.Random(name).randbytes(100_000)
    for front in (name, name + language.KEEP_NAMES):
        assert is_sound(stream(File("x", data, "latin-1"), Recipe(front)), len(data))


@pytest.mark.parametrize("name", language.languages())
def test_every_opening_unclosed(name: str) -> None:
    """Return each opener once, at the end of the text, on every line, and all in turn."""
    openings = sorted(
        {row[1] for row in language.records(name) if len(row) > 1 and row[0] not in ("keyword", "columns")}
    )
    texts = [text for o in openings for text in (o, f"x {o}", f"{o} y\n" * 100, o * 100, f"{o}\\")]
    for text in [*texts, "\n".join(openings) * 50, " ".join(openings) * 50]:
        data = text.encode()
        assert is_sound(stream(File("x", data, "utf-8"), Recipe(name)), len(data)), text[:80]


@pytest.mark.parametrize("name", language.languages())
@pytest.mark.parametrize("depth", [200, 100_000])
def test_deep_nesting(name: str, depth: int) -> None:
    pairs = [("(", ")"), ("{", "}"), ("[", "]")]
    pairs += [(row[1], row[2]) for row in language.records(name) if row[0] in ("block-comment", "string")][:6]
    for left, right in pairs:
        data = (left * depth + "x" + right * depth + "\n").encode()
        assert is_sound(stream(File("x", data, "utf-8"), Recipe(name)), len(data)), left


@pytest.mark.slow
def test_openings_repeated_in_every_language() -> None:
    """Each opener on one line and on many, alone and followed by the first part of an end."""
    program = f"""
from chaffinch import File, Recipe, stream
from chaffinch.languages import language
for name in language.languages():
    own = {{row[1] for row in language.records(name) if row[0] in
           ("string", "block-comment", "line-comment", "char", "fenced", "tagged")}}
    for opening in sorted(own | set({OPENINGS!r})):
        for unit in (opening, opening + " x\\n"):
            data = (unit * ({MEGABYTES * 50_000} // len(unit))).encode()
            stream(File("x", data, "utf-8"), Recipe(name))
print("read")
"""
    assert limited(program) == "read\n"


@pytest.mark.slow
def test_large_openings() -> None:
    """Longer programs in a few languages show what is slightly worse than linear."""
    program = f"""
from chaffinch import File, Recipe, stream
for name in ("c", "cc", "python", "lua", "haskell", "bash"):
    for opening in {OPENINGS!r}:
        for unit in (opening, opening + " x\\n"):
            data = (unit * ({MEGABYTES} * 1_000_000 // len(unit))).encode()
            stream(File("x", data, "utf-8"), Recipe(name))
print("read")
"""
    assert limited(program) == "read\n"


@pytest.mark.slow
def test_openings_of_pages_repeated() -> None:
    program = f"""
from chaffinch import File, stream
for opening in {PAGE_OPENINGS!r}:
    for unit in (opening, opening + " x\\n", opening + ">"):
        data = (unit * ({MEGABYTES} * 1_000_000 // len(unit))).encode()
        stream(File("x.html", data))
print("read")
"""
    assert limited(program) == "read\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("front", "unit"),
    [
        ("c", "/*x"),
        ("python", '"x\\\\'),
        ("javascript", "`${"),
        ("fortran-fixed", " "),
        ("text", "a"),
    ],
)
def test_a_line_of_500_megabytes(front: str, unit: str) -> None:
    """Fingerprints need constant memory beside the input, and Python holds a copy of the input."""
    program = f"""
from chaffinch import File, Recipe, fingerprint
data = {unit!r}.encode() * (500_000_000 // {len(unit)})
print(fingerprint(File("x", data, "utf-8"), Recipe({front!r}, w=10_000)).symbols > 0)
"""
    assert limited(program, 2_500) in ("True\n", "False\n")


@pytest.mark.slow
def test_memory_that_is_not_there_is_asked_for_in_vain() -> None:
    """A stream reserves more than it needs; if that fails, it grows instead."""
    program = """
from chaffinch import File, Recipe, stream
data = b"word " * 40_000_000
print(len(stream(File("x", data, "utf-8"), Recipe("c"))))
"""
    assert limited(program, 3_000) == "40000000\n"


@pytest.mark.slow
def test_the_fuzzer_finds_nothing_in_a_second() -> None:
    tool = Path(__file__).parent.parent / "tools" / "fuzz.py"
    done = subprocess.run([sys.executable, tool, "--seconds", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
