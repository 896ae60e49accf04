"""Submissions -> a Report: pairs with something in common, ranked, and the evidence for the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaffinch import __version__, api, core, language, match, rank
from chaffinch.read import collect
from chaffinch.read.expand import expand
from chaffinch.recipe import FRONTS, Recipe
from chaffinch.types import Cluster, Coverage, Document, Pair, Passage, Report, Skipped, Submission
from chaffinch.units import Unit, units

Comparable = str | Path | Document
"""A file, a folder or an archive by its path, or a document."""

THRESHOLD = 0.2
TOP = 500
_STRUCTURE, _NAMES, _PROSE = 2.0, 0.75, 12
"""Grams by which scores are counted: in a program of 80 symbols, the same with names, and in prose."""
_LINKED = 5.0
"""Pairs with such a surprise make clusters."""


def recipe_for(front: str) -> Recipe:
    """How documents of a kind are compared: more finely than an archive would be kept."""
    return Recipe(front, k=20, w=11) if front in FRONTS else Recipe(front)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """All that is in one language: a unit for each submission that has any."""

    recipe: Recipe
    owners: NDArray[np.int64]
    """The submission of each unit, in order."""
    units: list[Unit]
    masks: list[NDArray[np.bool_]]
    """What is base code in each."""
    documents: core.Collection
    candidates: rank.Candidates
    scores: rank.Floats

    def sizes(self) -> NDArray[np.int64]:
        """Symbols of each unit that are not base code."""
        return np.array([u.size - int(m.sum()) for u, m in zip(self.units, self.masks, strict=True)], np.int64)


def compare(
    paths: Iterable[Comparable],
    *,
    base: Iterable[Comparable] = (),
    old: Iterable[Comparable] = (),
    language: str = "auto",
    threshold: float = THRESHOLD,
    top: int | None = TOP,
    max_owners: int | None = None,
    student_pattern: str | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Compares every submission with every other, and with the old ones.

    Pairs with a score of at least `threshold` are listed, the most surprising first, at most `top` of them;
    with `threshold=0, top=None` it is every pair with anything in common. What more than `max_owners` of them
    have is ignored, as by MOSS; else it counts less, the more have it. `progress` is told what is being done.
    """
    tell = progress or (lambda stage: None)
    tell("Reading ...")
    new, skipped = _submissions(paths, student_pattern)
    former, skipped_old = _submissions(old, student_pattern)
    given, skipped_base = _submissions(base, None)
    skipped = [*skipped, *skipped_old, *skipped_base]
    everyone = [*new, *former]
    kinds = _by_language(everyone, language, skipped)
    of_base = _by_language(given, language, skipped)
    parts = []
    for kind, owned in kinds.items():
        tell(f"Comparing {len(owned)} submissions in {kind} ...")
        base_documents = [d for documents in of_base.get(kind, {}).values() for d in documents]
        parts.append(_part(recipe_for(kind), owned, base_documents, len(new), threshold, max_owners, threads))
    tell("Looking at the matches ...")
    pairs, scores, amounts = _together(parts, len(everyone))
    unusual = rank.surprise(amounts, pairs, len(everyone))
    listed = _listed(scores, unusual, pairs, threshold, top)
    found = tuple(_evidence(parts, everyone, pairs[listed], scores[listed], unusual[listed], threads))
    return Report(
        tuple(new),
        tuple(former),
        found,
        _clusters(found),
        tuple(passage for part in parts for passage in _common(part)),
        tuple(skipped),
        _histogram(scores, len(new), len(former)),
        _receipt(parts, len(new), len(former), len(pairs), threshold, top),
    )


def _submissions(
    items: Iterable[Comparable], student_pattern: str | None
) -> tuple[list[Submission], list[Skipped]]:
    """A document is a submission; paths are looked through for them."""
    everything = [items] if isinstance(items, str | Path | Document) else list(items)
    documents = [item for item in everything if isinstance(item, Document)]
    paths = [Path(item) for item in everything if not isinstance(item, Document)]
    found, skipped = collect.submissions(paths, student_pattern) if paths else ([], [])
    for document in documents:
        inside = list(expand(document))
        found.append(Submission(document.name, tuple(d for d in inside if isinstance(d, Document))))
        skipped += [s for s in inside if isinstance(s, Skipped)]
    return found, skipped


