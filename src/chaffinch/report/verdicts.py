"""What reviewers decided about pairs, and the keys under which that is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from chaffinch.types import Document, Report, Submission

VERDICTS = ("", "copied", "common source", "no")

Verdict = dict[str, str]
"""One of the VERDICTS under "verdict", and a "note"."""


def read_verdicts(exported: Mapping[str, Any] | None) -> dict[str, Verdict]:
    """Return the verdicts that a report exported, by key; anything else in the file is left out."""
    entries = (exported or {}).get("verdicts", exported or {})
    return {
        str(key): {"verdict": str(value.get("verdict", "")), "note": str(value.get("note", ""))}
        for key, value in (entries.items() if isinstance(entries, Mapping) else ())
        if isinstance(value, Mapping) and value.get("verdict", "") in VERDICTS
    }


def digest(document: Document) -> str:
    """Return the SHA-256 of the bytes that were compared."""
    return sha256(document.data).hexdigest()


def contents(submission: Submission) -> str:
    """Return a hash of all documents of a submission, whatever their names and order."""
    return sha256("".join(sorted(digest(d) for d in submission.documents)).encode()).hexdigest()


def pair_keys(report: Report, labels: Mapping[str, str] | None = None) -> dict[frozenset[str], str]:
    """Return the key of each pair: it depends on what was handed in, not on names or sides.

    If other submissions have the same contents, the names are part of the key too. With `labels`, from which
    nobody can guess names, it is the labels and how many submissions share the contents: a verdict may then be
    lost when a submission is added, but it never moves to another pair.
    """
    hashes = {s.name: contents(s) for s in (*report.old, *report.submissions)}
    times = Counter(hashes.values())

    def shown(name: str) -> str:
        return f"{labels[name]} of {times[hashes[name]]}" if labels else name

    keys: dict[frozenset[str], str] = {}
    for pair in report.pairs:
        names = pair.left, pair.right
        both = sorted(hashes[name] for name in names)
        others = times[both[0]] + times[both[1]] - 2 * (1 + (both[0] == both[1]))
        parts = [*both, *(f" {len(name)} {name}" for name in sorted(map(shown, names)) if others)]
        keys[frozenset(names)] = sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return keys
