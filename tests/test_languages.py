"""Every language on code written for it, and every language on code that was not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import BadRecipe, File, Recipe, fingerprint, stream
from chaffinch.languages import language
from chaffinch.types import Stream

SAMPLES = Path(__file__).parent / "data" / "languages"


def sample(name: str, which: str) -> bytes:
    return (SAMPLES / f"{name}.{which}").read_bytes()


def tokens(data: bytes, found: Stream) -> list[bytes]:
    return [data[a:b] for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]


@pytest.mark.parametrize("name", language.languages())
def test_comments_spacing_and_names_do_not_matter(name: str) -> None:
    one, two = (stream(sample(name, which), Recipe(name)) for which in ("one", "two"))
    assert one.symbols.tolist() == two.symbols.tolist()
    assert len(one) > 50


@pytest.mark.parametrize("name", language.languages())
def test_every_token_is_where_it_should_be(name: str) -> None:
    data = sample(name, "one")
    expected = sample(name, "tokens").decode().splitlines()
    found = [t.decode().replace("\n", "\\n") for t in tokens(data, stream(data, Recipe(name)))]
    assert found == expected


@pytest.mark.parametrize("name", language.languages())
def test_tokens_are_in_order_and_do_not_overlap(name: str) -> None:
    found = stream(sample(name, "one"), Recipe(name))
    assert (found.starts[1:] >= found.ends[:-1]).all()
    assert (found.ends > found.starts).all()


@pytest.mark.parametrize("name", language.languages())
def test_with_names_renaming_matters(name: str) -> None:
    one, two = (stream(sample(name, which), Recipe(name + "+names")) for which in ("one", "two"))
    assert one.symbols.tolist() != two.symbols.tolist()


@pytest.mark.parametrize("name", language.languages())
def test_keywords_have_symbols_of_their_own(name: str) -> None:
    ignore_case = language.table(name).get("ignore_case", False)
    words = {w.lower() if ignore_case else w for w in language.table(name).get("keywords", "").split()}
    symbols = {w: stream(w, Recipe(name)).symbols.tolist() for w in words}
    assert all(len(s) == 1 and s[0] >= 2**31 for s in symbols.values() if s), symbols
    assert len({s[0] for s in symbols.values() if s}) == sum(bool(s) for s in symbols.values())


@pytest.mark.parametrize("name", language.languages())
def test_any_bytes_are_lexed_and_nothing_is_found_twice(name: str) -> None:
    rng = random.Random(name)
    marks = b"\"'`/*#-{}()[]\\\n\n!;%|$@=<>rRqC \t01ex"
    for _ in range(40):
        size = rng.randrange(400)
        data = bytes(rng.choice(marks) if rng.random() < 0.7 else rng.randrange(256) for _ in range(size))
        found = stream(File("x", data, "latin-1"), Recipe(name))
        assert (found.starts[1:] >= found.ends[:-1]).all()
        assert not len(found) or found.ends[-1] <= len(data)


@pytest.mark.parametrize("name", language.languages())
def test_unclosed_openers_cost_no_more_than_their_length(name: str) -> None:
    """Each is sought to the end of the text once; a lexer that looked again each time would never finish."""
    openers = [
        row[1] for row in language.records(name) if row[0] in ("string", "block-comment", "fenced", "tagged")
    ]
    for opener in openers:
        data = (f"{opener} x\n" * 200_000).encode()
        assert len(stream(data, Recipe(name))) < len(data)


@given(st.integers(0, 10**6))
def test_broken_code_loses_little(seed: int) -> None:
    """After deleting a line the grams elsewhere are the same."""
    lines = sample("c", "one").splitlines(keepends=True)
    rng = random.Random(seed)
    del lines[rng.randrange(len(lines))]
    recipe = Recipe("c", k=5, scheme="all")
    whole = set(fingerprint(sample("c", "one"), recipe).hashes.tolist())
    broken = set(fingerprint(b"".join(lines), recipe).hashes.tolist())
    assert len(whole & broken) > 0.6 * len(whole)


@pytest.mark.parametrize(
    "lost",
    [
        b'    """Opened\n    and never closed.\n',
        b'    and never opened.\n    """\n',
        b"    r'''Opened, raw\n    and never closed.\n",
    ],
)
def test_half_a_docstring_hides_no_code(lost: bytes) -> None:
    code = b'def f(x):\n    """What it does."""\n    return g(x, 1) + h(x)\n'
    whole = stream(code + code, Recipe("python")).symbols.tolist()
    found = stream(code + b"def f(x):\n" + lost + code, Recipe("python")).symbols.tolist()
    half = len(whole) // 2
    assert found[:half] == whole[:half] == found[-half:]


