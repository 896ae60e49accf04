"""What looks like the opening of a string or a comment hides no code."""

from __future__ import annotations

import pytest

from chaffinch import Document, File, Recipe, stream
from chaffinch.languages import language
from chaffinch.types import Stream


def tokens(code: str, found: Stream) -> list[str]:
    data = code.encode()
    return [data[a:b].decode() for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]


REST = {
    "bash": "for x in a b\ndo\n  f $x\ndone",
    "sql": "select a, b\nfrom c\nwhere d = 1;",
    "javascript": "function f(x) {\n  return x + 1\n}",
    "perl": "sub f {\n  return $x + 1;\n}",
    "ruby": "def f(x)\n  x + 1\nend",
    "powershell": "function f($x) {\n  $x + 1\n}",
    "clojure": "(defn f [x]\n  (+ x 1))",
    "erlang": "f(X) ->\n  X + 1.",
}
REST |= {"plsql": REST["sql"], "typescript": REST["javascript"]}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("bash", "echo It\\'s"),
        ("bash", 'echo \\"'),
        ("bash", "echo \\`"),
        ("bash", "echo \\\\'a'"),
        ("sql", "select 'a\\';"),
        ("sql", "select 'it\\'s';"),
        ("sql", "select `a'b`;"),
        ("sql", "select [a'b];"),
        ("sql", "select $$it's$$;"),
        ("plsql", "select 'a\\';"),
        ("plsql", "select 'it\\'s';"),
        ("plsql", "select `a'b`;"),
        ("plsql", 'select "a;'),
        ("javascript", "x = /[/*]/"),
        ("javascript", "x = /[`]/"),
        ("typescript", "x = s.replace(/`/g, y)"),
        ("typescript", "return /`/"),
        ("perl", "if (/'/) { f() }"),
        ("ruby", 'x = y =~ /"/'),
        ("powershell", "echo It`'s"),
        ("clojure", '(f \\")'),
        ("erlang", 'g() -> $".'),
    ],
)
def test_the_lines_below_count(name: str, line: str) -> None:
    alone = stream(REST[name], Recipe(name)).symbols.tolist()
    found = stream(f"{line}\n{REST[name]}\n{line}\n{REST[name]}", Recipe(name)).symbols.tolist()
    assert len(alone) > 8
    assert found[-len(alone) :] == alone
    first = len(stream(line, Recipe(name)))
    assert found[first : first + len(alone)] == alone


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("javascript", "x = /[/*]/; y /* a */", ["x", "=", "/[/*]/", ";", "y"]),
        ("javascript", "/'/.test(x)", ["/'/", ".", "test", "(", "x", ")"]),
        ("javascript", 's.split(/\\/"/gi, x)', ["s", ".", "split", "(", '/\\/"/gi', ",", "x", ")"]),
        ("javascript", 'return /"/', ["return", '/"/']),
        ("javascript", "a.return / b / c", ["a", ".", "return", "/", "b", "/", "c"]),
        ("javascript", "a / b / c", ["a", "/", "b", "/", "c"]),
        ("javascript", "f(a) / b[1] / c", ["f", "(", "a", ")", "/", "b", "[", "1", "]", "/", "c"]),
        ("javascript", "i++ / 2 / j", ["i", "+", "+", "/", "2", "/", "j"]),
        ("javascript", "x = 1 // a / b", ["x", "=", "1"]),
        ("javascript", "x = / 2", ["x", "=", "/", "2"]),
        ("typescript", "<a></a><b/>", ["<", "a", ">", "<", "/", "a", ">", "<", "b", "/", ">"]),
        ("typescript", "{a}/{b}</p>", ["{", "a", "}", "/", "{", "b", "}", "<", "/", "p", ">"]),
        ("perl", "$x =~ /#'/; $y", ["$x", "=", "~", "/#'/", ";", "$y"]),
        ("perl", "$h{a} / $b / 2", ["$h", "{", "a", "}", "/", "$b", "/", "2"]),
        ("ruby", "s.split(/'/)", ["s", ".", "split", "(", "/'/", ")"]),
        ("sql", "select 'a\\', b from c", ["select", "'a\\'", ",", "b", "from", "c"]),
        ("sql", "select 'it\\'s', b", ["select", "'it\\'s'", ",", "b"]),
        (
            "plsql",
            "execute 'a\nb = :1' using c;",
            ["execute", "'", "a", "b", "=", ":", "1", "'", "using", "c", ";"],
        ),
        ("matlab", "x = (a * b)' + c;", ["x", "=", "(", "a", "*", "b", ")", "'", "+", "c", ";"]),
        ("ruby", 'x = "a\nb" + f(1)', ["x", "=", '"', "a", "b", '"', "+", "f", "(", "1", ")"]),
        ("c", 'f("a\\"); g(x);', ["f", "(", '"a\\"', ")", ";", "g", "(", "x", ")", ";"]),
        ("bash", "echo It\\'s x", ["echo", "It", "\\'", "s", "x"]),
    ],
)
def test_patterns_and_strings_end_where_they_should(name: str, code: str, expected: list[str]) -> None:
    assert tokens(code, stream(code, Recipe(name))) == expected


@pytest.mark.parametrize("unit", ['"\\" \\', "(/[ ", "'\\''", " / ", "= /a", "url(", "qw|"])
@pytest.mark.parametrize("name", ["javascript", "sql", "perl", "css", language.family("sql")])
def test_a_long_line_of_half_strings_takes_linear_time(name: str, unit: str) -> None:
    assert len(stream(unit * 200_000, Recipe(name))) <= len(unit) * 200_000


PROGRAM = b"int main(void) {\n  return f(1) + 2;\n}\n" * 40


@pytest.mark.parametrize(
    "data",
    [
        b"/*\0*/" + PROGRAM,
        b"/* \0*/" + PROGRAM,
        b"/*" + b"\0" * 5000 + b"*/" + PROGRAM,
        b"/*" + b"\0" * 1000 + b"*/" + PROGRAM,
        "/*ä\0*/".encode() + PROGRAM,
        PROGRAM + b"/*\0\0*/",
    ],
)
def test_zero_bytes_in_a_comment_change_nothing(data: bytes) -> None:
    document = Document("main.c", data)
    assert (document.format, document.encoding, document.language) == ("plain", "utf-8", "c")
    plain = stream(PROGRAM.decode(), Recipe("c")).symbols.tolist()
    assert stream(File("main.c", data), Recipe("c")).symbols.tolist() == plain


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [PROGRAM.decode(), "// 漢字を数える\nint main() {}\n", "中文。中文，\n"])
def test_wide_encodings_are_still_recognised(text: str, encoding: str) -> None:
    document = Document("main.c", text.encode(encoding))
    assert document.data.decode(document.encoding) == text
