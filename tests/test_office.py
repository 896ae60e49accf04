"""DOCX, ODT and EPUB: exactly the text that a reader sees, with sections; bad files give a message."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable

import pytest

from chaffinch.errors import Unreadable
from chaffinch.read.formats.office import office
from chaffinch.read.ready import ready_documents
from chaffinch.types import Document, File, Skipped
from tests import made
from tests.hostile import damaged, message_if_unreadable, read_limited

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_W = "http://purl.oclc.org/ooxml/wordprocessingml/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pack(files: dict[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def relations(**targets: str) -> str:
    listed = "".join(f'<Relationship Type="{RELATION}/{kind}" Target="{t}"/>' for kind, t in targets.items())
    return f'<Relationships xmlns="x">{listed}</Relationships>'


def docx(body: str, notes: str = "", namespace: str = W, main: str = "word/document.xml") -> bytes:
    names = (
        f'xmlns:w="{namespace}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    )
    folder, _, file = main.rpartition("/")
    return pack(
        {
            "[Content_Types].xml": "<Override ContentType='a/vnd.wordprocessingml.document.main+xml'/>",
            "_rels/.rels": relations(officeDocument="/" + main),
            f"{folder}/_rels/{file}.rels": relations(footnotes="notes.xml", header="header1.xml"),
            main: f"<w:document {names}><w:body>{body}</w:body></w:document>",
            f"{folder}/notes.xml": f"<w:footnotes {names}>{notes}</w:footnotes>",
            f"{folder}/header1.xml": f"<w:hdr {names}>{paragraph('Header')}</w:hdr>",
        }
    )


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def paragraph(*contents: str) -> str:
    runs = "".join(c if c.startswith("<") else run(c) for c in contents)
    return f"<w:p><w:pPr><w:tabs><w:tab w:pos='720'/></w:tabs><w:rPr><w:vanish/></w:rPr></w:pPr>{runs}</w:p>"


def odt(body: str, styles: str = "", **more: str) -> bytes:
    spaces = {
        "office": "office:1.0",
        "text": "text:1.0",
        "table": "table:1.0",
        "style": "style:1.0",
        "svg": "svg-compatible:1.0",
        "draw": "drawing:1.0",
    }
    names = " ".join(f'xmlns:{p}="urn:oasis:names:tc:opendocument:xmlns:{n}"' for p, n in spaces.items())
    content = (
        f"<office:document-content {names}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return pack({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, **more})


def epub(pages: dict[str, str], spine: list[str] | None = None, more: dict[str, str] | None = None) -> bytes:
    items = "".join(f'<item id="{n}" href="{n}" media-type="application/xhtml+xml"/>' for n in pages)
    refs = "".join(f'<itemref idref="{n}"/>' for n in spine or pages)
    return pack(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="x"><rootfiles><rootfile full-path="OEBPS/a%20b.opf" '
            'media-type="application/oebps-package+xml"/></rootfiles></container>',
            "OEBPS/a b.opf": f'<package xmlns="y"><manifest>{items}</manifest><spine>{refs}</spine></package>',
            **{f"OEBPS/{name}": page for name, page in pages.items()},
            **(more or {}),
        }
    )


def read(data: bytes) -> Document:
    kind = office.detect(data)
    (document,) = office.read(File("essay", data, format=kind))
    assert document.encoding == "utf-8"
    return document


def text(data: bytes) -> str:
    return read(data).data.decode()


def places(document: Document) -> list[str]:
    starts, at = [], 0
    for line in document.data.splitlines(keepends=True):
        starts.append(document.place(at))
        at += len(line)
    return starts


@pytest.mark.parametrize("namespace", [W, STRICT_W])
def test_docx(namespace: str) -> None:
    box = f"<w:txbxContent>{paragraph('Box')}</w:txbxContent>"
    alternatives = (
        "<mc:AlternateContent>"
        f"<mc:Choice>{box}</mc:Choice><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent>"
    )
    rows = [("a", "b", "c"), ("", "", "d"), ("", "", "")]
    table = "".join(f"<w:tr>{''.join(f'<w:tc>{paragraph(c)}</w:tc>' for c in row)}</w:tr>" for row in rows)
    body = [
        paragraph("Hello ", "world", f"<w:r>{alternatives}</w:r>", " again"),
        paragraph(),
        paragraph("Все 吾輩 مرحبا 😀"),
        f"<w:tbl><w:tblPr/>{table}</w:tbl>",
        paragraph(
            "<w:ins><w:r><w:t>kept</w:t></w:r></w:ins>",
            "<w:del><w:r><w:delText>gone</w:delText><w:tab/></w:r></w:del>",
            f"<w:moveFrom>{run('moved')}</w:moveFrom>",
            run("hidden", "<w:vanish/>"),
            run(" shown", "<w:vanish w:val='0'/><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>"),
            "<w:r><w:instrText>PAGE</w:instrText></w:r>",
            "<w:r><w:tab/><w:t>co</w:t><w:softHyphen/><w:t>op</w:t><w:noBreakHyphen/><w:t>ed</w:t><w:br/></w:r>",
            "<w:r><w:sym w:char='00E9'/><w:sym w:char='F0E0'/><w:sym w:char='x'/></w:r>",
            "<m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath>",
            "<w:r><w:footnoteReference w:id='2'/></w:r>",
        ),
        f"<w:sdt><w:sdtPr/><w:sdtContent>{paragraph('Control')}</w:sdtContent></w:sdt>",
    ]
    notes = (
        f"<w:footnote w:type='separator' w:id='0'>{paragraph('line')}</w:footnote>"
        f"<w:footnote w:id='2'>{paragraph('Note.')}{paragraph('More.')}</w:footnote>"
        f"<w:footnote w:id='3'>{paragraph('Second note.')}</w:footnote>"
    )
    document = read(docx("".join(body), notes, namespace, "any/thing.xml"))
    assert document.data.decode() == (
        "Box\nHello world again\nВсе 吾輩 مرحبا 😀\na\tb\tc\nd\n"
        "kept shown\tcoop-ed\né  x=1\nControl\nNote.\nMore.\nSecond note.\n"
    )
    assert [part.label for part in document.sections] == [f"paragraph {i}" for i in range(1, 10)] + [
        "footnote 1",
        "footnote 2",
    ]
    assert document.place(document.data.index(b"\tb")) == "paragraph 4, line 1"
    assert document.place(document.data.index(b"b\tc")) == "paragraph 5, line 1"
    assert document.place(document.data.index("é".encode())) == "paragraph 8, line 2"
    assert document.place(document.data.index(b"More")) == "footnote 1, line 2"


def test_odt() -> None:
    table = (
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    note = (
        "<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>Note.</text:p><text:p>More.</text:p></text:note-body></text:note>"
    )
    document = read(
        odt(
            "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
            "<text:h>Все 吾輩</text:h><text:p/>"
            f"<text:p>One\n   two<text:s text:c='3'/>three<text:tab/>four<text:line-break/>five{note} six"
            "<office:annotation><text:p>comment</text:p></office:annotation>"
            "<text:span text:style-name='H'>hidden</text:span><text:span>.</text:span>"
            "<draw:frame><draw:text-box><text:p>Box</text:p></draw:text-box><svg:title>no</svg:title></draw:frame>"
            f"</text:p>{table}<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>",
            "<style:style style:name='H'><style:text-properties text:display='none'/></style:style>"
            "<style:style style:name='B'><style:text-properties/></style:style>",
        )
    )
    assert document.data.decode() == (
        "Все 吾輩\nBox\nOne two   three\tfour\nfive six.\na\tb\nitem\nNote.\nMore.\n"
    )
    assert places(document) == [
        "paragraph 1, line 1",
        "paragraph 2, line 1",
        "paragraph 3, line 1",
        "paragraph 3, line 2",
        "paragraph 4, line 1",
        "paragraph 6, line 1",
        "footnote 1, line 1",
        "footnote 1, line 2",
    ]


def test_epub() -> None:
    page = "<?xml version='1.0'?><html><head><title>T</title></head><body><h1>{}</h1><p>{}</p></body></html>"
    pages = {
        "b.xhtml": page.format("Все", "a &amp; b"),
        "a%20a.xhtml": "",
        "x.xhtml": page.format("Three", "3"),
    }
    scrambled = "<encryption xmlns='z'><CipherReference URI='OEBPS/font.otf'/></encryption>"
    book = epub(pages, None, {"OEBPS/a a.xhtml": page.format("Two", "2"), "META-INF/encryption.xml": scrambled})
    document = read(book)
    assert document.data.decode() == "Все\na & b\nTwo\n2\nThree\n3\n"
    assert places(document)[1:4] == ["chapter 1, line 2", "chapter 2, line 1", "chapter 2, line 2"]


def test_a_page_named_twice_is_read_once_and_none_is_read_from_outside() -> None:
    assert text(epub({"a": "<p>one</p>"}, ["a"] * 5)) == "one\n"
    with pytest.raises(Unreadable, match="holds no text"):
        read(epub({"../../../../etc/passwd": "x"}))


def test_locked_documents_are_refused() -> None:
    locked = "<encryption xmlns='z'><CipherReference URI='OEBPS/a'/></encryption>"
    with pytest.raises(Unreadable, match="essay: is locked by its publisher"):
        read(epub({"a": "x"}, more={"META-INF/encryption.xml": locked}))
    with pytest.raises(Unreadable, match="essay: is protected by a password; save it without one"):
        read(odt("", **{"META-INF/manifest.xml": "<m><encryption-data/></m>"}))
    with pytest.raises(Unreadable, match="holds no text"):
        read(docx(paragraph()))


def test_office_formats_are_detected() -> None:
    def ooxml(kind: str) -> bytes:
        return pack({"[Content_Types].xml": f"<Override ContentType='a/vnd.{kind}.main+xml'/>"})

    assert office.detect(docx("")) == "docx"
    assert office.detect(odt("")) == "odt"
    assert office.detect(epub({})) == "epub"
    assert office.detect(ooxml("openxmlformats-officedocument.spreadsheetml.sheet")) == "office"
    assert office.detect(ooxml("openxmlformats-officedocument.presentationml.presentation")) == "office"
    assert office.detect(pack({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"})) == "office"
    assert office.detect(pack({"a.txt": "x", "mimetype": "text"})) is None
    assert office.detect(b"") is None
    assert office.detect(b"PK\x03\x04" + random.Random(1).randbytes(5000)) is None
    (skipped,) = ready_documents(File("x.xlsx", b"", format="office"))
    assert isinstance(skipped, Skipped)
    assert "save it as PDF" in skipped.detail


GOOD = {
    "docx": docx(paragraph("word " * 500)),
    "odt": odt(f"<text:p>{'word ' * 500}</text:p>"),
    "epub": epub({"a": "word " * 500}),
}


@pytest.mark.parametrize("kind", GOOD)
def test_damaged_files_are_refused_with_a_message(kind: str) -> None:
    for data in damaged(GOOD[kind]):
        office.detect(data)
        with message_if_unreadable():
            (document,) = office.read(File("essay", data, format=kind))
            document.data.decode()


@pytest.mark.parametrize("kind", [made.docx, made.odt, made.epub])
def test_a_file_that_is_cut_off_is_one_damaged_file_and_not_an_archive(
    kind: Callable[[list[str]], bytes],
) -> None:
    whole = kind(made.prose(30))
    (skipped,) = ready_documents(File("essay", whole[: len(whole) * 2 // 3]))
    assert isinstance(skipped, Skipped)
    assert "is damaged" in skipped.detail


LAUGHS = "<!DOCTYPE x [<!ENTITY a 'haha'>" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


DEEP = "nests more than 1,000 paragraphs"
BOMBS: list[tuple[str, Callable[[], bytes], str]] = [
    ("docx", lambda: docx(paragraph("x" * (100 << 20))), "unpacks to more than"),
    ("odt", lambda: odt("<text:p>" + " " * (100 << 20)), "unpacks to more than"),
    ("epub", lambda: epub({"a": "<p>" * (30 << 20)}), "unpacks to more than"),
    ("odt", lambda: pack({"content.xml": f"{LAUGHS}]><x>&j;</x>"}), "defines entities"),
    ("docx", lambda: pack({"word/document.xml": f"{LAUGHS}]><x>&j;</x>"}), "defines entities"),
    (
        "odt",
        lambda: pack({"content.xml": f"<x xmlns='{'u' * 10**6}'>{'<b/>' * 10**6}</x>"}),
        "very long namespace",
    ),
    ("docx", lambda: docx("<w:p>" * 200 + run("deep") + "</w:p>" * 200), "5"),
    ("docx", lambda: docx("<w:p><w:r><w:tbl>" * 10**5 + run("x") + "</w:tbl></w:r></w:p>" * 10**5), DEEP),
    ("docx", lambda: docx("<w:p>" * 10**5), DEEP),
    ("odt", lambda: odt("<text:p><text:note>" * 10**5 + "x" + "</text:note></text:p>" * 10**5), DEEP),
    ("odt", lambda: odt("<text:p>" + "<text:s text:c='99999999'/>" * 10**5 + "x</text:p>"), "8000002"),
    ("epub", lambda: epub({"a": "<p>" * 10**5 + "deep" + "</p>" * 10**5}), "5"),
    ("epub", lambda: epub({"a": "x"}, ["a"] * 10**6), "2"),
    ("docx", lambda: pack({str(i): "" for i in range(100_001)}), "more than 100,000 files"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "data", "message"), BOMBS)
def test_bombs_are_refused_soon_and_depth_is_read(kind: str, data: Callable[[], bytes], message: str) -> None:
    assert message in read_limited("office.office", kind, data())