def _by_language(
    submissions: Sequence[Submission], asked: str, skipped: list[Skipped]
) -> dict[str, dict[int, list[Document]]]:
    """For each language the documents of each submission that has any."""
    wanted = None if asked == "auto" else Recipe(asked).front
    found: dict[str, dict[int, list[Document]]] = {}
    for i, submission in enumerate(submissions):
        for document in submission.documents:
            kind = language.family(document.language or "text")
            alike = kind in (language.family(wanted or ""), "text") and document.format == "plain"
            if wanted is not None and wanted not in FRONTS and not alike:
                skipped.append(Skipped(document.name, f"not {wanted}; left out"))
                continue
            found.setdefault(wanted or kind, {}).setdefault(i, []).append(document)
    return dict(sorted(found.items()))


def _part(
    recipe: Recipe,
    owned: dict[int, list[Document]],
    base: list[Document],
    new: int,
    threshold: float,
    max_owners: int | None,
    threads: int | None,
) -> _Part:
    owners = np.array(list(owned), np.int64)
    made = units([*owned.values(), *([base] if base else [])], recipe, threads)
    of_base = made.pop() if base else None
    masks = match.given(made, of_base, recipe.k, threads)
    if max_owners is not None:
        match.ignore_common(made, masks, recipe.k, max_owners)
    prints = [match.without(u.prints, mask, recipe.k) for u, mask in zip(made, masks, strict=True)]
    hashes = [np.unique(p.hashes) for p in prints]
    old = (owners >= new).astype(np.uint8)
    found = rank.candidates(hashes, old, threshold / 4, threads)
    documents = core.Collection([u.symbols for u in made], prints)
    streams = [u.symbols[~mask] for u, mask in zip(made, masks, strict=True)]
    scores = _scores(recipe, made, streams, found.pairs, threads)
    return _Part(recipe, owners, made, masks, documents, found, scores)


def _scores(
    recipe: Recipe, made: list[Unit], streams: list[rank.Symbols], pairs: rank.Pairs, threads: int | None
) -> rank.Floats:
    """The share of the smaller that the other has too: as structure, or word for word, whichever is more."""
    if recipe.front in FRONTS:
        return rank.overlap(streams, pairs, np.full(len(pairs), _PROSE), threads)
    sizes = np.array([len(s) for s in streams], np.int64)
    smaller = np.minimum(sizes[pairs[:, 0]], sizes[pairs[:, 1]])
    structure = rank.overlap(streams, pairs, rank.telling(smaller, _STRUCTURE), threads)
    if recipe.front.startswith(language.OTHER) or recipe.front.endswith(language.KEEP_NAMES):
        return structure
    named = Recipe(recipe.front + language.KEEP_NAMES, k=recipe.k, w=recipe.w)
    words = [np.concatenate([api.stream(d, named).symbols for d in u.documents]) for u in made]
    return np.maximum(structure, rank.overlap(words, pairs, rank.telling(smaller, _NAMES), threads))


