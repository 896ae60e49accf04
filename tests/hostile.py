"""Damaged files, and how to read them safely."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from chaffinch.errors import Unreadable


def damaged(data: bytes, changed: int = 300) -> Iterator[bytes]:
    """Yield the file cut off at every sixteenth, and with bytes changed."""
    noise = random.Random(2)
    for i in range(16):
        yield data[: len(data) * i // 16]
    for _ in range(changed):
        bad = bytearray(data)
        for _ in range(noise.randint(1, 20)):
            bad[noise.randrange(len(bad))] = noise.randrange(256)
        yield bytes(bad)


@contextmanager
def message_if_unreadable(name: str = "essay") -> Iterator[None]:
    """Check that a file that cannot be read gives a message that says what to do."""
    message = f"{name}: ;"
    try:
        yield
    except Unreadable as error:
        message = str(error)
    assert message.startswith(name)
    assert ";" in message


_LIMITED = """
import resource, sys
from chaffinch.errors import Unreadable
from chaffinch.read.formats.{module} import read
from chaffinch.types import Document, File
data = sys.stdin.buffer.read()
resource.setrlimit(resource.RLIMIT_AS, (2 << 30,) * 2)
try:
    print(sum(len(d.data) for d in read(File("essay", data, format={kind!r}))))
except Unreadable as error:
    print(error)
"""


def read_limited(module: str, kind: str, data: bytes) -> str:
    """Return the size of the text, or the message, from a process with limited time and memory."""
    program = _LIMITED.format(module=module, kind=kind)
    done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout.decode().strip()
