"""7z archives -> the files in them, by the program 7z.

The program unpacks everything into one nameless file, one member after another, so that no name in an archive
becomes a name on disk. Its listing gives the size of each member, with a checksum.
"""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, NamedTuple

from chaffinch.errors import Problem, SkipReason, Unreadable
from chaffinch.read import limited
from chaffinch.read.archives.members import DAMAGED, ENCRYPTED, LINK, Entry, Listing
from chaffinch.read.budget import MAX_MEMBER, MEMBER_TOO_LARGE, Budget, program_seconds, too_large
from chaffinch.types import File

_NO_PROGRAM = Problem(
    SkipReason.NEEDS_PROGRAM, "is a 7z archive; install the program 7z, or unpack it yourself"
)
_SAME_NAME = Problem(
    SkipReason.NEEDS_PROGRAM, "has the name of a member that cannot be read; unpack it yourself"
)
_LISTING_BYTES = 512 << 20
_LINK_ATTRIBUTES = re.compile(r"\bl[rwxsStT-]{9}|^\S*L")


class _Member(NamedTuple):
    path: str
    size: int
    checksum: int | None
    problem: Problem | None


def listing(file: File, budget: Budget, open_files: ExitStack) -> Listing:
    """Return the members of a 7z archive, unpacked together because they are packed together."""
    program = next(filter(None, map(shutil.which, ("7z", "7zz", "7za"))), None)
    if program is None:
        raise Unreadable(file.name, *_NO_PROGRAM)
    folder = Path(open_files.enter_context(TemporaryDirectory(prefix="chaffinch-")))
    archive = folder / "archive"
    archive.write_bytes(file.data)

    def run(limit: int, *command: str) -> IO[bytes]:
        output = open_files.enter_context(TemporaryFile())  # noqa: SIM115
        line = [program, *command, "-t7z", "-p-", "-bd", "--", str(archive)]
        seconds = program_seconds(len(file.data))
        try:
            limited.run(line, seconds=seconds, output=output, output_bytes=limit)
        except limited.TookTooLong:
            detail = f"takes longer than {seconds} s to unpack; unpack it yourself"
            raise Unreadable(file.name, SkipReason.TOO_LARGE, detail) from None
        output.seek(0)  # if the program fails halfway, most of its output may be there
        return output

    members = list(_members(run(_LISTING_BYTES, "l", "-slt", "-sccUTF-8", "-bse1"), file.name))
    wanted = {member.path for member in members} - {member.path for member in members if member.problem}
    starts: dict[int, int] = {}
    total = 0
    for number, member in enumerate(members):
        if member.path in wanted:
            starts[number] = total
            total += member.size
    if total > (limit := budget.limit(len(file.data))):
        raise Unreadable(file.name, *too_large(limit))
    budget.spend(total)
    options = ["-so", "-bse0"]
    if len(starts) < len(members):
        names = folder / "names"
        names.write_text("".join(f"{path}\n" for path in sorted(wanted)), "utf-8", "surrogateescape")
        options += ["-spd", "-scsUTF-8", f"-i@{names}"]
    if starts:
        unpacked = run(total, "x", *options)

    def read(number: int, name: str) -> bytes:
        member = members[number]
        unpacked.seek(starts[number])
        data = unpacked.read(member.size)
        if len(data) < member.size or member.checksum not in (None, zlib.crc32(data)):
            raise Unreadable(name, *DAMAGED)
        return data

    problems = (m.problem or (None if i in starts else _SAME_NAME) for i, m in enumerate(members))
    return Listing([Entry(m.path, problem) for m, problem in zip(members, problems, strict=True)], read)


def _members(output: IO[bytes], archive: str) -> Iterator[_Member]:
    """Yield the files in the output of `7z l -slt`: lines like "Size = 6", an empty line after each member."""
    for line in output:
        if line.startswith(b"----------"):
            break
        if b"password" in line.lower():
            raise Unreadable(archive, *ENCRYPTED)
    else:
        raise Unreadable(archive, *DAMAGED)
    fields: dict[str, str] = {}
    for line in [*output, b"\n"]:
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
        problem = ENCRYPTED
    elif _LINK_ATTRIBUTES.search(fields.get("Attributes", "")):
        problem = LINK
    elif size > MAX_MEMBER:
        problem = MEMBER_TOO_LARGE
    checksum = fields.get("CRC", "")
    return _Member(fields.get("Path", ""), size, int(checksum, 16) if checksum else None, problem)