def _together(parts: list[_Part], submissions: int) -> tuple[NDArray[np.int64], rank.Floats, rank.Floats]:
    """Pairs of submissions, with scores and amounts from all languages that both have."""
    keys, scores, amounts, weights = [], [], [], []
    for part in parts:
        pairs = part.owners[part.candidates.pairs]
        sizes = part.sizes()[part.candidates.pairs].min(axis=1)
        keys.append(pairs[:, 0] * submissions + pairs[:, 1])
        # A letter says less than a token.
        weights.append(np.maximum(sizes, 1) / (5 if part.recipe.front in FRONTS else 1))
        scores.append(part.scores)
        amounts.append(part.candidates.amounts)
    if not parts:
        return np.empty((0, 2), np.int64), np.empty(0), np.empty(0)
    key, where = np.unique(np.concatenate(keys), return_inverse=True)
    weight = np.concatenate(weights)
    score = np.bincount(where, np.concatenate(scores) * weight, len(key)) / np.bincount(where, weight, len(key))
    amount: rank.Floats = np.bincount(where, np.concatenate(amounts), len(key)).astype(np.float64)
    both: NDArray[np.int64] = np.stack([key // submissions, key % submissions], axis=1)
    return both, score.clip(0, 1), amount


def _listed(
    scores: rank.Floats, unusual: rank.Floats, pairs: NDArray[np.int64], threshold: float, top: int | None
) -> NDArray[np.int64]:
    """The most surprising first."""
    chosen = np.flatnonzero(scores >= threshold)
    order = np.lexsort((pairs[chosen, 1], pairs[chosen, 0], -scores[chosen], -unusual[chosen]))
    return chosen[order][:top]


def _evidence(
    parts: list[_Part],
    everyone: list[Submission],
    pairs: NDArray[np.int64],
    scores: rank.Floats,
    unusual: rank.Floats,
    threads: int | None,
) -> Iterator[Pair]:
    """The pairs with their matches."""
    wanted: dict[tuple[int, int], list[match.Common]] = {(a, b): [] for a, b in pairs.tolist()}
    totals = np.zeros(len(everyone))
    for part in parts:
        np.add.at(totals, part.owners, part.sizes())
        unit_of = {owner: i for i, owner in enumerate(part.owners.tolist())}
        chosen = [(unit_of[a], unit_of[b]) for a, b in pairs.tolist() if a in unit_of and b in unit_of]
        table = np.array(chosen, np.uint32).reshape(-1, 2)
        runs = core.matches(part.documents, table, part.recipe.k, match.GAP, threads)
        for number, (i, j) in enumerate(chosen):
            masks = part.masks[i], part.masks[j]
            shared = match.common(part.units[i], part.units[j], masks, _owners(part, i), runs, number)
            wanted[int(part.owners[i]), int(part.owners[j])].append(shared)
    for (a, b), score, surprise in zip(pairs.tolist(), scores.tolist(), unusual.tolist(), strict=True):
        found = wanted[a, b]
        covered = [sum(common.covered[side] for common in found) for side in (0, 1)]
        yield Pair(
            everyone[a].name,
            everyone[b].name,
            score,
            Coverage(covered[0] / max(totals[a], 1), covered[1] / max(totals[b], 1)),
            surprise,
            max((common.longest for common in found), default=0),
            tuple(m for common in found for m in common.matches),
        )


def _owners(part: _Part, unit: int) -> NDArray[np.uint32]:
    """For each symbol of a unit, how many units have the fingerprint that begins there or last before."""
    first, last = part.documents.hash_offsets[unit : unit + 2].tolist()
    hashes, positions = part.documents.hashes[first:last], part.documents.positions[first:last]
    size = len(part.units[unit].symbols)
    if not len(hashes):
        return np.ones(size, np.uint32)
    number = np.cumsum(np.concatenate([[0], hashes[1:] != hashes[:-1]]))
    counts = part.candidates.owners[unit][number]
    order = np.argsort(positions, kind="stable")
    at = np.searchsorted(positions[order], np.arange(size), "right") - 1
    spread: NDArray[np.uint32] = counts[order][at.clip(0)]
    return spread


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


def _common(part: _Part) -> Iterator[Passage]:
    """What at least half of all, and more than a handful, have: a template that nobody gave us."""
    least = max(6, len(part.units) / 2)
    explained: set[int] = set()
    for i, unit in enumerate(part.units):
        owners = _owners(part, i)
        often = (owners >= least) & ~part.masks[i]
        often[np.append(unit.starts[1:], len(owners)) - 1] = False  # what stands between documents
        if not often.any():
            continue
        edges = np.flatnonzero(np.diff(np.concatenate([[False], often, [False]]).astype(np.int8)))
        first, last = part.documents.hash_offsets[i : i + 2].tolist()
        hashes, positions = part.documents.hashes[first:last], part.documents.positions[first:last]
        for start, end in edges.reshape(-1, 2).tolist():
            inside = set(hashes[(positions >= start) & (positions < end)].tolist())
            if end - start < part.recipe.k or len(inside - explained) * 2 <= len(inside):
                continue
            explained |= inside
            yield Passage(unit.spans([start], [end])[0], end - start, int(np.median(owners[start:end])), False)


def _histogram(scores: rank.Floats, new: int, old: int) -> tuple[int, ...]:
    counts = np.histogram(scores, 20, (0, 1))[0]
    counts[0] += new * (new - 1) // 2 + new * old - len(scores)
    return tuple(counts.tolist())


def _receipt(
    parts: list[_Part], new: int, old: int, pairs: int, threshold: float, top: int | None
) -> dict[str, Any]:
    recipes = {p.recipe.front: p.recipe.to_dict() | {"guarantee": p.recipe.guarantee} for p in parts}
    for recipe in recipes.values():
        del recipe["seed"]
    return {
        "chaffinch": __version__,
        "recipes": recipes,
        "submissions": new,
        "old": old,
        "pairs_with_anything_in_common": pairs,
        "threshold": threshold,
        "top": top,
        "gap": match.GAP,
        "base_symbols": {p.recipe.front: int(sum(m.sum() for m in p.masks)) for p in parts},
    }
