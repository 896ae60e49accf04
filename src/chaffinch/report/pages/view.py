"""What the pages show, as plain data: an index of everything, and a chunk for each submission and each pair.

static/types.d.ts says what each value is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from chaffinch.languages import language
from chaffinch.read.skipped_groups import grouped
from chaffinch.report.document_text import Numbers, span_offsets
from chaffinch.report.figures import GLOSSARY, number, receipt_in_words, seconds, shown_date
from chaffinch.report.pages import cluster_layout
from chaffinch.report.pages.match_rows import match_rows
from chaffinch.report.report_texts import ReportTexts
from chaffinch.report.verdicts import Verdict, digest, pair_keys, read_verdicts
from chaffinch.types import CommonFile, Document, Pair, Passage, Report, Span, Submission

_EXCERPT_LENGTH = 1500
"""Characters shown of a passage that many submissions share."""
_SKIPPED_NAMES = 200
"""Files listed by name of those that are skipped for one reason; the others are only counted."""
_EXCERPTS = 200
"""Passages shown with their text; the others are only listed."""


class View:
    """A report as the pages show it: submissions by number, names as they may be shown."""

    def __init__(self, report: Report, *, anonymize: bool, verdicts: Mapping[str, Any] | None) -> None:
        self.names = None
        if anonymize:
            from chaffinch.report.anonymize.anonymous_report import anonymous_report, everybody

            self.names = everybody(report)
        self.verdicts = read_verdicts(verdicts)
        self.keys = pair_keys(report)
        if self.names:
            labels = self.names.labels
            for both, key in pair_keys(report, labels).items():
                named = self.keys.pop(both)
                self.keys[frozenset(labels[name] for name in both)] = key
                if named in self.verdicts:
                    self.verdicts[key] = self.verdicts[named]
        self.report = report = anonymous_report(report, self.names) if self.names else report
        self.texts = ReportTexts(report, self.names.edits_of if self.names else None)
        by_name = self.texts.submissions
        self.submissions = [by_name[name] for name in {s.name: 0 for s in (*report.submissions, *report.old)}]
        self.number = {s.name: n for n, s in enumerate(self.submissions)}
        self.paired = {name for pair in report.pairs for name in (pair.left, pair.right)}

    def index(self) -> dict[str, Any]:
        """Return everything that the overview needs."""
        report = self.report
        new = {s.name for s in report.submissions}
        return {
            "submissions": [self._submission(s, s.name not in new) for s in self.submissions],
            "pairs": [self._pair(pair) for pair in report.pairs],
            "clusters": [
                {
                    "members": sorted(self.number[n] for n in c.submissions if n in self.number),
                    "score": number(c.score),
                }
                for c in report.clusters
            ],
            "graph": self._graph(),
            "common": [self._passage(p, n < _EXCERPTS) for n, p in enumerate(report.common)],
            "commonFiles": [self._common_file(c) for c in report.common_files],
            "notes": [
                {"names": note.names[:_SKIPPED_NAMES], "count": len(note.names), "detail": note.detail}
                for note in report.notes
            ],
            "skipped": [
                {"names": group.names[:_SKIPPED_NAMES], "count": len(group.names), "detail": group.detail}
                for group in grouped(report.skipped)
            ],
            "background": list(report.background),
            "ignored": len(report.ignored),
            "receipt": receipt_in_words(report.receipt),
            "verdicts": self._known_verdicts(),
            "languages": self._languages(),
            "words": GLOSSARY,
            **self._dates(),
        }

    def chunks(self) -> Iterator[tuple[str, Any]]:
        """Yield what is loaded with a pair: s3 is the texts of submission 3, p3 the matches of pair 3."""
        for n, submission in enumerate(self.submissions):
            if submission.name in self.paired:
                yield f"s{n}", [self._text(submission.name, d) for d in submission.documents]
        for n, pair in enumerate(self.report.pairs):
            yield f"p{n}", match_rows(pair, self.texts)

    def _submission(self, submission: Submission, is_old: bool) -> dict[str, Any]:
        files = [self._file(d) for d in submission.documents]
        is_empty = submission.name in self.report.nothing_to_compare
        shown = {"name": submission.name, "old": is_old, "isEmpty": is_empty, "files": files}
        return shown | ({"covered": self._covered(submission)} if submission.name in self.paired else {})

    def _file(self, document: Document) -> dict[str, Any]:
        return {
            "name": self.texts.short(document.name),
            "format": document.format,
            "language": _language(document),
            "bytes": len(document.data),
            "isText": bool(document.file_sha256),
            "sha256": document.file_sha256 or digest(document),
        }

    def _covered(self, submission: Submission) -> float | None:
        """Return the share of a submission that lies in matches with any other; base code does not count."""
        covered = total = 0.0
        for document in submission.documents:
            symbols = self.texts.symbols(submission.name, document.name)
            covered += symbols.amount(span_offsets(self._runs[submission.name, document.name]))
            total += symbols.total() - symbols.amount(self._ignored(submission.name, document.name))
        return number(min(1.0, covered / total) if total > 0 else 0.0)

    @cached_property
    def _runs(self) -> dict[tuple[str, str], list[Span]]:
        """The runs of all matches, by submission and document."""
        runs: dict[tuple[str, str], list[Span]] = defaultdict(list)
        for pair in self.report.pairs:
            for match in pair.places:
                runs[pair.left, match.left.document] += [left for left, _ in match.runs]
                runs[pair.right, match.right.document] += [right for _, right in match.runs]
        return runs

    def _ignored(self, submission: str, document: str) -> Numbers:
        """Return what was not compared of a document, as offsets."""
        spans = self.report.ignored.get(submission, ())
        return span_offsets([span for span in spans if span.document == document])

    def _text(self, submission: str, document: Document) -> dict[str, Any]:
        """Return the text of a document, the lines at which its pages or cells begin, and what was ignored."""
        text = self.texts.text(submission, document.name)
        if text is None:
            return {"text": "", "parts": [], "ignored": []}
        starts = text.characters(np.array([section.start for section in document.sections], np.int64)).tolist()
        labels = (section.label for section in document.sections)
        return {
            "text": text.text,
            "parts": [[text.line(start), label] for start, label in zip(starts, labels, strict=True)],
            "ignored": text.units(text.spans(self._ignored(submission, document.name))).tolist(),
        }

    def _pair(self, pair: Pair) -> dict[str, Any]:
        return {
            "left": self.number[pair.left],
            "right": self.number[pair.right],
            "score": number(pair.score),
            "coverage": [number(pair.coverage.left), number(pair.coverage.right)],
            "surprise": number(pair.surprise),
            "longest": pair.longest,
            "matches": len(pair.places),
            "symbols": pair.symbols,
            "fingerprints": pair.fingerprints,
            "key": self.keys[frozenset((pair.left, pair.right))],
        }

    def _graph(self) -> dict[str, Any]:
        clusters = [[n for n in c.submissions if n in self.number] for c in self.report.clusters]
        clusters = [members for members in clusters if members]
        place = {name: (c, n) for c, members in enumerate(clusters) for n, name in enumerate(members)}
        edges: list[dict[tuple[int, int], float]] = [{} for _ in clusters]
        for pair in self.report.pairs:
            if pair.left in place and pair.right in place:
                (cluster, left), (other, right) = place[pair.left], place[pair.right]
                if cluster == other:
                    edges[cluster][left, right] = pair.score
        drawing = cluster_layout.draw([(len(m), e) for m, e in zip(clusters, edges, strict=True)])
        nodes = [
            [self.number[name], *position]
            for members, positions in zip(clusters, drawing.places, strict=True)
            for name, position in zip(members, positions, strict=True)
        ]
        return {"width": drawing.width, "height": drawing.height, "nodes": nodes}

    def _passage(self, passage: Passage, with_text: bool) -> dict[str, Any]:
        name = passage.span.document
        owner = self.texts.owner.get(name)
        shown: dict[str, Any] = {
            "file": name if owner is None else self.texts.short(name),
            "lines": None,
            "symbols": passage.symbols,
            "owners": passage.owners,
            "text": "",
        }
        if owner is not None and (span := self.texts.span(owner, passage.span)):
            text, start, end = span
            shown["lines"] = text.line_range(start, end)
            shown["text"] = text.text[start:end][:_EXCERPT_LENGTH] if with_text else ""
        return shown

    def _common_file(self, file: CommonFile) -> dict[str, Any]:
        only = [self.number[name] for name in file.only if name in self.number]
        return {"name": file.name, "owners": file.owners, "only": only}

    def _languages(self) -> dict[str, Any]:
        """Return the table of each language that occurs, for the syntax colours."""
        used = {_language(d) for s in self.submissions for d in s.documents} & set(language.languages())
        return {name: [list(record) for record in language.records(name)] for name in sorted(used)}

    def _dates(self) -> dict[str, Any]:
        """Return when each submission was handed in, as text and in seconds, if any date is known."""
        dates = sorted(
            (self.number[name], date) for name, date in self.report.dates.items() if name in self.number
        )
        return {"dates": {n: [shown_date(date), seconds(date)] for n, date in dates}} if dates else {}

    def _known_verdicts(self) -> dict[str, Verdict]:
        """Return all verdicts, also for pairs that are not listed; without names, only for listed pairs."""
        if self.names is None:
            return dict(sorted(self.verdicts.items()))
        pairs = {self.keys[frozenset((p.left, p.right))]: p for p in self.report.pairs}
        verdicts = {}
        for key in sorted(self.verdicts.keys() & pairs.keys()):
            left, right = (self.names.owner[label] for label in (pairs[key].left, pairs[key].right))
            note = self.names.text(self.names.text(self.verdicts[key]["note"], left), right)
            verdicts[key] = {"verdict": self.verdicts[key]["verdict"], "note": note}
        return verdicts


def _language(document: Document) -> str:
    """Return the language in which a document is shown."""
    return document.language.removesuffix(language.KEEP_NAMES)
