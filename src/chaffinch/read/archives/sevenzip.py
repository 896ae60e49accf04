"""7z archives -> what is in them, by the program 7z.

It unpacks all to a single file without a name, one member after the other, so that no name in an archive ever
becomes a name on disk. The listing tells where each begins, and its checksum whether that is true.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, NamedTuple

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.read.archives.members import Entry, Listing
from chaffinch.read.budget import MAX_MEMBER, Budget
from chaffinch.types import File

_SECONDS = 300
_MAX_LISTING = 512 << 20
_MEMORY = 4 << 30
# The shell's limits hold whatever the archive makes the program do; its units are 1,024 and 512 bytes.
_LIMITED = ("sh", "-c", 'ulimit -v "$1" 2>/dev/null; ulimit -f "$2"; shift 2; exec "$@"', "sh")
_LINK = re.compile(r"\bl[rwxsStT-]{9}|^\S*L")


class _Member(NamedTuple):
    path: str
    size: int
    checksum: int | None
    problem: Problem | None


def listing(file: File, budget: Budget, open_files: ExitStack) -> Listing:
    """The members of a 7z archive, all unpacked at once since they are packed as one."""
    name = file.name
    program = next(filter(None, map(shutil.which, ("7z", "7zz", "7za"))), None)
    if program is None:
        raise Unreadable(
            name, SkipReason.NEEDS_PROGRAM, "is a 7z archive; install the program 7z, or unpack it yourself"
        )
    folder = Path(open_files.enter_context(TemporaryDirectory(prefix="chaffinch-")))
    archive = folder / "archive"
    archive.write_bytes(file.data)

    def run(most: int, *command: str) -> IO[bytes]:
        printed = open_files.enter_context(TemporaryFile())  # noqa: SIM115
        _run(name, [program, *command, "-t7z", "-p-", "-bd", "--", str(archive)], most, printed)
        return printed

    members = list(_members(run(_MAX_LISTING, "l", "-slt", "-sccUTF-8", "-bse1"), name))
    wanted = {member.path for member in members} - {member.path for member in members if member.problem}
    streamed = [member for member in members if member.path in wanted]
    total = sum(member.size for member in streamed)
    if total > budget.most(len(file.data)):
        raise Unreadable(
            name,
            SkipReason.TOO_LARGE,
            f"unpacks to {total >> 20} MB, more than the limit; unpack it yourself if you trust it",
        )
    budget.spend(total)
    options = ["-so", "-bse0"]
    if len(streamed) < len(members):
        names = folder / "names"
        names.write_text("".join(f"{path}\n" for path in sorted(wanted)), "utf-8", "surrogateescape")
        options += ["-spd", "-scsUTF-8", f"-i@{names}"]
    if streamed:
        unpacked = run(total, "x", *options)
    starts: dict[int, int] = {}
    position = 0
    for number, member in enumerate(members):
        if member.path in wanted:
            starts[number] = position
            position += member.size

    def read(number: int, name: str) -> bytes:
        member = members[number]
        unpacked.seek(starts[number])
        data = unpacked.read(member.size)
        if len(data) < member.size or member.checksum not in (None, zlib.crc32(data)):
            raise Unreadable(name, SkipReason.DAMAGED, "is damaged")
        return data

    return Listing(
        [Entry(m.path, m.problem or (None if i in starts else _TWICE)) for i, m in enumerate(members)], read
    )


_TWICE = Problem(SkipReason.NEEDS_PROGRAM, "has the name of a member that cannot be read; unpack it yourself")


def _run(name: str, command: list[str], most: int, printed: IO[bytes]) -> None:
    """Has the program print to a file; if it fails half way, it may have printed most of what it should."""
    if os.name == "posix":
        command = [*_LIMITED, str(_MEMORY >> 10), str((most >> 9) + 1), *command]
    try:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
    except subprocess.TimeoutExpired:
        raise Unreadable(
            name, SkipReason.TOO_LARGE, f"takes longer than {_SECONDS} seconds to unpack; unpack it yourself"
        ) from None
    printed.seek(0)


def _members(printed: IO[bytes], archive: str) -> Iterator[_Member]:
    """The files in what `7z l -slt` prints: lines like "Size = 6", an empty line after each member."""
    for line in printed:
        if line.startswith(b"----------"):
            break
        if b"password" in line.lower():
            raise Unreadable(
                archive, SkipReason.PROTECTED, "is encrypted; unpack it with its password and name the files"
            )
    else:
        raise Unreadable(archive, SkipReason.DAMAGED, "is damaged")
    fields: dict[str, str] = {}
    for line in [*printed, b"\n"]:
        key, equals, value = line.decode("utf-8", "surrogateescape").rstrip("\r\n").partition(" = ")
        if equals:
            fields[key] = value
        elif fields:
            if not fields.get("Attributes", "").startswith("D"):
                yield _member(fields)
            fields = {}


def _member(fields: dict[str, str]) -> _Member:
    size = int(fields["Size"]) if fields.get("Size", "").isdigit() else 0
    problem = None
    if fields.get("Encrypted") == "+":
        problem = Problem(SkipReason.PROTECTED, "is encrypted; unpack it with its password and name the files")
    elif _LINK.search(fields.get("Attributes", "")):
        problem = Problem(SkipReason.EXCLUDED, "a link, not a file")
    elif size > MAX_MEMBER:
        problem = Problem(SkipReason.TOO_LARGE, f"is larger than {MAX_MEMBER >> 20} MB; unpack it yourself")
    checksum = fields.get("CRC", "")
    return _Member(fields.get("Path", ""), size, int(checksum, 16) if checksum else None, problem)
