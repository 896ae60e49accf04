"""Chaffinch finds what was copied: every shared run of t symbols is found, nothing shorter than k is reported.

>>> import chaffinch
>>> prints = chaffinch.fingerprint("A do run run run, a do run run", chaffinch.Recipe("text", k=5, w=4))
>>> prints.positions.tolist()
[0, 3, 6, 10, 12, 15]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chaffinch.comparison.compare import compare
    from chaffinch.errors import BadRecipe, ChaffinchError, NothingToCompare, RecipeMismatch, Unreadable
    from chaffinch.fingerprinting import fingerprint, fingerprint_all, stream
    from chaffinch.index.answers import Answer, Hit
    from chaffinch.index.index import Index
    from chaffinch.read.collect import documents, submissions
    from chaffinch.recipe import Recipe
    from chaffinch.types import (
        Document,
        File,
        Fingerprints,
        Match,
        Pair,
        Report,
        Skipped,
        Span,
        Stream,
        Submission,
    )

__version__ = "0.1.0"

# Loaded when first used: NumPy alone takes longer to import than most commands take to run.
_HOMES = {
    "fingerprint": "fingerprinting",
    "fingerprint_all": "fingerprinting",
    "stream": "fingerprinting",
    "compare": "comparison.compare",
    "BadRecipe": "errors",
    "ChaffinchError": "errors",
    "NothingToCompare": "errors",
    "RecipeMismatch": "errors",
    "Unreadable": "errors",
    "Answer": "index.answers",
    "Hit": "index.answers",
    "Index": "index.index",
    "documents": "read.collect",
    "submissions": "read.collect",
    "Recipe": "recipe",
    "Document": "types",
    "File": "types",
    "Fingerprints": "types",
    "Match": "types",
    "Pair": "types",
    "Report": "types",
    "Skipped": "types",
    "Span": "types",
    "Stream": "types",
    "Submission": "types",
}

__all__ = [
    "Answer",
    "BadRecipe",
    "ChaffinchError",
    "Document",
    "File",
    "Fingerprints",
    "Hit",
    "Index",
    "Match",
    "NothingToCompare",
    "Pair",
    "Recipe",
    "RecipeMismatch",
    "Report",
    "Skipped",
    "Span",
    "Stream",
    "Submission",
    "Unreadable",
    "compare",
    "documents",
    "fingerprint",
    "fingerprint_all",
    "stream",
    "submissions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chaffinch' has no attribute {name!r}")
    value = getattr(import_module(f"chaffinch.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
