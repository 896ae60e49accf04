"""What a MOSS client sends, line by line and file by file.

Clients differ: options come in any order or not at all, some give the size of a file in characters although
they send more bytes, and all expect the server to read everything before it complains.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from anyio import to_thread

from chaffinch.errors import ChaffinchError
from chaffinch.languages import language
from chaffinch.service.refusals import TooLarge
from chaffinch.service.uploads import BASE, SUBMISSION, UploadWriter

NO_FILES = "No files uploaded to compare."
"""MOSS's own words, which clients may look for."""
MAX_FILES = 100_000
_LANGUAGES = {"ascii": "text", "schema": "scheme"}
"""Names of MOSS that are not ours. One is a misspelling that is in use."""
_MAX_LINE = 1 << 16
_IN_MEMORY = 1 << 20
_MAX_SIZE_DIGITS = 12
_SILENCE_SECONDS = 300
"""A client that sends nothing for this long is gone."""
_FILE = re.compile(rb"file (\d{1,18}) (\S+) (\d{1,%d}) (.+)" % _MAX_SIZE_DIGITS)
_QUERY = re.compile(rb"query \d+ ?(.*)")
_END = re.compile(rb"end\s*")
_OPTION = re.compile(rb"(moss|directory|X|maxmatches|show|language)[ \t]+(.*)")


class Gone(Exception):
    """The client closed the connection, or sends nothing any more."""


@dataclass(slots=True)
class Request:
    """What a client asked for. The files are in an upload."""

    user: str = ""
    language: str = ""
    """The client's name of it. Empty if only the files have one."""
    is_directory: bool = False
    is_experimental: bool = False
    max_owners: int = 10
    show: int = 250
    comment: str = ""
    problem: str = ""
    """Why the request cannot be answered. The client learns it at the end."""
    files: int = 0
    base_files: int = 0
    skipped: list[str] = field(default_factory=list)

    def options(self) -> str:
        """Return the options as a user of the client would have typed them."""
        flags = f"{' -d' if self.is_directory else ''}{' -x' if self.is_experimental else ''}"
        return f"-l {self.language or 'c'}{flags} -m {self.max_owners}"


class _File(NamedTuple):
    role: str
    name: str
    language: str
    content: Any


def known_language(name: str) -> str | None:
    """Return our name of a language that a client asks for; None if there is none."""
    lower = name.lower()
    return _LANGUAGES.get(lower) or language.named(lower)


class Conversation:
    """Reads the request of one client."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upload: UploadWriter
    ) -> None:
        self._reader, self._writer, self._upload = reader, writer, upload
        self._buffer = bytearray()
        self._file: _File | None = None
        self.request = Request()

    async def receive(self) -> Request | None:
        """Read everything up to the query. Return None if the client ends without one."""
        try:
            while True:
                line = await self._line()
                if await self._is_query(line):
                    return self.request
        except Gone:
            return None
        finally:
            if self._file is not None:
                self._file.content.close()

    async def answer(self, text: str) -> None:
        """Send one line."""
        self._writer.write(text.encode("utf-8", "replace") + b"\n")
        await self._writer.drain()

    async def drain(self) -> None:
        """Read on until the client is done, so that it is never cut off while it still sends."""
        try:
            while not _END.fullmatch((await self._line()).rstrip(b"\r\n")):
                pass
        except Gone:
            pass

    async def _is_query(self, line: bytes) -> bool:
        """Act on a line. Return whether it is the query."""
        text = line.rstrip(b"\r\n")
        if match := _FILE.fullmatch(text):
            await self._begin_file(match)
        elif match := _QUERY.fullmatch(text):
            await self._end_file()
            self.request.comment = match[1].decode("utf-8", "replace").strip()
            return True
        elif _END.fullmatch(text):
            raise Gone
        elif match := _OPTION.fullmatch(text):
            await self._end_file()
            await self._set_option(match[1].decode(), match[2].decode("utf-8", "replace").strip())
        elif self._file is not None:
            return await self._continue_file(line)
        return False

    async def _continue_file(self, line: bytes) -> bool:
        """Add what follows a file whose size was given too small. A command may begin inside its last line."""
        assert self._file is not None
        names = re.escape(self._file.language.encode())
        command = re.search(rb"(?:file \d+ %s \d+ .+|query \d+ .*)\r?\n\Z" % names, line)
        start = command.start() if command else len(line)
        self._file.content.write(line[:start])
        return await self._is_query(line[start:]) if command else False

    async def _set_option(self, name: str, value: str) -> None:
        request = self.request
        if name == "moss":
            request.user = value
        elif name == "directory":
            request.is_directory = value not in ("0", "")
        elif name == "X":
            request.is_experimental = value not in ("0", "")
        elif name == "maxmatches":
            request.max_owners = _number(value, request.max_owners)
        elif name == "show":
            request.show = _number(value, request.show)
        elif name == "language":
            request.language = value
            is_known = known_language(value) is not None
            if not is_known:
                self._complain(f"this server does not know the language {value}")
            await self.answer("yes" if is_known else "no")

    async def _begin_file(self, match: re.Match[bytes]) -> None:
        await self._end_file()
        number, language_name, size, name = match.groups()
        if self.request.files + self.request.base_files >= MAX_FILES:
            self._complain(f"more than {MAX_FILES:,} files")
        role = BASE if int(number) == 0 else SUBMISSION
        content = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - it ends with the next command
        self._file = _File(
            role, name.decode("utf-8", "replace").strip(), language_name.decode("utf-8", "replace"), content
        )
        self.request.language = self.request.language or self._file.language
        left = int(size)
        while left:
            part = await self._some(left)
            left -= len(part)
            if not self.request.problem:
                content.write(part)

    async def _end_file(self) -> None:
        """Add the file that was read to the upload."""
        if self._file is None:
            return
        file, self._file = self._file, None
        with file.content as content:
            if self.request.problem:
                return
            content.seek(0)
            try:
                await to_thread.run_sync(self._upload.add, file.role, file.name, content, file.language)
            except (TooLarge, OSError) as error:
                self._complain(
                    str(error) if isinstance(error, ChaffinchError) else "this server is out of space"
                )
                return
        if file.role == BASE:
            self.request.base_files += 1
        else:
            self.request.files += 1

    def _complain(self, problem: str) -> None:
        self.request.problem = self.request.problem or problem

    async def _line(self) -> bytes:
        """Read up to a line feed. A line that is too long for a command comes in pieces."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0 and len(self._buffer) < _MAX_LINE:
            searched = len(self._buffer)
            await self._fill()
        return self._taken(end + 1 if end >= 0 else len(self._buffer))

    async def _some(self, most: int) -> bytes:
        """Read what is there, at most this many bytes."""
        if not self._buffer:
            await self._fill()
        return self._taken(min(most, len(self._buffer)))

    def _taken(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    async def _fill(self) -> None:
        try:
            async with asyncio.timeout(_SILENCE_SECONDS):
                part = await self._reader.read(_MAX_LINE)
        except (TimeoutError, ConnectionError):
            raise Gone from None
        if not part:
            raise Gone
        self._buffer += part


def _number(value: str, default: int) -> int:
    """Return a number that is at least 1."""
    return max(1, min(int(value), 1_000_000)) if re.fullmatch(r"\d{1,9}", value) else default
