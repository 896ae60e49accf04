"""Searches an archive for a text, a file or what is at a URL, and for the relatives of a document in it."""

from __future__ import annotations

from typing import Any

from chaffinch.errors import Damaged
from chaffinch.index import contents
from chaffinch.index.answers import Answer, Hit, to_json
from chaffinch.index.index import Index
from chaffinch.service.accounts import access
from chaffinch.service.accounts.visitor import Visitor
from chaffinch.service.archive_documents import record_of
from chaffinch.service.fetch import fetch
from chaffinch.service.refusals import BadRequest
from chaffinch.service.site import Site
from chaffinch.types import Document, File, Match, Readable, Span

TOP = 20
PASSAGES = 3
MAX_TOP, MAX_PASSAGES = 1000, 20
MAX_QUERY_BYTES = 20 << 20
"""A query is read in memory while its visitor waits."""
_MAX_SHOWN = 400
"""Characters of a passage."""


def search(
    site: Site,
    visitor: Visitor,
    archive_id: str,
    query: Readable,
    *,
    top: int = TOP,
    passages: int = PASSAGES,
) -> dict[str, Any]:
    """Return the documents that share the most with the query, the strongest first.

    The result is what `chaffinch search --json` prints. Where the archive stores texts, each hit also has its
    longest passages, up to this number.
    """
    _require_reader(site, visitor, archive_id)
    top, passages = max(1, min(top, MAX_TOP)), max(0, min(passages, MAX_PASSAGES))
    return site.indexes.ask(archive_id, lambda index: _search(index, query, top, passages))


def search_url(
    site: Site, visitor: Visitor, archive_id: str, url: str, *, top: int = TOP, passages: int = PASSAGES
) -> dict[str, Any]:
    """Fetch what is at a URL and search for it."""
    _require_reader(site, visitor, archive_id)
    fetched = fetch(url, site.settings, max_bytes=MAX_QUERY_BYTES)
    return search(site, visitor, archive_id, File(url, fetched.data), top=top, passages=passages)


def relatives(
    site: Site, visitor: Visitor, archive_id: str, name: str, *, top: int = TOP, passages: int = PASSAGES
) -> dict[str, Any]:
    """Return the documents that share the most with a document of the archive, as `search` does."""
    _require_reader(site, visitor, archive_id)
    top = max(1, min(top, MAX_TOP))

    def question(index: Index) -> dict[str, Any]:
        own_name = record_of(index, name).name
        document = index.content(own_name)
        if document is None:
            raise BadRequest("this archive stores no texts; search with the document itself")
        answer = _search(index, document, top + 1, max(0, min(passages, MAX_PASSAGES)))
        answer["hits"] = [hit for hit in answer["hits"] if hit["document"] != own_name][:top]
        return answer

    return site.indexes.ask(archive_id, question)


def _require_reader(site: Site, visitor: Visitor, archive_id: str) -> None:
    access.require_scope(visitor, access.READ)
    with site.database.reading() as session:
        access.archive_for(session, visitor, archive_id)


def _search(index: Index, query: Readable, top: int, passages: int) -> dict[str, Any]:
    answer = index.search(query, top=top)
    result = to_json([answer], ())
    for shown in result["queries"]:
        shown["receipt"]["damaged"] = len(shown["receipt"]["damaged"])  # the messages have paths of the server
    if passages and answer.hits and index.store.settings.content == "text":
        texts = _texts(index, answer)
        for hit, shown in zip(answer.hits, result["hits"], strict=True):
            shown["passages"] = _passages(answer.query, texts.get(hit.document.name), hit, passages)
    return result


def _texts(index: Index, answer: Answer) -> dict[str, Document]:
    """Return the texts of the hits, by name. One that is damaged or was removed meanwhile is missing."""
    with index.store.snapshot():
        numbers = index.store.numbers_by_name([hit.document.name for hit in answer])
        packed = index.store.contents(list(numbers.values()))
    texts = {}
    for name, number in numbers.items():
        try:
            texts[name] = contents.unpack(name, packed.get(number))
        except Damaged:
            continue
    return texts


def _passages(query: Document, document: Document | None, hit: Hit, count: int) -> list[dict[str, Any]]:
    """Return the longest matches with their texts, in the order of the query."""
    longest = sorted(hit.matches, key=lambda match: (-match.symbols, match.left.start))[:count]
    return [_passage(query, document, match) for match in sorted(longest, key=lambda match: match.left.start)]


def _passage(query: Document, document: Document | None, match: Match) -> dict[str, Any]:
    return {
        "symbols": match.symbols,
        "query": _excerpt(query, match.left),
        "document": document and _excerpt(document, match.right),
    }


def _excerpt(document: Document, span: Span) -> dict[str, Any]:
    text = document.data[span.start : span.end].decode(document.encoding, "replace")
    return {"place": document.place(span.start), "text": text[:_MAX_SHOWN], "cut": len(text) > _MAX_SHOWN}
