"""The receipt of a comparison: what was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from chaffinch import __version__
from chaffinch.comparison.language_group import LanguageGroup
from chaffinch.comparison.options import Options
from chaffinch.comparison.ranking import Ranking
from chaffinch.matching.matches import GAP
from chaffinch.types import Receipt, Submission


def make_receipt(
    groups: Sequence[LanguageGroup],
    options: Options,
    ranking: Ranking,
    lines: Mapping[str, float | None],
    *,
    new: int,
    old: int,
    base: Sequence[Submission],
    old_indexes: Mapping[str, int | None],
) -> Receipt:
    by_language = {group.recipe.front: group for group in groups}
    return Receipt(
        chaffinch=__version__,
        recipes={name: group.recipe.receipt() for name, group in by_language.items()},
        submissions=new,
        old=old,
        pairs_with_anything_in_common={name: g.candidates.count for name, g in by_language.items()},
        threshold=options.threshold,
        lines=lines,
        also_listed=options.also_listed,
        top=options.top,
        sort=options.sort,
        gap=GAP,
        base={d.name: sha256(d.data).hexdigest() for submission in base for d in submission.documents},
        base_symbols={name: group.base_symbols for name, group in by_language.items()},
        max_owners=options.max_owners,
        symbols_with_more_owners={
            name: int(group.masked_counts.sum()) - group.base_symbols for name, group in by_language.items()
        },
        old_indexes=old_indexes,
        candidate_pairs=ranking.candidate_pairs,
        scored_pairs=ranking.scored_pairs,
    )
