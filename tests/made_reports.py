"""Reports for tests, built by hand; lines in common are the matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations

from chaffinch.types import (
    Cluster,
    Coverage,
    Document,
    Match,
    Pair,
    Passage,
    Receipt,
    Report,
    Skipped,
    Span,
    Submission,
)

SORTING = '''"""Sorts numbers."""
import sys

# Splits the list and sorts both halves.
def sort(numbers):
    if len(numbers) < 2:
        return numbers
    middle = len(numbers) // 2
    left = sort(numbers[:middle])
    right = sort(numbers[middle:])
    return merge(left, right)


def merge(left, right):
    merged = []
    while left and right:
        smaller = left if left[0] <= right[0] else right
        merged.append(smaller.pop(0))
    return merged + left + right


if __name__ == "__main__":
    print(sort([int(word) for word in sys.argv[1:]]), "sorted", 0x1F)
'''


def submission(name: str, files: Mapping[str, str | Document]) -> Submission:
    """Return a submission with these files; texts become Python programs."""
    documents = (
        text if isinstance(text, Document) else Document(file, text.encode(), "utf-8", "code", "python")
        for file, text in files.items()
    )
    return Submission(name, tuple(documents))


def _lines(document: Document) -> tuple[list[str], list[int]]:
    """Return the text of each line, and the byte offsets where lines begin and end."""
    encoding = document.encoding or "utf-8"
    lines = document.data.decode(encoding, "surrogateescape").splitlines(keepends=True)
    places = [0]
    for line in lines:
        places.append(places[-1] + len(line.encode(encoding, "surrogateescape")))
    return [line.strip() for line in lines], places


def matches(left: Document, right: Document) -> list[Match]:
    """Return the lines in common; those with up to three other lines between them are one match."""
    (a, a_at), (b, b_at) = _lines(left), _lines(right)
    groups: list[list[tuple[int, int, int]]] = []
    for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        last = groups[-1][-1] if groups else (0, 0, 0)
        is_near = bool(groups) and block.a - last[0] - last[2] <= 3 and block.b - last[1] - last[2] <= 3
        if not any(a[block.a : block.a + block.size]):
            continue  # blank lines
        if is_near:
            groups[-1].append((block.a, block.b, block.size))
        elif block.size > 1:
            groups.append([(block.a, block.b, block.size)])
    result = []
    for group in groups:
        runs = tuple(
            (Span(left.name, a_at[x], a_at[x + n]), Span(right.name, b_at[y], b_at[y + n])) for x, y, n in group
        )
        whole = (
            Span(left.name, runs[0][0].start, runs[-1][0].end),
            Span(right.name, runs[0][1].start, runs[-1][1].end),
        )
        sizes = [n * 7 for _, _, n in group]
        result.append(Match(*whole, sum(sizes), max(sizes), runs, 2))
    return result


def pair(left: Submission, right: Submission, score: float = 0.8, surprise: float | None = 6.5) -> Pair:
    """Return a pair with the matches between all files of the two."""
    shared = tuple(m for a in left.documents for b in right.documents for m in matches(a, b))
    coverage = Coverage(min(1.0, score * 1.1), score * 0.9)
    longest, symbols = max((m.longest for m in shared), default=0), sum(m.symbols for m in shared)
    return Pair(left.name, right.name, score, coverage, surprise, longest, symbols, symbols // 5, shared)


def report(
    submissions: Sequence[Submission],
    pairs: Sequence[Pair] | None = None,
    *,
    clusters: Sequence[Cluster] = (),
    common: Sequence[Passage] = (),
    skipped: Sequence[Skipped] = (),
    receipt: Receipt | None = None,
) -> Report:
    """Return a report on these pairs, or on all pairs of the submissions."""
    if pairs is None:
        pairs = [pair(a, b, round(0.9 - 0.07 * n, 2)) for n, (a, b) in enumerate(combinations(submissions, 2))]
    background = [max(0, 900 // (n + 1) ** 2 - n) for n in range(20)]
    for one in pairs:
        background[min(19, int(one.score * 20))] += 1
    recipe = {"front": "python", "k": 12, "w": 9, "scheme": "open-closed", "guarantee": 20}
    made = Receipt(chaffinch="0.1.0", recipes={"python": recipe}, base={"template.py": "0" * 64}, threshold=0.1)
    return Report(
        tuple(submissions),
        (),
        tuple(pairs),
        tuple(clusters),
        tuple(common),
        tuple(skipped),
        tuple(background),
        receipt or made,
    )
