"""The tables of an index in PostgreSQL, and the statements that use them."""

from __future__ import annotations

from typing import Final

from chaffinch.index.koala.probes import MARKS, MAX_SEARCHES, MIN_SEARCHES
from chaffinch.index.postgres import citus

# Document numbers and positions have 32 bits, hashes 64. They are stored as signed integers with the same bits.
# A lookup reads only the B-tree of hashes, which includes the document and the position. Postings arrive
# roughly in the order of their documents, so a BRIN index finds those of a document; a second B-tree would
# double the cost of adding. Names can be longer than a B-tree allows, so they have a hash index.
SCHEMA: Final = """
CREATE TABLE meta (
    settings text NOT NULL, next bigint NOT NULL, documents bigint NOT NULL, postings bigint NOT NULL,
    removed bigint NOT NULL, generation bigint NOT NULL
);
CREATE TABLE documents (
    id integer PRIMARY KEY, name text NOT NULL, digest bytea NOT NULL, size bigint NOT NULL,
    symbols bigint NOT NULL, postings bigint NOT NULL, url text, contact text, date text,
    boilerplate boolean NOT NULL, not_language boolean NOT NULL, registered date NOT NULL, chosen date NOT NULL,
    stream bytea NOT NULL
);
CREATE INDEX documents_name ON documents USING hash (name);
CREATE INDEX documents_digest ON documents (digest);
CREATE INDEX documents_boilerplate ON documents (id) WHERE boilerplate;
CREATE INDEX documents_not_language ON documents (id) WHERE not_language;
CREATE TABLE contents (document integer PRIMARY KEY, data bytea NOT NULL);
ALTER TABLE contents ALTER data SET STORAGE EXTERNAL;
CREATE TABLE postings (hash bigint NOT NULL, document integer NOT NULL, position integer NOT NULL);
CREATE INDEX postings_hash ON postings (hash) INCLUDE (document, position);
CREATE INDEX postings_document ON postings USING brin (document) WITH (autosummarize, pages_per_range = 32);
CREATE TABLE removed (document integer PRIMARY KEY);
CREATE TABLE touched (key bigint PRIMARY KEY, name text NOT NULL);
CREATE TABLE marks (
    key bigint NOT NULL, print integer NOT NULL, mark bigint NOT NULL, PRIMARY KEY (key, print)
);
CREATE TABLE searches (key bigint NOT NULL, mark bigint NOT NULL, PRIMARY KEY (key, mark));
"""
SCHEMA_EXISTS: Final = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)"
NOT_EMPTY: Final = """
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s)
"""

# The planner has no statistics of a table that was just filled, and guesses that most rows are wanted.
# What readers write, which is what searches touched, need not be on the disk when a search ends.
READING: Final = f"""
SELECT set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
    set_config('synchronous_commit', 'off', false),
    set_config('max_parallel_workers_per_gather', '0', false), {citus.ONE_CONNECTION}, {citus.FORWARD_SETTINGS}
"""
READING_ALL: Final = (
    "SET LOCAL enable_seqscan = on",
    "SET LOCAL max_parallel_workers_per_gather TO DEFAULT",
)
SNAPSHOT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT FROM meta"
"""The first statement fixes the state, not BEGIN."""

_NOT_REMOVED = "NOT EXISTS (SELECT FROM removed r WHERE r.document = p.document)"
LOOKUP: Final = f"""
SELECT p.hash, string_agg(int4send(p.document) || int4send(p.position), '') FROM postings p
WHERE p.hash = ANY(%s::bigint[]) AND {_NOT_REMOVED} GROUP BY p.hash
"""
POSTINGS_OF: Final = f"""
SELECT p.document, string_agg(int8send(p.hash) || int4send(p.position), '') FROM postings p
WHERE p.document BETWEEN %s AND %s AND p.document = ANY(%s::bigint[]) AND {_NOT_REMOVED} GROUP BY p.document
"""

