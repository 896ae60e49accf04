"""An index is a searchable dictionary of texts, whatever happens to it, even when a writer is killed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chaffinch import Document, Recipe
from chaffinch import fingerprinting as api
from chaffinch.index.folder import merge_policy
from chaffinch.index.index import Index
from chaffinch.index.ingest import content_digest
from tests import crashing
from tests.crashing import running
from tests.indexed import document

RECIPE = Recipe("text", k=4, w=5)
T = RECIPE.guarantee or 0

# Few letters, so that grams repeat and hashes tie; few names, so that documents meet themselves again.
names = st.sampled_from([f"d{i}" for i in range(6)])
texts = st.one_of(
    st.text("ab", max_size=40),
    st.text("abc ", max_size=40),
    st.sampled_from(("", "a", "abcd", "abcdefgh", "abcdefghijklmnop", "xxabcdefghijyy", "a" * 30, "ab" * 20)),
)
batches = st.dictionaries(names, texts, min_size=1, max_size=4)


@pytest.fixture(autouse=True)
def _merge_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_policy, "FAN", 3)
    monkeypatch.setattr(merge_policy, "SMALLEST_LEVEL", 8)


def longest_run(one: str, other: str) -> int:
    """Return the length of the longest shared run, by comparing every pair of positions."""
    a, b = (api.stream(text, RECIPE).symbols.tolist() for text in (one, other))
    best, before = 0, [0] * (len(b) + 1)
    for symbol in a:
        now = [0] * (len(b) + 1)
        for j, there in enumerate(b):
            if symbol == there:
                now[j + 1] = before[j] + 1
                best = max(best, now[j + 1])
        before = now
    return best


def documents(batch: dict[str, str]) -> list[Document]:
    return [document(name, text) for name, text in batch.items()]


class Machine(RuleBasedStateMachine):
    """Do everything to an index and to a dictionary, and compare the two."""

    content = "text"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.where = Path(self.folder.name) / "archive.index"
        self.model: dict[str, str] = {}

    @initialize()
    def create(self) -> None:
        self.index = Index.create(self.where, RECIPE, content=self.content)

    def teardown(self) -> None:
        self.index.close()
        self.folder.cleanup()

    @rule(batch=batches)
    def add(self, batch: dict[str, str]) -> None:
        report = self.index.add(documents(batch))
        assert sorted(report.added) == sorted(batch.keys() - self.model.keys())
        assert sorted(report.already) == sorted(n for n in batch if self.model.get(n) == batch[n])
        assert len(report.added) + len(report.already) + len(report.skipped) == len(batch)
        self.model = batch | self.model

    @rule(batch=batches)
    def replace(self, batch: dict[str, str]) -> None:
        report = self.index.replace(documents(batch))
        changed = [n for n in batch if n in self.model and self.model[n] != batch[n]]
        assert sorted(report.replaced) == sorted(changed)
        self.model |= batch

    @rule(gone=st.sets(names))
    def remove(self, gone: set[str]) -> None:
        assert self.index.remove(gone) == sorted(gone & self.model.keys())
        self.model = {name: text for name, text in self.model.items() if name not in gone}

    @rule()
    def merge(self) -> None:
        self.index.merge()
        info = self.index.info()
        assert info.segments <= 1
        assert info.removed == 0

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = Index.open(self.where)

    @precondition(lambda self: self.model)
    @rule(what=st.sampled_from(("add", "replace", "remove", "merge")), batch=batches, wait=st.integers(0, 12))
    def crash(self, what: str, batch: dict[str, str], wait: int) -> None:
        """Another process does it and is killed: then all of it is done, or nothing."""
        self.index.close()
        given = {"add": documents(batch), "replace": documents(batch), "remove": sorted(batch), "merge": None}
        with running(crashing.do, self.where, what, given[what]) as process:
            assert process.told() == "begun"
            process.quiet_for(wait / 1000)
            done = process.kill() == ["done"]
        after = {
            "add": batch | self.model,
            "replace": self.model | batch,
            "remove": {name: text for name, text in self.model.items() if name not in batch},
            "merge": self.model,
        }[what]
        self.index = Index.open(self.where)
        if done or self.kept() == self.expected(after):
            self.model = after

    @rule(query=texts)
    def search(self, query: str) -> None:
        hits = {hit.document.name: hit for hit in self.index.search(query, top=None)}
        runs = {name: longest_run(query, text) for name, text in self.model.items()}
        assert {name for name, run in runs.items() if run >= T} <= hits.keys()
        assert hits.keys() <= {name for name, run in runs.items() if run >= RECIPE.k}

    @rule()
    def search_each(self) -> None:
        for text in self.model.values():
            self.search(text)

    def kept(self) -> dict[str, tuple[bytes, bytes | None]]:
        return {stored.name: (stored.digest, self.content_of(stored.name)) for stored in self.index}

    def content_of(self, name: str) -> bytes | None:
        kept = self.index.content(name)
        return None if kept is None else kept.data

    def expected(self, model: dict[str, str]) -> dict[str, tuple[bytes, bytes | None]]:
        data = {name: text.encode() for name, text in model.items()}
        return {n: (content_digest(d), d if self.content == "text" else None) for n, d in data.items()}

    @invariant()
    def the_same_is_there(self) -> None:
        assert self.kept() == self.expected(self.model)
        assert len(self.index) == len(self.model)
        assert self.index.verify() == []


class WithoutContents(Machine):
    content = "none"


Machine.TestCase.settings = WithoutContents.TestCase.settings = settings(
    max_examples=20, stateful_step_count=20, deadline=None
)
TestWithContents = Machine.TestCase
TestWithoutContents = WithoutContents.TestCase
