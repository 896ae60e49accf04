"""Web pages -> a Source of what a reader sees."""

from __future__ import annotations

import re
from html.entities import html5

from chaffinch.native.fingerprint import Source
from chaffinch.read.encoding import UTF8, detect, single_byte_table
from chaffinch.types import Document

# Nothing that was taken is given back: many comments could be parted in more ways than there is time for.
_START = re.compile(
    rb"\s*+(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b",
    re.I | re.S,
)
_HEAD = 4096

# The rest is for html_text and follows core/src/html.rs.
_TAG = re.compile(
    r"""<(?:(?P<close>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]*)|[!?/])
    (?:[^<>=]++|=(?:"[^"]*"|'[^']*')?+)*+(?P<end>>)?""",
    re.X,
)
_HIDDEN = {
    name: re.compile("</" + name, re.I) for name in ("script", "style", "template", "noscript", "svg", "math")
}
_LINES = re.compile(
    "address|article|aside|blockquote|body|br|caption|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|"
    "figure|footer|form|h[1-6]|head|header|hr|html|legend|li|main|menu|nav|ol|optgroup|option|p|pre|section|"
    "summary|table|tbody|tfoot|thead|title|tr|ul"
)
_CELLS = ("td", "th")
_REFERENCE = re.compile("&(#?)([0-9A-Za-z]{1,32});?")
_SPACE = re.compile(r"[ \t\n\f]{2,}|[\t\n\f]")
_GAP = re.compile(r"[ \t\n\f]{2,}")


def is_html(data: bytes) -> bool:
    """Tell by the first bytes."""
    start = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"<") and _START.match(data[:_HEAD]) is not None


def source(document: Document) -> Source:
    """Return the page as the core reads it, in UTF-8 or an encoding of one byte a character."""
    return Source.html(
        document.data, None if document.encoding == UTF8 else single_byte_table(document.encoding)
    )


def html_text(data: bytes, encoding: str | None = None) -> str:
    """What a reader sees of a page, a line for each block: the same letters as the native reader finds."""
    page = (
        data.decode(encoding or detect(data, is_page=True), "replace").replace("\r\n", "\n").replace("\r", "\n")
    )
    pieces: list[str] = []
    in_vain: set[str] = set()  # ends that were sought to the end of the page are not sought again
    as_is = False  # within <pre>
    at = 1 if page.startswith("\ufeff") else 0
    while at < len(page):
        if page[at] == "<":
            if page.startswith("<!--", at) and "-->" not in in_vain:
                end = page.find("-->", at + 4)
                if end >= 0:
                    at = end + 3
                    continue
                in_vain.add("-->")
            tag = _TAG.match(page, at) if ">" not in in_vain else None
            if tag and not tag["end"] and tag.end() == len(page):
                in_vain.add(">")
            elif tag:
                at = tag.end()
                name = (tag["name"] or "").lower()
                if _LINES.fullmatch(name):
                    pieces.append("\n")
                    as_is = not tag["close"] if name == "pre" else as_is
                elif name in _CELLS and not tag["close"]:
                    pieces.append("\t")
                elif name in _HIDDEN and name not in in_vain and not tag["close"] and page[at - 2] != "/":
                    if close := _HIDDEN[name].search(page, at):
                        at = close.start()
                    else:
                        in_vain.add(name)
                continue
        end = page.find("<", at + 1)
        text = page[at : end if end >= 0 else len(page)]
        at += len(text)
        pieces.append(_REFERENCE.sub(_character, text if as_is else _SPACE.sub(" ", text)))
    return _GAP.sub(_widest, "".join(pieces)).strip(" \t\n\f")


def _character(reference: re.Match[str]) -> str:
    """What a reference such as `&eacute;` or `&#233;` stands for; itself if nothing."""
    number, word = reference.groups()
    if not number:
        return html5.get(word + ";", reference[0])
    try:
        code = int(word[1:], 16) if word[0] in "xX" else int(word)
    except ValueError:
        return reference[0]
    if code > 0x10FFFF:
        return "\ufffd" if code < 1 << 32 else reference[0]
    return chr(code)


def _widest(gap: re.Match[str]) -> str:
    return next(space for space in "\n\t\f " if space in gap[0])
