"""Any input gives a clear error or a correct result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chaffinch import File, Recipe, Skipped, Unreadable, documents, fingerprint, fingerprint_all, stream
from chaffinch.native import fingerprint as core
from chaffinch.read import load


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"gone\.txt: no such file"):
        fingerprint(tmp_path / "gone.txt")


def test_a_directory_where_a_file_was_meant(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="is a directory; name the files in it"):
        fingerprint(tmp_path)


def test_a_name_with_a_nul_or_too_long() -> None:
    with pytest.raises(Unreadable, match="null byte"):
        fingerprint(Path("a\0b"))
    with pytest.raises(Unreadable, match="too long"):
        fingerprint(Path("x" * 5000))


def test_a_device_is_not_read_for_ever() -> None:
    with pytest.raises(Unreadable, match="is a device"):
        fingerprint(Path("/dev/zero"))


@pytest.mark.parametrize("path", ["/proc/kmsg", "/proc/self/status"])
def test_what_the_system_makes_while_it_is_read_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to(path)
    for name in (Path(path), tmp_path / "link.txt"):
        with pytest.raises(Unreadable, match="is made by the system, not a file; copy"):
            fingerprint(name)


def test_a_pipe_without_a_writer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "WAIT_SECONDS", 0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="is a pipe that nothing has written to"):
        fingerprint(tmp_path / "pipe")
    (skipped,) = documents(tmp_path / "pipe")
    assert isinstance(skipped, Skipped)
    assert "start the program" in skipped.detail


def test_a_slow_writer_of_a_pipe_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "WAIT_SECONDS", 0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)  # does not wait for a reader
    with subprocess.Popen(["sh", "-c", "sleep 0.2; echo late words"], stdout=writer):
        os.close(writer)
        assert load.load(pipe) == b"late words\n"


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "what comes through a pipe is a document like any other, however it was made"
    with subprocess.Popen(["sh", "-c", f"echo '{text}' > {pipe}"]):
        assert fingerprint(pipe).hashes.tolist() == fingerprint(text).hashes.tolist()


def test_a_symlink_loop(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(Unreadable, match="loop"):
        fingerprint(loop)


def test_no_permission(tmp_path: Path) -> None:
    """Runs as a user without rights, because root may read everything."""
    secret = tmp_path / "secret.txt"
    secret.write_text("words")
    secret.chmod(0)
    program = f"""
import os, pathlib
import chaffinch
chaffinch.fingerprint("warm")  # everything is loaded while it may be
if os.getuid() == 0:
    os.setuid(65534)
try:
    chaffinch.fingerprint(pathlib.Path({str(secret)!r}))
except chaffinch.Unreadable as error:
    print(error)
"""
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.owner() != "root" or parent == Path("/tmp"):
            parent.chmod(0o755 | parent.stat().st_mode)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "no permission" in done.stdout, done.stderr


def test_a_file_that_vanishes_while_others_are_read(tmp_path: Path) -> None:
    names = [tmp_path / f"{i}.txt" for i in range(3)]
    for name in names:
        name.write_text("some words that are long enough to have a fingerprint or two, at least" * 2)
    names[1].unlink()
    with pytest.raises(Unreadable, match=r"1\.txt"):
        fingerprint_all(names)


@pytest.mark.parametrize(
    "data", [b"", b" ", b"\0", b"\0" * 5000, b"a", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x82"]
)
def test_almost_empty_input_has_no_fingerprint(data: bytes) -> None:
    assert len(fingerprint(data)) == 0
    assert fingerprint(data).hashes.dtype == "uint64"


def test_an_empty_list_of_documents() -> None:
    assert len(fingerprint_all([])) == 0


def test_nul_bytes_between_letters_do_not_matter() -> None:
    text = "nothing between the letters counts, so this is one and the same text as before"
    with_nul = text.replace(" ", "\0 ")
    assert fingerprint(with_nul).hashes.tolist() == fingerprint(text).hashes.tolist()


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="cannot read a int"):
        fingerprint(42)  # type: ignore[arg-type]


def test_one_document_is_not_a_list_of_documents() -> None:
    with pytest.raises(TypeError, match="use fingerprint"):
        fingerprint_all("hello")


def test_numbers_of_another_width_are_converted_not_misread() -> None:
    narrow = np.arange(100, dtype=np.uint8)
    source, same = core.Source.canonical(narrow), core.Source.canonical(narrow.astype(np.uint32))  # type: ignore[arg-type]
    recipe = Recipe("bytes", k=5, w=4)
    assert (
        core.fingerprint([source], recipe)[0].hashes.tolist()
        == core.fingerprint([same], recipe)[0].hashes.tolist()
    )


def test_a_pipe_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(load, "MAX_BYTES", 1 << 22)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        subprocess.Popen(["sh", "-c", f"exec yes > {pipe} 2> /dev/null"]),
        pytest.raises(Unreadable, match="split it"),
    ):
        fingerprint(pipe)


def test_more_than_four_gigabytes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_BYTES", 10)
    with pytest.raises(Unreadable, match="split it"):
        fingerprint(b"eleven byte")


def test_a_document_shorter_than_t_is_its_smallest_gram() -> None:
    recipe = Recipe("text", k=5, w=40)
    assert len(fingerprint("abcdefghij", recipe)) == 1
    assert len(fingerprint("abcd", recipe)) == 0


@pytest.mark.slow
def test_a_gigabyte_of_one_character() -> None:
    """Runs in a separate process, so that only its own memory is measured."""
    program = """
import resource, chaffinch
n = 1 << 30
recipe = chaffinch.Recipe("text", k=50, w=100)
chaffinch.fingerprint("warm up", recipe)
data = b"a" * n
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
prints = chaffinch.fingerprint(data, recipe)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
grams = n - 50 + 1
print(len(prints), -(-grams // 100), grown < 1024 * 64 + 20 * len(prints) // 1024, prints.symbols == n)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    found, expected, lean, whole = done.stdout.split()
    assert abs(int(found) - int(expected)) <= 1
    assert (lean, whole) == ("True", "True")


def test_memory_is_the_input_and_the_fingerprints(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    line = "".join(f"{i * i} and then some other words, {i}\n" for i in range(40_000))
    path.write_text(line * 40)
    program = f"""
import resource, pathlib, chaffinch
chaffinch.fingerprint("warm up " * 1000)
path = pathlib.Path({str(path)!r})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
prints = chaffinch.fingerprint(path)
grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(grown <= path.stat().st_size + 20 * len(prints) + (16 << 20), grown, path.stat().st_size, len(prints))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.stdout.startswith("True"), done.stdout + done.stderr


@pytest.mark.slow
def test_documents_do_not_outlive_or_underlive_their_arrays() -> None:
    hashes = fingerprint("some words that are long enough to have a fingerprint or two, at least").hashes
    kept = hashes.tolist()
    for _ in range(50):
        fingerprint(os.urandom(100_000))
    assert hashes.tolist() == kept
    assert not hashes.flags.writeable


def test_a_document_may_name_its_encoding() -> None:
    assert stream(File("x", b"\xe9t\xe9", "latin-1")).symbols.tolist() == list(b"ete")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is done about it")
def test_what_the_core_made_can_be_freed_after_python_has_let_go_of_the_core() -> None:
    """The order is arbitrary when the interpreter ends."""
    program = """
from chaffinch import fingerprint
from chaffinch._native import ffi, lib
prints = fingerprint("words that are long enough to have fingerprints, and some more of them")
assert len(prints)
ffi.dlclose(lib)
del prints
print("still here")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "still here\n", done.stderr
