"""The command line as a person uses it: real processes, their output and exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from chaffinch import Recipe, fingerprint
from chaffinch.cli import main

TEXT = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of folly."


def chaffinch(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chaffinch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture
def essay(tmp_path: Path) -> Path:
    path = tmp_path / "essay.txt"
    path.write_text(TEXT)
    return path


def test_fingerprint_counts(essay: Path) -> None:
    done = chaffinch("fingerprint", essay)
    assert done.returncode == 0
    assert str(essay) in done.stdout
    assert "every shared run of 50 symbols is found" in done.stdout
    assert done.stderr == ""


def test_fingerprint_json_is_what_python_gives(essay: Path) -> None:
    done = chaffinch("fingerprint", "--json", essay)
    result = json.loads(done.stdout)
    expected = fingerprint(essay)
    (document,) = result["documents"]
    assert [int(h, 16) for h in document["hashes"]] == expected.hashes.tolist()
    assert document["starts"] == expected.starts.tolist()
    assert document["symbols"] == expected.symbols
    assert result["recipes"]["text"]["guarantee"] == 50
    assert result["skipped"] == []


def test_one_unreadable_file_does_not_stop_the_rest(essay: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4\nnothing")
    done = chaffinch("fingerprint", "--json", tmp_path / "gone", broken, essay)
    result = json.loads(done.stdout)
    assert [d["name"] for d in result["documents"]] == [str(essay)]
    assert [s["name"] for s in result["skipped"]] == [str(broken), str(tmp_path / "gone")]
    assert "no such file" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 2


def test_nothing_found_is_exit_code_1(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    assert chaffinch("fingerprint", empty).returncode == 1
    assert json.loads(chaffinch("fingerprint", "--json", empty).stdout)["documents"][0]["hashes"] == []
    done = chaffinch("explain", empty)
    assert done.returncode == 1
    assert "nothing to compare" in done.stdout


@pytest.mark.parametrize("arguments", [("-k", "0"), ("-w", "99999999"), ("--seed", "-1"), ("-k", "x")])
def test_bad_options_are_exit_code_2_without_a_traceback(essay: Path, arguments: tuple[str, str]) -> None:
    done = chaffinch("fingerprint", *arguments, essay)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert arguments[1] in done.stderr


def test_the_same_input_gives_the_same_output(essay: Path) -> None:
    assert chaffinch("fingerprint", "--json", essay).stdout == chaffinch("fingerprint", "--json", essay).stdout


def test_explain_shows_stream_windows_and_choices(essay: Path) -> None:
    done = chaffinch("explain", "-k", 5, "-w", 4, essay)
    assert done.returncode == 0
    for part in (
        "Your text",
        "Canonical stream",
        "Windows",
        "itwasthebestoftimes",
        "every run of 8 symbols",
        "chosen",
    ):
        assert part in done.stdout
    assert "\x1b" not in done.stdout  # colour is for terminals


def test_explain_marks_exactly_the_chosen_grams(essay: Path) -> None:
    done = chaffinch("explain", "-k", 5, "-w", 4, essay)
    stream = done.stdout.split("Canonical stream")[1].split("Windows")[0].splitlines()[1:]
    rows = [line[8:] for line in stream if re.match(r" *\d+ ", line)]
    marks = [line[8:] for line in stream if set(line.strip()) == {"^"} or re.fullmatch(r"[ ^]+", line)]
    assert len(rows) == len(marks)
    chosen = [64 * r + i for r, row in enumerate(marks) for i, c in enumerate(row) if c == "^"]
    assert chosen == fingerprint(essay, Recipe("text", k=5, w=4)).positions.tolist()


def test_explain_shows_the_text_whatever_its_encoding(tmp_path: Path) -> None:
    words = "int main(void) { return compute(1, 2, 3); }"
    for name, front, text in (
        ("a.c", "c", words),
        ("a.html", "text", f"<html><p>{words}</p>"),
        ("a.txt", "text", words),
    ):
        path = tmp_path / name
        path.write_text(text, "utf-16")
        done = chaffinch("explain", "-k", 3, "-w", 3, "--language", front, path)
        shown = done.stdout.split("Your text")[1].split("Canonical")[0]
        assert "main(void) { return compute(1, 2, 3" in shown, name


def test_explain_is_coloured_on_a_terminal(essay: Path) -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "chaffinch", "explain", str(essay)]
    with subprocess.Popen(command, stdout=follower, stderr=follower) as process:
        os.close(follower)
        output = b""
        while chunk := _read(leader):
            output += chunk
    os.close(leader)
    assert process.returncode == 0
    assert b"\x1b[" in output


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # Linux: the other side is closed
        return b""


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    nasty = tmp_path / "nasty\x1b[31m.txt"
    nasty.write_bytes(b"safe \x1b]0;owned\x07 words that are long enough to be fingerprinted by the default")
    for command in ("explain", "fingerprint"):
        done = chaffinch(command, nasty)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
        assert "\x07" not in done.stdout


def test_names_in_errors_do_not_control_the_terminal() -> None:
    done = chaffinch("fingerprint", "no\x1b[31mred")
    assert "\x1b" not in done.stderr
    assert "no such file" in done.stderr


def test_characters_that_the_terminal_lacks_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "日本.txt"
    path.write_text("日本語のテキスト" * 10)
    for command in ("fingerprint", "explain"):
        done = subprocess.run(
            [sys.executable, "-m", "chaffinch", command, str(path)],
            capture_output=True,
            env=os.environ | {"PYTHONIOENCODING": "cp1252"},
            timeout=60,
        )
        assert done.returncode == 0, done.stderr


def test_a_full_disk_is_an_error_without_a_traceback(essay: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "chaffinch", "fingerprint", "--json", str(essay)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_secret_seed_is_not_printed(essay: Path) -> None:
    for command in ("fingerprint", "explain"):
        done = chaffinch(command, "--json", "--seed", 987654321, essay)
        assert "987654321" not in done.stdout
        assert json.loads(done.stdout)["recipes"]["text"]["seeded"] is True


@pytest.mark.slow
def test_explain_grows_with_what_it_shows(tmp_path: Path) -> None:
    """Neither a whole megabyte nor very wide windows may take long."""
    path = tmp_path / "large.txt"
    path.write_text("".join(f"line {i} of {i * i} words\n" for i in range(40_000)))
    assert chaffinch("explain", "--symbols", 10**7, path).returncode == 0
    assert chaffinch("explain", "-w", 65536, "--symbols", 10**5, path).returncode == 0


def test_explain_json(essay: Path) -> None:
    result = json.loads(chaffinch("explain", "--json", essay).stdout)
    assert len(result["stream"]["symbols"]) == result["fingerprints"]["symbols"]


def test_it_is_no_error_if_the_reader_of_the_output_stops_early(tmp_path: Path) -> None:
    many = [tmp_path / f"{i}.txt" for i in range(400)]
    for path in many:
        path.write_text(TEXT * 5)
    names = " ".join(map(str, many))
    command = f"{sys.executable} -m chaffinch fingerprint --json {names} | head -c 100"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with folders and archives: empty ones, some without text, and one with two texts."""
    for name in ("empty", "binary", "two texts"):
        (tmp_path / name).mkdir()
        if name != "empty":
            (tmp_path / name / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for name in ("b.txt", "c.txt"):
        (tmp_path / "two texts" / name).write_text(TEXT)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with zipfile.ZipFile(tmp_path / "binary.zip", "w") as archive:
        archive.writestr("a.png", b"\x89PNG\r\n\x1a\n")
    return tmp_path


@pytest.mark.parametrize("name", ["empty", "binary", "empty.zip", "binary.zip", "gone"])
@pytest.mark.parametrize("option", ["--symbols=9", "--json"])
def test_explain_needs_a_document(folder: Path, name: str, option: str) -> None:
    done = chaffinch("explain", option, folder / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith(f"chaffinch: {folder / name}: ")
    assert "defect" not in done.stderr


def test_explain_shows_the_first_document_of_a_folder_and_says_so(folder: Path) -> None:
    done = chaffinch("explain", folder / "two texts")
    first = folder / "two texts" / "b.txt"
    assert done.returncode == 0
    assert done.stdout.startswith(f"{first}: {len(TEXT)} bytes")
    assert f"has several documents; this is the first: {first}" in done.stderr
    assert chaffinch("explain", first).stderr == ""


def test_help_and_version() -> None:
    assert "finds what was copied" in chaffinch("--help").stdout
    assert chaffinch("--version").stdout.strip().endswith("0.1.0")
    for command in ("fingerprint", "explain"):
        assert chaffinch(command, "--help").returncode == 0


def test_explain_shows_bytes(tmp_path: Path) -> None:
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 20)
    done = CliRunner().invoke(main, ["explain", str(tmp_path / "noise.bin"), "-l", "bytes"])
    assert done.exit_code == 0, done.output
    assert "5120 bytes -> 5120 symbols" in done.output
