"""Submissions -> a Report: pairs with something in common, ranked, and the evidence for the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch import __version__
from chaffinch.comparison import ranking as pool
from chaffinch.comparison import score as rank
from chaffinch.comparison.earlier import related
from chaffinch.comparison.language_group import Part, made_of, recipe_for, symbol_weight
from chaffinch.errors import BadRecipe, SkipReason, Unreadable
from chaffinch.index.address import is_index, without_password
from chaffinch.languages import language
from chaffinch.matching import matches as match
from chaffinch.read import collect
from chaffinch.read.ready import expand
from chaffinch.read.submissions.dates import Dated, dated
from chaffinch.recipe import CODE, FRONTS, Recipe
from chaffinch.types import Cluster, Coverage, Document, Pair, Report, Skipped, Span, Submission

Comparable = str | Path | Document
"""A file, a folder or an archive by its path, or a document."""

THRESHOLD = 0.2
TOP = 500
_LINKED = 5.0
"""Pairs with such a surprise make clusters."""
_LONG = 90
"""A run of so many symbols is worth a look though it be a small part of both."""


def compare(
    paths: Comparable | Iterable[Comparable],
    *,
    base: Comparable | Iterable[Comparable] = (),
    old: Comparable | Iterable[Comparable] = (),
    language: str = "auto",
    threshold: float | None = None,
    top: int | None = TOP,
    max_owners: int | None = None,
    student_pattern: str | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
    dates: Mapping[str, str] | None = None,
) -> Report:
    """Compares every submission with every other, and with the old ones.

    Pairs with a score of at least `threshold` are listed, first those that surprise and score high, at most
    `top` of them; if left out, it is .2, and surprising pairs with a long run are listed too. With
    `threshold=0, top=None` it is every pair with anything in common. What more than `max_owners` have is
    ignored, as by MOSS; else it counts less, the more have it. `progress` is told what is being done.
    `dates` says when submissions were handed in, by name, in ISO 8601; it is shown, and changes no result.
    A path of `base` or `old` that is not there raises Unreadable; any other file that cannot be read is listed
    as skipped.
    """
    _check(threshold, top, max_owners)
    base, old = _given(base), _given(old)
    _must_exist([*base, *old])
    tell = progress or (lambda stage: None)
    least = THRESHOLD if threshold is None else threshold
    tell("Reading ...")
    paths = _given(paths)
    new, skipped = _submissions(paths, student_pattern)
    former, boilerplate, skipped_old, indexes = _former(old, new, student_pattern)
    if len(new) == 1 and not former and student_pattern is None:
        new = _apart(new[0], paths)
    given, skipped_base = _submissions(base, None)
    given += boilerplate
    skipped = [*skipped, *skipped_old, *skipped_base]
    everyone = _told_apart(new, former)
    kinds = _by_language(everyone, language, skipped)
    of_base = _by_language(given, language, skipped)
    parts = []
    for kind, owned in kinds.items():
        tell(f"Comparing {len(owned)} submissions in {kind} ...")
        base_documents = [d for documents in of_base.get(kind, {}).values() for d in documents]
        parts.append(made_of(recipe_for(kind), owned, base_documents, len(new), least, max_owners, threads))
    skipped += [
        Skipped(name, SkipReason.EMPTY, "nothing in it to compare") for part in parts for name in part.empty()
    ]
    skipped += [
        Skipped(name, SkipReason.TOO_SHORT, f"too short to compare: {why}")
        for p in parts
        for name, why in p.too_short()
    ]
    tell("Looking at the matches ...")
    everything = pool.pooled(parts, len(everyone))
    listed = pool.ranked(everything, least, _LINKED if threshold is None else np.inf, top)
    evidence = _evidence(parts, everyone, listed.pairs, listed.scores, listed.surprise, threads)
    # Where base code was taken out, fingerprints that both have may be all that is left.
    found = tuple(pair for pair in evidence if pair.longest and (pair.score >= least or pair.longest >= _LONG))
    readable = _as_read(parts, everyone)
    report = Report(
        tuple(readable[: len(new)]),
        tuple(readable[len(new) :]),
        found,
        _clusters(found),
        tuple(passage for p in parts for passage in p.common()),
        tuple(skipped),
        _background(listed.counts, len(new), len(former)),
        _receipt(parts, len(new), len(former), given, threshold, top, max_owners)
        | ({"old_indexes": indexes} if indexes else {})
        | _estimated(listed.scored, len(everything.pairs)),
        _ignored(parts, everyone),
    )
    return dated(report, [Dated(f"date of {name}", name, str(date)) for name, date in (dates or {}).items()])


def _check(threshold: float | None, top: int | None, max_owners: int | None) -> None:
    if threshold is not None and not 0 <= threshold <= 1:
        raise BadRecipe(f"threshold is {threshold}; choose one from 0 to 1")
    if top is not None and top < 1:
        raise BadRecipe(f"top is {top}; choose 1 or more, or None for all")
    if max_owners is not None and max_owners < 2:
        raise BadRecipe(f"max_owners is {max_owners}; choose 2 or more, or None")


def _given(items: Comparable | Iterable[Comparable]) -> list[Comparable]:
    """One is as good as a list of one."""
    return [items] if isinstance(items, str | Path | Document) else list(items)


def _must_exist(items: Iterable[Comparable]) -> None:
    """Without what was meant to be left out or compared with, everything else would be another result."""
    for item in items:
        if isinstance(item, str | Path) and "://" not in str(item) and not Path(item).exists():
            raise Unreadable(item, SkipReason.NOT_FOUND, "no such file or folder")


def _former(
    items: Sequence[Comparable], new: Sequence[Submission], student_pattern: str | None
) -> tuple[list[Submission], list[Submission], list[Skipped], dict[str, str]]:
    """Earlier work, a class in each path; of an index, what has anything in common with the new, also its
    boilerplate, and what is promised."""
    promised: dict[str, str] = {}
    boilerplate: list[Submission] = []
    found, skipped = _submissions([item for item in items if isinstance(item, Document)], None)
    for path in dict.fromkeys(str(item) for item in items if not isinstance(item, Document)):
        if is_index(path):
            submissions, given, left_out, least = related(path, new)
            boilerplate += given
            promised[without_password(path)] = (
                f"documents that share a run of {least} symbols are found" if least else "no promise"
            )
        else:
            submissions, left_out = _submissions([path], student_pattern)
        found += submissions
        skipped += left_out
    return found, boilerplate, skipped, promised


def _submissions(
    items: Sequence[Comparable], student_pattern: str | None
) -> tuple[list[Submission], list[Skipped]]:
    """A document is a submission; paths are looked through for them."""
    documents = [item for item in items if isinstance(item, Document)]
    for document in documents:
        if not (isinstance(document.name, str) and isinstance(document.data, bytes)):
            raise TypeError(f"a Document has a name and bytes, not {document.name!r} and {type(document.data)}")
    paths = [Path(item) for item in items if not isinstance(item, Document)]
    found, skipped = collect.submissions(paths, student_pattern) if paths else ([], [])
    for document in documents:
        inside = list(expand(document))
        found.append(Submission(document.name, tuple(d for d in inside if isinstance(d, Document))))
        skipped += [s for s in inside if isinstance(s, Skipped)]
    return found, skipped


def _apart(only: Submission, paths: Sequence[Comparable]) -> list[Submission]:
    """Files of one name are one student's; but if they are all that was given, they are to be compared."""
    if len(only.documents) < 2 or {d.name for d in only.documents} != set(map(str, paths)):
        return [only]
    return [Submission(Path(d.name).name, (d,)) for d in only.documents]


