"""The SQL itself: the same names in both dialects, every statement one that the database takes, no table read whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import apsw
import pytest

from penstock.store.postgres.database import SQL as POSTGRES
from penstock.store.sql.migrations import read_migrations
from penstock.store.sql.queries import read_queries
from tests.store.places import PostgresPlace

SQLITE = read_queries("penstock.store.sqlite.tables")

ONLY_SQLITE = {
    *("token_version", "put_token", "free_tokens", "claim_token"),  # there: one statement for many
    *("next_workflow", "next_version"),  # there: workflows_of_runs, versions_of_runs
    *("take_message", "take_task", "take_timer"),  # PostgreSQL looks and takes in one statement
    *("ready_tasks", "ready_named_tasks", "lease_task", "locks_held", "locks_waiting", "first_in_line"),
    *("drop_tasks_of_runs", "drop_timers_of_runs", "drop_messages_of_runs"),  # there: drop_rest_of_run
    *("drop_correlations_of_runs", "drop_locks_of_runs", "drop_kept_keys", "outdated_kept"),
    *("drop_history_of_runs", "drop_parts_of_runs", "drop_payloads_of_runs", "drop_logs_of_runs"),
    *("drop_seen_of_runs", "drop_start_keys_of_runs"),
    *(
        "drop_labels_of_runs",
        "drop_run_keys_of_runs",
        "drop_rests_of_runs",
        "drop_approvals_of_runs",
        "drop_timings_of_runs",
    ),
    "insert_timing",  # there: part of the lease
    "highest_number",  # PostgreSQL has sequences
    "update_running",  # PostgreSQL sees by itself which columns are as they were
    "insert_page",  # there: part of update_run and insert_run
}
ONLY_POSTGRES = {
    *("workflows_of_runs", "versions_of_runs"),
    *("begin_runs", "advance_runs"),  # SQLite has no way to go
    *("lock_tokens", "insert_token", "update_token", "claim_tokens"),
    *(
        "lease_tasks",
        "lease_from_lists",
        "drop_rest_of_run",
        "drop_correlations_of_run",
        "drop_locks_of_run",
        "drop_outdated_kept",
    ),
    *(
        "lock_keys",
        "lock_runs",
        "start_key_there",
        "installation_paused",
        "lock_audit",
        "lock_secrets",
        "keep_note",
    ),  # many writers
    *("read_now", "backend", "read_facts", "table_sizes", "ring_bell"),  # a server
    *(
        "schema_there",
        "any_run",
        "columns_of_table",
        "identities",
        "raise_identity",
        "drop_settings",
    ),  # copies
    "raise_fences",
}
"""A query that only one dialect has must be here: otherwise the two stores drift apart unnoticed."""

READ_WHOLE = {
    *(
        "gaps_in_history",
        "wrong_ends_of_history",
        "orphans",
        "tasks_without_run",
    ),  # db check looks at everything
    *("overheld_locks", "idle_locks", "locks_of_ended_runs", "wrongly_held_tasks"),
    *(
        "count_all_runs",
        "list_queues",
        "list_refused",
        "old_tasks",
        "waiting_tasks",
        "outbox_sizes",
    ),  # people who count wait a little
    *("list_workers", "list_workflows", "list_drafts", "drop_gone_workers"),  # small tables
    *("take_back_messages", "take_back_messages_of_workflow"),  # what waits to be read, when somebody pauses
    *("secret_keys", "put_secret"),
}

HOT = (
    *(
        "update_run",
        "advance_runs",
        "insert_start_key",
        "end_task",
        "void_task",
        "hold_tasks",
        "free_tasks",
        "use_timer",
        "use_message",
    ),
    *(
        "drop_part",
        "drop_lock",
        "grant_lock",
        "drop_rest_of_run",
        "drop_locks_of_run",
        "drop_correlations_of_run",
    ),
    *("load_run", "load_parts", "load_payload", "load_pages", "due_timers", "due_messages", "expired_tasks"),
    *(
        "next_due",
        "lease_tasks",
        "lease_from_lists",
        "renew_task",
        "lock_runs",
        "release_task",
        "key_owner",
        "kept_for_key",
        "drop_kept",
        "seen_there",
    ),
    *("tasks_of_run", "read_beliefs", "next_topic", "letters_of_topic", "drop_letter"),
)

CONTROL = "drop_gone_workers"
"""It reads all workers: were it not found out, nothing would be."""


def test_both_databases_have_the_same_migrations() -> None:
    sqlite, postgres = (read_migrations(f"penstock.store.{name}") for name in ("sqlite", "postgres"))

    assert [one.name for one in sqlite] == [one.name for one in postgres]


def test_both_databases_have_the_same_tables() -> None:
    sqlite, postgres = (
        [
            sorted(re.findall(r"^CREATE TABLE (\w+)", one.sql, re.MULTILINE))
            for one in read_migrations(f"penstock.store.{name}")
        ]
        for name in ("sqlite", "postgres")
    )

    assert sqlite == postgres


def test_a_query_that_only_one_database_has_is_known() -> None:
    assert SQLITE.keys() - POSTGRES.keys() == ONLY_SQLITE
    assert POSTGRES.keys() - SQLITE.keys() == ONLY_POSTGRES


@pytest.fixture(scope="module")
def empty() -> Iterator[apsw.Connection]:
    db = apsw.Connection(":memory:")
    for migration in read_migrations("penstock.store.sqlite"):
        db.execute(migration.sql)
    yield db
    db.close()


def plan(db: apsw.Connection, how: str, query: str) -> list[str]:
    names = dict.fromkeys(re.findall(r"(?<!:):([a-z_]+)", query))
    return [str(row[3]) for row in db.execute(f"{how} {query}", names)]


@pytest.mark.parametrize("name", sorted(SQLITE.keys() - READ_WHOLE))
def test_no_query_of_sqlite_reads_a_whole_table(empty: apsw.Connection, name: str) -> None:
    steps = plan(empty, "EXPLAIN QUERY PLAN", SQLITE[name])

    # What is scanned may be a list that came with the call, or a few rows that were searched before.
    scanned = [step for step in steps if re.match(r"SCAN (?!json_each|x\b|value\b|\()", step)]
    assert [step for step in scanned if "VIRTUAL TABLE" not in step and "CONSTANT ROW" not in step] == []


@pytest.mark.parametrize("name", ["load_pages", "key_owner"])
def test_sqlite_does_not_sort_what_lies_sorted(empty: apsw.Connection, name: str) -> None:
    assert [step for step in plan(empty, "EXPLAIN QUERY PLAN", SQLITE[name]) if "TEMP B-TREE" in step] == []


def test_no_hot_query_of_postgres_reads_a_whole_table(database: PostgresPlace) -> None:
    # Small tables are read whole for good reason: without that way, an index must serve.
    plans = "".join(
        f"SELECT '== {name}'; EXPLAIN (GENERIC_PLAN) {POSTGRES[name].text};" for name in (*HOT, CONTROL)
    )
    name = database.url.rsplit("/", 1)[1]

    shown = database.server.query(f"SET enable_seqscan = off; {plans}", name)

    by_name = dict(part.split("\n", 1) for part in shown.split("== ")[1:])
    scanned = {name: re.findall(r"Seq Scan on \w+", text) for name, text in by_name.items()}
    assert {name: found for name, found in scanned.items() if found} == {CONTROL: ["Seq Scan on worker"]}
    assert by_name.keys() == {*HOT, CONTROL}
