"""An Index: documents in, answers out, kept for years; the store behind it is a folder or PostgreSQL."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import TracebackType

from chaffinch import fingerprinting as api
from chaffinch.errors import BadRecipe, IndexTrouble, NoIndex
from chaffinch.index import ingest as adding
from chaffinch.index import transfer
from chaffinch.index.address import is_database
from chaffinch.index.folder.folder_store import Embedded
from chaffinch.index.hits import Answer
from chaffinch.index.koala import rotation
from chaffinch.index.koala import selection as koala
from chaffinch.index.koala.probes import is_close
from chaffinch.index.records import CONTENTS, About, Info, Probed, Settings, Stored
from chaffinch.index.search import TOP, search
from chaffinch.index.store import Store
from chaffinch.read.collect import Item, collect
from chaffinch.recipe import Recipe
from chaffinch.types import Document

Addable = Item
"""A file, a folder, an archive or a file of JSON Lines by its path, or a document."""
Tell = Callable[[str], None]


def _quiet(_: str) -> None:
    pass


class Index:
    """Documents that can be searched, added to and removed from.

    One process writes at a time, any number search meanwhile. Use it in a `with` statement, or close it.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._one = threading.RLock()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """What is looked at here to be changed is changed by nobody else: no process, no thread."""
        with self._one:
            self.store.begin()
            yield

    @classmethod
    def create(
        cls,
        where: str | Path,
        recipe: str | Recipe = "text",
        *,
        content: str = "text",
        stored: int | None = None,
        searched: int | None = None,
        skip: int | None = None,
        frequent: int | None = None,
        ignored: int | None = None,
    ) -> Index:
        """A new index in a folder, or in the database that a postgresql:// address names.

        The recipe is "text", "code" for programs in any language, "koala" for a few secret fingerprints of each
        document (`stored` of `searched`), or a Recipe. With `content="none"` only fingerprints are kept.
        With "koala" `skip` symbols at the start of a document are passed over, and of what `frequent` documents
        have the commonest is, at most `ignored` fingerprints of it in one search.
        """
        own = {"stored": stored, "searched": searched, "skip": skip, "frequent": frequent, "ignored": ignored}
        return cls(_store(where).create(where, _settings(recipe, content, own)))

    @classmethod
    def open(cls, where: str | Path, recipe: Recipe | None = None) -> Index:
        """One that is there; `recipe`, if given, must be the one it was made with."""
        index = cls(_store(where)(where))
        if recipe is not None:
            try:
                recipe.check(index.recipe, str(where))
            except BaseException:
                index.close()
                raise
        return index

    @property
    def recipe(self) -> Recipe:
        return self.store.settings.recipe

    def __len__(self) -> int:
        return self.store.count()

    def __contains__(self, name: str) -> bool:
        return bool(self.store.named([adding.plain_name(name)]))

    def __iter__(self) -> Iterator[Stored]:
        """Every document, in the order of adding."""
        return (stored for _, stored in self.store.each())

    def add(
        self,
        items: Addable | Iterable[Addable],
        *,
        about: About = About(),  # noqa: B008 - frozen
        boilerplate: bool = False,
        replacing: bool = False,
        threads: int | None = None,
        progress: Callable[[Document], None] | None = None,
    ) -> adding.Added:
        """Adds documents, and what is in files, folders, archives and JSON Lines; then they are there for good.

        What is there already, by name and content, is passed over: an add that was cut off is simply run again.
        Another content under a name that is there needs `replacing`.
        """
        with self._writing():
            found = collect(items, json_lines=True)
            report = adding.add(self.store, found, about, boilerplate, replacing, threads, progress)
            self.store.forget_probes(report.replaced)
            return report

    def replace(self, items: Addable | Iterable[Addable], **options: object) -> adding.Added:
        """Adds, in the place of documents of the same names."""
        return self.add(items, replacing=True, **options)  # type: ignore[arg-type]

    def remove(self, names: str | Iterable[str]) -> list[str]:
        """Removes documents by name, at once; those that were there."""
        asked = [names] if isinstance(names, str) else list(names)
        with self._writing():
            there = self.store.named([adding.plain_name(name) for name in asked])
            self.store.remove(sorted(there.values()))
            self.store.forget_probes(sorted(there))
        return sorted(there)

    def search(
        self, document: api.Readable, *, effort: float = 1.0, window: int | None = None, top: int | None = TOP
    ) -> Answer:
        """The documents that share the most with this one, the strongest first; see `Answer`."""
        query = api.document_for(document, self.recipe)
        answer = search(self.store, query, effort=effort, window=window, top=top)
        if self.store.settings.stored is not None:
            shares = ((hit.document.name, hit.containment) for hit in answer)
            self.store.probed(query.data, [name for name, s in shares if is_close(s.query, s.document)])
        return answer

    def content(self, name: str) -> Document | None:
        """A document as it was read when it was added, if that is kept."""
        return transfer.content(self.store, adding.plain_name(name))

    def info(self) -> Info:
        return self.store.info()

    def merge(self, progress: Tell = _quiet) -> None:
        """Makes it as small and fast as it can be; it never has to be called."""
        with self._writing():
            self.store.merge(progress)

    def verify(self, progress: Tell = _quiet) -> list[str]:
        """Reads everything; what is wrong, if anything is."""
        return self.store.verify(progress)

    def suspicious(self) -> list[Probed]:
        """Documents that many slightly different queries came close to: a new choice may be due."""
        found = self.store.suspicious()
        there = self.store.named([probed.name for probed in found])
        return [probed for probed in found if probed.name in there]

    def rotate(
        self,
        names: Iterable[str] | None = None,
        *,
        sources: Addable | Iterable[Addable] = (),
        progress: Tell = _quiet,
    ) -> rotation.Rotated:
        """Chooses anew which fingerprints are stored, document by document, while searches go on."""
        with self._writing():
            return rotation.rotate(self.store, names, collect(sources, json_lines=True), progress)

    def export(self, path: Path | str) -> int:
        """All of it as JSON Lines, for another store or another version; how many documents. Has the secret."""
        return transfer.export(self.store, Path(path))

    def import_(self, path: Path | str) -> int:
        """What `export` wrote, into an empty index or one with the same settings."""
        with self._writing():
            return transfer.import_(self.store, Path(path))

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except IndexTrouble:
            if error is None:  # else that is what is told
                raise


def _settings(recipe: str | Recipe, content: str, own: Mapping[str, int | None]) -> Settings:
    if content not in CONTENTS:
        raise BadRecipe(f"content is {content!r}; choose one of {', '.join(CONTENTS)}")
    if recipe == "koala":
        return koala.settings(secrets.randbits(64), content, **own)
    if any(number is not None for number in own.values()):
        raise BadRecipe(f"{', '.join(own)} are for the recipe koala")
    if content == "search-set":
        raise BadRecipe("a search set is kept with the recipe koala; keep text or none")
    return Settings(recipe if isinstance(recipe, Recipe) else Recipe(recipe), content)


def imported(where: str | Path, path: Path | str) -> Index:
    """The index that an export goes into: the one that is there, or a new one with its settings."""
    settings = transfer.settings_of(Path(path))
    try:
        return Index.open(where)
    except NoIndex:
        return Index(_store(where).create(where, settings))


def _store(where: str | Path) -> type[Embedded]:
    """The kind of store that is there; PostgreSQL is an extra."""
    if not is_database(where):
        return Embedded
    try:
        found: type[Embedded] = import_module("chaffinch.index.postgres.postgres_store").Postgres
    except ImportError:
        raise IndexTrouble("PostgreSQL needs its driver; pip install 'chaffinch[server]'") from None
    return found
