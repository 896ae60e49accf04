"""Of an index that which has anything in common with new work: the old submissions to compare it with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chaffinch.errors import IndexTrouble
from chaffinch.index import contents
from chaffinch.index.files import CATALOGUE
from chaffinch.index.index import Index
from chaffinch.index.search import heaviest
from chaffinch.recipe import FRONTS
from chaffinch.types import Document, Submission

_MOST = 100
"""So many old documents at most are compared with one new document: those that share the most with it."""


def is_index(path: object) -> bool:
    return str(path).startswith(("postgresql://", "postgres://")) or (Path(str(path)) / CATALOGUE).is_file()


def related(where: str, new: Sequence[Submission]) -> list[Submission]:
    """Each old document by itself."""
    with Index.open(where) as index:
        store = index.store
        if store.settings.content != "text":
            raise IndexTrouble(f"{where}: keeps no texts to compare with; make it with content, or use search")
        names: dict[int, str] = {}
        for submission in new:
            for document in submission.documents:
                if _is_for(index, document):
                    names.update((n, stored.name) for n, stored in heaviest(store, document, _MOST))
        packed = store.contents(sorted(names))
        found = [contents.unpack(names[n], packed[n]) for n in sorted(names) if n in packed]
    return [Submission(document.name, (document,)) for document in found]


def _is_for(index: Index, document: Document) -> bool:
    """Whether the index is one of prose and the document is, or neither."""
    return (index.recipe.front in FRONTS) == (document.language == "text")
