"""The promises of an index, for every store."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

import chaffinch
from chaffinch import File, Recipe, RecipeMismatch
from chaffinch.errors import ChaffinchError, IndexTrouble, NoIndex
from chaffinch.index.index import Index, open_for_import
from chaffinch.index.records import Metadata
from tests.indexed import Make, document, edited, text, words


def names(index: Index, query: str, **options: object) -> list[str]:
    return [hit.document.name for hit in index.search(query, top=None, **options)]  # type: ignore[arg-type]


def merged(index: Index) -> Index:
    index.merge()
    return index


def test_an_empty_index_finds_nothing(make: Make) -> None:
    index = make()
    assert names(index, text(200, "q")) == []
    assert len(index) == 0
    assert index.info().documents == 0
    assert index.verify() == []


def test_what_was_added_is_found_after_reload_and_merge(make: Make) -> None:
    index = make()
    texts = {f"d{i}": text(120, i) for i in range(30)}
    for name, said in texts.items():
        index.add(document(name, said))
    for step in (lambda i: i, lambda i: make(), merged):
        index = step(index)
        assert {name: names(index, said) for name, said in texts.items()} == {name: [name] for name in texts}
    assert index.verify() == []
    assert sorted(stored.name for stored in index) == sorted(texts)


def test_an_identical_document_is_called_identical(make: Make) -> None:
    index = make()
    said = text(300, "same")
    index.add([document("a", said), document("b", text(300, "other"))])
    (hit,) = index.search(said)
    assert hit.document.name == "a"
    assert (hit.containment.query, hit.containment.document, hit.resemblance) == (1, 1, 1)
    assert hit.relation == "identical"
    (match,) = hit.matches
    assert (match.left.start, match.left.end) == (0, len(said))
    assert (match.right.document, match.right.start, match.right.end) == ("a", 0, len(said))


def test_the_six_relations_have_their_names(make: Make) -> None:
    index = make()
    original = words(600, "original")
    index.add(document("original", " ".join(original)))
    own = words(600, "own")
    queries = {
        "identical": original,
        "edited": edited(original, 0.01),
        "revised": original[:250] + own[:200] + original[300:560],
        "contained": original[100:300],
        "contains": own[:500] + original + own[500:] + words(600, "more"),
        "shares passages": own + original[:80],
    }
    found = {name: index.search(" ".join(query))[0].relation for name, query in queries.items()}
    assert found == {name: name for name in queries}


def test_a_removed_document_is_gone_at_once_and_after_merge(make: Make) -> None:
    index = make()
    said = [text(100, i) for i in range(10)]
    index.add([document(f"d{i}", s) for i, s in enumerate(said)])
    assert index.remove(["d3", "d7", "nobody"]) == ["d3", "d7"]
    for step in (lambda i: i, lambda i: make(), merged):
        index = step(index)
        assert [names(index, s) for s in said] == [[] if i in (3, 7) else [f"d{i}"] for i in range(10)]
    assert index.verify() == []
    assert len(index) == 8
    assert index.info().removed == 0


def test_a_replaced_document_is_found_by_what_it_is_now(make: Make) -> None:
    index = make()
    index.add(document("d", text(100, "before")))
    refused = index.add(document("d", text(100, "after")))
    assert "replace" in refused.skipped[0].detail
    report = index.replace(document("d", text(100, "after")))
    assert report.replaced == ["d"]
    assert names(index, text(100, "before")) == []
    assert names(index, text(100, "after")) == ["d"]
    assert len(index) == 1


def test_adding_the_same_again_is_noticed(make: Make) -> None:
    index = make()
    first = index.add([document("a", text(100, 1))])
    again = index.add([document("a", text(100, 1)), document("b", text(100, 1))])
    assert first.added == ["a"]
    assert (again.already, again.added, again.copies) == (["a"], ["b"], [("b", "a")])
    assert sorted(names(index, text(100, 1))) == ["a", "b"]


def test_what_is_said_about_a_document_comes_back(make: Make) -> None:
    index = make()
    metadata = Metadata("https://example.org/papers/a.txt", "ann@example.org", "1996-03-01")
    index.add(document("a.txt", text(80, 1)), metadata=metadata)
    index.add(document("b", text(80, 2)), metadata=Metadata(url="https://example.org/papers/"))
    assert index.search(text(80, 1))[0].document.metadata == metadata
    assert index.search(text(80, 2))[0].document.metadata.url == "https://example.org/papers/"
    stored = index.search(text(80, 1))[0].document
    assert stored.size == len(text(80, 1))


@pytest.mark.parametrize("content", ["text", "none"])
def test_every_shared_run_of_t_symbols_is_found_through_any_history(make: Make, content: str) -> None:
    recipe = Recipe("text", k=8, w=9)
    index = make(recipe, content=content)
    chance = random.Random(5)
    t = recipe.guarantee or 0
    texts: dict[str, str] = {}
    for step in range(60):
        what = chance.random()
        if what < 0.6 or not texts:
            texts[f"d{step}"] = text(60, step)
            index.add(document(f"d{step}", texts[f"d{step}"]))
        elif what < 0.75:
            index.remove(gone := chance.choice(sorted(texts)))
            del texts[gone]
        elif what < 0.9:
            name = chance.choice(sorted(texts))
            texts[name] = text(60, f"again {step}")
            index.replace(document(name, texts[name]))
        elif what < 0.95:
            index.merge()
        else:
            index = make()
        if step % 4 == 0:
            for name in chance.sample(sorted(texts), min(1, len(texts))):
                letters = texts[name].replace(" ", "")
                at = chance.randrange(len(letters) - t)
                planted = (
                    text(30, f"around {step}") + " " + letters[at : at + t] + " " + text(30, f"behind {step}")
                )
                hits = [h for h in index.search(planted, top=None) if h.document.name == name]
                assert hits, (step, name)
                assert all(m.symbols >= recipe.k for m in hits[0].matches)
                if content == "text":
                    start = planted.index(letters[at : at + t])
                    assert any(m.left.start <= start and m.left.end >= start + t for m in hits[0].matches)


def test_characters_that_are_several_symbols_cost_no_match(make: Make) -> None:
    recipe = Recipe("text", k=8, w=9)
    index = make(recipe)
    said = text(40, "l").replace("f", "\ufb01").replace("s", "\ufb03").replace("e", "\u00df")
    index.add(document("ligatures", text(30, 1), said))
    (hit,) = index.search(said)
    assert hit.containment.query == 1
    assert hit.matches[0].symbols == len(chaffinch.stream(said, recipe))


def test_without_contents_it_still_searches_and_says_where(make: Make) -> None:
    index = make(content="none")
    shared = text(120, "shared")
    index.add(document("d", text(300, 1), shared, text(300, 2)))
    hits = index.search(text(50, 3) + "\n" + shared + "\n" + text(50, 4))
    (match,) = hits[0].matches
    kept = index.content("d")
    assert kept is None
    size = len(shared)
    assert match.left.end - match.left.start > 0.8 * size
    assert abs(match.right.start - len(text(300, 1))) < 100
    assert abs(match.right.end - match.right.start - size) < 100


def test_less_effort_looks_up_less_and_still_finds_what_is_alike(make: Make) -> None:
    index = make()
    said = text(3000, "long")
    index.add([document("long", said), *(document(f"d{i}", text(500, i)) for i in range(5))])
    full, little = index.search(said), index.search(said, effort=0.0)
    assert little.receipt.looked_up < full.receipt.looked_up / 5
    assert little[0].document.name == full[0].document.name == "long"
    assert little[0].relation == "identical"


def test_a_wider_window_looks_up_a_subset(make: Make) -> None:
    index = make()
    index.add(document("d", text(1000, "d")))
    wide = index.search(text(1000, "d"), window=100)
    assert wide.receipt.looked_up < index.search(text(1000, "d")).receipt.looked_up / 2
    assert wide[0].relation == "identical"


def test_boilerplate_is_never_a_match(make: Make) -> None:
    index = make()
    licence = text(100, "licence")
    index.add(document("LICENCE", licence), boilerplate=True)
    index.add([document(f"d{i}", licence, text(200, i)) for i in range(3)])
    answer = index.search(licence + "\n\n" + text(100, "query"))
    assert list(answer) == []
    assert "boilerplate" in {d.reason for d in answer.discounted}
    (hit,) = index.search(licence + "\n\n" + text(200, 1))
    assert hit.document.name == "d1"
    assert all(m.left.start > len(licence) - 30 for m in hit.matches)


def test_passages_that_many_share_count_less_and_are_listed(make: Make) -> None:
    index = make()
    common, rare = text(60, "common"), text(60, "rare")
    index.add([document(f"d{i}", text(100, i), common) for i in range(40)])
    index.add(document("source", text(100, "s"), rare))
    answer = index.search(f"{common}\n{text(50, 'q')}\n{rare}", top=None)
    assert answer[0].document.name == "source"
    assert len(answer) == 41
    told = [d for d in answer.discounted if d.reason == "common"]
    assert told
    assert max(d.owners for d in told) == 40


def test_another_recipe_is_refused_with_the_remedy(make: Make, where: str) -> None:
    make(Recipe("text", k=10, w=11)).close()
    with pytest.raises(RecipeMismatch, match="make it again"):
        Index.open(where, Recipe("text", k=20, w=11))
    Index.open(where, Recipe("text", k=10, w=11)).close()


def test_there_is_no_index_where_none_was_made(where: str) -> None:
    with pytest.raises(NoIndex, match="index create"):
        Index.open(where)


def test_making_one_where_one_is_is_refused(make: Make, where: str) -> None:
    make().close()
    with pytest.raises(IndexTrouble, match="already"):
        Index.create(where)


def test_programs_in_any_language_share_an_index(make: Make) -> None:
    index = make("code")
    body = "\n".join(f"    total = total * {i} + item[{i}] - offset(total);" for i in range(20))
    c = f"int f(int *item) {{\n    int total = 0;\n{body}\n    return total;\n}}\n".encode()
    index.add([File("a.c", c), File("notes.txt", b"Just words about the work, nothing to be run.")])
    renamed = c.replace(b"total", b"sum").replace(b"item", b"x")
    assert [h.document.name for h in index.search(File("b.c", renamed))] == ["a.c"]
    assert len(index) == 1


def test_an_export_is_imported_into_any_store(make: Make, tmp_path: Path) -> None:
    index = make(content="text")
    index.add([document(f"d{i}", text(100, i)) for i in range(5)])
    index.add(document("given", text(50, "b")), boilerplate=True)
    index.remove("d2")
    assert index.export(tmp_path / "all.jsonl") == 5
    with open_for_import(tmp_path / "copy.index", tmp_path / "all.jsonl") as copy:
        assert copy.import_(tmp_path / "all.jsonl") == 5
        assert copy.import_(tmp_path / "all.jsonl") == 0
        for i in range(5):
            assert [h.document for h in copy.search(text(100, i))] == [
                h.document for h in index.search(text(100, i))
            ]
        assert copy.verify() == []
        copy.export(tmp_path / "again.jsonl")
    assert (tmp_path / "all.jsonl").read_text() == (tmp_path / "again.jsonl").read_text()


def test_hostile_names_and_contents_are_kept_as_they_are(make: Make) -> None:
    index = make()
    odd = [
        "<script>",
        "a\nb",
        "'; DROP TABLE documents; --",
        "x" * 300,
        "\u202egnp",
        "%s",
        "caf\udce9",
        "nul\0name",
    ]
    report = index.add([document(name, text(60, i)) for i, name in enumerate(odd)])
    assert len(report.added) == len(odd)
    assert [name in index for name in odd] == [True] * len(odd)
    assert [len(index.search(text(60, i))) for i in range(len(odd))] == [1] * len(odd)
    assert len(index.remove(odd)) == len(odd)


def test_documents_with_nothing_in_them_are_kept_too(make: Make) -> None:
    index = make()
    index.add([document("empty"), document("short", "a b c"), document("d", text(60, 1))])
    assert len(index) == 3
    assert names(index, "") == []
    assert index.verify() == []
    index.remove("empty")
    index.merge()
    assert index.info().removed == 0


def test_json_lines_are_documents(make: Make, tmp_path: Path) -> None:
    index = make()
    lines = [
        json.dumps({"id": "one", "text": text(60, 1), "url": "https://example.org/1", "date": "2020-01-01"}),
        "not json",
        json.dumps({"name": "two"}),
        json.dumps({"text": text(60, 2)}),
    ]
    (tmp_path / "papers.jsonl").write_text("\n".join(lines))
    report = index.add(tmp_path / "papers.jsonl")
    assert report.added == ["one", f"{tmp_path / 'papers.jsonl'}:4"]
    assert [s.name.rpartition(":")[2] for s in report.skipped] == ["2", "3"]
    assert index.search(text(60, 1))[0].document.metadata.url == "https://example.org/1"


def test_json_lines_in_a_folder_are_read_as_if_they_were_named(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "folder" / "inner"
    folder.mkdir(parents=True)
    one, two = (json.dumps({"name": f"n{n}", "text": f"Füße {text(60, n)}"}) for n in (1, 2))
    (folder / "a.jsonl").write_text(f"\n{one}\nnot json\n")
    (folder / "b.ndjson.gz").write_bytes(gzip.compress(two.encode()))
    others = {"c.jsonl": json.dumps({"level": "info", "message": text(60, 3)}), "d.jsonl": "", "e.txt": one}
    for name, said in others.items():
        (folder / name).write_text(said)
    index = make()
    report = index.add(tmp_path / "folder")
    assert report.added == ["n1", "n2", *(str(folder / name) for name in others)]
    assert [s.name for s in report.skipped] == [f"{folder / 'a.jsonl'}:3"]
    assert index.search(f"Füße {text(60, 2)}")[0].relation == "identical"


def test_answers_do_not_depend_on_the_order_of_adding(make: Make, tmp_path: Path) -> None:
    said = [document(f"d{i}", text(50, "shared"), text(100, i)) for i in range(8)]
    query = text(50, "shared") + text(100, 3)
    index = make()
    index.add(said)
    with Index.create(tmp_path / "other.index") as other:
        for d in reversed(said):
            other.add(d)
        seen = [[(h.document.name, h.containment, h.matches) for h in i.search(query)] for i in (index, other)]
    assert seen[0] == seen[1]


def test_a_wrong_effort_is_refused(make: Make) -> None:
    with pytest.raises(ChaffinchError, match="effort"):
        make().search("text", effort=1.5)


def test_index_is_a_public_name() -> None:
    assert chaffinch.Index is Index
