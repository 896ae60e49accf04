"""E-mail -> its text and its attachments."""

from __future__ import annotations

import binascii
import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chaffinch.errors import SkipReason, Unreadable
from chaffinch.read.encoding import detect, single_byte_table
from chaffinch.read.formats.extract import Extract
from chaffinch.read.formats.html import html_text
from chaffinch.types import Document, File

if TYPE_CHECKING:
    from email.message import Message

_FIELD = re.compile(rb"([!-9;-~]{1,76})[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*+(?:\n|\Z)")
_TELLING = {b"from", b"to", b"subject", b"date", b"received", b"message-id", b"mime-version", b"return-path"}
_POSTMARK = re.compile(rb"From [^\r\n]{1,300}\r?\n(?=[!-9;-~]{1,76}:)")
_QUOTED_POSTMARK = re.compile(rb"^>(>*From )", re.M)
_BLANK_LINE = re.compile(rb"\n\r?\n")
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_BASE64 = bytes(set(range(256)) - set(_BASE64))
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"|?*]+')
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
# What mail says and what it means, which is more.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "shift_jis": "cp932", "iso8859-1": "cp1252"}
_MULTIBYTE = re.compile(
    r"utf-(7|8|8-sig|16|32)(-[bl]e)?|gb\w+|big5\w*|cp9\d\d|euc_\w+|iso2022_\w+|shift_jis\w*|hz"
)

_MAX_HEADERS = 1 << 16
_MAX_HEADER = 1000  # of the headers that matter; some are parsed in time that grows with the square
_MAX_PARTS = 100_000
_MAX_DEPTH = 32
_MAX_NAME = 150


def is_mail(head: bytes) -> bool:
    """Whether it begins with headers, two of them among those that nearly every message has."""
    at = 0
    found = set()
    while header := _FIELD.match(head, at):
        at = header.end()
        found.add(header[1].lower())
    rest = head[at:]
    ends = rest.startswith((b"\n", b"\r\n")) or b"\n" not in rest  # the head may break off within a header
    return ends and len(found & _TELLING) >= 2


def is_mbox(head: bytes) -> bool:
    """Whether it begins with the line that begins every message of a mailbox, and a message."""
    start = _POSTMARK.match(head)
    return start is not None and is_mail(head[start.end() :])


def read(file: File) -> Iterator[Document | File]:
    """The text of each message and, after it, what is attached, as it came."""
    empty = True
    for message in _messages(file) if file.format == "mbox" else [file]:
        for found in _contents(message):
            empty = False
            yield found
    if empty:
        raise Unreadable(file.name, SkipReason.NOT_TEXT, "holds no text and no attachments; export it again")


