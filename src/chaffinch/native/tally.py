"""Typed wrappers over the native functions that add up what documents share with a query."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chaffinch._native import ffi, lib
from chaffinch.native.call import call, columns, fill, numbers
from chaffinch.native.segment import LookupResult


class Shared(NamedTuple):
    """What each document shares with a query. The columns are equally long and sorted by document."""

    documents: NDArray[np.uint32]
    weights: NDArray[np.float64]
    of_query: NDArray[np.uint64]
    """Fingerprints of the query that the document has."""
    of_document: NDArray[np.uint32]
    """Fingerprints of the document that the query has."""
    uncounted: NDArray[np.uint32]
    """Shared fingerprints of the document that do not count."""


class Tally:
    """Adds up the postings of a query's hashes, without those of boilerplate documents, which are sorted."""

    def __init__(self, postings: LookupResult, hashes: int, boilerplate: NDArray[np.uint32]) -> None:
        self._native = ffi.new("ChfPostings *")
        self._buffers = fill(
            self._native,
            queries=numbers(postings.queries, np.uint32, "queries"),
            documents=numbers(postings.documents, np.uint32, "documents"),
            hashes=hashes,
            boilerplate=numbers(boilerplate, np.uint32, "boilerplate"),
        )

    def count_owners(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return how many documents have each hash, and whether boilerplate has it."""
        owners, is_boilerplate = columns(call(lib.chf_count_owners, self._native))
        return owners.astype(np.int64), is_boilerplate.astype(bool)

    def shared(self, weights: NDArray[np.float64], repeats: NDArray[Any]) -> Shared:
        """Add up the weight of each hash, and how often the query has it, which is 0 if it does not count."""
        weights = numbers(weights, np.float64, "weights")
        result = call(lib.chf_tally, self._native, weights, numbers(repeats, np.uint32, "repeats"))
        documents, sums, *counts = columns(result)
        return Shared(documents, sums.view(np.float64), *counts)
