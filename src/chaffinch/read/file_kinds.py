"""What a text is for, where its format does not say it: about programs, or data for them."""

from __future__ import annotations

import re
from collections import Counter

from chaffinch.languages.by_content import is_prose
from chaffinch.types import Document

_DATA = {
    "csv", "tsv", "tab", "json", "jsonl", "ndjson", "geojson", "xml", "xsd", "yaml", "yml", "toml", "ini",
    "cfg", "conf", "properties", "plist", "dat", "data", "in", "inp", "input", "out", "output", "ans",
    "expected", "log", "arff",
}  # fmt: skip
_NOT_PROGRAMS = {
    "md", "markdown", "rmd", "qmd", "rst", "adoc", "org", "tex", "ltx", "bib", "html", "htm", "xhtml", "eml",
    "mbox", "mk", "cmake", "am", "ac", "gitignore", "diff", "patch", "srt", "vtt", "po",
}  # fmt: skip
_RESULTS = {"in", "inp", "input", "out", "output", "ans", "expected"}
"""What a program reads or prints may be prose, and is not the student's essay."""
_DOCUMENTS = {"md", "markdown", "html", "htm", "xhtml", "tex", "ltx", "eml", "rst", "adoc", "org"}
_OTHER_LANGUAGES = {
    "elm", "nim", "d", "vue", "svelte", "coffee", "tcl", "awk", "sed", "vim", "el", "bat", "cmd", "proto",
    "graphql", "tf", "nix", "pyx", "hx", "glsl", "hlsl", "wgsl", "ispc", "mako", "j2", "erb", "ejs",
}  # fmt: skip
"""Languages without a table here."""
_SHOWN = _DATA | _NOT_PROGRAMS | _OTHER_LANGUAGES
_NAMES = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|authors|contributors|changelog|changes|news|todo|install|history)\b.*"
    r"|(?:gnu)?makefile(?:\..*)?|dockerfile|vagrantfile|jenkinsfile|procfile|cmakelists\.txt|requirements.*\.txt",
    re.I | re.S,
)
_PLAIN = ("", "txt", "text")
_HEAD_BYTES = 1 << 14
_LETTERS = bytes(c for c in range(256) if c >= 0x80 or chr(c).isalpha())
_WHITE_SPACE = b" \t\r\n\v\f\0"
_FEWEST_LETTERS = 0.4
"""Share of letters in what is not white space. Prose has more than twice as many."""
_ALIKE = 0.9
"""Share of the lines of a table that have the same number of fields, or of a list that have a single word."""
_FEWEST_ROWS, _FEWEST_WORDS = 5, 20


def suffix(name: str) -> str:
    """Return the ending of a file's name, in lower case and without its dot."""
    last = _last(name)  # not a Path: this runs for every text
    return last[last.rfind(".") + 1 :].lower() if last.rfind(".") > 0 else ""


def _last(name: str) -> str:
    return name[max(name.rfind("/"), name.rfind("\\")) + 1 :]


def shows_kind(name: str) -> bool:
    """Return whether the name of a file that is in no known language shows that it is no program in any."""
    return suffix(name) in _SHOWN or is_about_programs(name)


def is_named_data(name: str) -> bool:
    """Return whether a file has the name of data."""
    return suffix(name) in _DATA and not is_about_programs(name)


def may_hide_program(name: str) -> bool:
    """Return whether a name is one of data or of a document, under which there may be a program."""
    return suffix(name) in _DATA | _DOCUMENTS


def is_about_programs(name: str) -> bool:
    """Return whether a file has the name of a README, a licence, a Makefile and the like."""
    return _NAMES.fullmatch(_last(name)) is not None


def is_data(document: Document) -> bool:
    """Return whether a document is data: a table, a configuration, input or output of a program."""
    if document.language != "text" or document.format != "plain" or is_about_programs(document.name):
        return False
    ending = suffix(document.name)
    if ending in _DATA:
        return ending in _RESULTS or not is_prose(document.data)
    return ending in _PLAIN and _looks_like_data(document.data[:_HEAD_BYTES])


def _looks_like_data(head: bytes) -> bool:
    """Return whether a text is mostly numbers, a table, or a list of words."""
    solid = len(head.translate(None, _WHITE_SPACE))
    letters = solid - len(head.translate(None, _WHITE_SPACE + _LETTERS))
    if letters < _FEWEST_LETTERS * solid:
        return True
    lines = [line for line in head.splitlines()[: 1 << 9] if line.strip()]
    if len(lines) >= _FEWEST_WORDS and sum(len(line.split()) == 1 for line in lines) >= _ALIKE * len(lines):
        return True
    return len(lines) >= _FEWEST_ROWS and any(_is_table(lines, mark) for mark in (b",", b";", b"\t", b"|"))


def _is_table(lines: list[bytes], mark: bytes) -> bool:
    """Return whether nearly all lines have the same number of fields, at least three."""
    ((fields, count),) = Counter(line.count(mark) for line in lines).most_common(1)
    return fields >= 2 and count >= _ALIKE * len(lines)
