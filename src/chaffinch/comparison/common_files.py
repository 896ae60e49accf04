"""Files that many of the class have, byte for byte: if most have one, it was handed out and is base code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from hashlib import sha256
from pathlib import PurePath
from typing import NamedTuple

from chaffinch.comparison.by_language import LanguageChoice
from chaffinch.comparison.language_group import COMMON_OWNERS
from chaffinch.types import CommonFile, Document, Note, Submission

Key = tuple[str, bytes]
"""The language of a document, and a hash of its contents."""


class CommonFiles(NamedTuple):
    """The files that most have: how they are listed, and a document of each; notes on those that some have."""

    listed: tuple[CommonFile, ...]
    documents: tuple[Document, ...]
    notes: tuple[Note, ...]


def find_common_files(
    new: Sequence[Submission], base: Sequence[Submission], choice: LanguageChoice
) -> CommonFiles:
    """Return the files that at least half of the new submissions have, unless they are base code already.

    Files that fewer have, but at least `COMMON_OWNERS`, are only noted: they may be handed out, or copied.
    """
    known = {_key(document) for submission in base for document in submission.documents}
    keys = [
        {_key(d): d for d in submission.documents if choice.takes(d) and d.data.strip()} for submission in new
    ]
    owners = Counter(key for of_submission in keys for key in of_submission)
    min_owners = max(COMMON_OWNERS, len(new) / 2)
    common = {key for key, count in owners.items() if count >= min_owners and key not in known}
    names: dict[Key, Counter[str]] = {key: Counter() for key in common}
    documents: dict[Key, Document] = {}
    only: dict[Key, list[str]] = {key: [] for key in common}
    for submission, of_submission in zip(new, keys, strict=True):
        has_more = any(key not in common and key not in known for key in of_submission)
        for key in common & of_submission.keys():
            documents.setdefault(key, of_submission[key])
            names[key][PurePath(of_submission[key].name).name] += 1
            if not has_more:
                only[key].append(submission.name)
    listed = {
        key: CommonFile(
            min(names[key], key=lambda name: (-names[key][name], name)), owners[key], tuple(only[key])
        )
        for key in common
    }
    order = sorted(common, key=lambda key: (-owners[key], listed[key].name, key))
    notes = _notes(keys, {key for key, count in owners.items() if count >= COMMON_OWNERS} - common - known)
    return CommonFiles(tuple(listed[key] for key in order), tuple(documents[key] for key in order), notes)


def _notes(keys: Sequence[Mapping[Key, Document]], shared: Set[Key]) -> tuple[Note, ...]:
    """Return a note on each file that several share, first those that the most have."""
    names: dict[Key, list[str]] = {}
    for of_submission in keys:
        for key in shared & of_submission.keys():
            names.setdefault(key, []).append(of_submission[key].name)
    by_count = sorted(names.values(), key=lambda same: (-len(same), same))
    detail = "the same in {} submissions; if it was handed out, name it with --base"
    return tuple(Note(detail.format(len(same)), tuple(same), is_one_file=True) for same in by_count)


def _key(document: Document) -> Key:
    """Return what is equal for equal files, wherever their lines end with a carriage return."""
    lines = document.data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").rstrip(b"\n")
    return document.language, sha256(lines).digest()
