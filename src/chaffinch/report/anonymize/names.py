"""Names of students -> labels, in names of files and in the text of documents."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, pairwise, permutations
from operator import add
from pathlib import PurePath, PurePosixPath
from typing import NamedTuple

from chaffinch.report.anonymize.spellings import excerpts, spellings
from chaffinch.report.document_text import Edit
from chaffinch.types import Skipped

_OLD = re.compile(r"(?: \(old(?: \d+)?\))+$")
_ROW = re.compile(r"(row \d+|date) of (.*)", re.S)
_ENDING = re.compile(r"(?<=.)\.(?:[A-Za-z][A-Za-z0-9]{0,3}|ipynb|scala|swift|xhtml)$")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_MAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}")
_MAIL_LABEL = "(e-mail)"
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
# A short part must stand alone, for "lee" is in "sleep" and "stan" in "instance"; "leeSort" has it alone.
_BEFORE = r"(?:(?<![^\W\d_])|(?<=[a-z])(?=[A-Z]))"
_AFTER = r"(?:(?i:s)?(?![^\W\d_])|(?<=[a-z])(?=[A-Z]))"
_LONG = 5
_GAP = 3
_JOIN = rf"[\W_]{{0,{_GAP}}}"
_ALPHABETIC = re.compile(r"[\u0000-\u2e7f\ua000-\uabff\ufb00-\ufdff\ufe70-\ufeff]")
_BETWEEN = re.compile(_JOIN)
_TORN = 4
"""So many words at most may be one piece of a name, and none of them may be a single letter."""
_NO_WORD = 1 << 62
_LONGEST = 40


def student(submission: str) -> str:
    """The name of a submission without what comparing adds to that of who is in earlier work too."""
    return _OLD.sub("", submission)


def pieces(name: str) -> list[str]:
    """The runs of letters and of digits in a name."""
    return _PIECE.findall(unicodedata.normalize("NFC", student(name)))


def ending(file: str) -> str:
    """The ending of a file's name if it looks like one that tells the kind of file, with its dot."""
    found = _ENDING.search(file)
    return found[0] if found else ""


def _spellings(piece: str) -> set[str]:
    """A piece as people write it: with accents as one character or two, or without."""
    return {unicodedata.normalize("NFKD", piece.lower()), *spellings(piece)} - {""}


def _tells(piece: str) -> bool:
    """Whether a piece of a name can be taken for the name."""
    return len(piece) >= (_LONG if piece.isdigit() else 3)


class _Sought(NamedTuple):
    """A regular expression, and of what one each must occur in a text, in small letters, for it to match."""

    needed: list[set[str]]
    pattern: str

    def may_be_in(self, lower: str) -> bool:
        return all(any(one in lower for one in each) for each in self.needed)


@lru_cache(1 << 16)
def _weight(word: str) -> int:
    """The same for the same letters in any order; that of words in a row is the sum of theirs."""
    is_word = 1 < len(word) <= _LONGEST and word.isalpha()
    return sum(ord(char) ** 5 for char in word.lower()) if is_word else _NO_WORD


def _bounded(pattern: str, size: int) -> str:
    return f"{_BEFORE}(?i:{pattern}){_AFTER}" if size < _LONG else f"(?i:{pattern})"


def _whole(name: str) -> Iterator[_Sought]:
    """A name with its parts in any of their orders, if it is long enough to be one."""
    whole = pieces(name)
    size = sum(map(len, whole))
    if "".join(whole).isdigit():
        return
    if size < 3 and "".join(whole).isascii():
        if size == 2:  # Xu, but neither xu nor XU, which may be anything
            yield _Sought(
                [{piece.lower()} for piece in whole], rf"(?<!\w){re.escape(''.join(whole).title())}(?!\w)"
            )
        return
    if len(whole) == 1 and not _ALPHABETIC.search(whole[0]):
        whole = list(whole[0])  # in scripts that have no spaces one may stand between a name's parts
    for order in _orders(whole):
        ways = [_spellings(piece) for piece in order]
        each = (f"(?:{'|'.join(map(re.escape, sorted(spelt, key=_longest)))})" for spelt in ways)
        yield _Sought(ways, _bounded(_JOIN.join(each), size))


def _orders(parts: Sequence[str]) -> list[tuple[str, ...]]:
    """Family names first or last, however many they are; and all the other way round."""
    turned = [(*parts[n:], *parts[:n]) for n in range(len(parts))]
    return list(dict.fromkeys([*turned, tuple(parts[::-1])]))


def _ways(parts: list[str]) -> list[list[str]]:
    """The pieces of a name; without its numbers; in scripts that have no spaces, in two."""
    letters = [part for part in parts if not part.isdigit()]
    found = [parts, letters] if letters and letters != parts and _tells("".join(letters)) else [parts]
    if len(letters) == 1 and not _ALPHABETIC.search(letters[0]):
        found += [[letters[0][:n], letters[0][n:]] for n in range(1, len(letters[0]))]
    return found


