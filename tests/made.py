"""Documents made for the tests: the same prose in every format."""

from __future__ import annotations

import io
import random
import textwrap
import zipfile
from collections.abc import Callable, Iterable, Mapping
from html import escape

import pytest

_WORDS = """
the of and to in that was his with which from had not all were when there their been one more would into
upon other time house water light morning evening garden river window voice letter country summer winter
mountain shadow walked looked turned waited listened remembered answered followed carried opened finished
offered efficient difficult office reflection flight floating final fiftieth affluent waffle café naïve
Müller Strasse façade señor Ångström quickly slowly never always perhaps together against between through
without beneath beyond
"""
_ESCAPED = ("(as ever)", "& so", "“here”", "5% of", "it’s", "x_1", "$4", "{so}", "a<b", "C#")


def prose(paragraphs: int = 40, seed: int = 7) -> list[str]:
    """Return meaningless sentences with characters that formats have to escape."""
    chance = random.Random(seed)
    vocabulary = _WORDS.split()

    def sentence() -> str:
        words = [chance.choice(vocabulary) for _ in range(chance.randint(6, 18))]
        words.insert(
            3, chance.choice(["(as ever)", "& so", "“here”", "5% of", "it’s", "x_1", "$4", "{so}", "a<b", "C#"])
        )
        return " ".join(words).capitalize() + "."

    return [" ".join(sentence() for _ in range(chance.randint(2, 6))) for _ in range(paragraphs)]


def lines(paragraphs: Iterable[str], width: int = 72) -> list[str]:
    """Return the text in lines; a long word that does not fit is broken with a hyphen."""
    wrapped: list[str] = []
    for paragraph in paragraphs:
        line = ""
        for word in paragraph.split():
            if len(line) + 1 + len(word) > width:
                if word.isalpha() and len(word) > 6 and len(line) + 5 <= width:
                    line, word = f"{line} {word[:3]}-", word[3:]
                wrapped.append(line.strip())
                line = ""
            line += " " + word
        wrapped += [line.strip(), ""]
    return wrapped


def txt(paragraphs: list[str]) -> bytes:
    return "\n\n".join(textwrap.fill(p, 70) for p in paragraphs).encode()


def html(paragraphs: list[str]) -> bytes:
    body = "\n".join(f"<p>{escape(p).replace('é', '&eacute;')}</p>" for p in paragraphs)
    head = "<title></title><style>p { margin: 0 }</style><script>var x = '<p>no</p>';</script>"
    return f"<!DOCTYPE html>\n<html><head>{head}</head><body>\n{body}\n</body></html>".encode()


def pdf(paragraphs: list[str], *, head: str = "A running head") -> bytes:
    """Return pages of 40 lines with a running head and a page number."""
    set_ = lines(paragraphs)
    pages = [set_[i : i + 40] for i in range(0, len(set_), 40)]
    return pdf_pages([[head, *page, str(number)] for number, page in enumerate(pages, 1)])


def pdf_pages(pages: list[list[str]], differences: str = "") -> bytes:
    """Return a PDF with these lines on its pages; `differences` changes the font's encoding."""
    objects: list[bytes] = []

    def add(content: bytes) -> int:
        objects.append(content)
        return len(objects)

    encoding = f"<< /BaseEncoding /WinAnsiEncoding /Differences [{differences}] >>"
    add(b"<< /Type /Catalog /Pages 2 0 R >>")
    add(b"")  # the page tree, when the pages are known
    add(f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding {encoding} >>".encode())
    kids = []
    for page in pages:
        shown = b"\n".join(b"(" + _ps_string(line) + b") Tj T*" for line in page)
        content = b"BT /F1 10 Tf 12 TL 60 780 Td\n" + shown + b"\nET"
        stream = add(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        resources = "<< /Font << /F1 3 0 R >> >>"
        box = "/MediaBox [0 0 595 842]"
        kids.append(
            add(f"<< /Type /Page /Parent 2 0 R {box} /Contents {stream} 0 R /Resources {resources} >>".encode())
        )
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>".encode()
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table))
    return out.getvalue()


def _ps_string(line: str) -> bytes:
    data = line.encode("cp1252", "replace")
    return b"".join(b"\\%03o" % byte if byte in b"()\\" or byte > 126 else bytes([byte]) for byte in data)


