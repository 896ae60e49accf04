"""The MOSS server: real clients, their bytes, and the expressions of programs that read its pages."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import moss
import mosspy
import pytest

from tests.programs import WRITERS, Style, functions
from tests.services import Service, running_service

USER = 123456789


def program(seed: int, language: str = "py") -> str:
    return WRITERS[language](functions(seed), Style())


FILES = {f"s{n}.py": program(n).encode() for n in range(4)} | {"copy of 0.py": program(0).encode()}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("moss")
    with running_service(folder / "data", "") as running:
        yield running


class Client:
    """Speaks the protocol byte by byte."""

    def __init__(self, service: Service) -> None:
        self.socket = socket.create_connection(("127.0.0.1", service.moss_port), 60)

    def send(self, *lines: str | bytes) -> None:
        for line in lines:
            self.socket.sendall(line if isinstance(line, bytes) else line.encode() + b"\n")

    def answer(self) -> str:
        """Return what one `recv` of a client gets."""
        return self.socket.recv(100).decode()

    def send_file(
        self, number: int, name: str, data: bytes, size: int | None = None, language: str = "python"
    ) -> None:
        self.send(f"file {number} {language} {len(data) if size is None else size} {name}", data)

    def ask(self, comment: str = "") -> str:
        self.send(f"query 0 {comment}")
        answer = self.answer()
        self.send("end")
        self.socket.close()
        assert answer.endswith("\n")
        return answer.removesuffix("\n")


def started(service: Service, language: str = "python", /, **options: int) -> Client:
    """Send what the perl client sends before its files."""
    client = Client(service)
    sent = {"directory": 0, "X": 0, "maxmatches": 10, "show": 250} | options
    client.send(f"moss {USER}", *(f"{name} {value}" for name, value in sent.items()), f"language {language}")
    assert client.answer() == "yes\n"
    return client


def submit(service: Service, files: dict[str, bytes], comment: str = "", **options: int) -> str:
    client = started(service, "python", **options)
    for number, (name, data) in enumerate(files.items(), 1):
        client.send_file(number, re.sub(r"\s", "_", name), data)
    return client.ask(comment)


def page(url: str) -> str:
    answer = httpx.get(url, timeout=60)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


def percents(text: str) -> list[int]:
    return [int(percent) for percent in re.findall(r"\((\d+)%\)</A>", text)]


class Table(HTMLParser):
    """The cells of a page's table, as programs that use an HTML parser see them: end tags are missing."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.paragraphs = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "p":
            self.paragraphs += 1

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_the_bytes_of_the_perl_client_get_an_address_and_pages(service: Service) -> None:
    url = submit(service, FILES, "homework <b>1</b>")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/results/\d/\d{13}", url)
    assert len(url) < 100
    text = page(url)
    assert text == page(url + "/")
    assert "<p>homework &lt;b&gt;1&lt;/b&gt;\n<HR>" in text
    assert "\nOptions -l python -m 10\n" in text
    assert Table(text).rows[0] == ["File 1", "File 2", "Lines Matched\n"]
    rows = re.findall(r'<TR><TD><A HREF=".*?match(\d+).html">.*\((\d+)%\)</A>\n', text)
    assert rows[0] == ("0", "100")
    first = Table(text).rows[1]
    assert {cell.split()[0] for cell in first[:2]} == {"s0.py", "copy_of_0.py"}
    assert text.count("<TR>") - 1 == len(rows)
    assert Table(text).paragraphs >= 3


