"""E-mail: its exact text and its attachments; from bad mail, everything that can be read."""

from __future__ import annotations

import base64
from email.message import EmailMessage
from typing import Any

import pytest

from chaffinch.errors import Unreadable
from chaffinch.read.formats import mail
from chaffinch.types import File
from tests.hostile import damaged, message_if_unreadable, read_limited

HEAD = b"From: a@b.c\r\nTo: d@e.f\r\nSubject: Essay\r\n"


def read(data: bytes, kind: str = "mail") -> list[Any]:
    return list(mail.read(File("essay", data, format=kind)))


def body(data: bytes) -> str:
    data = read(data)[0].data
    return data.decode().removeprefix("Essay\n")


@pytest.mark.parametrize(
    ("headers", "content", "expected"),
    [
        (b"", b"Hello\r\nworld\r\n", "Hello\nworld\n"),
        (b"Content-Type: text/plain; charset=utf-8\r\n", "Все 日本".encode(), "Все 日本\n"),
        (b"Content-Type: text/plain; charset=koi8-r\r\n", "Все".encode("koi8-r"), "Все\n"),
        (b"Content-Type: text/plain; charset=us-ascii\r\n", "déjà vu".encode(), "déjà vu\n"),
        (b"Content-Type: text/plain; charset=no-such\r\n", "déjà vu".encode(), "déjà vu\n"),
        (b"Content-Type: text/plain; charset=punycode\r\n", b"plain-text", "plain-text\n"),
        (b"Content-Type: text/plain; charset=gb2312\r\n", "你好世界镕".encode("gbk"), "你好世界镕\n"),
        (
            b"Content-Transfer-Encoding: quoted-printable\r\n",
            b"d=C3=A9j=\r\n=C3=A0 =\r\nvu =ZZ",
            "déjà vu =ZZ\n",
        ),
        (
            b"Content-Transfer-Encoding: BASE64\r\n",
            base64.encodebytes("déjà".encode() * 30),
            "déjà" * 30 + "\n",
        ),
        (b"Content-Transfer-Encoding: base64\r\n", b"aGVsbG8gd29y!bGQ", "hello world"),
        (
            b"Content-Transfer-Encoding: base64\r\n",
            b"Essay\n\nNever encoded, so kept.",
            "Essay\n\nNever encoded, so kept.\n",
        ),
        (
            b"Content-Transfer-Encoding: base64\r\n",
            base64.encodebytes(b"hello world " * 9) + b"--\nSent to the list, as ever.\n",
            "hello world " * 9 + "--\nSent to the list, as ever.\n",
        ),
        (
            b"Content-Type: text/html; charset=latin-1\r\n",
            "<p>été<p>x &amp; y".encode("latin-1"),
            "été\nx & y\n",
        ),
        (
            b"Content-Type: text/plain; format=flowed\r\n",
            b"One \r\ntwo.\r\n\r\n stuffed\r\n>> quoted \r\n>> more\r\n> less \r\n-- \r\nMe",
            "One two.\n\nstuffed\n>> quoted more\n> less \n-- \nMe\n",
        ),
        (b"Content-Type: text/plain; format=flowed; delsp=yes\r\n", b"Don \r\nau", "Donau\n"),
        (b"Content-Type: multipart/mixed\r\n", b"no boundary", "no boundary\n"),
        (b"Content-Type: multipart/mixed; boundary=x\r\n", b"none of it", "none of it\n"),
        (b"Content-Type: multipart/mixed; boundary=x\r\n", b"pre\r\n--x\r\n\r\nnot closed", "not closed\n"),
    ],
)
def test_texts(headers: bytes, content: bytes, expected: str) -> None:
    assert body(HEAD + headers + b"\r\n" + content).startswith(expected)


def test_a_message_with_everything() -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@b.c", "Résumé of my very long subject " * 5
    message.set_content("Plain text, Все.\n")
    message.add_alternative("<p>HTML text</p>", subtype="html")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="../../Дом.pdf")
    message.add_attachment("print(1)\n", filename="main.py")
    message.add_attachment("print(2)\n", filename="main.py")
    message.add_attachment("unnamed,1\n", subtype="csv")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "x@y.z", "Inner"
    inner.set_content("Forwarded")
    message.add_attachment(inner)
    found = read(message.as_bytes())
    assert [d.name for d in found] == [
        "essay",
        "essay/Дом.pdf",
        "essay/main.py",
        "essay/main (2).py",
        "essay/part 8",
        "essay/part 9.eml",
    ]
    text = found[0]
    assert text.data.decode() == "Résumé of my very long subject " * 4 + (
        "Résumé of my very long subject\nPlain text, Все.\n"
    )
    assert text.place(text.data.index(b"Plain")) == "body, line 1"
    assert text.place(0) == "subject, line 1"
    assert [d.format for d in found] == ["mail", *[None] * 5]
    assert [d.data for d in found[1:5]] == [b"%PDF-", b"print(1)\n", b"print(2)\n", b"unnamed,1\n"]
    assert mail.is_mail(found[5].data)
    assert b"Forwarded" in read(found[5].data)[0].data


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("=?utf-8?q?=D0=92=D1=81=D0=B5?=\r\n =?koi8-r?b?98PF?= Re", "ВсеВце Re"),
        ("Все =?latin-1?q?=E9?= =?no-such?q?=C3=A9?= =?utf-8?q?=E9?=", "Все ééé"),
        ("=?utf-8?b?A?= =?punycode?q?a-b?= =?", "=?utf-8?b?A?= =?punycode?q?a-b?= =?"),
    ],
)
def test_subjects(subject: str, expected: str) -> None:
    assert read(HEAD.replace(b"Essay", subject.encode()) + b"\r\n")[0].data.decode() == expected + "\n"


