"""Everything that is written in one language: which submissions share what there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison.candidates import Candidates, Floats, Pairs
from chaffinch.comparison.options import Options
from chaffinch.comparison.score import Scorer
from chaffinch.comparison.views import Symbols, Tokens
from chaffinch.languages.language import KEEP_NAMES, OTHER
from chaffinch.matching.base_code import (
    Mask,
    distinct,
    drop_masked,
    find_base_code,
    mask_common_code,
    mask_symbols,
    symbol_kinds,
)
from chaffinch.matching.joined_stream import JoinedStream, join_streams
from chaffinch.matching.matches import GAP, PairMatches
from chaffinch.native.pairs import Corpus, find_matches
from chaffinch.recipe import DATA, FRONTS, Recipe, recipe_for, symbol_weight
from chaffinch.types import Document, Passage, Skipped, Span

COMMON_OWNERS = 6
"""Submissions. Common code is what at least this many have, and at least half of all."""
CANDIDATE_SHARE = 0.25
"""Part of the score. Works that share fewer fingerprints than this share few short grams too."""
LOWEST_SCORE = 0.2
"""Without a threshold, pairs are candidates if they may score this much."""
FEW_SENTENCES = 2.0
"""Fingerprints, by scarcity. A pair of texts that shares these is a candidate: a few sentences in a long text
are worth a look."""


@dataclass(frozen=True, slots=True, eq=False)
class LanguageGroup:
    """The submissions that have something in one language, with a joined stream for each."""

    recipe: Recipe
    members: NDArray[np.int64]
    """The number of the submission that each stream belongs to, ascending."""
    streams: list[JoinedStream]
    masks: list[Mask]
    """Which symbols of each stream are not compared: base code, and what too many have."""
    masked_counts: NDArray[np.int64]
    """How many symbols of each stream that is."""
    base_symbols: int
    """How many symbols of all streams are base code."""
    corpus: Corpus
    candidates: Candidates
    scorer: Scorer
    """Of the active streams."""

    @classmethod
    def build(
        cls,
        recipe: Recipe,
        documents: Mapping[int, Sequence[Document]],
        base: Sequence[Document],
        new: int,
        options: Options,
        skipped: list[Skipped],
    ) -> LanguageGroup:
        """Read the documents of each submission. Submissions from number `new` on are earlier work.

        Documents that cannot be read as programs are added to `skipped`.
        """
        members = np.array(list(documents), np.int64)
        is_prose = recipe.front in FRONTS
        has_names = not (is_prose or recipe.front.startswith(OTHER) or recipe.front.endswith(KEEP_NAMES))
        joined = [*documents.values(), *([base] if base else [])]
        streams = join_streams(joined, recipe, options.threads, with_names=has_names, skipped=skipped)
        usual = recipe_for(recipe.front)
        # A longer k would miss base code, and a shorter one would find it by chance.
        has_other_k = bool(base) and recipe != usual
        for_base = join_streams(joined, usual, options.threads, skipped=[]) if has_other_k else streams
        base_stream = for_base[-1] if base else None
        masks, base_positions = find_base_code(for_base[: len(members)], base_stream, usual.k, options.threads)
        streams = streams[: len(members)]
        masked_counts = base_counts = _counts(masks)
        if options.max_owners is not None:
            mask_common_code(streams, masks, recipe.k, options.max_owners)
            masked_counts = _counts(masks)
        prints = [drop_masked(s.prints, mask, recipe.k) for s, mask in zip(streams, masks, strict=True)]
        lowest = LOWEST_SCORE if options.threshold is None else options.threshold
        # With a longer k than usual, the share of fingerprints says less about the score.
        min_share = 0.0 if recipe.k > usual.k else lowest * CANDIDATE_SHARE
        enough = FEW_SENTENCES if is_prose and options.threshold is None else np.inf
        is_old = (members >= new).astype(np.uint8)
        hashes = [distinct(p.hashes) for p in prints]
        candidates = Candidates.find(
            hashes, is_old, min_share=min_share, enough=enough, threads=options.threads
        )
        symbols = mask_symbols(streams, masks, base_positions)
        kinds = symbol_kinds(streams, masks) if base_positions else []
        corpus = Corpus(symbols, prints, candidates.owners, kinds)
        active = candidates.active.tolist()
        own = [_own_tokens(streams[member], masks[member]) for member in active]
        if has_names:
            scorer = Scorer.of_programs(own, options.threads)
        else:
            of_streams = Scorer.of_prose if is_prose else Scorer.of_plain_programs
            scorer = of_streams([tokens.plain for tokens in own], options.threads)
        base_symbols = int(base_counts.sum())
        return cls(recipe, members, streams, masks, masked_counts, base_symbols, corpus, candidates, scorer)

    @property
    def is_data(self) -> bool:
        """Whether these are data files beside programs."""
        return self.recipe.front == DATA

    def symbols(self) -> NDArray[np.int64]:
        """Return how many symbols each stream has besides base code."""
        return np.array([stream.size for stream in self.streams], np.int64) - self.masked_counts

    def usual_parts(self) -> Floats:
        """Return the part of each stream that any other has too, by fingerprints."""
        prints = np.array([len(owners) for owners in self.candidates.owners], np.float64)
        usual: Floats = np.minimum(self.candidates.background / prints.clip(1), 0.99)
        return usual

    def sizes(self) -> Floats:
        """Return the same in tokens."""
        return self.symbols().astype(np.float64) * symbol_weight(self.recipe.front)

    def contents(self) -> Iterator[tuple[int, bytes]]:
        """Yield what each active stream says, names and literals too, and whose it is."""
        members = self.members[self.candidates.active].tolist()
        return zip(members, (view.tobytes() for view in self.scorer.views[-1].streams), strict=True)

    def scores(self, pairs: Pairs) -> Floats:
        """Return the scores of pairs of streams."""
        numbers = np.zeros(len(self.members), np.uint32)
        numbers[self.candidates.active] = np.arange(len(self.candidates.active))
        return self.scorer.score(numbers[pairs])

    def matches(self, pairs: Sequence[tuple[int, int]], threads: int | None) -> Iterator[PairMatches]:
        """Find what pairs of streams share."""
        guarantee = self.recipe.guarantee or self.recipe.k
        rows = np.array(pairs, np.uint32).reshape(-1, 2)
        table = find_matches(self.corpus, rows, self.recipe.k, GAP, guarantee, threads)
        is_prose = self.recipe.front in FRONTS
        for number, (i, j) in enumerate(pairs):
            yield PairMatches(self.streams[i], self.streams[j], table, number, is_prose)

    def common_code(self) -> Iterator[Passage]:
        """Find the passages that at least half of all have, although they are not base code."""
        min_owners = max(COMMON_OWNERS, len(self.streams) / 2)
        explained: set[int] = set()
        for i, stream in enumerate(self.streams):
            hashes, positions, print_owners = self._prints(i)
            if not (print_owners >= min_owners).any():
                continue
            owners = _owners_of_symbols(positions, print_owners, len(stream.symbols))
            is_common = (owners >= min_owners) & ~self.masks[i]
            is_common[stream.separators] = False
            for start, end in _ranges(is_common):
                inside = set(hashes[(positions >= start) & (positions < end)].tolist())
                if end - start >= self.recipe.k and len(inside - explained) * 2 > len(inside):
                    explained |= inside
                    (span,) = stream.spans([start], [end - start])
                    yield Passage(span, end - start, int(np.median(owners[start:end])))

    def empty_documents(self) -> list[str]:
        """Return the names of documents without a symbol."""
        return [
            document.name
            for joined in self.streams
            for document, stream in zip(joined.documents, joined.streams, strict=True)
            if not len(stream)
        ]

    def short_documents(self) -> list[tuple[str, int]]:
        """Return the documents of submissions that are shorter than a gram, and how many symbols these have."""
        return [
            (document.name, stream.size)
            for stream in self.streams
            if 0 < stream.size < self.recipe.k
            for document in stream.documents
        ]

    def ignored(self, stream: int) -> list[Span]:
        """Return what is not compared in a stream."""
        if not self.masked_counts[stream]:
            return []
        ranges = _ranges(self.masks[stream])
        return self.streams[stream].spans([a for a, _ in ranges], [b - a for a, b in ranges])

    def _prints(self, stream: int) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the hashes of a stream, their positions, and how many streams have each."""
        rows = slice(*self.corpus.hash_offsets[stream : stream + 2].tolist())
        return self.corpus.hashes[rows], self.corpus.positions[rows], self.corpus.owners[rows]


def _owners_of_symbols(
    positions: NDArray[np.uint32], owners: NDArray[np.uint32], size: int
) -> NDArray[np.uint32]:
    """Return for each symbol how many streams have the fingerprint that starts there or last before it."""
    order = np.argsort(positions, kind="stable")
    bounds = np.append(positions[order].astype(np.int64), size)
    bounds[0] = 0
    return np.repeat(owners[order], np.diff(bounds))


def _ranges(mask: Mask) -> list[tuple[int, int]]:
    """Return where a mask is true, as half-open ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _counts(masks: Sequence[Mask]) -> NDArray[np.int64]:
    return np.array([np.count_nonzero(mask) for mask in masks], np.int64)


def _own_tokens(joined: JoinedStream, mask: Mask) -> Tokens:
    """Return the tokens that are neither masked nor separators."""
    is_own = ~np.delete(mask, joined.separators) if mask.any() else None

    def own(pieces: list[Symbols]) -> Symbols:
        symbols = np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
        return symbols if is_own is None else symbols[is_own]

    return Tokens(
        own([s.symbols for s in joined.streams]),
        own([s.symbols if s.named is None else s.named for s in joined.streams]),
        own([s.ends - s.starts for s in joined.streams]),
    )