def test_pages_have_the_form_that_scrapers_read(service: Service) -> None:
    url = submit(service, FILES)
    index = page(url)
    links = re.findall(r'HREF="([^"]*)"', index)
    assert all(link.startswith(url) == ("match" in link) for link in links)
    frames = page(f"{url}/match0.html")
    names = [part.split('"')[1] for part in frames.split("<FRAME SRC=")[1:]]
    assert names == ["match0-top.html", "match0-0.html", "match0-1.html"]
    assert re.search("<TITLE>Matches for (.+) and (.+)</TITLE>", frames)
    top = page(f"{url}/match0-top.html")
    header, *rows = Table(top).rows
    assert len(header) == 5
    assert rows
    assert all(len(row) == 4 for row in rows)
    assert re.fullmatch(r"\d+-\d+", rows[0][0].strip())
    assert f'HREF="{url}/match0-1.html#0" NAME="0" TARGET="1"' in top
    for side in (0, 1):
        source = page(f"{url}/match0-{side}.html")
        name = re.search(r"<HR>\s+(\S+)<p><PRE>\n", source)
        assert name
        assert source.endswith("</PRE>\n</PRE>\n</BODY>\n</HTML>\n")
        assert re.search(
            r'\n<A NAME="0"></A><FONT color = #FF0000><A HREF="match0-\d.html#0" TARGET="\d">', source
        )
        assert re.search("\n</FONT>", source)
        shown = re.sub("<[^>]*>", "", source.split("<PRE>\n")[1].split("</PRE>")[0])
        original = FILES[name[1].replace("_", " ")].decode()
        assert re.sub(r"\s", "", unescape(shown)) == re.sub(r"\s", "", original)
    assert re.search(r"/bitmaps/tm_\d+_\d+.gif", top)
    picture = httpx.get(re.search(r'IMG SRC="([^"]*)"', top)[1])  # type: ignore[index]
    assert picture.content.startswith(b"GIF89a")


def test_mosspy_submits_and_downloads_the_report(service: Service, tmp_path: Path) -> None:
    client = mosspy.Moss(USER, "python")
    client.server, client.port = "127.0.0.1", service.moss_port
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    client.addFilesByWildcard(str(tmp_path / "*.py"))
    url = client.send()
    client.saveWebPage(url, str(tmp_path / "report.html"))
    assert "Moss Results" in (tmp_path / "report.html").read_text()
    mosspy.download_report(url, f"{tmp_path}/pages/", connections=2)
    assert (tmp_path / "pages" / "match0-1.html").exists()


def test_pymoss_submits(service: Service) -> None:
    client = moss.MOSS(USER, "python", moss_host="127.0.0.1", moss_port=service.moss_port)
    for name, data in FILES.items():
        client.add_file_from_memory(name, data)
    client.add_file_from_memory("base.py", b"print(1)\n", base=True)
    assert "copy_of_0.py" in page(client.process())


def test_folders_are_programs_with_d(service: Service) -> None:
    files = {f"{n}/main.py": program(n).encode() for n in range(3)} | {
        "9/a.py": program(0).encode(),
        "9/b.py": program(7).encode(),
    }
    text = page(url := submit(service, files, directory=1))
    assert {cell.split()[0] for cell in Table(text).rows[1][:2]} == {"0/", "9/"}
    sources = [page(f"{url}/match0-{side}.html") for side in (0, 1)]
    assert sorted(source.count("&gt;&gt;&gt;&gt; file: ") for source in sources) == [1, 2]


def test_what_many_have_is_ignored_with_m_and_n_limits_the_list(service: Service) -> None:
    files = {f"{n}.py": (program(100) + program(n)).encode() for n in range(6)}
    most, least = (page(submit(service, files, maxmatches=number)) for number in (10, 3))
    assert min(percents(most)) > 40
    assert max(percents(least), default=0) < 30
    assert most.count("<TR>") - 1 == 15
    assert page(submit(service, files, maxmatches=10, show=4)).count("<TR>") - 1 == 4


def test_base_files_do_not_count(service: Service) -> None:
    client = started(service)
    client.send_file(0, "base.py", program(100).encode())
    for n in range(1, 4):
        client.send_file(n, f"{n}.py", (program(100) + program(n)).encode())
    assert "No matches were found" in page(client.ask())


