"""Submissions -> a Report: the pairs that share something, ranked, with the evidence for the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from chaffinch.comparison.by_language import LanguageChoice
from chaffinch.comparison.common_files import find_common_files
from chaffinch.comparison.dates import Dated, dated
from chaffinch.comparison.earlier import read_earlier
from chaffinch.comparison.inputs import (
    Comparable,
    read_base,
    refuse_addresses,
    require_content,
    require_enough,
    require_existing,
    require_language,
    split_items,
    split_only_submission,
    with_unique_names,
)
from chaffinch.comparison.language_group import LanguageGroup
from chaffinch.comparison.listed_pairs import ignored_spans, list_pairs, listed_streams, with_read_documents
from chaffinch.comparison.options import TOP, Options
from chaffinch.comparison.ranking import count_pairs, rank
from chaffinch.comparison.receipt import make_receipt
from chaffinch.errors import SkipReason
from chaffinch.read import collect, legible
from chaffinch.read.rules import Rules
from chaffinch.types import Report, Skipped, Submission


def compare(
    paths: Comparable | Submission | Iterable[Comparable | Submission],
    *,
    base: Comparable | Iterable[Comparable] = (),
    old: Comparable | Iterable[Comparable] = (),
    language: str = "auto",
    threshold: float | None = None,
    top: int | None = TOP,
    max_owners: int | None = None,
    k: int | None = None,
    w: int | None = None,
    sort: str | None = None,
    student_pattern: str | None = None,
    exclude: str | Iterable[str] = (),
    include: str | Iterable[str] = (),
    ocr: bool = False,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
    dates: Mapping[str, str] | None = None,
) -> Report:
    """Compare every submission with every other one and with earlier work.

    Lists pairs that score at least `threshold`, most suspicious first, up to `top` pairs. Without a threshold
    it lists the pairs that stand out from the class: at most a fifth of them would be there by chance.
    Surprising pairs with a long run are listed too, and all with a high score. `threshold=0, top=None` lists
    every pair that shares anything. Passages that more than `max_owners` submissions share are ignored
    (MOSS does this); by default they only count less. `base` is code that everybody was given, `old` is
    earlier work: files, folders, archives, documents, or the address of an index. A `Submission` among the
    paths is compared as it is.

    No match is shorter than `k` symbols, and every shared run of `w + k - 1` symbols is found. A symbol is a
    letter of prose or a token of a program. What you choose holds for all languages of the class; otherwise
    `k` and `w` are 18 and 18 for prose, 12 and 9 for programs.

    `sort` is what the list is sorted by, if not by the report's own order: "surprise", "score", "size" (the
    symbols in matches, as MOSS does) or "longest" (run), highest first. The same pairs qualify, and `top` takes
    the first of them. In a class with more than two million candidate pairs, the first `top` of the report's
    own order are sorted.

    `exclude` and `include` are patterns such as "*.txt" or "tests/": what not to read of folders and archives,
    and what to read although it would be skipped. With `ocr`, Tesseract reads pages of PDF and PostScript that
    have no text, or none that is language.

    `progress` is called with the name of each stage. `dates` has, by name, when submissions were handed in, in
    ISO 8601; they are shown and change no result. A path of `base` or `old` that does not exist raises
    Unreadable. Any other file that cannot be read is listed as skipped. If that leaves no two submissions, and
    no submission and earlier work, NothingToCompare says what was found.
    """
    options = Options(
        language=language,
        threshold=threshold,
        top=top,
        max_owners=max_owners,
        k=k,
        w=w,
        sort=sort,
        student_pattern=student_pattern,
        threads=threads,
    )
    if not isinstance(dates, Mapping | None):
        raise TypeError(f"dates is a dict with a date for each name, not {dates!r}")
    rules = Rules.of(include, exclude, ocr)
    paths, given = split_items(paths)
    base, old = collect.as_list(base), collect.as_list(old)
    refuse_addresses([*paths, *base], old)
    require_existing([*base, *old])
    progress = progress or (lambda stage: None)
    progress("Reading ...")
    new, skipped = collect.by_rules(paths, rules, student_pattern)
    new += given
    earlier = read_earlier(old, new, rules, student_pattern)
    if len(new) == 1 and not earlier.submissions and student_pattern is None:
        new = split_only_submission(new[0], paths)
    require_enough(new, bool(earlier.submissions or earlier.indexes), paths, skipped)
    base_submissions, skipped_base = read_base(base, rules)
    base_submissions += earlier.boilerplate
    skipped += [*earlier.skipped, *skipped_base]
    everyone = with_unique_names(new, earlier.submissions)
    submissions = [s for n, s in enumerate(everyone) if s.documents or n >= len(new)]
    class_names, new = [s.name for s in everyone[: len(new)]], [s for s in new if s.documents]
    choice = LanguageChoice.of(submissions, language)
    by_language = choice.group(submissions, skipped)
    if language != "auto":
        require_language(len(new), by_language, language)
    base_by_language = choice.group(base_submissions, skipped)
    common_files = find_common_files(submissions[: len(new)], base_submissions, choice)
    common_by_language = choice.group([Submission("", common_files.documents)], [])
    groups = []
    for name, documents in by_language.items():
        progress(f"Comparing {len(documents)} submissions in {name} ...")
        of_language = (base_by_language.get(name, {}), common_by_language.get(name, {}))
        base_documents = [*chain(*(documents for by_owner in of_language for documents in by_owner.values()))]
        recipe = options.recipe(name)
        groups.append(LanguageGroup.build(recipe, documents, base_documents, len(new), options, skipped))
    known = {entry.name for entry in skipped}
    skipped += [entry for entry in _without_grams(groups) if entry.name not in known]
    in_class = [
        (g, n, s.size)
        for g in groups
        for n, s in zip(g.members.tolist(), g.streams, strict=True)
        if n < len(new)
    ]
    require_content([size for _, _, size in in_class], len(class_names), skipped)
    compared = {submissions[n].name for group, n, size in in_class if size >= group.recipe.k}
    progress("Finding matches ...")
    ranking = rank(groups, len(new), len(earlier.submissions), options)
    pairs, clusters, lines, histogram = list_pairs(groups, submissions, ranking, options)
    as_read = with_read_documents(groups, submissions)
    by_name = {submission.name: submission for submission in as_read[: len(new)]}
    report = Report(
        submissions=tuple(by_name.get(name) or Submission(name, ()) for name in class_names),
        old=tuple(as_read[len(new) :]),
        pairs=pairs,
        clusters=clusters,
        common=tuple(passage for group in groups for passage in group.common_code()),
        skipped=tuple(skipped),
        background=_background(histogram, count_pairs(len(new), len(earlier.submissions))),
        receipt=make_receipt(
            groups,
            options,
            ranking,
            lines,
            new=len(new),
            old=len(earlier.submissions),
            base=base_submissions,
            old_indexes=earlier.indexes,
        ),
        common_files=common_files.listed,
        notes=choice.notes(new) + common_files.notes + legible.notes(d for s in new for d in s.documents),
        nothing_to_compare=tuple(name for name in class_names if name not in compared),
        ignored=ignored_spans(groups, submissions),
        streams=listed_streams(groups, submissions, pairs),
    )
    return dated(report, [Dated(f"date of {name}", name, str(date)) for name, date in (dates or {}).items()])


def _without_grams(groups: Sequence[LanguageGroup]) -> Iterator[Skipped]:
    """Yield the documents that have nothing to compare: no symbol, or too few for a gram."""
    for group in groups:
        for name in group.empty_documents():
            yield Skipped(name, SkipReason.EMPTY, "nothing in it to compare")
    for group in groups:
        for name, size in group.short_documents():
            detail = f"too short to compare: {size} symbols, and nothing shorter than {group.recipe.k} is found"
            yield Skipped(name, SkipReason.TOO_SHORT, detail)


def _background(histogram: NDArray[np.int64], all_pairs: int) -> tuple[int, ...]:
    """Return the histogram with all pairs added that share too little to be scored."""
    return int(histogram[0]) + all_pairs - int(histogram.sum()), *histogram[1:].tolist()
