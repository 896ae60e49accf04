"""Of an index that which has anything in common with new work: the old submissions to compare it with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chaffinch.errors import Damaged, IndexTrouble
from chaffinch.index import contents
from chaffinch.index.files import CATALOGUE
from chaffinch.index.index import Index, is_database
from chaffinch.index.search import heaviest
from chaffinch.recipe import FRONTS
from chaffinch.types import Document, Skipped, Submission

_MOST = 100
"""So many old documents at most are compared with one new document: those that share the most with it."""


def is_index(path: str | Path) -> bool:
    return is_database(path) or (Path(path) / CATALOGUE).is_file()


def related(where: str, new: Sequence[Submission]) -> tuple[list[Submission], list[Skipped]]:
    """Each old document by itself, and what was left out."""
    names: dict[int, str] = {}
    found: list[Submission] = []
    skipped: list[Skipped] = []
    with Index.open(where) as index:
        store = index.store
        if store.settings.content != "text":
            raise IndexTrouble(f"{where}: keeps no texts to compare with; make it with content, or use search")
        for document in (d for submission in new for d in submission.documents if _is_for(index, d)):
            heavy, total = heaviest(store, document, _MOST)
            names.update(heavy)
            if total > _MOST:
                why = (
                    f"{total - _MOST} documents that share less with {document.name} were not compared with it"
                )
                skipped.append(Skipped(where, why))
        packed = store.contents(sorted(names))
        for number in sorted(names):
            try:
                document = contents.unpack(names[number], packed.get(number))
                found.append(Submission(document.name, (document,)))
            except Damaged as error:
                skipped.append(Skipped(names[number], error.why))
    return found, skipped


def _is_for(index: Index, document: Document) -> bool:
    """Whether the index is one of prose and the document is, or neither."""
    return (index.recipe.front in FRONTS) == (document.language == "text")
