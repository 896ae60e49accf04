"""The Index: documents in, answers out, for years. The store behind it is a folder or a PostgreSQL database."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from chaffinch.errors import BadRecipe, IndexTrouble, NoIndex
from chaffinch.index import transfer
from chaffinch.index.address import FORM, is_database, looks_like_address, without_password
from chaffinch.index.answers import Answer
from chaffinch.index.contents import unpack
from chaffinch.index.folder.folder_store import FolderStore
from chaffinch.index.ingest import Ingest, IngestReport, completed, plain_metadata, plain_name
from chaffinch.index.koala import rotation, selection
from chaffinch.index.records import CONTENTS, DocumentRecord, IndexInfo, Metadata, ProbedDocument, Settings
from chaffinch.index.search import TOP, search
from chaffinch.index.store import FORKED, Progress, Store, close_on_error
from chaffinch.native.fingerprint import threads_used
from chaffinch.read.collect import Item, collect
from chaffinch.read.for_recipe import document_for
from chaffinch.read.rules import Rules
from chaffinch.recipe import Recipe
from chaffinch.types import Document, Readable

Items = Item | Iterable[Item]


def _ignore(_: str) -> None:
    pass


class Index:
    """Documents that can be searched, added and removed.

    One process writes at a time; any number can search meanwhile. Any number of threads can use one Index, and
    search at once. A search sees the state before or after a change, never a mixture. Use it in a `with`
    statement, or close it: searches that are running end as usual, and later ones raise IndexTrouble.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._process = store, os.getpid()
        self._one_writer = threading.RLock()

    @property
    def store(self) -> Store:
        """The store. A process that was forked has neither its locks nor its threads, so it may not use it."""
        if os.getpid() != self._process:
            raise IndexTrouble(f"{self._store.where}: {FORKED}")
        return self._store

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Keep other threads and processes from writing between reading and changing something."""
        store = self.store
        with self._one_writer:
            store.begin_writing()
            yield

    @classmethod
    def create(
        cls,
        where: str | Path,
        recipe: str | Recipe = "text",
        *,
        content: str = "text",
        k: int | None = None,
        stored: int | None = None,
        searched: int | None = None,
        scheme: str | None = None,
        skip: int | None = None,
        frequent: int | None = None,
        ignored: int | None = None,
    ) -> Index:
        """Create an index in a new folder, or in the database of a postgresql:// address.

        The recipe is "text", "code" for programs in any language, "koala" for a few secret fingerprints of each
        document (`stored` of `searched`), or a Recipe. `content="none"` stores fingerprints only.

        The other settings are for "koala". A fingerprint is made of `k` consonants, and `scheme` selects those
        that a search uses: "smallest", by their hash alone, or "rare", the rarest first. The first `skip`
        symbols of a document are ignored, and so are the commonest of the fingerprints that `frequent`
        documents have, at most `ignored` of them in one search.
        """
        koala = {"k": k, "stored": stored, "searched": searched, "scheme": scheme, "skip": skip}
        koala |= {"frequent": frequent, "ignored": ignored}
        return cls(_store(where).create(where, _settings(recipe, content, koala)))

    @classmethod
    def open(cls, where: str | Path, recipe: Recipe | None = None) -> Index:
        """Open an index. If you give a recipe, it must be the one the index was created with."""
        index = cls(_store(where)(where))
        if recipe is not None:
            with close_on_error(index):
                recipe.check(index.recipe, index.store.where)
        return index

    @property
    def recipe(self) -> Recipe:
        return self.store.settings.recipe

    def __len__(self) -> int:
        return self.store.count()

    def __contains__(self, name: str) -> bool:
        return bool(self.store.numbers_by_name([plain_name(name)]))

    def __iter__(self) -> Iterator[DocumentRecord]:
        """Yield every document, in the order in which they were added."""
        return (record for _, record in self.store.all_records())

    def page(self, after: int = -1, size: int = 100) -> list[tuple[int, DocumentRecord]]:
        """Return the first documents after a number, each with its number."""
        return list(islice(self.store.all_records(after), size))

    def __repr__(self) -> str:
        return f"<Index {self._store.where}>"

    def add(
        self,
        items: Items,
        *,
        metadata: Metadata = Metadata(),  # noqa: B008 - frozen
        boilerplate: bool | None = None,
        replacing: bool = False,
        include: str | Iterable[str] = (),
        exclude: str | Iterable[str] = (),
        ocr: bool = False,
        threads: int | None = None,
        progress: Callable[[Document], None] | None = None,
    ) -> IngestReport:
        """Add documents, and those in files, folders, archives and JSON Lines. They are durable on return.

        Documents that the index has, by name and content, are left as they are: if an add is cut off, run it
        again. Another content under a known name needs `replacing`. `include` and `exclude` are patterns like
        "*.txt": what else to read of folders and archives, and what not to read. With `ocr`, Tesseract reads
        pages of PDF and PostScript that have no text, or none that is language.

        A document that replaces another keeps its URL, contact and date, and whether it is boilerplate, unless
        you give others.
        """
        with self._writing():
            ingest = Ingest(self.store, metadata, boilerplate, replacing, threads_used(threads))
            rules = Rules.of(include, exclude, ocr)
            return ingest.run(collect(items, json_lines=True, rules=rules), progress)

    def replace(self, items: Items, **options: object) -> IngestReport:
        """Add documents, and replace those with the same names."""
        return self.add(items, replacing=True, **options)  # type: ignore[arg-type]

    def set(
        self,
        names: str | Iterable[str],
        *,
        url: str | None = None,
        contact: str | None = None,
        date: str | None = None,
    ) -> list[str]:
        """Change what is known about documents. None changes nothing, "" removes it.

        Return the names that the index has.
        """
        given = plain_metadata(Metadata(url, contact, date))
        with self._writing():
            numbers = self.store.numbers_by_name(_plain_names(names))
            known = self.store.records(sorted(numbers.values()))
            records = {n: r._replace(metadata=completed(given, r.metadata)) for n, r in known.items()}
            self.store.update({n: record for n, record in records.items() if record != known[n]})
        return sorted(numbers)

    def remove(self, names: str | Iterable[str]) -> list[str]:
        """Remove documents by name. Return the names that the index had."""
        with self._writing():
            numbers = self.store.numbers_by_name(_plain_names(names))
            self.store.remove(sorted(numbers.values()))
        return sorted(numbers)

    def search(
        self, document: Readable, *, effort: float = 1.0, window: int | None = None, top: int | None = TOP
    ) -> Answer:
        """Find the documents that share the most with this one, the strongest first. See `Answer`."""
        return search(self.store, document_for(document, self.recipe), effort, window, top)

    def content(self, name: str) -> Document | None:
        """Return a document as it was read when it was added, if the index stores texts."""
        name = plain_name(name)
        with self.store.snapshot():
            numbers = list(self.store.numbers_by_name([name]).values())
            packed = self.store.contents(numbers) if self.store.settings.content == "text" else {}
        return unpack(name, packed[numbers[0]]) if packed else None

    def info(self) -> IndexInfo:
        return self.store.info()

    def merge(self, progress: Progress = _ignore) -> None:
        """Compact the index fully. Partial compaction is automatic, so this is never necessary."""
        with self._writing():
            self.store.merge(progress)

    def verify(self, progress: Progress = _ignore) -> list[str]:
        """Read everything and return what is wrong."""
        return self.store.verify(progress)

    def suspicious(self) -> list[ProbedDocument]:
        """Return documents whose stored fingerprints somebody may be finding out, the most known first.

        Rotate them: what was found out is then worth nothing. See `koala/probes.py` for the rule.
        """
        probed = self.store.probed()
        numbers = self.store.numbers_by_name([p.name for p in probed])
        stored = {name: n for n, name in self.store.sizes(list(numbers.values())).values()}
        suspicious = [
            ProbedDocument(p.name, p.searches, p.separated(n), n)
            for p in probed
            if (n := stored.get(p.name)) and p.is_suspicious(n)
        ]
        return sorted(suspicious, key=lambda p: (-p.separated / p.stored, p.name))

    def rotate(
        self, names: Iterable[str] | None = None, *, sources: Items = (), progress: Progress = _ignore
    ) -> rotation.RotationReport:
        """Choose again which fingerprints are stored, for these documents or all. Searches go on meanwhile."""
        with self._writing():
            return rotation.rotate(self.store, names, collect(sources, json_lines=True), progress)

    def export(self, path: Path | str) -> int:
        """Write the index as JSON Lines and return the number of documents. The file contains the secret."""
        return transfer.export(self.store, Path(path))

    def import_(self, path: Path | str) -> int:
        """Add the documents of an export. The settings must be the same. Return how many were added."""
        with self._writing():
            return transfer.import_(self.store, Path(path))

    def close(self) -> None:
        """Close the index. In a forked process this does nothing, because it belongs to the parent."""
        if os.getpid() == self._process:
            self._store.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except IndexTrouble:
            if error is None:  # otherwise the first error matters more
                raise


def _plain_names(names: str | Iterable[str]) -> list[str]:
    return [plain_name(name) for name in ([names] if isinstance(names, str) else names)]


def _settings(recipe: str | Recipe, content: str, koala: Mapping[str, int | str | None]) -> Settings:
    if content not in CONTENTS:
        raise BadRecipe(f"content is {content!r}; choose one of {', '.join(CONTENTS)}")
    if recipe == "koala":
        return selection.settings(secrets.randbits(64), content, koala)
    if given := [name for name, value in koala.items() if value is not None]:
        raise BadRecipe(f"only the recipe koala takes {', '.join(given)}; choose koala, or leave this out")
    if content == "search-set":
        raise BadRecipe("only the recipe koala stores a search set; choose text or none")
    return Settings(recipe if isinstance(recipe, Recipe) else Recipe(recipe), content)


def open_for_import(where: str | Path, path: Path | str) -> Index:
    """Open the index at this place, or create one with the settings of the export."""
    settings = transfer.exported_settings(Path(path))
    try:
        return Index.open(where)
    except NoIndex:
        return Index(_store(where).create(where, settings))


def _store(where: str | Path) -> type[Store]:
    """Return the class of the store. PostgreSQL needs an extra, so it is imported on demand."""
    store: type[Store] = FolderStore  # only here does the type checker reject a class that lacks a method
    if is_database(where):
        try:
            from chaffinch.index.postgres.postgres_store import PostgresStore
        except ImportError:
            raise IndexTrouble("PostgreSQL needs its driver; run pip install 'chaffinch[server]'") from None
        store = PostgresStore
    elif looks_like_address(where):  # other messages would show the password
        raise IndexTrouble(f"{without_password(where)}: not an address; write {FORM}, as a str")
    return store
