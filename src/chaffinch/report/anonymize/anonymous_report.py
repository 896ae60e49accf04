"""Make a report in which nothing tells who is who: labels for names, numbers for files, a neutral order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import groupby

from chaffinch.report.anonymize.file_names import Files
from chaffinch.report.anonymize.names import Class, Names
from chaffinch.report.document_text import decode
from chaffinch.report.report_texts import ReportTexts
from chaffinch.report.verdicts import contents
from chaffinch.types import (
    Cluster,
    CommonFile,
    Coverage,
    Document,
    Match,
    Pair,
    Report,
    Section,
    Span,
    Submission,
)

_OTHERS = 100
"""Submissions without a pair, whose text is not shown, that are read too: enough to tell ordinary words."""


def _mixed(submissions: Iterable[Submission]) -> list[str]:
    """Return their names in the order of hashes; the order of names would tell who is who."""

    def hashes(of: Submission) -> tuple[str, str]:
        return contents(of), sha256(of.name.encode("utf-8", "surrogatepass")).hexdigest()

    return list(dict.fromkeys(s.name for s in sorted(submissions, key=hashes)))


def everybody(report: Report) -> Names:
    """Label all submissions Student 1, 2 and so on."""
    labels = {name: f"Student {n}" for n, name in enumerate(_mixed((*report.submissions, *report.old)), 1)}
    near: dict[str, dict[str, None]] = {name: {name: None} for name in labels}
    for pair in report.pairs:
        near.setdefault(pair.left, {})[pair.right] = None
        near.setdefault(pair.right, {})[pair.left] = None
    paired = [name for name in labels if len(near[name]) > 1]
    others = [name for name in labels if len(near[name]) == 1][:_OTHERS]

    def texts() -> Iterator[tuple[str, str]]:
        documents = ReportTexts(report).documents
        return ((name, decode(d).text) for name in (*paired, *others) for d in documents[name].values())

    return Names(labels, {name: tuple(names) for name, names in near.items()}, Class(near, texts))


def only(names: Names, left: str, right: str) -> Names:
    """Label the two of a pair Student A and B, in the order of `everybody`, and the others another student."""
    a, b = (name for name in names.labels if name in (left, right))
    labels = {a: "Student A", b: "Student B"}
    others = {name: "another student" for name in names.labels if name not in labels}
    near = {"": (a, b, *names.near[a], *names.near[b]), a: (a, b, *names.near[a]), b: (b, a, *names.near[b])}
    return replace(names, labels=labels | others, near=near)


def in_order(report: Report, names: Names) -> list[Pair]:
    """Return the pairs by rank, and within a rank by label; the first label is on the left."""
    number = _numbers(names)
    exchanged = (p if number[p.left] <= number[p.right] else _exchanged(p) for p in report.pairs)
    # Pairs that are equal in all that the order depends on are in the order of names.
    figure = {"size": "symbols", "longest": "longest"}.get(report.receipt.sort or "", "score")
    ranks = groupby(exchanged, lambda p: (p.surprise, p.score, getattr(p, figure)))
    return [p for _, same in ranks for p in sorted(same, key=lambda p: (number[p.left], number[p.right]))]


def _numbers(names: Names) -> dict[str, int]:
    return {name: n for n, name in enumerate(names.labels)}


def _exchanged(pair: Pair) -> Pair:
    """Return the pair with its sides exchanged."""

    def match(of: Match) -> Match:
        return replace(of, left=of.right, right=of.left, runs=tuple((b, a) for a, b in of.runs))

    return replace(
        pair,
        left=pair.right,
        right=pair.left,
        coverage=Coverage(pair.coverage.right, pair.coverage.left),
        matches=tuple(map(match, pair.matches)),
        repeats=tuple(map(match, pair.repeats)),
    )


def anonymous_report(report: Report, names: Names | None = None) -> Report:
    """Return the report without names of students; the bytes of documents stay, and no list shows them."""
    names = names or everybody(report)
    labels, number, files = names.labels, _numbers(names), Files(report, names)
    owner = ReportTexts(report).owner
    part = cache(names.text)

    def span(submission: str, of: Span) -> Span:
        return replace(of, document=files.name(submission, of.document))

    def document(submission: str, of: Document) -> Document:
        parts = tuple(Section(p.start, part(p.label)) for p in of.sections)
        return replace(of, name=files.name(submission, of.name), sections=parts)

    def submissions(of: Iterable[Submission]) -> tuple[Submission, ...]:
        ordered = sorted(of, key=lambda s: number[s.name])
        return tuple(
            Submission(labels[s.name], tuple(document(s.name, d) for d in s.documents)) for s in ordered
        )

    def matches(of: Pair, matches: Iterable[Match]) -> tuple[Match, ...]:
        def place(m: Match) -> list[tuple[int, int, int]]:
            sides = ((of.left, m.left), (of.right, m.right))
            return [(files.number(submission, s.document), s.start, s.end) for submission, s in sides]

        # By position on the left, then on the right: any other order could tell that the sides were exchanged.
        return tuple(
            replace(
                m,
                left=span(of.left, m.left),
                right=span(of.right, m.right),
                runs=tuple((span(of.left, a), span(of.right, b)) for a, b in m.runs),
            )
            for m in sorted(matches, key=place)
        )

    def pair(of: Pair) -> Pair:
        return replace(
            of,
            left=labels[of.left],
            right=labels[of.right],
            matches=matches(of, of.matches),
            repeats=matches(of, of.repeats),
        )

    def cluster(of: Cluster) -> Cluster:
        known = (name for name in of.submissions if name in number)
        return replace(of, submissions=tuple(sorted(known, key=number.__getitem__)))

    def rank(of: Cluster) -> tuple[int, float, list[int]]:
        return -len(of.submissions), -of.score, [number[name] for name in of.submissions]

    def common_file(of: CommonFile) -> CommonFile:
        known = sorted((name for name in of.only if name in number), key=number.__getitem__)
        return replace(of, name=names.file(None, of.name), only=tuple(labels[name] for name in known))

    clusters = sorted(map(cluster, report.clusters), key=rank)
    return replace(
        report,
        submissions=submissions(report.submissions),
        old=submissions(report.old),
        pairs=tuple(map(pair, in_order(report, names))),
        clusters=tuple(replace(c, submissions=tuple(labels[n] for n in c.submissions)) for c in clusters),
        common=tuple(replace(p, span=span(owner.get(p.span.document, ""), p.span)) for p in report.common),
        common_files=tuple(map(common_file, report.common_files)),
        notes=tuple(
            note._replace(names=tuple(sorted(files.name(owner.get(name, ""), name) for name in note.names)))
            for note in report.notes
        ),
        nothing_to_compare=tuple(labels[n] for n in labels if n in report.nothing_to_compare),
        skipped=tuple(files.skipped(n, s) for n, s in enumerate(report.skipped, 1)),
        receipt=replace(  # only its paths and addresses can contain names
            report.receipt,
            base={names.file(None, path): digest for path, digest in report.receipt.base.items()},
            old_indexes={names.file(None, path): run for path, run in report.receipt.old_indexes.items()},
        ),
        ignored={
            labels[n]: tuple(span(n, s) for s in report.ignored[n]) for n in labels if n in report.ignored
        },
        dates={labels[n]: report.dates[n] for n in labels if n in report.dates},
        streams={(labels[s], files.name(s, d)): stream for (s, d), stream in report.streams.items()},
    )
