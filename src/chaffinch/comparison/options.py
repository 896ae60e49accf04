"""The options of a comparison, checked."""

from __future__ import annotations

from dataclasses import dataclass

from chaffinch.errors import BadRecipe
from chaffinch.recipe import Recipe, recipe_for
from chaffinch.types import AlsoListed

TOP = 500
"""Pairs listed, unless you choose a number."""
SURE_SCORE = 0.8
"""A pair with this score is listed even if the whole class is much alike."""
SURPRISING = 5.0
"""Standard deviations. Pairs with this surprise are listed if they have a long run."""
SHORTEST_K = 4
"""Symbols. Any two works share thousands of shorter pieces, which take minutes to find and show nothing."""
SMALLEST_CLASS = 5
"""Submissions, with earlier work. A smaller class does not show how much any two of its works usually share, so
its pairs have no surprise."""
SORTS = ("surprise", "score", "size", "longest")
"""What the list can be sorted by, besides the report's own order."""
CLUSTER_SCORE = 0.5
"""Pairs without a surprise form clusters from this score on."""
LONG_RUN = 90
"""Symbols. A run this long that few others have is listed even when it is a small part of both works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of `compare` that do not name its inputs."""

    language: str = "auto"
    threshold: float | None = None
    top: int | None = TOP
    max_owners: int | None = None
    k: int | None = None
    w: int | None = None
    sort: str | None = None
    student_pattern: str | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise BadRecipe(f"threshold is {self.threshold}; choose one from 0 to 1")
        if self.top is not None and self.top < 1:
            raise BadRecipe(f"top is {self.top}; choose 1 or more, or None for all")
        if self.max_owners is not None and self.max_owners < 2:
            raise BadRecipe(f"max_owners is {self.max_owners}; choose 2 or more, or None")
        if self.threads is not None and self.threads < 1:
            raise BadRecipe(f"threads is {self.threads}; choose 1 or more, or None for all processors")
        if self.sort not in (None, *SORTS):
            raise BadRecipe(f"sort is {self.sort!r}; choose one of {', '.join(SORTS)}, or None")
        if self.recipe("text").k < SHORTEST_K:
            raise BadRecipe(f"k is {self.k}; choose {SHORTEST_K} or more: any two works share shorter pieces")

    def recipe(self, language: str) -> Recipe:
        """Return how documents in this language are compared."""
        return recipe_for(language, self.k, self.w)

    @property
    def also_listed(self) -> AlsoListed | None:
        """The rule that lists pairs below the line, unless you chose a threshold."""
        return AlsoListed(SURE_SCORE, SURPRISING, LONG_RUN) if self.threshold is None else None