def ps(paragraphs: list[str]) -> bytes:
    set_ = [line.replace("“", '"').replace("”", '"').replace("’", "'") for line in lines(paragraphs)]
    program = [
        b"%!PS-Adobe-3.0",
        b"/Helvetica findfont dup length dict begin { 1 index /FID ne { def } { pop pop } ifelse } forall",
        b"/Encoding ISOLatin1Encoding def currentdict end /F exch definefont 10 scalefont setfont",
    ]
    for i, line in enumerate(set_):
        if i % 50 == 0 and i:
            program.append(b"showpage")
        program.append(b"60 %d moveto (%s) show" % (780 - 12 * (i % 50), _ps_string(line)))
    return b"\n".join([*program, b"showpage", b"%%EOF", b""])


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def docx(paragraphs: list[str]) -> bytes:
    schemas = "http://schemas.openxmlformats.org"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"

    def run(text: str, properties: str = "") -> str:
        return f"<w:r>{properties}<w:t xml:space='preserve'>{escape(text)}</w:t></w:r>"

    # Runs end in the midst of words, as editing leaves them.
    body = "".join(f"<w:p>{run(p[:9])}{run(p[9:], '<w:rPr><w:b/></w:rPr>')}</w:p>" for p in paragraphs)
    types = f'<Override PartName="/word/document.xml" ContentType="{kind}"/>'
    relation = f"{schemas}/officeDocument/2006/relationships/officeDocument"
    relations = f'<Relationship Id="r1" Type="{relation}" Target="word/document.xml"/>'
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{schemas}/package/2006/content-types">{types}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{schemas}/package/2006/relationships">{relations}'
            "</Relationships>",
            "word/document.xml": '<?xml version="1.0"?>'
            f'<w:document xmlns:w="{schemas}/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>',
        }
    )


def odt(paragraphs: list[str]) -> bytes:
    names = "urn:oasis:names:tc:opendocument:xmlns:"
    body = "".join(f"<text:p>{escape(p)}</text:p>" for p in paragraphs)
    content = (
        f'<office:document-content xmlns:office="{names}office:1.0" xmlns:text="{names}text:1.0">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def epub(paragraphs: list[str]) -> bytes:
    half = len(paragraphs) // 2
    chapters = {
        f"c{i}.xhtml": html(part).decode() for i, part in enumerate((paragraphs[:half], paragraphs[half:]))
    }
    manifest = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    contents = f"<manifest>{manifest}</manifest><spine>{spine}</spine>"
    package = f'<package xmlns="http://www.idpf.org/2007/opf">{contents}</package>'
    members: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OPS/book.opf": package,
    }
    return zipped(members | {f"OPS/{name}": page for name, page in chapters.items()})


def rtf(paragraphs: list[str]) -> bytes:
    def written(text: str) -> str:
        text = text.replace("\\", r"\\").replace("{", r"\{").replace("}", r"\}")
        return "".join(c if ord(c) < 128 else rf"\u{ord(c)}?" for c in text)

    body = "\n".join(rf"\pard {{\b {written(p[:5])}}}{written(p[5:])}\par" for p in paragraphs)
    return rf"{{\rtf1\ansi\ansicpg1252{{\fonttbl{{\f0 Times New Roman;}}}}\f0 {body}}}".encode()


def tex(paragraphs: list[str]) -> bytes:
    special = {c: "\\" + c for c in "&%$#_{}"} | {"<": "$<$", "“": "``", "”": "''", "’": "'"}
    special |= {
        "é": r"\'e",
        "ï": r"\"{\i}",
        "ü": r"\"u",
        "ç": r"\c{c}",
        "ñ": r"\~n",
        "Å": r"{\AA}",
        "ö": r"\"{o}",
    }
    body = "\n\n".join(r"\emph{}" + "".join(special.get(c, c) for c in p) + " % a comment" for p in paragraphs)
    preamble = "\\documentclass[12pt]{article}\n\\usepackage{amsmath}\n\\newcommand{\\me}{someone}\n"
    return f"{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n".encode()


def md(paragraphs: list[str]) -> bytes:
    first, *rest = ("".join("\\" + c if c in "_#<{}" else c for c in p) for p in paragraphs)
    return "\n\n".join([f"**{first[:5]}**{first[5:]}", *rest, "[unused]: http://example.org 'title'"]).encode()


FORMATS: dict[str, Callable[[list[str]], bytes]] = {
    make.__name__: make for make in (txt, html, pdf, ps, docx, odt, rtf, epub, tex, md)
}
POSTSCRIPT = pytest.param("ps", marks=pytest.mark.ghostscript)
FORMAT_PARAMETERS = [POSTSCRIPT if extension == "ps" else extension for extension in FORMATS]
"""Test parameters for each format; only PostScript needs Ghostscript."""