def _told_apart(new: Sequence[Submission], former: Sequence[Submission]) -> list[Submission]:
    """All of them under names that differ: who is in the class may be in the archive too."""
    found: dict[str, Submission] = {}
    for submissions, old in ((new, ""), (former, "old")):
        for submission in submissions:
            marks = chain(["", old], (f"{old} {n}".strip() for n in count(2)))
            names = (f"{submission.name} ({mark})" if mark else submission.name for mark in marks)
            name = next(name for name in names if name not in found)
            found[name] = Submission(name, submission.documents)
    return list(found.values())


def _by_language(
    submissions: Sequence[Submission], asked: str, skipped: list[Skipped]
) -> dict[str, dict[int, list[Document]]]:
    """For each language the documents of each submission that has any."""
    wanted = None if asked in ("auto", CODE) else Recipe(asked).front
    kinds = [[language.family(d.language or "text") for d in s.documents] for s in submissions]
    alike = {language.family((wanted or "").removesuffix(language.KEEP_NAMES))}
    if not any(kind in alike for of_one in kinds for kind in of_one):
        alike.add("text")  # whoever names a language means files by which it cannot be told
    found: dict[str, dict[int, list[Document]]] = {}
    for i, (submission, of_one) in enumerate(zip(submissions, kinds, strict=True)):
        for document, kind in zip(submission.documents, of_one, strict=True):
            why = ""
            if wanted is None:
                if asked == CODE and kind == "text":
                    why = "not a program"
                elif not _is_known(kind):
                    why = f"no language {kind!r} is known"
            elif wanted not in FRONTS and not (kind in alike and document.format == "plain"):
                why = f"not {wanted}"
            if why:
                skipped.append(Skipped(document.name, SkipReason.OTHER_LANGUAGE, why))
            else:
                found.setdefault(wanted or kind, {}).setdefault(i, []).append(document)
    return dict(sorted(found.items()))


@cache
def _is_known(front: str) -> bool:
    try:
        return bool(Recipe(front))
    except BadRecipe:
        return False