@dataclass(frozen=True)
class Names:
    """Which label each name gets, and which names each submission's text is searched for by their parts."""

    labels: Mapping[str, str]
    near: Mapping[str, Sequence[str]]

    @cached_property
    def _usual(self) -> set[str]:
        """Parts that most names have, such as "submission", tell nobody apart."""
        counts = Counter(part for name in self.labels for part in {p.lower() for p in self._all_parts(name)})
        return {part for part, count in counts.items() if count > max(2, len(self.labels) / 2)}

    @staticmethod
    def _all_parts(name: str) -> set[str]:
        whole = pieces(name)
        return {p for p in (*whole, *(c for w in whole for c in _CAMEL.split(w))) if _tells(p)}

    @cached_property
    def _by_name(self) -> dict[str, list[_Sought]]:
        """For every name how to find it whole, in any order, and how to find its parts."""
        return {name: [*_whole(name), *self._parts(name)] for name in self.labels}

    def _parts(self, name: str) -> Iterator[_Sought]:
        for part in sorted(self._all_parts(name), key=_longest):
            if part.lower() not in self._usual:
                for spelling in sorted(_spellings(part), key=_longest):
                    yield _Sought([{spelling}], _bounded(re.escape(spelling), len(part)))

    @cached_property
    def _far(self) -> dict[str, list[tuple[tuple[str, ...], str]]]:
        """For whole names of others: by their longest piece all of their pieces in any of their orders."""
        found: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for name in self.labels:
            joined = "".join(pieces(name)).lower()
            if not _tells(joined) or joined in self._usual:
                continue
            for spelt in sorted(spellings(name)):
                ways = [parts for parts in _ways(pieces(spelt)) if "".join(parts) not in self._usual]
                for order in (order for parts in ways for order in _orders(parts)):
                    found[max(order, key=len)].append((order, name))
                    if len(order) > 1 and "".join(order).isalpha():
                        found["".join(order)].append((("".join(order),), name))
        return found

    @cached_property
    def _torn(self) -> dict[int, list[tuple[str, str]]]:
        """By their weight the pieces of names that may be written as several words, each with its name."""
        found: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for name in self.labels:
            for piece in sorted({piece for spelt in spellings(name) for piece in pieces(spelt)}):
                if piece.isalpha() and _LONG <= len(piece) <= _LONGEST and piece not in self._usual:
                    found[_weight(piece)].append((piece, name))
        return found

    @cached_property
    def _is_sought(self) -> Callable[[str], bool]:
        """Whether a word, which may have accents, can be or have anything of a name."""
        whole = {name: {p for spelt in spellings(name) for p in pieces(spelt)} for name in self.labels}
        parts = (part for name in self.labels for part in self._all_parts(name))
        known = {p for p in chain(*whole.values(), *map(spellings, parts)) if len(p) > 1}
        sizes = range(_LONG, 1 + max(map(len, known), default=0))
        torn = [" ".join(p for n in whole for p in sorted(whole[n]) if _is_one(n) or cased) for cased in (0, 1)]

        @cache
        def is_sought(word: str) -> bool:
            if len(word) > _LONGEST:
                return True
            within = torn[word[:1].isupper()]
            spelt = {s for part in {word, *_CAMEL.split(word)} for s in spellings(part)}
            if any(s in known or s.removesuffix("s") in known or (len(s) > 2 and s in within) for s in spelt):
                return True
            inner = (s[at : at + size] for s in spelt for size in sizes for at in range(len(s) - size + 1))
            return any(part in known for part in inner)

        return is_sought

    def edits(self, owner: str, text: str) -> list[Edit]:
        """What to replace in a text of this submission, from left to right."""
        near = self.near.get(owner, ())
        spans = [(m.start(), m.end(), _MAIL_LABEL) for m in _MAIL.finditer(text)]
        spans += (*self._near_edits(near, text), *self._far_edits(near, text))
        if (plain := excerpts(text, self._is_sought)).text:
            for start, end, new in (*self._near_edits(near, plain.text), *self._far_edits(near, plain.text)):
                spans.append((plain.starts[start], plain.ends[end - 1], new))
        return _apart(text, spans)

    def edits_of(self, label: str, text: str) -> list[Edit]:
        """The same of the submission that has this label."""
        return self.edits(self.owner.get(label, ""), text)

    @cached_property
    def owner(self) -> dict[str, str]:
        """From labels to names."""
        return {label: name for name, label in self.labels.items()}

    def _near_edits(self, near: Sequence[str], text: str) -> Iterator[Edit]:
        lower = text.lower()
        known = {
            name: [sought.pattern for sought in self._by_name.get(name, ()) if sought.may_be_in(lower)]
            for name in near
        }
        names = [name for name, patterns in known.items() if patterns]
        if names:
            search = re.compile("|".join(f"(?P<n{i}>{'|'.join(known[name])})" for i, name in enumerate(names)))
            for m in search.finditer(text):
                yield m.start(), m.end(), self.labels[names[int((m.lastgroup or "n0")[1:])]]

    def _far_edits(self, near: Sequence[str], text: str) -> Iterator[Edit]:
        all_words = _PIECE.findall(text)
        words = {word.lower() for word in set(all_words)}
        firsts: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for word in sorted(words & self._far.keys()):
            for order, name in self._far[word]:
                if name not in near and words.issuperset(order):
                    firsts[order[0]].append((order, name))
        torn = list(self._torn_runs(all_words))
        found = list(_PIECE.finditer(text)) if firsts or torn else []
        for n, piece in enumerate(found):
            for order, name in firsts.get(piece[0].lower(), ()):
                run = found[n : n + len(order)]
                if _is_near(run) and tuple(p[0].lower() for p in run) == order:
                    yield run[0].start(), run[-1].end(), self.labels[name]
        for first, behind, name in torn:
            if _is_near(run := found[first:behind]):
                yield run[0].start(), run[-1].end(), self.labels[name]

    def _torn_runs(self, words: list[str]) -> Iterator[tuple[int, int, str]]:
        """From where to where words in a row are a piece of a name, joined in some order; and the name."""
        weights = list(map(_weight, words))
        sums = weights
        for size in range(2, _TORN + 1):
            sums = list(map(add, sums, weights[size - 1 :]))
            if self._torn.keys().isdisjoint(sums):
                continue
            for n, found in enumerate(sums):
                for piece, name in self._torn.get(found, ()):
                    run = words[n : n + size]
                    if _is_name(run, name) and piece in map("".join, permutations(map(str.lower, run))):
                        yield n, n + size, name

    def text(self, text: str, owner: str = "") -> str:
        """A text about this submission, or about nobody, without names."""
        for start, end, new in reversed(self.edits(owner, text)):
            text = text[:start] + new + text[end:]
        return text

    def file(self, owner: str, name: str) -> str:
        """A path without names of students, also where one is too short to be replaced elsewhere."""
        return "/".join(self.step(step, owner) for step in name.replace("\\", "/").split("/"))

    def step(self, step: str, owner: str) -> str:
        """A step of a path without names."""
        stem, suffix = PurePosixPath(step).stem if step else "", PurePosixPath(step).suffix
        for known, rest in ((step, ""), (stem, suffix)):
            if known in self.labels:
                return self.labels[known] + rest
        return self.text(step, owner)

    def skipped(self, n: int, left_out: Skipped) -> Skipped:
        """The nth that was left out. A student of whom nothing could be read is not known by name, so no name
        of a file can be shown."""
        if row := _ROW.fullmatch(left_out.name):  # of dates, not a file
            where = "a date" if row[1] == "date" else f"{row[1]} of {self.text(PurePath(row[2]).name)}"
            return Skipped(where, left_out.reason, left_out.detail)
        name = PurePosixPath(left_out.name)
        suffix = ending(name.name)
        shown = f"file {n}{suffix if self.text(suffix) == suffix else ''}"
        why = left_out.detail.replace(left_out.name, shown).replace(name.name or "\0", shown)
        return Skipped(shown, left_out.reason, self.text(why))


def _is_near(run: Sequence[re.Match[str]]) -> bool:
    """Whether so little is between words that they can be a name."""
    return all(after.start() - before.end() <= _GAP for before, after in pairwise(run))


def _is_one(name: str) -> bool:
    """Whether a name is one word, as "muelleranna" is in exports."""
    return sum(piece.isalpha() for piece in pieces(name)) == 1


def _is_name(run: Sequence[str], name: str) -> bool:
    """Whether words can be a piece of a name: "has an" is not Hasan, nor is "free man" Morgan Freeman."""
    return sum(word[0].isupper() for word in run) > 1 or (min(map(len, run)) > 2 and _is_one(name))


def _longest(text: str) -> tuple[int, str]:
    """The order in which regular expressions must try."""
    return -len(text), text


def _apart(text: str, spans: Iterable[Edit]) -> list[Edit]:
    """In order, with those joined that overlap, or that are parts of one name with a separator between."""
    found: list[Edit] = []
    for start, end, new in sorted(spans, key=lambda span: (span[0], -span[1])):
        if found:
            first, last, label = found[-1]
            if start < last or (new == label and _BETWEEN.fullmatch(text, last, start)):
                found[-1] = (first, max(end, last), label)
                continue
        found.append((start, end, new))
    return found