@pytest.mark.parametrize(
    ("file", "head", "expected"),
    [
        ("main.c", b"", "c"),
        ("Main.PY", b"", "python"),
        ("script", b"#!/usr/bin/env python3\nprint(1)", "python"),
        ("script", b"#!/usr/bin/python3.11 -u\n", "python"),
        ("script", b"#!/usr/bin/env -S python3 -u\n", "python"),
        ("notes.txt", b"", None),
        ("README", b"words", None),
        ("odd", b"#!\n", None),
    ],
)
def test_the_language_of_a_file(file: str, head: bytes, expected: str | None) -> None:
    assert language.of_file(file, head) == expected


def test_names_and_aliases() -> None:
    assert Recipe("Python").front == "python"
    assert Recipe("py+names").front == "python+names"
    assert Recipe("c") == Recipe.from_dict(Recipe("c").to_dict())
    with pytest.raises(BadRecipe, match="choose one of text"):
        Recipe("python+everything")


@pytest.mark.parametrize(
    "page",
    [
        "<h1>Bob's page</h1>\n<?php {} ?>",
        "\ufeff<!-- it's\n -->\n<?php {}\n?>\n<p>It's over,\nisn't it?</p>\n",
        "<?php\n{} // it's the end ?> <p>Isn't it?</p>\nIt isn't.",
        "<?php include 'top.php'; ?>\n<p>Bob's</p><script>// it's 'quoted</script>\n<?php\n{}",
        "<?PHP // it's ?><?php ?>\n<?= {}",
        "{}",
    ],
)
def test_the_page_around_a_program_hides_nothing_of_it(page: str) -> None:
    program = "function f($x) { return $x > 2 ? 'a' : g('it\\'s ?>'); } echo f(1);"
    alone = stream(f"<?php {program}", Recipe("php")).symbols.tolist()
    found = stream(page.format(program), Recipe("php")).symbols.tolist()
    assert len(alone) > 20
    assert found == alone


@pytest.mark.parametrize("name", ["sql", language.family("sql")])
def test_comments_of_mysql_hide_no_query(name: str) -> None:
    query = "SELECT a #> 'b' FROM #tmp WHERE x = 'it''s' # y;"
    plain = stream(query, Recipe(name)).symbols.tolist()
    assert len(plain) > 12
    for code in (f"# Bob's answer\n{query}", f"{query}\n  # That's it", f"\t# It's\r\n# isn't\n{query}"):
        assert stream(code, Recipe(name)).symbols.tolist() == plain


def test_no_extension_alias_or_interpreter_belongs_to_two_languages() -> None:
    for kind in ("extensions", "aliases", "interpreters"):
        keys = [key.lower() for name in language.languages() for key in language.table(name).get(kind, ())]
        assert len(keys) == len(set(keys)), sorted(k for k in keys if keys.count(k) > 1)


def test_programs_in_sixteen_bits_are_read() -> None:
    text = sample("c", "one").decode()
    assert (
        stream(text.encode("utf-16"), Recipe("c")).symbols.tolist()
        == stream(text, Recipe("c")).symbols.tolist()
    )


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        ("c", "x = .5 + a.b - .25e-3f;", ["x", "=", ".5", "+", "a", ".", "b", "-", ".25e-3f", ";"]),
        ("python", "x[.5:1_000]", ["x", "[", ".5", ":", "1_000", "]"]),
        ("rust", "t.0.1", ["t", ".", "0.1"]),
        ("cc", "n = 1'000'000 + 'a' + 0xff'ff;", ["n", "=", "1'000'000", "+", "'a'", "+", "0xff'ff", ";"]),
        ("bash", "cat <<WORD\na 'b\nWORD\necho $((1 << n))", ["cat", "<<WORD\na 'b\nWORD", "echo"]),
        ("bash", "cat <<- 'Word'\n\tx\"\n\tWord\ndone", ["cat", "<<- 'Word'\n\tx\"\n\tWord", "done"]),
        (
            "ruby",
            "x = <<~MINE\n it's\nMINEs\n MINE\ny << MINE",
            ["x", "=", "<<~MINE\n it's\nMINEs\n MINE", "y"],
        ),
        ("perl", 'print <<"MINE";\nit\'s\nMINE\n$x << 2;', ["print", '<<"MINE";\nit\'s\nMINE', "$x", "<"]),
        ("php", "$x = <<<MINE\nit's\n  MINE;\necho 1;", ["$x", "=", "<<<MINE\nit's\n  MINE", ";", "echo"]),
    ],
)
def test_numbers_and_texts_as_their_writers_mean_them(name: str, code: str, expected: list[str]) -> None:
    found = [t.decode() for t in tokens(code.encode(), stream(code, Recipe(name)))]
    assert found[: len(expected)] == expected