def _as_read(parts: list[Part], everyone: list[Submission]) -> list[Submission]:
    """The submissions with the documents that spans point into."""
    found: dict[int, dict[str, Document]] = {}
    for part in parts:
        for owner, unit in zip(part.owners.tolist(), part.units, strict=True):
            found.setdefault(owner, {}).update((d.name, d) for d in unit.documents)
    return [
        Submission(s.name, tuple(found.get(i, {}).get(d.name, d) for d in s.documents))
        for i, s in enumerate(everyone)
    ]


def _evidence(
    parts: list[Part],
    everyone: list[Submission],
    pairs: rank.Pairs,
    scores: rank.Floats,
    unusual: rank.Floats,
    threads: int | None,
) -> Iterator[Pair]:
    """The pairs with their matches."""
    wanted: dict[tuple[int, int], list[tuple[float, match.Common]]] = {(a, b): [] for a, b in pairs.tolist()}
    totals = np.zeros(len(everyone))
    for part in parts:
        totals[part.owners] += part.sizes()
        unit_of = {owner: i for i, owner in enumerate(part.owners.tolist())}
        chosen = [(a, b) for a, b in pairs.tolist() if a in unit_of and b in unit_of]
        found = part.matches([(unit_of[a], unit_of[b]) for a, b in chosen], threads)
        for both, common in zip(chosen, found, strict=True):
            wanted[both].append((symbol_weight(part.recipe.front), common))
    for (a, b), score, surprise in zip(pairs.tolist(), scores.tolist(), unusual.tolist(), strict=True):
        shares = [
            sum(weight * common.covered[side] for weight, common in wanted[a, b])
            / max(float(totals[who]), 1e-9)
            for side, who in enumerate((a, b))
        ]
        matches, repeats = match.later([common for _, common in wanted[a, b]])
        yield Pair(
            everyone[a].name,
            everyone[b].name,
            score,
            Coverage(min(shares[0], 1.0), min(shares[1], 1.0)),
            surprise,
            max((common.longest for _, common in wanted[a, b]), default=0),
            # Of no more than a report shows they are made at once: to make them later takes all symbols.
            tuple(matches) if len(pairs) <= TOP else matches,
            tuple(repeats) if len(pairs) <= TOP else repeats,
        )


def _clusters(pairs: Sequence[Pair]) -> tuple[Cluster, ...]:
    """Submissions that surprising pairs link, the strongest first."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = name = leader[leader[name]]
        return name

    linked = [p for p in pairs if p.surprise >= _LINKED]
    for pair in linked:
        leader[find(pair.left)] = find(pair.right)
    groups: dict[str, list[str]] = {}
    for name in sorted(leader):
        groups.setdefault(find(name), []).append(name)
    best: dict[str, float] = {}
    for pair in linked:
        best[find(pair.left)] = max(best.get(find(pair.left), 0.0), pair.score)
    found = [Cluster(tuple(names), best[head]) for head, names in groups.items()]
    return tuple(sorted(found, key=lambda c: (-len(c.submissions), -c.score, c.submissions)))


def _background(counts: NDArray[np.int64], new: int, old: int) -> tuple[int, ...]:
    """The counts with all pairs that have too little in common to be scored."""
    rest = new * (new - 1) // 2 + new * old - int(counts.sum())
    return int(counts[0]) + rest, *counts[1:].tolist()


def _estimated(scored: int, pairs: int) -> dict[str, str]:
    """What is to be told if not all pairs were scored."""
    return {"background": f"estimated from {scored} of {pairs} scores"} if scored < pairs else {}


def _ignored(parts: list[Part], everyone: list[Submission]) -> dict[str, tuple[Span, ...]]:
    found: dict[str, tuple[Span, ...]] = {}
    for part in parts:
        for unit, owner in enumerate(part.owners.tolist()):
            if spans := part.ignored(unit):
                name = everyone[owner].name
                found[name] = (*found.get(name, ()), *spans)
    return found


def _receipt(
    parts: list[Part],
    new: int,
    old: int,
    base: list[Submission],
    threshold: float | None,
    top: int | None,
    max_owners: int | None,
) -> dict[str, Any]:
    return {
        "chaffinch": __version__,
        "recipes": {p.recipe.front: p.recipe.receipt() for p in parts},
        "submissions": new,
        "old": old,
        "pairs_with_anything_in_common": {p.recipe.front: p.candidates.count for p in parts},
        "threshold": f"{THRESHOLD}, or a surprise of {_LINKED:.0f} and a run of {_LONG}"
        if threshold is None
        else threshold,
        "top": top,
        "gap": match.GAP,
        "base": {d.name: sha256(d.data).hexdigest() for submission in base for d in submission.documents},
        "base_symbols": {p.recipe.front: p.base_symbols for p in parts},
        "max_owners": max_owners,
        "symbols_with_more_owners": {p.recipe.front: int(p.masked.sum()) - p.base_symbols for p in parts},
    }