def _messages(file: File) -> Iterator[File]:
    """The messages of a mailbox."""
    data = file.data
    marks = [
        mark
        for mark in _POSTMARK.finditer(data)
        if mark.start() == 0 or data[max(mark.start() - 3, 0) : mark.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
    ends = [mark.start() for mark in marks[1:]] + [len(data)]
    for number, (mark, end) in enumerate(zip(marks, ends, strict=False), 1):
        message = _QUOTED_POSTMARK.sub(rb"\1", data[mark.end() : end])
        yield replace(file, name=f"{file.name}/message {number}", data=message)
    if not marks:
        yield file


@dataclass(slots=True)
class _Found:
    """What a message held so far, apart from its text."""

    attachments: list[tuple[str, bytes]] = field(default_factory=list)
    parts: int = 0


def _contents(file: File) -> Iterator[Document | File]:
    headers, body = _split(file.data)
    found = _Found()
    texts = _walk(file.name, headers, body, found, 0)
    extract = Extract(file)
    labelled = [("subject", _subject(headers)), *(("body", text) for text in texts)]
    for label, text in labelled:
        if text:
            extract.section(label)
            extract.write(text + "\n")
    if any(text for _, text in labelled):
        yield extract.document()
    used: dict[str, int] = {}
    for name, content in found.attachments:
        yield File(f"{file.name}/{_unused(name, used)}", content)


def _split(data: bytes) -> tuple[Message, bytes]:
    """The headers and what follows them."""
    from email.parser import HeaderParser  # slow to import, seldom needed

    if data.startswith((b"\n", b"\r\n")):  # no headers
        return HeaderParser().parsestr(""), data
    blank = _BLANK_LINE.search(data)
    end, start = blank.span() if blank else (len(data), len(data))
    head = data[: min(end, _MAX_HEADERS)]
    try:
        text = head.decode()
    except UnicodeDecodeError:
        text = head.decode("latin-1")
    headers = HeaderParser().parsestr(text)
    for name in ("Subject", "Content-Type", "Content-Disposition"):
        value = headers[name]
        if value and len(value) > _MAX_HEADER:
            headers.replace_header(name, value[:_MAX_HEADER])
    return headers, data[start:]


def _walk(name: str, headers: Message, body: bytes, found: _Found, depth: int) -> list[str]:
    """The texts of a part of a message and of the parts in it."""
    found.parts += 1
    if found.parts > _MAX_PARTS:
        raise Unreadable(
            name,
            SkipReason.TOO_LARGE,
            f"has more than {_MAX_PARTS:,} parts, as no message has; export it again",
        )
    kind = headers.get_content_type()
    boundary = headers.get_boundary() if kind.startswith("multipart/") and depth < _MAX_DEPTH else None
    kinds: list[str] = []
    texts: list[list[str]] = []
    for part in _parts(body, boundary.encode()) if boundary else ():
        inner_headers, inner_body = _split(part)
        kinds.append(inner_headers.get_content_type())
        texts.append(_walk(name, inner_headers, inner_body, found, depth + 1))
    if not texts:
        return _leaf(kind, headers, _decoded(headers, body), found)
    if kind == "multipart/alternative":
        # The same in several forms: plain text is what needs no guessing.
        order = sorted(range(len(texts)), key=lambda i: kinds[i] != "text/plain")
        return next((texts[i] for i in order if any(texts[i])), [])
    return [text for part in texts for text in part]


def _parts(body: bytes, boundary: bytes) -> Iterator[bytes]:
    """What stands between the lines that separate parts; the last may lack its end."""
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


def _leaf(kind: str, headers: Message, content: bytes, found: _Found) -> list[str]:
    """The text of a part, unless it is an attachment."""
    file = _clean(_words(headers.get_filename() or ""))
    shown = not file and headers.get_content_disposition() != "attachment"
    if shown and kind in ("text/plain", "text/html"):
        return [_text(kind, headers, content)]
    if kind.startswith("multipart/"):  # without parts
        return [_text("text/plain", headers, content)]
    if content.strip() and kind not in _SIGNATURES:
        extension = ".eml" if kind == "message/rfc822" else ""
        found.attachments.append((file or f"part {found.parts}{extension}", content))
    return []


def _decoded(headers: Message, body: bytes) -> bytes:
    """The body as it was before it was made fit for mail."""
    encoding = str(headers["Content-Transfer-Encoding"] or "").strip().lower()
    if encoding == "quoted-printable":
        return binascii.a2b_qp(body)
    if encoding == "base64":
        digits = body.translate(None, _NOT_BASE64)
        digits = digits[: len(digits) - (len(digits) % 4 == 1)]  # cut off within a byte
        return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))
    return body


def _text(kind: str, headers: Message, content: bytes) -> str:
    encoding = _encoding(content, headers.get_content_charset() or "")
    if kind == "text/html":
        return html_text(content, encoding)
    text = content.decode(encoding or detect(content), "replace").replace("\r\n", "\n")
    if str(headers.get_param("format", "")).lower() == "flowed":
        text = _unflowed(text, str(headers.get_param("delsp", "")).lower() == "yes")
    return text.strip("\n").rstrip()


def _encoding(content: bytes, declared: str) -> str | None:
    """The encoding that is declared, if there is such a thing and the content is in it."""
    try:
        name = codecs.lookup(declared).name
        name = _WIDER.get(name, name)
        if not _MULTIBYTE.fullmatch(name) and single_byte_table(name) is None:
            return None  # no encoding of texts, and maybe a slow one
        content.decode(name)
    except (LookupError, ValueError):
        return None
    return name


def _unflowed(text: str, drop_space: bool) -> str:
    """Paragraphs of which each is one line again (RFC 3676)."""
    pieces: list[str] = []
    open_depth = -1  # of quotation, if the line before goes on
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


def _subject(headers: Message) -> str:
    return " ".join(_words(str(headers["Subject"] or "")).split())


def _words(value: str) -> str:
    """A header with its encoded words (=?utf-8?q?=C3=A9?=) decoded."""
    from email.errors import HeaderParseError
    from email.header import decode_header

    try:
        words = decode_header(" ".join(value.split()))
    except (HeaderParseError, ValueError):
        return value
    return "".join(word if isinstance(word, str) else _word(word, charset) for word, charset in words)


def _word(word: bytes, charset: str | None) -> str:
    if charset is None:  # it was not encoded; so decode_header gives it
        return word.decode("raw_unicode_escape", "replace")
    return word.decode(_encoding(word, charset) or _encoding(word, "utf-8") or "latin-1")


def _clean(name: str) -> str:
    """A file's name without folders or characters that no name has."""
    name = _NOT_IN_NAMES.sub(" ", name.replace("\\", "/").rpartition("/")[2]).strip(" .")
    stem, dot, extension = name.rpartition(".")
    return name if len(name) <= _MAX_NAME else (stem or name)[:_MAX_NAME] + (dot + extension)[:20]


def _unused(name: str, used: dict[str, int]) -> str:
    """The name, or with a number if another attachment has it."""
    used[name] = used.get(name, 0) + 1
    if used[name] == 1:
        return name
    stem, dot, extension = name.rpartition(".")
    return f"{stem} ({used[name]}).{extension}" if dot else f"{name} ({used[name]})"
