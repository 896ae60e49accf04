"""Files that cost a reader as much as possible for their size, for every format."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping

_HEAD = b"From: a@b.example\nTo: c@d.example\nSubject: s\nMIME-Version: 1.0\n"
_WORD = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = b"<Types>wordprocessingml</Types>"
_RELATION = b'<Relationship Type="x/endnotes" Target="e.xml"/>'
_ONE_CHAPTER = b'<p><item id="i" href="c"/><itemref idref="i"/></p>'
_BOOK: Mapping[str, bytes] = {
    "mimetype": b"application/epub+zip",
    "META-INF/container.xml": b'<container><rootfile full-path="book.opf"/></container>',
}

_RTF = b"{\\rtf1 words "
_TEX = b"\\documentclass{a}\\begin{document}"
_CELL = b'{"cell_type":"code","source":["x=1\\n"]},'
_NOTEBOOK = b'{"nbformat": 4, "cells": ['
_POSTMARK = b"From a@b Thu Jan  1 00:00:00 1970\n"
_DOCUMENT = b'<document xmlns="%s" xmlns:w="%s"><body>' % (_WORD, _WORD)
_DOCUMENT_END = b"</body></document>"
_TEXT = b"urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_ODT = b'<d xmlns="%s" xmlns:t="%s">' % (_TEXT, _TEXT)
_FONTS = b"{\\fonttbl{\\f0\\fcharset204}{\\f1\\fcharset238}}"
_CODE = b'{"cell_type":"code","source":'

Make = Callable[[int], bytes]
"""Returns a file of about this many bytes."""


def repeated(piece: bytes, start: bytes = b"", end: bytes = b"") -> Make:
    return lambda size: start + piece * (size // len(piece)) + end


def numbered(piece: bytes, start: bytes = b"", end: bytes = b"") -> Make:
    """Return a maker of a file that repeats a piece with another number each time."""

    def make(size: int) -> bytes:
        count = size // (len(piece) + 6)
        return start + b"".join(piece.replace(b"#", b"%d" % i) for i in range(count)) + end

    return make


def packed(members: Mapping[str, Make | bytes]) -> Make:
    """Return a maker of a ZIP whose members have this size before they are packed."""

    def make(size: int) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content if isinstance(content, bytes) else content(size))
        return out.getvalue()

    return make


def _docx(body: Make) -> Make:
    return packed({"[Content_Types].xml": _TYPES, "word/document.xml": body})


def _docx_relations(piece: bytes) -> Make:
    relations = numbered(piece, b"<Relationships>", b"</Relationships>")
    members: dict[str, Make | bytes] = {"word/_rels/document.xml.rels": relations, "word/e.xml": b"<none/>"}
    body = _DOCUMENT + _DOCUMENT_END
    return packed({"[Content_Types].xml": _TYPES, "word/document.xml": body, **members})


def _odt(body: Make) -> Make:
    return packed({"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": body})


def _epub(contents: Make | bytes, chapter: Make | bytes) -> Make:
    return packed({**_BOOK, "book.opf": contents, "c": chapter})


def nested_mail(size: int) -> bytes:
    """Return a mail with parts within parts, each of which begins with many headers."""
    depth = 32
    fill = b"X-Header: value\n" * (size // depth // 16)
    heads = (b"Content-Type: multipart/mixed; boundary=b%d\n%s\n--b%d\n" % (i, fill, i) for i in range(depth))
    return _HEAD + b"".join(heads) + b"\nwords"


def many_files(size: int) -> bytes:
    """Return a TAR of empty files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for number in range(size // 512):
            archive.addfile(tarfile.TarInfo(f"{number}.txt"))
    return out.getvalue()


def many_members(size: int) -> bytes:
    """Return a ZIP of files of one letter."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(size // 90):
            archive.writestr(f"{number:x}", b"a")
    return out.getvalue()


WORST: Mapping[str, tuple[str, Make]] = {
    "RTF: braces": ("x.rtf", repeated(b"{", _RTF)),
    "RTF: pairs of braces": ("x.rtf", repeated(b"{}", _RTF)),
    "RTF: groups": ("x.rtf", repeated(b"{\\b x}", _RTF)),
    "RTF: escapes": ("x.rtf", repeated(b"\\'e9", _RTF)),
    "RTF: signs": ("x.rtf", repeated(b"\\~", _RTF)),
    "RTF: notes": ("x.rtf", repeated(b"{\\footnote a}", _RTF)),
    "RTF: fonts": ("x.rtf", repeated(b"\\f0 a\\f1 b", _RTF + _FONTS)),
    "RTF: Unicode": ("x.rtf", repeated(b"\\u233?", _RTF)),
    "RTF: paragraphs": ("x.rtf", repeated(b"a\\\n", _RTF)),
    "RTF: braces in a ZIP": ("x.zip", packed({"x.rtf": repeated(b"{\\b}", _RTF)})),
    "DOCX: relations": ("x.docx", _docx_relations(_RELATION)),
    "DOCX: different relations": ("x.docx", _docx_relations(_RELATION.replace(b"e.xml", b"#/../e.xml"))),
    "DOCX: elements": ("x.docx", _docx(repeated(b"<a/>", _DOCUMENT, _DOCUMENT_END))),
    "DOCX: nested elements": ("x.docx", _docx(repeated(b"<r>", _DOCUMENT))),
    "DOCX: nested paragraphs": ("x.docx", _docx(repeated(b"<p>", _DOCUMENT))),
    "DOCX: runs": ("x.docx", _docx(repeated(b"<r/>", _DOCUMENT, _DOCUMENT_END))),
    "DOCX: paragraphs": ("x.docx", _docx(repeated(b"<p/>", _DOCUMENT, _DOCUMENT_END))),
    "DOCX: tabs": ("x.docx", _docx(repeated(b"<tab/>", _DOCUMENT + b"<p>", b"</p>" + _DOCUMENT_END))),
    "DOCX: attributes": ("x.docx", _docx(numbered(b' a#=""', _DOCUMENT + b"<p", b"/>" + _DOCUMENT_END))),
    "DOCX: letters": ("x.docx", _docx(repeated(b"<p><t>a</t></p>", _DOCUMENT, _DOCUMENT_END))),
    "ODT: spaces": ("x.odt", _odt(repeated(b'<s t:c="9"/>', _ODT + b"<p>a", b"</p></d>"))),
    "ODT: elements": ("x.odt", _odt(repeated(b"<a/>", _ODT, b"</d>"))),
    "ODT: tabs": ("x.odt", _odt(repeated(b"<tab/>", _ODT + b"<p>", b"</p></d>"))),
    "ODT: paragraphs": ("x.odt", _odt(repeated(b"<p>a</p>", _ODT, b"</d>"))),
    "ODT: nested paragraphs": ("x.odt", _odt(repeated(b"<p>", _ODT))),
    "ODT: notes": ("x.odt", _odt(repeated(b"<note>", _ODT))),
    "ODT: entities": ("x.odt", _odt(repeated(b"&amp;", _ODT + b"<p>", b"</p></d>"))),
    "EPUB: chapters": ("x.epub", _epub(
        numbered(b'<item id="i#" href="#/../c"/><itemref idref="i#"/>', b"<p>", b"</p>"), b"<p>words")),
    "EPUB: a long chapter": ("x.epub", _epub(_ONE_CHAPTER, repeated(b"<p>a"))),
    "EPUB: titles": ("x.epub", _epub(_ONE_CHAPTER, repeated(b"<title"))),
    "TeX: labels": ("x.tex", repeated(b"\\label{", _TEX)),
    "TeX: short arguments": ("x.tex", repeated(b"\\label{%\n}", _TEX)),
    "TeX: nested arguments": ("x.tex", repeated(b"\\footnote{", _TEX, b"}")),
    "TeX: closed in time": ("x.tex", lambda size: _TEX + b"\\label{" * (size // 8) + b"}" * (size // 8)),
    "TeX: environments": ("x.tex", repeated(b"\\begin{comment}\\end{comment}", _TEX)),
    "TeX: open environments": ("x.tex", repeated(b"\\begin{comment}", _TEX)),
    "TeX: different open environments": ("x.tex", repeated(
        b"\\begin{comment}\\begin{verbatim}\\begin{tikzcd}\\begin{minted}", _TEX)),
    "TeX: commands": ("x.tex", repeated(b"\\a", _TEX)),
    "TeX: options": ("x.tex", repeated(b"\\cite[", _TEX)),
    "TeX: verbs": ("x.tex", repeated(b"\\verb|", _TEX)),
    "TeX: lengths": ("x.tex", repeated(b"\\hskip ", _TEX)),
    "TeX: titles": ("x.tex", repeated(b"\\title{", b"\\documentclass{a}", b"\\begin{document}")),
    "TeX: bodies in comments": ("x.tex", repeated(b"%\\begin{document}\n", b"\\documentclass{a}")),
    "Markdown: links": ("x.md", repeated(b"[a](")),
    "Markdown: open brackets": ("x.md", repeated(b"[")),
    "Markdown: code": ("x.md", repeated(b"`a``b```c````d`````")),
    "Markdown: code behind an escape": ("x.md", repeated(b"\\``` ")),
    "Markdown: code behind an escape, closed far away": ("x.md", repeated(b"\\``` ", b"", b"\n\n``")),
    "Markdown: code before a blank line": ("x.md", repeated(b"`a ", b"", b"\n\n`")),
    "Markdown: backticks of every length": ("x.md", lambda size: b"".join(
        b"`" * (i % 33) + b" " for i in range(size // 17))),
    "Markdown: fences": ("x.md", repeated(b"```\n")),
    "Markdown: fences of every length": ("x.md", lambda size: b"".join(
        b"`" * (5000 - i % 4997) + b"\n" for i in range(size // 2500))),
    "Markdown: numbers": ("x.md", repeated(b"1. a\n2. b\n")),
    "Markdown: numbers far apart": ("x.md", repeated(b"2. b\nwords\n", b"1. a\n")),
    "Markdown: definitions": ("x.md", numbered(b"[a#]: b\n")),
    "Markdown: tags": ("x.md", repeated(b'<a b="')),
    "Markdown: comments": ("x.md", repeated(b"<!--")),
    "Markdown: short comments": ("x.md", repeated(b"<!---->")),
    "Markdown: entities": ("x.md", repeated(b"&eacute;")),
    "Markdown: front matter": ("x.md", repeated(b"---\na: b\n")),
    "Markdown: quotes": ("x.md", repeated(b"> ")),
    "Markdown: spaces": ("x.md", repeated(b" ", b"[a](", b"b")),
    "HTML: tags": ("x.html", repeated(b"<a", b"<html>")),
    "HTML: attributes": ("x.html", repeated(b'a="', b"<html><p ")),
    "HTML: comments": ("x.html", repeated(b"<!--", b"<html>")),
    "HTML: scripts": ("x.html", repeated(b"<script>", b"<html>")),
    "HTML: entities": ("x.html", repeated(b"&", b"<html>")),
    "HTML: a slow encoding": ("x.html", repeated(b"a-\xe9", b"<html><meta charset=punycode>")),
    "notebook: cells": ("x.ipynb", repeated(_CELL, _NOTEBOOK, b"{}]}")),
    "notebook: lines": ("x.ipynb", repeated(b'"\\n",', _NOTEBOOK + _CODE + b"[", b'""]}]}')),
    "notebook: nested": ("x.ipynb", repeated(b"[", _NOTEBOOK)),
    "notebook: digits": ("x.ipynb", repeated(b"9", _NOTEBOOK)),
    "notebook: languages": ("x.ipynb", numbered(b'{"language":"no#"},', _NOTEBOOK, b"{}]}")),
    "notebook: commands": ("x.ipynb", repeated(b"%\\n", _NOTEBOOK + _CODE + b'"', b'"}]}')),
    "mail: parts": ("x.eml", repeated(b"--b\n\na\n", _HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n")),
    "mail: nested parts": ("x.eml", nested_mail),
    "mail: boundaries": ("x.eml", repeated(b"--b", _HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n")),
    "mail: attachments": ("x.eml", repeated(
        b"--b\nContent-Disposition: attachment; filename=a.c\n\nint x;\n",
        _HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n")),
    "mail: quoted": ("x.eml", repeated(b"=\n", _HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n")),
    "mail: flowed": ("x.eml", repeated(b"> \n", _HEAD + b"Content-Type: text/plain; format=flowed\n\n")),
    "mail: headers": ("x.eml", repeated(b"X: y\n", _HEAD, b"\nwords")),
    "mail: encoded words": ("x.eml", repeated(b" =?a?q?b?=\n", _HEAD + b"Subject:\n", b"\nwords")),
    "mailbox: messages": ("x.mbox", repeated(_POSTMARK + _HEAD + b"\na\n\n")),
    "mailbox: postmarks": ("x.mbox", repeated(_POSTMARK, _POSTMARK + _HEAD + b"\n")),
    "mailbox: quoted postmarks": ("x.mbox", repeated(b">From \n", _POSTMARK + _HEAD + b"\n")),
    "gzip: empty members": ("x.gz", repeated(gzip.compress(b""))),
    "gzip: short members": ("x.gz", repeated(gzip.compress(b"a"))),
    "bzip2: empty streams": ("x.bz2", repeated(bytes.fromhex("425a683917724538509000000000"))),
    "xz: empty streams": ("x.xz", repeated(bytes.fromhex(
        "fd377a585a0000016922de36000000001cdf44219042990d010000000001595a"))),
    "TAR: files": ("x.tar", many_files),
    "ZIP: files": ("x.zip", many_members),
    "CSV: commas": ("x.csv", repeated(b",")),
    "JSON Lines: nested": ("x.jsonl", repeated(b"[")),
    "text: every byte": ("x", repeated(bytes(range(32, 256)))),
    "text: brackets": ("x", repeated(b"(* { [ ")),
    "text: comments": ("x", repeated(b"/*(*{-\n")),
    "text: Japanese with errors": ("x.txt", repeated(b"\xff", "\u540d\u524d".encode("cp932") * 20_000)),
    "text: escapes": ("x.txt", repeated(b"\x1b$B0!\x1b(B")),
    "text: UTF-16 with errors": ("x.txt", repeated(b"\xd8\x00a\x00", b"\xff\xfe")),
}  # fmt: skip
"""By what they repeat: the name of the file, and how to make it."""
