"""E-mail -> its text and its attachments."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.archives.members import unused_name
from chaffinch.read.budget import keep_time
from chaffinch.read.encoding import decode, detect, known
from chaffinch.read.formats.extract import Extract
from chaffinch.read.formats.html import html_text
from chaffinch.types import Document, File

_FIELD = re.compile(rb"([!-9;-~]{1,76}+)[ \t]*+:[^\n]*(?:\n[ \t][^\n]*)*+(?:\n|\Z)")
_READ_FIELD = re.compile(
    rb"\n(?:Subject|Content-(?:Type|Disposition|Transfer-Encoding))[ \t]*+:[^\n]*+(?:\n[ \t][^\n]*+)*+", re.I
)
_COMMON_FIELDS = {
    b"from",
    b"to",
    b"subject",
    b"date",
    b"received",
    b"message-id",
    b"mime-version",
    b"return-path",
}
_POSTMARK = re.compile(rb"From [^\r\n]{1,300}\r?\n(?=[!-9;-~]{1,76}:)")
_QUOTED_POSTMARK = re.compile(rb"^>(>*From )", re.M)
_BLANK_LINE = re.compile(rb"\n\r?\n")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_BASE64 = bytes(set(range(256)) - set(_BASE64))
_BASE64_LINES = re.compile(rb"(?:[ \t]*+[A-Za-z0-9+/]*+=*+[ \t\r]*+(?:\n|\Z))*+")
_SHORTEST_BASE64 = 40
"""Characters. A shorter line, except the last one, is a word."""
_LONGEST_WORDS = 10
"""Characters, on average and with a space. Base64 has no spaces."""
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"|?*]+')
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
# Encodings that mail declares, and the larger ones that programs really use.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "shift_jis": "cp932", "iso8859-1": "cp1252"}

_MAX_HEADERS = 1 << 16
_MAX_HEADER = 1000  # longer ones could take quadratic time to parse
_MAX_PARTS = 100_000
_MAX_DEPTH = 32
_MAX_NAME = 150


def is_mail(head: bytes) -> bool:
    """Return whether a file begins with headers, at least two of which nearly every message has."""
    end = 0
    fields = set()
    while header := _FIELD.match(head, end):
        end = header.end()
        fields.add(header[1].lower())
    if not fields:
        return False
    rest = head[end:]
    ends = rest.startswith((b"\n", b"\r\n")) or b"\n" not in rest  # the head may end within a header
    return ends and len(fields & _COMMON_FIELDS) >= 2


def is_mbox(head: bytes) -> bool:
    """Return whether a file begins with the "From " line of a mailbox and a message."""
    start = _POSTMARK.match(head)
    return start is not None and is_mail(head[start.end() :])


def read(file: File) -> Iterator[Document | File]:
    """Yield the text of each message, then its attachments as files."""
    is_empty = True
    for message in _messages(file) if file.format == "mbox" else [file]:
        for item in _contents(message):
            is_empty = False
            yield item
    if is_empty:
        raise Unreadable(file.name, SkipReason.NOT_TEXT, "holds no text and no attachments; export it again")


def _messages(file: File) -> Iterator[File]:
    """Yield the messages of a mailbox."""
    data = file.data
    marks = [
        mark
        for mark in _POSTMARK.finditer(data)
        if mark.start() == 0 or data[max(mark.start() - 3, 0) : mark.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
    ends = [mark.start() for mark in marks[1:]] + [len(data)]
    for number, (mark, end) in enumerate(zip(marks, ends, strict=False), 1):
        message = _QUOTED_POSTMARK.sub(rb"\1", data[mark.end() : end])
        yield File(f"{file.name}/message {number}", message, file.encoding, file.format, file.language)
    if not marks:
        yield file


@dataclass(slots=True)
class _Parts:
    """The attachments of a message, and how many parts were read so far."""

    attachments: list[tuple[str, bytes]] = field(default_factory=list)
    count: int = 0


def _contents(file: File) -> Iterator[Document | File]:
    headers, body = _split(file.data)
    parts = _Parts()
    texts = _walk(file.name, headers, body, parts, 0)
    extract = Extract(file)
    for label, text in [("subject", headers.subject), *(("body", text) for text in texts)]:
        if text:
            extract.section(label)
            extract.write(text + "\n")
    if not extract.is_empty:
        yield extract.document()
    used: set[str] = set()
    repeats: dict[str, int] = {}
    for name, content in parts.attachments:
        used.add(unique := unused_name(name, used, repeats))
        yield File(f"{file.name}/{unique}", content)


@dataclass(frozen=True, slots=True)
class _Headers:
    """What the headers of a message or of a part say."""

    subject: str = ""
    media_type: str = "text/plain"
    boundary: str | None = None
    file: str = ""
    """The name of an attachment."""
    is_attachment: bool = False
    transfer_encoding: str = ""
    charset: str = ""
    is_flowed: bool = False
    drops_space: bool = False
    """Whether flowed lines are joined without a space."""


_NO_HEADERS = _Headers()


def _split(data: bytes) -> tuple[_Headers, bytes]:
    """Return the headers and the body."""
    if data.startswith((b"\n", b"\r\n")):  # no headers
        return _NO_HEADERS, data
    blank = _BLANK_LINE.search(data)
    end, start = blank.span() if blank else (len(data), len(data))
    fields = _READ_FIELD.findall(b"\n" + data[: min(end, _MAX_HEADERS)])
    return _headers(fields) if fields else _NO_HEADERS, data[start:]


def _headers(fields: list[bytes]) -> _Headers:
    from email.message import Message  # slow to import, seldom needed

    head = b"".join(fields)
    encoding = "ascii" if head.isascii() else _encoding(head, "utf-8") or "latin-1"
    message = Message()
    for field_ in fields:
        name, _, value = field_.decode(encoding).partition(":")
        if (name := name.strip()) not in message:
            message.set_raw(name, value.strip()[:_MAX_HEADER])
    subject = " ".join(_words(str(message["Subject"] or "")).split())
    if len(message) == bool(subject):
        return _Headers(subject)
    return _Headers(
        subject,
        message.get_content_type(),
        message.get_boundary(),
        _clean(_words(message.get_filename() or "")),
        message.get_content_disposition() == "attachment",
        str(message["Content-Transfer-Encoding"] or "").strip().lower(),
        message.get_content_charset() or "",
        str(message.get_param("format", "")).lower() == "flowed",
        str(message.get_param("delsp", "")).lower() == "yes",
    )


def _walk(name: str, headers: _Headers, body: bytes, parts: _Parts, depth: int) -> list[str]:
    """Return the texts of a part of a message and of the parts in it."""
    parts.count += 1
    keep_time(name)
    if parts.count > _MAX_PARTS:
        detail = f"has more than {_MAX_PARTS:,} parts, which no real message has; export it again"
        raise Unreadable(name, SkipReason.TOO_LARGE, detail)
    media_type = headers.media_type
    boundary = headers.boundary if media_type.startswith("multipart/") and depth < _MAX_DEPTH else None
    inner: list[tuple[bool, list[str]]] = []  # whether it is not plain text, and its texts
    for part in _between(body, boundary.encode()) if boundary else ():
        inner_headers, inner_body = _split(part)
        texts = _walk(name, inner_headers, inner_body, parts, depth + 1)
        inner.append((inner_headers.media_type != "text/plain", texts))
    if not inner:
        return _leaf(headers, _decoded(headers, body), parts)
    if media_type == "multipart/alternative":  # one text in several forms; prefer plain text
        return next((texts for _, texts in sorted(inner, key=itemgetter(0)) if any(texts)), [])
    return [text for _, texts in inner for text in texts]


def _between(body: bytes, boundary: bytes) -> Iterator[bytes]:
    """Yield the parts between the boundary lines; the last part may lack its end."""
    start = None
    for line in re.finditer(b"--" + re.escape(boundary) + rb"(--)?[ \t]*+\r?(?:\n|\Z)", body):
        if line.start() and body[line.start() - 1] != ord("\n"):
            continue
        if start is not None:
            yield body[start : line.start()].removesuffix(b"\n").removesuffix(b"\r")
        start = line.end()
        if line[1]:
            return
    if start is not None:
        yield body[start:]


def _leaf(headers: _Headers, content: bytes, parts: _Parts) -> list[str]:
    """Return the text of a part, or add it to the attachments."""
    media_type = headers.media_type
    if media_type in ("text/plain", "text/html") and not (headers.file or headers.is_attachment):
        return [_text(media_type, headers, content)]
    if media_type.startswith("multipart/"):  # without parts
        return [_text("text/plain", headers, content)]
    if content.strip() and media_type not in _SIGNATURES:
        extension = ".eml" if media_type == "message/rfc822" else ""
        parts.attachments.append((headers.file or f"part {parts.count}{extension}", content))
    return []


def _decoded(headers: _Headers, body: bytes) -> bytes:
    """Return the body without its transfer encoding."""
    if headers.transfer_encoding == "quoted-printable":
        return binascii.a2b_qp(body)
    if headers.transfer_encoding == "base64":
        body, rest = _base64_lines(body)
        digits = body.translate(None, _NOT_BASE64)
        digits = digits[: len(digits) - (len(digits) % 4 == 1)]  # cut off within a byte
        return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4)) + rest
    return body


def _base64_lines(body: bytes) -> tuple[bytes, bytes]:
    """Return what is base64, and what follows: a footer, or a text that was never encoded."""
    end = match.end() if (match := _BASE64_LINES.match(body)) else 0
    lines = body[:end].split()
    if end < len(body) and lines and all(len(line) >= _SHORTEST_BASE64 for line in lines[:-1] or lines):
        return body[:end], body[end:]
    is_text = end < len(body) and len(body.split()) * _LONGEST_WORDS > len(body)
    return (b"", body) if is_text else (body, b"")  # else there are a few errors in it


def _text(media_type: str, headers: _Headers, content: bytes) -> str:
    encoding = _encoding(content, headers.charset)
    if media_type == "text/html":
        return html_text(content, encoding)
    text = decode(content, encoding or detect(content)).replace("\r\n", "\n")
    if headers.is_flowed:
        text = _unflowed(text, headers.drops_space)
    return text.strip("\n").rstrip()


def _encoding(content: bytes, declared: str) -> str | None:
    """Return the declared encoding, if it exists and the content is valid in it."""
    name = known(declared)
    if name is None:
        return None
    name = _WIDER.get(name, name)
    try:
        content.decode(name)
    except ValueError:
        return None
    return name


def _unflowed(text: str, drop_space: bool) -> str:
    """Return flowed text (RFC 3676) with each paragraph on one line."""
    pieces: list[str] = []
    open_depth = -1  # of quotation, if the line before continues
    for line in text.split("\n"):
        content = line.lstrip(">")
        depth = len(line) - len(content)
        content = content.removeprefix(" ")
        flows = content.endswith(" ") and content != "-- "
        if depth != open_depth or content == "-- ":
            pieces.append("\n" + ">" * depth + " " * bool(depth))
        pieces.append(content[:-1] if flows and drop_space else content)
        open_depth = depth if flows else -1
    return "".join(pieces)[1:]


def _words(value: str) -> str:
    """Return a header with its encoded words (=?utf-8?q?=C3=A9?=) decoded."""
    value = " ".join(value.split())
    if "=?" not in value:
        return value
    from email.errors import HeaderParseError
    from email.header import decode_header

    try:
        words = decode_header(value)
    except (HeaderParseError, ValueError):
        return value
    return "".join(word if isinstance(word, str) else _word(word, charset) for word, charset in words)


def _word(word: bytes, charset: str | None) -> str:
    if charset is None:  # not encoded; this is how decode_header returns it
        return word.decode("raw_unicode_escape", "replace")
    return word.decode(_encoding(word, charset) or _encoding(word, "utf-8") or "latin-1")


def _clean(name: str) -> str:
    """Return a file's name without folders and unusual characters."""
    name = _NOT_IN_NAMES.sub(" ", name.replace("\\", "/").rpartition("/")[2]).strip(" .")
    stem, dot, extension = name.rpartition(".")
    return name if len(name) <= _MAX_NAME else (stem or name)[:_MAX_NAME] + (dot + extension)[:20]
