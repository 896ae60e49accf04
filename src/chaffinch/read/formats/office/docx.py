"""Word documents (DOCX) -> their text."""

from __future__ import annotations

from posixpath import basename, dirname, join, normpath

from chaffinch.read.formats.office.package import Attributes, Unpack, attribute, damaged, elements, parse
from chaffinch.read.formats.office.paragraphs import Paragraphs
from chaffinch.types import Document, File

_SCHEMAS, _STRICT = "http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/"
_WORD_NAMES = (
    "p r t tab ptab br cr noBreakHyphen sym vanish tc tr footnote endnote "
    "del moveFrom pPr rPrChange sdtPr tblPr rt"
)
_WORD = {
    f"{namespace} {name}": name
    for namespace, names in {
        _SCHEMAS + "wordprocessingml/2006/main": _WORD_NAMES,
        _STRICT + "wordprocessingml/main": _WORD_NAMES,
        _SCHEMAS + "officeDocument/2006/math": "t",
        _STRICT + "officeDocument/math": "t",
        _SCHEMAS + "markup-compatibility/2006": "AlternateContent Choice Fallback",
    }.items()
    for name in names.split()
}
# Properties hold no text, but elements with the names of text, such as the positions of tab stops.
_WORD_SKIPPED = frozenset(["del", "moveFrom", "pPr", "rPrChange", "sdtPr", "tblPr", "rt"])
_WORD_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def text(file: File, unpack: Unpack) -> Document:
    """Return the body, then the notes, without headers, footers and comments."""
    main = next(iter(_related(file, unpack, "", "officeDocument")), "word/document.xml")
    body = unpack(main)
    if body is None:
        raise damaged(file.name, f"no {main} in it")
    paragraphs = Paragraphs(file)
    _story(file.name, body, paragraphs)
    for note_type in ("footnotes", "endnotes"):
        for path in _related(file, unpack, main, note_type):
            _story(file.name, unpack(path) or b"<none/>", paragraphs)
    return paragraphs.document()


def _related(file: File, unpack: Unpack, path: str, wanted: str) -> list[str]:
    """Return the files that have this relation to the file at the path."""
    folder = dirname(path)
    listed = elements(file.name, unpack(join(folder, "_rels", basename(path) + ".rels")))
    targets = (a.get("Target", "") for _, a in listed if a.get("Type", "").endswith("/" + wanted))
    return list(dict.fromkeys(normpath(join("/", folder, target)).lstrip("/") for target in targets))


def _story(name: str, xml: bytes, paragraphs: Paragraphs) -> None:
    """Add the body, or all notes, with every change accepted and without hidden text."""
    skipped = 0  # open elements, from the first that is not read
    shown = False  # whether the open element holds visible text
    hidden: list[bool] = []  # for each open run; a run may hold a text box with runs
    chosen: list[bool] = []  # for each open set of alternatives: whether one was read

    def start(element: str, attributes: Attributes) -> None:
        nonlocal skipped, shown
        if skipped:
            skipped += 1
            return
        local = _WORD.get(element)
        if local is None:
            return
        if local == "p":
            paragraphs.begin()
        elif local == "r":
            hidden.append(bool(hidden) and hidden[-1])
        elif local == "t":
            shown = not (hidden and hidden[-1])
        elif local in _WORD_SKIPPED:
            skipped = 1
        elif local in _WORD_CHARACTERS:
            write(_WORD_CHARACTERS[local])
        elif local == "sym":
            write(_symbol(attribute(attributes, "char") or ""))
        elif local == "vanish" and hidden:
            hidden[-1] = hidden[-1] or attribute(attributes, "val") not in ("0", "false", "off")
        elif local == "tr":
            paragraphs.row()
        elif local == "AlternateContent":
            chosen.append(False)
        elif local in ("Choice", "Fallback") and chosen:
            skipped = int(chosen[-1])
            chosen[-1] = True
        elif local in ("footnote", "endnote"):
            if attribute(attributes, "type") in (None, "normal"):
                paragraphs.begin_note()
            else:
                skipped = 1  # the line above the notes

    def end(element: str) -> None:
        nonlocal skipped, shown
        if skipped:
            skipped -= 1
            return
        local = _WORD.get(element)
        if local == "p":
            paragraphs.end()
        elif local == "r":
            hidden.pop()
        elif local == "t":
            shown = False
        elif local == "tc":
            paragraphs.end_cell()
        elif local == "tr":
            paragraphs.row()
        elif local == "AlternateContent":
            chosen.pop()
        elif local in ("footnote", "endnote"):
            paragraphs.end_note()

    def write(text: str) -> None:
        if not (hidden and hidden[-1]):
            paragraphs.write(text)

    def show(text: str) -> None:
        if shown:
            write(text)

    parse(name, xml, start, end, show)


def _symbol(code: str) -> str:
    """Return a character by its number, or a space for one that depends on a symbol font."""
    try:
        number = int(code, 16)
    except ValueError:
        return " "
    return chr(number) if 0x20 <= number < 0xD800 else " "
