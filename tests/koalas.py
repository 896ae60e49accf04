"""Helpers for the tests of koala indexes: an index with a known secret, and what it stores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from chaffinch import Document
from chaffinch import fingerprinting as api
from chaffinch.cli import main
from chaffinch.index.hits import Answer
from chaffinch.index.index import Index

SECRET = 0x5EED_0F_A_BEA2_4711
CONTENTS = ("text", "search-set", "none")
Make = Callable[..., Index]


def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return a function that creates indexes with a known secret."""
    made: list[Index] = []

    def new(secret: int = SECRET, **options: object) -> Index:
        monkeypatch.setattr("chaffinch.index.index.secrets.randbits", lambda bits: secret)
        made.append(Index.create(tmp_path / f"{len(made)}.index", "koala", **options))  # type: ignore[arg-type]
        return made[-1]

    return new


def stored(index: Index, name: str) -> set[int]:
    number = index.store.numbers_by_name([name])[name]
    ((_, hashes, positions),) = index.store.postings_of([number])
    assert not positions.any()
    return set(hashes.tolist())


def searched(index: Index, said: str | Document) -> set[int]:
    """Return the hashes a search looks up, cut to the 44 bits that an index stores."""
    hashes = api.fingerprint(said, index.recipe).hashes
    return set((hashes & ~np.uint64(2**20 - 1)).tolist())


def named(answer: Answer, name: str) -> list[tuple[float, float, str]]:
    return [
        (h.containment.query, h.containment.document, h.relation) for h in answer if h.document.name == name
    ]


def chaffinch(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])
