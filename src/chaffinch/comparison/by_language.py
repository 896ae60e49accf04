"""Submissions -> their documents grouped by language, and notes on those whose names show none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from chaffinch.errors import BadRecipe, SkipReason
from chaffinch.languages import by_content, language
from chaffinch.read.file_kinds import is_data, is_named_data, shows_kind, suffix
from chaffinch.recipe import CODE, DATA, FRONTS, Recipe
from chaffinch.types import Document, Note, Skipped, Submission

_TEXT = "text"
_TEXT_SUFFIXES = ("txt", "text")
_FRONTS_FOR_ALL = ("bytes", "consonants")
"""Forms that anything can be compared in, so they restrict nothing."""


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    """The rule by which a document belongs to a language, the same for new work, earlier work and base code."""

    asked: str
    wanted: str | None
    """The only language, if the user chose one."""
    takes_unknown: bool
    """No document is in that language, so the user may mean files whose names and contents do not show it."""
    has_programs: bool
    """Then data is a group of its own. In a class without programs it is the work itself."""

    @classmethod
    def of(cls, submissions: Sequence[Submission], asked: str) -> LanguageChoice:
        """Return the rule for a class; raise an error if the language is unknown."""
        wanted = None if asked in ("auto", CODE) else Recipe(asked).front
        families = {language.family(d.language) for s in submissions for d in s.documents}
        is_there = _family_of_front(wanted) in families
        return cls(asked, wanted, not is_there, any(family != _TEXT for family in families))

    def group(
        self, submissions: Sequence[Submission], skipped: list[Skipped]
    ) -> dict[str, dict[int, list[Document]]]:
        """Return for each language the documents of each submission that has any, by the submission's number.

        Documents that are not in the language asked for are added to `skipped`.
        """
        groups: dict[str, dict[int, list[Document]]] = {}
        for number, submission in enumerate(submissions):
            for document in submission.documents:
                family = self._family(document)
                if detail := self._objection(document, family):
                    skipped.append(Skipped(document.name, SkipReason.OTHER_LANGUAGE, detail))
                else:
                    groups.setdefault(self.wanted or family, {}).setdefault(number, []).append(document)
        return dict(sorted(groups.items()))

    def takes(self, document: Document) -> bool:
        """Return whether a document is compared."""
        return not self._objection(document, self._family(document))

    def _family(self, document: Document) -> str:
        family = language.family(document.language)
        return DATA if family == _TEXT and self.has_programs and is_data(document) else family

    def _objection(self, document: Document, family: str) -> str:
        """Return why a document is not compared, or an empty string."""
        if self.wanted is None:
            if self.asked == CODE and family in (_TEXT, DATA):
                return "not a program"
            return "" if _is_known(family) else f"no language {family!r} is known"
        if self.wanted == DATA:
            return "" if is_data(document) else "not data"
        if self.wanted in _FRONTS_FOR_ALL or family == _family_of_front(self.wanted):
            return ""
        if self.wanted == _TEXT and self.takes_unknown and not _shows_language(document):
            return ""
        is_unknown = family == _TEXT and document.format == "plain" and not shows_kind(document.name)
        if self.takes_unknown and is_unknown and by_content.looks_like_code(document.data):
            return ""
        return f"not {language.shown_name(self.wanted)}"

    def notes(self, submissions: Sequence[Submission]) -> tuple[Note, ...]:
        """Return the documents whose names do not show their language, by the language they are compared in."""
        names: dict[str, list[str]] = {}
        for document in (d for submission in submissions for d in submission.documents):
            if self.wanted not in FRONTS and self.takes(document) and not _shows_language(document):
                names.setdefault(self.wanted or document.language, []).append(document.name)
        detail = "the name does not show the language; compared as"
        return tuple(Note(f"{detail} {of}", tuple(names[of])) for of in sorted(names))


def _shows_language(document: Document) -> bool:
    if document.format != "plain" or document.sections:  # the sections of a notebook, which names its language
        return True
    if document.language == _TEXT:
        if suffix(document.name) in _TEXT_SUFFIXES or is_data(document):
            return True
        return shows_kind(document.name) and not is_named_data(document.name)  # an essay under the name of data
    by_name = language.of_file(document.name, document.data[: by_content.HEAD_BYTES])
    return (by_name or language.inside_name(document.name)) is not None


def _family_of_front(front: str | None) -> str:
    return language.family((front or "").removesuffix(language.KEEP_NAMES))


@cache
def _is_known(front: str) -> bool:
    try:
        return bool(Recipe(front))
    except BadRecipe:
        return False