_COLUMNS = """
id, name, digest, size, symbols, postings, url, contact, date, boilerplate, not_language, registered, chosen,
stream
"""
COPY_DOCUMENTS: Final = f"COPY documents ({_COLUMNS}) FROM STDIN (FORMAT BINARY)"
DOCUMENT_TYPES: Final = [
    "int4", "text", "bytea", "int8", "int8", "int8", "text", "text", "text", "bool", "bool", "date",
    "date", "bytea",
]  # fmt: skip
COPY_CONTENTS: Final = "COPY contents (document, data) FROM STDIN (FORMAT BINARY)"
CONTENT_TYPES: Final = ["int4", "bytea"]
COPY_POSTINGS: Final = "COPY postings (hash, document, position) FROM STDIN (FORMAT BINARY)"
TAKE_NUMBERS: Final = """
UPDATE meta SET next = next + %s, documents = documents + %s, postings = postings + %s RETURNING next
"""
DELETE: Final = """
WITH deleted AS (DELETE FROM documents WHERE id = ANY(%s::bigint[]) RETURNING id, postings),
    emptied AS (DELETE FROM contents WHERE document IN (SELECT id FROM deleted))
SELECT id, postings FROM deleted
"""
DELETE_RECORDS: Final = "DELETE FROM documents WHERE id = ANY(%s::bigint[]) RETURNING id"
MARK_REMOVED: Final = "INSERT INTO removed SELECT unnest(%s::integer[])"
COUNT_REMOVED: Final = "UPDATE meta SET documents = documents - %s, removed = removed + %s"
PURGE: Final = """
DELETE FROM postings p USING removed r WHERE r.document = p.document;
DELETE FROM removed;
UPDATE meta SET postings = postings - removed, removed = 0
"""

RECORDS: Final = f"SELECT {_COLUMNS} FROM documents WHERE id = ANY(%s::bigint[]) ORDER BY id"
SIZES: Final = "SELECT id, postings, name FROM documents WHERE id = ANY(%s::bigint[]) ORDER BY id"
NEXT_RECORDS: Final = f"SELECT {_COLUMNS} FROM documents WHERE id > %s ORDER BY id LIMIT %s"
CONTENTS: Final = "SELECT document, data FROM contents WHERE document = ANY(%s::bigint[]) ORDER BY document"
NUMBERS_BY_NAME: Final = "SELECT name, id FROM documents WHERE name = ANY(%s::text[])"
NAMES_BY_DIGEST: Final = """
SELECT DISTINCT ON (digest) digest, name FROM documents WHERE digest = ANY(%s::bytea[]) ORDER BY digest, id
"""
BOILERPLATE: Final = "SELECT id FROM documents WHERE boilerplate"
COUNT_NOT_LANGUAGE: Final = "SELECT count(*) FROM documents WHERE not_language"

SIZE: Final = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'
"""
VACUUMED: Final = ("postings", "documents", "contents", "removed", "touched", "marks", "searches")
WRONG_COUNTS: Final = """
WITH counted AS MATERIALIZED (SELECT document, count(*) AS n FROM postings GROUP BY document)
SELECT d.name, coalesce(c.n, 0), coalesce(d.postings, 0)
FROM counted c FULL JOIN documents d ON d.id = c.document
WHERE coalesce(c.n, 0) <> coalesce(d.postings, 0)
    AND NOT EXISTS (SELECT FROM removed r WHERE r.document = c.document)
ORDER BY d.id
"""
UNKNOWN_CONTENTS: Final = """
SELECT count(*) FROM contents c WHERE NOT EXISTS (SELECT FROM documents d WHERE d.id = c.document)
"""

RECORD_TOUCHES: Final = f"""
WITH named AS (
    INSERT INTO touched SELECT * FROM unnest(%s::bigint[], %s::text[]) ON CONFLICT DO NOTHING
), marked AS (
    INSERT INTO marks SELECT * FROM unnest(%s::bigint[], %s::integer[], %s::bigint[])
    ON CONFLICT (key, print) DO UPDATE SET mark = (marks.mark + excluded.mark) %% {MARKS}
)
INSERT INTO searches SELECT s.* FROM unnest(%s::bigint[], %s::bigint[]) AS s (key, mark)
WHERE (SELECT count(*) FROM searches c WHERE c.key = s.key) < {MAX_SEARCHES}
ON CONFLICT DO NOTHING
"""
PROBED: Final = f"""
SELECT t.name, s.n, count(m.print), count(DISTINCT m.mark)
FROM (SELECT key, count(*) AS n FROM searches GROUP BY key HAVING count(*) >= {MIN_SEARCHES}) s
JOIN touched t ON t.key = s.key JOIN marks m ON m.key = s.key GROUP BY t.name, s.n
"""
FORGET_TOUCHES: Final = """
WITH keys AS (DELETE FROM touched WHERE key = ANY(%s::bigint[]) RETURNING key),
    unmarked AS (DELETE FROM marks WHERE key IN (SELECT key FROM keys))
DELETE FROM searches WHERE key IN (SELECT key FROM keys)
"""
LOCK_WRITER: Final = f"""
SELECT pg_try_advisory_lock(%s), {citus.ONE_CONNECTION},
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END
"""