def test_html_is_read_if_there_is_no_plain_text() -> None:
    parts = b"--x\nContent-Type: text/plain\n\n \n--x\nContent-Type: text/html\n\n<p>shown\n--x--\n"
    kinds = b"Content-Type: multipart/alternative; boundary=x\n"
    assert body(HEAD + kinds + b"\n" + parts) == "shown\n"


def test_mailboxes() -> None:
    box = (
        b"From a@b.c Thu Jan  1 00:00:00 1970\n" + HEAD + b"\nOne\n>From here\n\nFrom here: on\nit is text\n\n"
        b"From a@b.c Thu Jan  1 00:00:00 1970\n" + HEAD + b"\n\n"
        b"From MAILER Thu Jan  1 00:00:00 1970\r\nDate: x\r\nFrom: y\r\nContent-Disposition: attachment; "
        b"filename=a.txt\r\n\r\nattached\r\n"
    )
    found = read(box, "mbox")
    assert [d.name for d in found] == ["essay/message 1", "essay/message 2", "essay/message 3/a.txt"]
    assert found[0].data == b"Essay\nOne\nFrom here\n\nFrom here: on\nit is text\n"
    assert read(HEAD + b"\nx", "mbox")[0].data == b"Essay\nx\n"


@pytest.mark.parametrize(
    ("head", "is_mail", "is_mbox"),
    [
        (HEAD + b"\r\nx", True, False),
        (b"RECEIVED: from x\n\tby y\nMessage-id: <z>\n\nx", True, False),
        (b"Received: from x\nReturn-Path: a\nX-Broken-O", True, False),
        (b"From: me\nTo: you\nDear you, this is a letter.\n", False, False),
        (b"Subject: x\nX-Other: y\n\n", False, False),
        (b"def f():\n  pass\n", False, False),
        (b"From here on it is text.\nIt goes on.\n", False, False),
        (b"From a@b Thu\n" + HEAD, False, True),
        (b"", False, False),
    ],
)
def test_mail_is_known_by_its_headers(head: bytes, is_mail: bool, is_mbox: bool) -> None:
    assert (mail.is_mail(head), mail.is_mbox(head)) == (is_mail, is_mbox)


def test_an_empty_message_is_refused() -> None:
    with pytest.raises(Unreadable, match="essay: holds no text and no attachments; export it again"):
        read(b"From: a\nTo: b\n\n")


def test_damaged_messages() -> None:
    message = EmailMessage()
    message["Subject"] = "Résumé"
    message.set_content("Plain text, Все.\n" * 20)
    message.add_alternative("<p>HTML text</p>", subtype="html")
    message.add_attachment(b"%PDF-" * 50, maintype="application", subtype="pdf", filename="Дом.pdf")
    for data in damaged(message.as_bytes(), 1000):
        for kind in ("mail", "mbox"):
            with message_if_unreadable():
                read(data, kind)


def nested(depth: int) -> bytes:
    levels = (f'Content-Type: multipart/mixed; boundary="{i}"\n\n--{i}\n' for i in range(depth))
    return HEAD.replace(b"\r", b"") + "".join(levels).encode() + b"\ndeep\n"


PART = b"--x\nContent-Type: text/plain\n\ny\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        nested(20),
        nested(200),
        nested(100_000),
        HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n" + PART * 99_000,
        HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * 5_000_000,
        HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x " + b" " * 10**7,
        HEAD + b"X: " + b"y" * 50_000_000,
        HEAD + b"X: y\n" * 5_000_000,
        HEAD + b"X:\n " * 5_000_000,
        HEAD + b"Content-Type: text/plain" + b';"' * 1_000_000 + b"\n\nx",
        HEAD.replace(b"Essay", b"=?utf-8?q?" * 1_000_000) + b"\nx",
        HEAD + b"Content-Type: text/plain; format=flowed\n\n" + b"> \n" * 1_000_000,
        b"From a\nA:\n\n" * 50_000,
        b"\n" * 10_000_000,
    ],
    ids=range(14),
)
@pytest.mark.parametrize("kind", ["mail", "mbox"])
def test_hostile_messages_cost_no_more_than_their_length(kind: str, data: bytes) -> None:
    mail.is_mail(data)
    mail.is_mbox(data)
    assert read_limited("mail", kind, data)
