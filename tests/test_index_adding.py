"""Adding documents to an index: batches, threads, interruptions."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest

from chaffinch.index import ingest
from chaffinch.index.background import background
from chaffinch.index.index import Index
from chaffinch.types import File
from tests.indexed import Make, document, text


@pytest.mark.parametrize("recipe", ["text", "koala"])
@pytest.mark.parametrize("lengths", [(0,), (500, 0), (0, 500), (500, 0, 0), (500, 1, 0, 500, 0)])
def test_an_empty_document_is_one_too(tmp_path: Path, recipe: str, lengths: tuple[int, ...]) -> None:
    with Index.create(
        tmp_path / "index", recipe, content="text" if recipe == "text" else "search-set"
    ) as index:
        documents = [document(f"d{n}", text(length, n)) for n, length in enumerate(lengths)]
        assert index.add(documents, threads=2).added == [d.name for d in documents]
        assert index.verify() == []
        if recipe == "text":
            assert [index.content(d.name) for d in documents] == documents


def test_many_batches_are_reported_as_one(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_BATCH_DOCUMENTS", 3)
    index = make()
    names = [f"d{n}" for n in range(20)]
    first = index.add(document(name, text(40, name)) for name in names)
    assert (first.added, first.replaced, first.copies, first.skipped) == (names, [], [], [])
    again = [document(name, text(40, name)) for name in names[:10]]
    others = [document(f"e{n}", text(40, f"d{n % 7}")) for n in range(10)]
    changed = [document(name, text(40, "new"), name) for name in names[10:]]
    second = index.add([*again, *others, *changed], replacing=True)
    assert second.already == names[:10]
    assert second.added == [*(d.name for d in others), *names[10:]]
    assert second.replaced == names[10:]
    assert second.copies == [(f"e{n}", f"d{n % 7}") for n in range(10)]
    assert len(index) == 30
    assert index.verify() == []


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1251", "iso2022_jp", "utf-8-sig"])
@pytest.mark.parametrize("start", ["", "<", "Title: ", "{"])
def test_plain_text_in_any_encoding_is_found_and_kept(make: Make, encoding: str, start: str) -> None:
    said = {"latin-1": "où était l’été", "cp1251": "по-русски всё это", "iso2022_jp": "日本語の文章です"}
    words = text(60, "there") + " " + " ".join([said.get(encoding, "né à l'île")] * 6)
    data = (start + words).replace("’", "'").encode(encoding)
    index = make()
    index.add([File("d", data, None, "plain", "text"), document("other", text(60, "other"))])
    (hit,) = index.search((start + words).replace("’", "'"))
    assert hit.document.name == "d"
    assert hit.containment.query > 0.8  # a few words do not always show the encoding
    assert index.content("d") is not None


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs a signal for one thread")
def test_who_interrupts_twice_waits_for_what_has_begun() -> None:
    done = []

    def work() -> None:
        time.sleep(0.6)
        done.append(True)

    def interrupted() -> None:
        with background(1) as submit:
            submit(work)
            submit(work)
            for seconds in (0.1, 0.3):
                main = threading.main_thread().ident
                threading.Timer(seconds, signal.pthread_kill, [main, signal.SIGINT]).start()
            time.sleep(60)

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert done == [True]  # and the second was given up
