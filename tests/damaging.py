"""A small index that is damaged and then used in every way: each answer is right, or says what is wrong."""

from __future__ import annotations

import random
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from chaffinch.errors import ChaffinchError
from chaffinch.index.index import Index
from chaffinch.index.records import Metadata
from tests.indexed import document, text

PASSAGES = [text(40, f"passage {n}") for n in range(9)]
SECONDS = 60
"""No use of a small index takes this long, so it hangs."""


class Damage(NamedTuple):
    """A file of an index, and what it holds instead."""

    file: Path
    what: str
    data: bytes


@dataclass(frozen=True)
class Use:
    """One way to use an index. It returns what is equal for equal answers, or None if damage is noted."""

    name: str
    run: Callable[[Index], object]
    changes: bool = False


def _search(passages: str) -> Callable[[Index], object]:
    def run(index: Index) -> object:
        answer = index.search(passages)
        return None if answer.receipt.damaged else repr(answer)

    return run


def _info(index: Index) -> object:
    if hasattr(index.store, "_writer") and index.store._writer:
        index.store._writer.wait()  # for merges
    info = index.info()
    return None if info.damaged else (info.documents, info.not_language)


def _export(index: Index) -> object:
    path = Path(index.store.where).with_name("export.jsonl")
    index.export(path)
    return path.read_bytes()


def _add(index: Index) -> object:
    new = document("new", PASSAGES[3])
    return index.add([document("d0", PASSAGES[0]), new, document("copy", PASSAGES[1])], threads=1)


READING = [
    Use("search for parts of two documents", _search(f"{PASSAGES[0]} {PASSAGES[1]}")),
    Use("search for one with boilerplate", _search(f"{PASSAGES[2]} {PASSAGES[5]}")),
    Use("search for one that was removed", _search(PASSAGES[7])),
    Use("search for what may be new", _search(PASSAGES[3])),
    Use("info", _info),
    Use("list", list),
    Use("verify", lambda index: None if index.verify() else "whole"),
    Use("export", _export),
    Use("content", lambda index: repr(index.content("d1"))),
    Use("content of none", lambda index: repr(index.content("none"))),
    Use("contains", lambda index: ["d2" in index, "none" in index]),
]
CHANGES = [Use("add", _add, True), Use("remove", lambda index: index.remove(["d1", "none"]), True)]


def create(where: Path, recipe: str) -> None:
    """Create an index with removed documents, boilerplate, metadata, and several segments."""
    with Index.create(where, recipe) as index:
        for n in range(3):
            metadata = Metadata(f"http://example.org/{n}/d{n}", "me@example.org", "2020-01-02")
            index.add(document(f"d{n}", PASSAGES[n]), metadata=metadata, threads=1)
        index.add([document("boilerplate", PASSAGES[5], PASSAGES[6])], boilerplate=True, threads=1)
        index.add([document("gone", PASSAGES[7]), document("e0", PASSAGES[4])], threads=1)
        index.remove("gone")
        index.search(PASSAGES[0])  # which an index with secrets counts


@dataclass
class Damaging:
    """An index, its right answers before and after each change, and a copy to damage."""

    folder: Path
    recipe: str
    right: dict[tuple[str, ...], dict[str, object]] = field(default_factory=dict)
    """By the changes that were made, by the name of the use."""

    def __post_init__(self) -> None:
        self.where, self.copy = self.folder / "whole.index", self.folder / "damaged.index"
        create(self.where, self.recipe)
        for changes in ([], CHANGES[:1], CHANGES[1:], CHANGES):
            self._restore()
            with Index.open(self.copy) as index:
                answers = {change.name: change.run(index) for change in changes}
                made = tuple(change.name for change in changes)
                self.right[made] = {use.name: use.run(index) for use in READING}
                self.right[made[:-1]] |= {name: answers[name] for name in made[-1:]}
        assert all(answer is not None for answers in self.right.values() for answer in answers.values())

    def _restore(self) -> None:
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.where, self.copy)

    def files(self) -> list[Path]:
        return sorted(path.relative_to(self.where) for path in self.where.rglob("*") if path.is_file())

    def problems(self, damage: Damage) -> list[str]:
        """Damage the index, use it, and return what was wrong, hung, or raised an unexpected error."""
        self._restore()
        (self.copy / damage.file).write_bytes(damage.data)
        signal.signal(signal.SIGALRM, _hangs)
        signal.alarm(SECONDS)
        try:
            return [f"{damage.file}, {damage.what}: {problem}" for problem in self._use()]
        except Exception as error:
            return [f"{damage.file}, {damage.what}: raised {error!r}"]
        finally:
            signal.alarm(0)

    def _use(self) -> Iterator[str]:
        try:
            index = Index.open(self.copy)
        except ChaffinchError as error:
            yield from _unclear("open", error)
            return
        possible: list[tuple[str, ...]] = [()]
        """The changes that may have been made. One that failed was made or not."""
        try:
            for use in [*READING, *CHANGES, *READING]:
                try:
                    answer = use.run(index)
                except ChaffinchError as error:
                    yield from _unclear(use.name, error)
                    if use.changes:
                        possible += [(*made, use.name) for made in possible]
                    continue
                if answer is not None and all(answer != self.right[made][use.name] for made in possible):
                    yield f"{use.name} gave {answer!r}"
                if use.changes:
                    possible = [(*made, use.name) for made in possible]
        finally:
            try:
                index.close()
            except ChaffinchError as error:
                yield from _unclear("close", error)


def _unclear(name: str, error: ChaffinchError) -> Iterator[str]:
    """Yield a complaint about a message that does not say where the damage is and what to do."""
    if not str(error).partition(": ")[2] or ";" not in str(error):
        yield f"{name} said {error}"


def _hangs(*_: object) -> None:
    raise TimeoutError(f"hangs for {SECONDS} seconds")


def flip(file: Path, whole: bytes, offset: int, round_number: int) -> Damage:
    """Flip one bit of a byte, or several. Each round flips other ones."""
    chance = random.Random(f"{file} {offset} {round_number}")
    bits = chance.choice([1 << chance.randrange(8), 0xFF, chance.randrange(1, 256)])
    data = whole[:offset] + bytes([whole[offset] ^ bits]) + whole[offset + 1 :]
    return Damage(file, f"byte {offset} ^ {bits:#x}", data)


def flips(damaging: Damaging, step: int, first: int = 0) -> Iterator[Damage]:
    """Yield flips of every `step`-th byte of each file."""
    for file in damaging.files():
        whole = (damaging.where / file).read_bytes()
        yield from (flip(file, whole, offset, first) for offset in range(first % step, len(whole), step))


def cuts(damaging: Damaging, count: int) -> Iterator[Damage]:
    """Yield each file cut short at `count` lengths."""
    for file in damaging.files():
        whole = (damaging.where / file).read_bytes()
        for length in range(0, len(whole), -(-len(whole) // count) or 1):
            yield Damage(file, f"cut to {length} bytes", whole[:length])


def zeroed_blocks(damaging: Damaging, size: int) -> Iterator[Damage]:
    for file in damaging.files():
        whole = (damaging.where / file).read_bytes()
        for start in range(0, len(whole), size):
            zeros = bytes(min(size, len(whole) - start))
            yield Damage(file, f"zeros from byte {start}", whole[:start] + zeros + whole[start + size :])
