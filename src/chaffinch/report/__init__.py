"""Reports: pages to read, case files to hand on, JSON and CSV for other programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chaffinch.report.case_file import case_file
from chaffinch.report.case_folder import case_files
from chaffinch.report.export import to_csv, to_json
from chaffinch.report.pages.page import is_file, refuse_foreign, write, write_file, write_folder
from chaffinch.report.pages.view import View
from chaffinch.types import Report

__all__ = [
    "anonymous_report",
    "case_file",
    "case_files",
    "is_file",
    "refuse_foreign",
    "save",
    "to_csv",
    "to_json",
    "write",
]


def anonymous_report(report: Report) -> Report:
    """Return the report without names of students."""
    from chaffinch.report.anonymize import anonymous_report as anonymize  # slow to import, seldom needed

    return anonymize.anonymous_report(report)


def save(
    report: Report, path: Path, *, anonymize: bool = False, verdicts: Mapping[str, Any] | None = None
) -> None:
    """Write a report as pages: one file if the path ends in .html, else a folder with index.html.

    `verdicts` are those that a reviewer exported from an earlier report, loaded from its JSON.
    """
    view = View(report, anonymize=anonymize, verdicts=verdicts)
    if is_file(path):
        write_file(view, path)
    else:
        write_folder(view, path)
