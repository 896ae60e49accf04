"""Reads a form with files from a request as it arrives, so that no upload is ever in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import Any

from anyio import to_thread
from fastapi import Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from chaffinch.service.refusals import BadRequest, TooLarge
from chaffinch.service.uploads import BASE, EARLIER, SUBMISSION, UploadWriter

_MAX_FIELD = 100_000
"""Bytes of all fields together that are not files."""
_MAX_FILES = 100_000
_IN_MEMORY = 1 << 16


def form_schema(files: Iterable[str], **texts: str) -> dict[str, Any]:
    """Describe a form for the documentation: fields with files, and others with what they mean."""
    several = {"type": "array", "items": {"type": "string", "format": "binary"}}
    properties: dict[str, Any] = dict.fromkeys(files, several)
    properties |= {name: {"type": "string", "description": text} for name, text in texts.items()}
    schema = {"type": "object", "properties": properties, "required": [next(iter(properties))]}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


async def read_form(
    request: Request, writer: UploadWriter, max_bytes: int, roles: tuple[str, ...] = (SUBMISSION, BASE, EARLIER)
) -> dict[str, str]:
    """Add the files of a form to an upload and return its other fields.

    The name of a field with files is the role of these files.
    """
    kind, parameters = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not parameters.get(b"boundary"):
        raise BadRequest("send a form as multipart/form-data")
    form = _Form(writer, roles)
    parser = MultipartParser(parameters[b"boundary"], form.callbacks())
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > max_bytes:
                raise TooLarge(f"the upload is larger than {max_bytes >> 20} MB")
            await to_thread.run_sync(parser.write, chunk)
        parser.finalize()
    except MultipartParseError as error:
        raise BadRequest(f"the form is malformed: {error}") from None
    if not form.is_over:
        raise BadRequest("the form was cut off")
    return form.fields


class _Form:
    """Receives the parts of a form from the parser."""

    def __init__(self, writer: UploadWriter, roles: tuple[str, ...]) -> None:
        self.fields: dict[str, str] = {}
        self.is_over = False
        self._writer, self._roles = writer, roles
        self._header_name, self._header_value = b"", b""
        self._headers: dict[str, bytes] = {}
        self._name, self._file_name = "", ""
        self._field_bytes = 0

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._add_header_name,
            "on_header_value": self._add_header_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._begin_content,
            "on_part_data": self._add_content,
            "on_part_end": self._end,
            "on_end": self._end_form,
        }

    def _begin(self) -> None:
        self._headers = {}

    def _add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        name = self._header_name.decode("latin-1").lower()
        self._headers[name] = self._header_value
        self._header_name = self._header_value = b""

    def _begin_content(self) -> None:
        _, how = parse_options_header(self._headers.get("content-disposition", b""))
        self._name = how.get(b"name", b"").decode("utf-8", "replace")
        self._file_name = how.get(b"filename", b"").decode("utf-8", "replace")
        self._content = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - it ends with the part

    def _add_content(self, data: bytes, start: int, end: int) -> None:
        if not self._file_name:
            self._field_bytes += end - start
            if self._field_bytes > _MAX_FIELD:
                raise TooLarge("the fields of the form are too large")
        self._content.write(data[start:end])

    def _end(self) -> None:
        with self._content as content:
            content.seek(0)
            if self._file_name:
                self._add_file(content)
            elif self._name:
                self.fields[self._name] = content.read().decode("utf-8", "replace")

    def _add_file(self, content: Any) -> None:
        if self._name not in self._roles:
            raise BadRequest(f"a file has the role {self._name!r}; use {' or '.join(self._roles)}")
        if len(self._writer) >= _MAX_FILES:
            raise TooLarge(f"more than {_MAX_FILES:,} files; pack them into archives")
        self._writer.add(self._name, self._file_name, content)

    def _end_form(self) -> None:
        self.is_over = True
