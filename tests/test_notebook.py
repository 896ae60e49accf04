"""Notebooks: the code is one document, the prose another, and every byte knows its cell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaffinch import Document, File, Recipe, Skipped, Unreadable, stream
from chaffinch.errors import SkipReason
from chaffinch.native import fingerprint as core
from chaffinch.read.formats import markdown
from chaffinch.read.formats.notebook import is_notebook, read
from chaffinch.read.ready import ready_documents


def cell(kind: str, source: object, **more: object) -> dict[str, Any]:
    return {"cell_type": kind, "source": source, "metadata": {}, **more}


def notebook(*cells: object, **metadata: object) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def documents(content: object) -> list[Document]:
    return list(read(File("n.ipynb", json.dumps(content).encode())))


CELLS = (
    cell("markdown", ["# Title\n", "Some [text](http://gone.org)"]),
    cell("code", "import os\n%matplotlib inline\n!pip install x\nx = 1", outputs=[{"data": "gone"}]),
    cell("raw", "raw words"),
    cell("code", ["%%time\n", "y = (7\n", "     % 2)\n"]),
    cell("code", "  \n"),
)


def test_code_and_prose_with_their_cells() -> None:
    code, prose = documents(notebook(*CELLS))
    assert (code.name, code.language, code.encoding) == ("n.ipynb#code", "python", "utf-8")
    assert code.data == b"import os\n\n\nx = 1\n\n\ny = (7\n     % 2)\n\n\n"
    assert [part.label for part in code.sections] == ["cell 2", "cell 4"]
    assert code.place(code.data.index(b"x = 1")) == "cell 2, line 4"
    assert code.place(code.data.index(b"% 2")) == "cell 4, line 3"
    assert (prose.name, prose.language, prose.format) == ("n.ipynb#prose", "text", "markdown")
    assert [part.label for part in prose.sections] == ["cell 1", "cell 3"]
    found = core.stream(markdown.source(prose), Recipe())
    assert found.symbols.tolist() == stream("Title Some text raw words").symbols.tolist()


def test_version_3() -> None:
    sheets = [
        {"cells": [{"cell_type": "heading", "source": "Head", "level": 1}]},
        {"cells": [{"cell_type": "code", "input": ["a\n", "b"], "language": "python"}]},
    ]
    code, prose = documents({"worksheets": sheets, "nbformat": 3, "metadata": {"name": ""}})
    assert (code.data, code.sections[0].label) == (b"a\nb\n\n", "cell 2")
    assert prose.data == b"Head\n\n"


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, "python"),
        ({"kernelspec": {"language": "R"}}, "r"),
        ({"kernelspec": {"name": "x"}, "language_info": {"name": "javascript"}}, "javascript"),
        ({"kernelspec": {"language": "no such"}, "language_info": {"name": "C++"}}, "cc"),
        ({"language_info": {"name": "no such language"}}, "text"),
        ({"kernelspec": [], "language_info": {"name": 7}}, "python"),
    ],
)
def test_the_language(metadata: dict[str, Any], expected: str) -> None:
    (code,) = documents(notebook(cell("code", "%kept"), **metadata))
    assert code.language == expected
    assert code.data.strip() == (b"" if expected == "python" else b"%kept")


def test_no_document_without_cells() -> None:
    assert documents(notebook()) == []
    assert documents({}) == []
    assert [d.name for d in documents(notebook(cell("markdown", "x")))] == ["n.ipynb#prose"]


def test_a_notebook_without_cells_is_reported() -> None:
    for cells in ((), (cell("code", " "),)):
        found = list(ready_documents(File("n.ipynb", json.dumps(notebook(*cells)).encode())))
        assert found == [Skipped("n.ipynb", SkipReason.EMPTY, "nothing in it to compare")]


def test_marks_and_broken_characters() -> None:
    data = json.dumps(notebook(cell("code", "x = 'é \ud800'")), ensure_ascii=False)
    (code,) = read(File("n.ipynb", b"\xef\xbb\xbf" + data.encode("utf-8", "surrogatepass")))
    assert "é".encode() in code.data
    (code,) = read(File("n.ipynb", rb'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "\ud800 x"}]}'))
    assert code.data == b"? x\n\n"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"7", b"null", b"\xff\xfe", b'{"cells": ' + b"[" * 100_000, b'{"a":' * 100_000,
        b"9" * 10_000, b"{'cells': []}",
    ],
    ids=range(10),
)  # fmt: skip
def test_a_file_that_is_not_a_notebook_is_reported(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"n\.ipynb: (not )?a notebook"):
        list(read(File("n.ipynb", data)))


def test_odd_json_is_read() -> None:
    data = b'{"cells": 1, "x": NaN, "cells": [{"cell_type": "code", "source": "last"}], "y": -Infinity}'
    assert [d.data for d in read(File("n.ipynb", data))] == [b"last\n\n"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ("cells", "worksheets", "cell_type", "source", "input", "metadata", "kernelspec", "language")
            ),
            inner | st.sampled_from(("code", "markdown", "python")),
            max_size=4,
        )
    ),
)


@given(ANYTHING)
def test_wrong_types_anywhere_do_no_harm(content: object) -> None:
    try:
        assert len(documents(content)) <= 2
    except Unreadable:
        assert not isinstance(content, dict)


def test_what_looks_like_a_notebook() -> None:
    real = json.dumps(notebook(*CELLS)).encode()
    assert is_notebook(real)
    assert is_notebook(b"\xef\xbb\xbf \n" + real)
    assert is_notebook(b'{"nbformat": 3, "worksheets": []}')
    assert is_notebook(b'{"cells": [' + b" " * 100_000 + b'], "nbformat": 4}')
    assert not is_notebook(b"")
    assert not is_notebook(b'{"cells": []}')
    assert not is_notebook(b'["nbformat", "cells"]')
    assert not is_notebook(b'{"nbformat": 4}')
