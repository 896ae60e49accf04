"""Earlier work: classes of former years, and the documents of an index that share something with new work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chaffinch.comparison.inputs import Comparable, require_contents
from chaffinch.errors import Damaged, IndexTrouble, SkipReason
from chaffinch.index.address import is_index, without_password
from chaffinch.read import collect
from chaffinch.read.rules import Rules
from chaffinch.recipe import FRONTS
from chaffinch.types import Document, File, Skipped, Submission

if TYPE_CHECKING:  # imported on use: most comparisons need no index
    from chaffinch.index.index import Index
    from chaffinch.index.store import Store

MOST_CANDIDATES = 100
"""Documents of an index that one new document is compared with: those that share the most with it."""
_SEE_DAMAGE = "chaffinch index info names its documents"


@dataclass(frozen=True, slots=True)
class EarlierWork:
    """Submissions to compare new work with, and what comes with them."""

    submissions: list[Submission] = field(default_factory=list)
    boilerplate: list[Submission] = field(default_factory=list)
    """Documents that an index holds as boilerplate; they are base code here."""
    skipped: list[Skipped] = field(default_factory=list)
    indexes: dict[str, int | None] = field(default_factory=dict)
    """For each index, the length in symbols from which shared runs are found, if there is one."""


def read_earlier(
    items: Sequence[Comparable], new: Sequence[Submission], rules: Rules, student_pattern: str | None
) -> EarlierWork:
    """Read documents, classes by their paths, and from indexes what shares anything with the new work."""
    given = [item for item in items if isinstance(item, File | Document)]
    submissions, skipped = collect.by_rules(given, rules)
    earlier = EarlierWork(submissions, skipped=skipped)
    for path in sorted({str(item) for item in items if not isinstance(item, File | Document)}):
        if is_index(path):
            candidates_from_index(path, new, earlier)
        else:
            submissions, skipped = collect.by_rules([path], rules, student_pattern)
            require_contents(path, submissions)
            earlier.submissions.extend(submission for submission in submissions if submission.documents)
            earlier.skipped.extend(skipped)
    return earlier


def candidates_from_index(where: str, new: Sequence[Submission], earlier: EarlierWork) -> None:
    """Add the documents of an index that share the most with each new document, and its boilerplate."""
    from chaffinch.index.index import Index
    from chaffinch.index.search import top_candidates

    names: dict[int, str] = {}
    not_looked_up: list[str] = []
    shown = without_password(where)
    with Index.open(where) as index, index.store.snapshot():
        store = index.store
        if store.settings.content != "text":
            raise IndexTrouble(f"{shown}: keeps no texts to compare with; make it with content, or use search")
        for document in (d for submission in new for d in submission.documents):
            if not _is_for(index, document):
                not_looked_up.append(document.name)
                continue
            heavy, total = top_candidates(store, document, MOST_CANDIDATES)
            names.update(heavy)
            if total > MOST_CANDIDATES:
                detail = (
                    f"not compared with {total - MOST_CANDIDATES} documents of {shown} that share less with it"
                )
                earlier.skipped.append(Skipped(document.name, SkipReason.NOT_COMPARED, detail))
        if not_looked_up:
            kind, recipe = ("programs", "code") if index.recipe.front in FRONTS else ("texts", "text")
            rest = f" and {len(not_looked_up) - 1} more {kind}" if len(not_looked_up) > 1 else ""
            detail = f"not looked up in {shown}, an index of other documents; make one with --recipe {recipe}"
            earlier.skipped.append(Skipped(f"{not_looked_up[0]}{rest}", SkipReason.NOT_COMPARED, detail))
        boilerplate = {
            number: record.name for number, record in store.records(sorted(store.boilerplate())).items()
        }
        damaged = [
            Skipped(
                str(Path(where)),
                SkipReason.DAMAGED,
                f"not searched: {error.name}: {error.detail}; {_SEE_DAMAGE}",
            )
            for error in store.damage()
        ]
        earlier.submissions.extend(_unpack(store, names, damaged))
        earlier.boilerplate.extend(_unpack(store, boilerplate, damaged))
        earlier.skipped.extend(damaged)
        earlier.indexes[shown] = None if damaged else index.recipe.guarantee


def _unpack(store: Store, names: Mapping[int, str], skipped: list[Skipped]) -> list[Submission]:
    """Return the documents with these numbers, each a submission; damaged ones are added to `skipped`."""
    from chaffinch.index.contents import unpack

    packed = store.contents(sorted(names))
    submissions: list[Submission] = []
    for number in sorted(names):
        try:
            document = unpack(names[number], packed.get(number))
            submissions.append(Submission(document.name, (document,)))
        except Damaged as error:
            skipped.append(Skipped(names[number], SkipReason.DAMAGED, error.detail))
    return submissions


def _is_for(index: Index, document: Document) -> bool:
    """Return whether index and document are both prose, or both programs."""
    return (index.recipe.front in FRONTS) == (document.language == "text")
