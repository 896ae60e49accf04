"""Citus: the postings of an index are spread over the servers of a cluster, by hash.

The list of removed documents is copied to every server. Everything else stays on the coordinator.

Each server takes its own snapshot at its first query, and commits at its own time. A lock keeps readers and a
committing writer apart, so all snapshots of a reader are from before a commit, or all are from after it.
Readers hold it only while they take their snapshots, writers only while they commit.
"""

from __future__ import annotations

from typing import Final

IS_PRESENT: Final = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"
IS_WORKER: Final = "SELECT groupid <> 0 FROM pg_dist_local_group"
ON_WORKER: Final = "this server is a worker of a Citus cluster; connect to the coordinator"
IS_DISTRIBUTED: Final = """
SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('postings') AND partmethod = 'h')
"""
"""The extension may have been created after the index, which then stays on the coordinator."""

# With this setting on, all tables of a new schema go to one worker, and none of them can be distributed.
KEEP_SCHEMA_LOCAL: Final = """
SELECT set_config('citus.enable_schema_based_sharding', 'off', true)
WHERE current_setting('citus.enable_schema_based_sharding', true) IS NOT NULL
"""
DISTRIBUTE: Final = """
SELECT create_reference_table('removed');
SELECT create_distributed_table('postings', 'hash');
"""
SIZE: Final = """
SELECT citus_total_relation_size('postings') + citus_total_relation_size('removed')
    + pg_total_relation_size('documents') + pg_total_relation_size('contents')
    + pg_total_relation_size('touched') + pg_total_relation_size('marks') + pg_total_relation_size('searches')
"""

# A worker that failed after the coordinator committed has not committed yet. Citus repeats this every minute.
RECOVER: Final = """
SELECT CASE WHEN has_function_privilege('pg_catalog.recover_prepared_transactions()', 'EXECUTE')
    THEN recover_prepared_transactions() END
"""

# Without Citus these settings have no effect.
ONE_CONNECTION: Final = "set_config('citus.max_adaptive_executor_pool_size', '1', false)"
"""To each worker, so that one query of all shards makes every worker take its only snapshot."""
FORWARD_SETTINGS: Final = "set_config('citus.propagate_set_commands', 'local', false)"
_WORKER_SETTINGS = (
    "SET LOCAL enable_seqscan = off",
    "SET LOCAL jit = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
)
"""What readers set on the coordinator. Citus forwards the whole message of a SET LOCAL, so each has its own."""


def snapshot(key: int) -> tuple[str, ...]:
    """Return the messages that begin a snapshot of all servers."""
    return (
        f"SELECT pg_advisory_lock_shared({key})",  # before BEGIN: one inside would wait with an old snapshot
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT FROM meta;"
        f" SELECT hash FROM postings ORDER BY hash LIMIT 1; SELECT pg_advisory_unlock_shared({key})",
        *_WORKER_SETTINGS,
    )


def before_commit(key: int) -> str:
    """Return the last statement of a writer. The server releases the lock when all workers have committed."""
    return f"SELECT pg_advisory_xact_lock({key})"
