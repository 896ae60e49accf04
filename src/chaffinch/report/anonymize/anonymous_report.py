"""A report in which nothing tells who is who: labels for names, numbers for files, an order of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import groupby

from chaffinch.report.anonymize.file_names import Files
from chaffinch.report.anonymize.names import Names
from chaffinch.report.report_texts import ReportTexts
from chaffinch.report.verdicts import contents
from chaffinch.types import Cluster, Coverage, Document, Match, Pair, Receipt, Report, Section, Span, Submission


def _mixed(submissions: Iterable[Submission]) -> list[str]:
    """Their names in the order of hashes, for that of the names would tell where in the alphabet one is."""

    def hashes(of: Submission) -> tuple[str, str]:
        return contents(of), sha256(of.name.encode("utf-8", "surrogatepass")).hexdigest()

    return list(dict.fromkeys(s.name for s in sorted(submissions, key=hashes)))


def everybody(report: Report) -> Names:
    """All submissions as Student 1, 2 and so on."""
    ordered = _mixed((*report.submissions, *report.old))
    labels = {name: f"Student {n}" for n, name in enumerate(ordered, 1)}
    near: dict[str, dict[str, None]] = {name: {name: None} for name in labels}
    for pair in report.pairs:
        near.setdefault(pair.left, {})[pair.right] = None
        near.setdefault(pair.right, {})[pair.left] = None
    return Names(labels, {name: tuple(others) for name, others in near.items()})


def only(report: Report, left: str, right: str) -> Names:
    """The two of a pair as Student A and Student B, in the order of `everybody`; others as another student."""
    everyone = (*report.submissions, *report.old)
    a, b = _mixed(s for s in everyone if s.name in (left, right))
    labels = {a: "Student A", b: "Student B"}
    others = {s.name: "another student" for s in everyone if s.name not in labels}
    return Names({**labels, **others}, {"": (a, b), a: (a, b), b: (b, a)})


def in_order(report: Report, names: Names) -> list[Pair]:
    """The pairs by rank, those of one rank by their labels, the first of which is left."""
    number = _numbers(names)
    turned = (p if number[p.left] <= number[p.right] else _turned(p) for p in report.pairs)
    ranks = groupby(turned, lambda p: (p.surprise, p.score))
    return [p for _, same in ranks for p in sorted(same, key=lambda p: (number[p.left], number[p.right]))]


def _numbers(names: Names) -> dict[str, int]:
    return {name: n for n, name in enumerate(names.labels)}


def _turned(pair: Pair) -> Pair:
    """Left and right the other way round."""

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


def _receipt(receipt: Receipt, names: Names) -> Receipt:
    """Return the receipt without names, which only its paths may hold."""
    return replace(
        receipt,
        base={names.file("", path): digest for path, digest in receipt.base.items()},
        old_indexes={names.file("", path): run for path, run in receipt.old_indexes.items()},
    )


def nameless(report: Report, names: Names | None = None) -> Report:
    """The same without names of students; the texts stay as they are, for lists of figures have none."""
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

    def matches(of: Pair, found: Iterable[Match]) -> tuple[Match, ...]:
        def place(m: Match) -> list[tuple[int, int, int]]:
            sides = ((of.left, m.left), (of.right, m.right))
            return [(files.number(submission, s.document), s.start, s.end) for submission, s in sides]

        # By place on the left and then the right: any other order could tell that the pair was turned.
        return tuple(
            replace(
                m,
                left=span(of.left, m.left),
                right=span(of.right, m.right),
                runs=tuple((span(of.left, a), span(of.right, b)) for a, b in m.runs),
            )
            for m in sorted(found, key=place)
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

    clusters = sorted(map(cluster, report.clusters), key=rank)
    return replace(
        report,
        submissions=submissions(report.submissions),
        old=submissions(report.old),
        pairs=tuple(map(pair, in_order(report, names))),
        clusters=tuple(replace(c, submissions=tuple(labels[n] for n in c.submissions)) for c in clusters),
        common=tuple(replace(p, span=span(owner.get(p.span.document, ""), p.span)) for p in report.common),
        skipped=tuple(names.skipped(n, s) for n, s in enumerate(report.skipped, 1)),
        receipt=_receipt(report.receipt, names),
        ignored={
            labels[n]: tuple(span(n, s) for s in report.ignored[n]) for n in labels if n in report.ignored
        },
        dates={labels[n]: report.dates[n] for n in labels if n in report.dates},
        streams={(labels[s], files.name(s, d)): stream for (s, d), stream in report.streams.items()},
    )