def test_a_size_in_characters_loses_no_file(service: Service) -> None:
    client = started(service)
    source = program(0).replace("def ", "# naïve Größe: 中文\ndef ")
    client.send_file(1, "a.py", source.encode(), size=len(source))
    client.send_file(2, "b.py", source.encode(), size=len(source))
    client.send_file(3, "c.py", source.removesuffix("\n").encode() + "ä".encode(), size=len(source))
    for n in range(4, 6):
        client.send_file(n, f"{n}.py", program(n).encode())
    text = page(client.ask("so long"))
    pairs = [{cell.split()[0] for cell in row[:2]} for row in Table(text).rows[1:]]
    assert {"a.py", "b.py"} in pairs
    assert "<p>so long\n" in text


def test_a_client_without_options_or_language(service: Service) -> None:
    client = Client(service)
    for n, (name, data) in enumerate(FILES.items(), 1):
        client.send_file(n, name, data)
    assert "copy_of_0.py" in page(client.ask())


def test_options_may_come_in_any_order_and_lines_may_end_in_crlf(service: Service) -> None:
    client = Client(service)
    client.send(b"language python\r\n")
    assert client.answer() == "yes\n"
    client.send(b"show 1\r\n", b"nonsense\n", b"moss 1\r\n", b"maxmatches many\n")
    for n, (name, data) in enumerate(FILES.items(), 1):
        client.send(f"file {n} python {len(data)} C:/My Documents/{name}\r\n".encode(), data)
    text = page(client.ask())
    assert "C:/My_Documents/copy_of_0.py" in text
    assert text.count("<TR>") == 2


def test_an_unknown_language_is_refused_after_everything_was_read(service: Service) -> None:
    client = Client(service)
    client.send("moss 1", "language klingon")
    assert client.answer() == "no\n"
    client.send_file(1, "a", b"x" * 1_000_000, language="klingon")
    assert client.ask() == "Error: this server does not know the language klingon"


def test_without_files_the_error_is_that_of_moss(service: Service) -> None:
    client = started(service)
    client.send_file(0, "base.py", b"x = 1\n")
    assert client.ask() == "Error: No files uploaded to compare."


@pytest.mark.parametrize(
    "language", ["ascii", "schema", "c", "cc", "rust", "go", "kotlin", "typescript", "plsql"]
)
def test_languages_of_moss_and_more_are_known(service: Service, language: str) -> None:
    started(service, language).socket.close()


def test_one_file_and_empty_and_binary_files_give_a_page_that_says_so(service: Service) -> None:
    text = page(
        submit(service, {"only.py": program(1).encode(), "empty.py": b"", "binary.py": bytes(range(256)) * 9})
    )
    assert "No matches were found in your submission." in text
    errors = text.split("listed below.<p>")[1]
    assert "binary.py" in errors


def test_hostile_names_are_escaped(service: Service) -> None:
    names = ("<script>alert(1)</script>.py", '"><img src=x>.py')
    url = submit(service, dict.fromkeys(names, program(0).encode()) | {"s.py": program(1).encode()})
    for name in ("", "/match0.html", "/match0-top.html", "/match0-0.html"):
        text = page(url + name)
        assert "<script" not in text
        assert "<img" not in text


def test_pages_that_do_not_exist(service: Service) -> None:
    url = submit(service, FILES)
    for name in ("/match999.html", "/match0-2.html", "/../../../etc/passwd", "/moss", "/matchx.html"):
        assert httpx.get(url + name).status_code == 404
    assert httpx.get(url[:-1] + str(9 - int(url[-1]))).status_code == 404


def test_the_full_report_is_linked(service: Service) -> None:
    text = page(submit(service, FILES))
    link = re.search(r'<A HREF="([^"]*)">Full report</A>', text)
    assert link
    assert "<title>" in httpx.get(link[1]).text


def test_a_client_that_goes_away_leaves_nothing(service: Service) -> None:
    client = started(service)
    client.send("file 1 python 1000000 big.py", b"x" * 1000)
    client.socket.close()
    assert "copy_of_0.py" in page(submit(service, FILES))
