"""Of an index that which has anything in common with new work: the old submissions to compare it with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from chaffinch.errors import Damaged, IndexTrouble, SkipReason
from chaffinch.index import contents
from chaffinch.index.address import without_password
from chaffinch.index.index import Index
from chaffinch.index.search import heaviest
from chaffinch.index.store import Store
from chaffinch.recipe import FRONTS
from chaffinch.types import Document, Skipped, Submission

_MOST = 100
"""So many old documents at most are compared with one new document: those that share the most with it."""


class Related(NamedTuple):
    """Each old document by itself, boilerplate likewise, and what was left out."""

    submissions: list[Submission]
    boilerplate: list[Submission]
    skipped: list[Skipped]
    guarantee: int | None
    """From so many symbols on what is shared is found."""


def related(where: str, new: Sequence[Submission]) -> Related:
    names: dict[int, str] = {}
    skipped: list[Skipped] = []
    others: list[str] = []
    with Index.open(where) as index:
        store, shown = index.store, without_password(where)
        if store.settings.content != "text":
            raise IndexTrouble(f"{shown}: keeps no texts to compare with; make it with content, or use search")
        for document in (d for submission in new for d in submission.documents):
            if not _is_for(index, document):
                others.append(document.name)
                continue
            heavy, total = heaviest(store, document, _MOST)
            names.update(heavy)
            if total > _MOST:
                why = f"{total - _MOST} documents of {shown} that share less with it were not compared with it"
                skipped.append(Skipped(document.name, SkipReason.NOT_COMPARED, why))
        if others:
            kind, recipe = ("programs", "code") if index.recipe.front in FRONTS else ("texts", "text")
            rest = f" and {len(others) - 1} more {kind}" if len(others) > 1 else ""
            why = f"not looked up in {shown}, an index of other documents; make one with --recipe {recipe}"
            skipped.append(Skipped(f"{others[0]}{rest}", SkipReason.NOT_COMPARED, why))
        given = {number: stored.name for number, stored in store.stored(sorted(store.boilerplate())).items()}
        found, boilerplate = (_read(store, these, skipped) for these in (names, given))
        return Related(found, boilerplate, skipped, index.recipe.guarantee)


def _read(store: Store, names: Mapping[int, str], skipped: list[Skipped]) -> list[Submission]:
    """These documents, and among what was left out those that cannot be read."""
    packed = store.contents(sorted(names))
    found: list[Submission] = []
    for number in sorted(names):
        try:
            document = contents.unpack(names[number], packed.get(number))
            found.append(Submission(document.name, (document,)))
        except Damaged as error:
            skipped.append(Skipped(names[number], SkipReason.DAMAGED, error.detail))
    return found


def _is_for(index: Index, document: Document) -> bool:
    """Whether the index is one of prose and the document is, or neither."""
    return (index.recipe.front in FRONTS) == (document.language == "text")
