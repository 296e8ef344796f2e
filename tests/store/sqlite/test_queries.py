"""Named queries and numbered migrations: read whole, or refused with the place."""

from __future__ import annotations

import apsw
import pytest

from penstock.store.migrate import read_migrations
from penstock.store.queries import parse, read_queries
from penstock.store.sqlite.session import SQL, WIDTHS, _widened


class Nothing(dict[str, None]):
    """Every parameter is null."""

    def __missing__(self, name: str) -> None:
        return None


def test_each_block_is_a_query_without_its_comments() -> None:
    text = "-- A file.\n\n-- name: one\n-- Why.\nSELECT 1;\n\n-- name: two\nSELECT 2\n  FROM t;\n"

    assert parse(text, "x.sql") == {"one": "SELECT 1", "two": "SELECT 2\n  FROM t"}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("SELECT 1;", "before the first statement"),
        ("-- name: a\n-- name: b\nSELECT 1", "'a' is empty"),
        ("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2", "two queries named 'a'"),
        ("-- name: A b\nSELECT 1", "'A b' is not a name"),
        ("-- name:\nSELECT 1", "'' is not a name"),
    ],
)
def test_a_block_that_cannot_be_used_is_told(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=f"x.sql: .*{wrong}"):
        parse(text, "x.sql")


def test_every_query_fits_the_schema() -> None:
    db = apsw.Connection(":memory:")
    for migration in read_migrations("penstock.store.sqlite"):
        db.execute(migration.sql)

    for sql in SQL.values():
        db.execute(f"EXPLAIN {sql}", Nothing()).fetchall()

    assert read_queries("penstock.store.sqlite") == SQL


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("ready_tasks", "task_ready"),
        ("ready_named_tasks", "task_ready"),
        ("expired_tasks", "task_by_expiry"),
        ("due_timers", "timer_by_time"),
        ("due_messages", "message_by_time"),
        ("outdated_runs", "run_by_end"),
        ("outdated_runs_of_workflow", "run_by_version"),
        ("next_workflow", "run_by_version"),
        ("next_version", "run_by_version"),
        ("count_all_runs", "COVERING INDEX run_by_status"),
        ("live_runs_of_workflow", "run_by_status"),
        ("locks_waiting", "lock_line"),
    ],
)
def test_hot_queries_walk_their_index_and_sort_nothing(query: str, index: str) -> None:
    db = apsw.Connection(":memory:")
    for migration in read_migrations("penstock.store.sqlite"):
        db.execute(migration.sql)

    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {SQL[query]}", Nothing())]

    assert index in plan[0]
    assert query == "live_runs_of_workflow" or not any("TEMP B-TREE" in line for line in plan)


@pytest.mark.parametrize("width", (1, *WIDTHS))
@pytest.mark.parametrize(
    ("query", "table"), [("update_run", "run"), ("update_running", "run"), ("end_task", "task")]
)
def test_a_statement_for_many_rows_finds_each_by_its_key(query: str, table: str, width: int) -> None:
    db = apsw.Connection(":memory:")
    for migration in read_migrations("penstock.store.sqlite"):
        db.execute(migration.sql)
    sql = _widened(SQL[query], width)
    assert sql is not None

    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]

    assert any(line.startswith(f"SEARCH {table} USING") for line in plan)
    assert not any(line.startswith(f"SCAN {table}") for line in plan)


def test_a_query_without_values_is_not_widened() -> None:
    assert _widened(SQL["use_timer"], 4) is None


def test_a_part_stands_wherever_a_query_uses_it() -> None:
    queries = (
        "-- name: one\nSELECT 1 WHERE a\n   -- use: cut\n;\n-- name: two\nSELECT 2 WHERE c\n-- use: cut\n"
    )
    text = f"-- part: cut\n AND b\n{queries}"

    assert parse(text, "x.sql") == {"one": "SELECT 1 WHERE a\n AND b", "two": "SELECT 2 WHERE c\n AND b"}


def test_a_part_that_is_not_there_is_told() -> None:
    with pytest.raises(ValueError, match="the query 'one' uses 'cut', and there is no such part"):
        parse("-- name: one\nSELECT 1\n-- use: cut\n", "x.sql")
