"""Archives for tests, and how to read them."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

from chaffinch.read.archives import tar as archive
from chaffinch.read.budget import Budget
from chaffinch.types import File

TEXT = b"words that somebody wrote, and somebody else may have copied\n"
TARS = {"tar": "w:", "gzip": "w:gz", "bzip2": "w:bz2", "xz": "w:xz"}


def opened(kind: str, data: bytes, name: str = "a.zip", budget: Budget | None = None) -> dict[str, bytes | str]:
    """Return each member's bytes, or why it was skipped, in order."""
    budget = (budget or Budget()).within(name, len(data))
    found = list(archive.members(File(name, data, format=kind), budget))
    assert len({f.name for f in found}) == len(found), "names differ"
    return {f.name: f.data if isinstance(f, File) else f.detail for f in found}


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name), data, method)
    return made.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w:", format_: int = tarfile.PAX_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode, format=format_) as file:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return made.getvalue()


def seven_zipped(folder: Path, *options: str) -> bytes:
    made = folder.parent / "made.7z"
    subprocess.run(["7z", "a", "-bd", *options, str(made), "."], cwd=folder, check=True, capture_output=True)
    data = made.read_bytes()
    made.unlink()
    return data


def in_a_small_process(program: str, megabytes: int, *arguments: str) -> str:
    """Return the output of a program with limited memory and time."""
    head = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2)
from pathlib import Path
from chaffinch.read.archives import tar as archive
from chaffinch.read.budget import Budget
from chaffinch.types import File, Skipped
def expand(file, format, budget):
    try:
        inner = budget.within(file.name, len(file.data))
    except Exception as error:
        print(error)
        return
    for member in archive.members(File(file.name, file.data, format=format), inner):
        if isinstance(member, Skipped):
            print(member.name, member.detail)
        elif member.data[:4] == b"PK\\x03\\x04":
            expand(member, "zip", inner)
        elif member.data[:2] == b"\\x1f\\x8b":
            expand(member, "gzip", inner)
        else:
            print(member.name, len(member.data))
"""
    done = subprocess.run(
        [sys.executable, "-c", head + program, *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def expanded(path: Path, kind: str, megabytes: int = 1000) -> str:
    program = "path = Path(sys.argv[1])\nexpand(File(path.name, path.read_bytes()), sys.argv[2], Budget())"
    return in_a_small_process(program, megabytes, str(path), kind)


def raw(data: bytes) -> tuple[bytes, int, int]:
    pack = zlib.compressobj(9, wbits=-15)
    return pack.compress(data) + pack.flush(), len(data), zlib.crc32(data)


def zip_of_raw(files: list[tuple[str, bytes, int, int]]) -> bytes:
    body, directory = bytearray(), bytearray()
    for name, packed, size, checksum in files:
        at = len(body)
        fields = struct.pack("<5H3I2H", 20, 0, 8, 0, 0, checksum, len(packed), size & 0xFFFFFFFF, len(name), 0)
        body += b"PK\x03\x04" + fields + name.encode() + packed
        directory += b"PK\x01\x02\x14\0" + fields + struct.pack("<3H2I", 0, 0, 0, 0, at) + name.encode()
    end = struct.pack("<4H2IH", 0, 0, len(files), len(files), len(directory), len(body), 0)
    return bytes(body + directory + b"PK\x05\x06" + end)
