"""Named queries and numbered migrations: read whole, or refused with the place."""

from __future__ import annotations

import apsw
import pytest

from penstock.store.sql.migrations import read_migrations
from penstock.store.sql.queries import parse, read_queries
from penstock.store.sqlite.session import (
    MAX_ROWS,
    MAX_STATEMENT,
    MIN_ROWS,
    SQL,
    Numbers,
    Session,
    _max_rows,
    _widened,
    _width,
)
from penstock.store.sqlite.tables import runs

WIDE = ("insert_page", "insert_run", "insert_task", "update_run", "update_running", "end_task")
"""The queries that are asked for many rows at once."""


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
    db = migrated()

    for sql in SQL.values():
        db.execute(f"EXPLAIN {sql}", Nothing()).fetchall()

    assert read_queries("penstock.store.sqlite.tables") == SQL


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
    db = migrated()

    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {SQL[query]}", Nothing())]

    assert index in plan[0]
    assert query == "live_runs_of_workflow" or not any("TEMP B-TREE" in line for line in plan)


@pytest.mark.parametrize("width", [1, MIN_ROWS, 64, MAX_ROWS])
@pytest.mark.parametrize(
    ("query", "table"), [("update_run", "run"), ("update_running", "run"), ("end_task", "task")]
)
def test_a_statement_for_many_rows_finds_each_by_its_key(query: str, table: str, width: int) -> None:
    db = migrated()
    sql = _widened(SQL[query], width)

    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?"))]

    assert any(line.startswith(f"SEARCH {table} USING") for line in plan)
    assert not any(line.startswith(f"SCAN {table}") for line in plan)


@pytest.mark.parametrize("query", WIDE)
def test_a_statement_for_many_rows_is_not_too_long_to_be_kept(query: str) -> None:
    assert len(_widened(SQL[query], _max_rows(SQL[query]))) <= MAX_STATEMENT
    assert _max_rows(SQL[query]) >= 256


@pytest.mark.parametrize("left", [*range(1, 70), 127, 128, 129, 389, 511, 512, 513, 5_000])
def test_few_statements_take_all_rows_and_little_of_them_is_empty(left: int) -> None:
    rows, widths = left, list[int]()
    while rows > 0:
        widths.append(_width(rows, MAX_ROWS))
        rows -= widths[-1]

    assert all(MIN_ROWS <= width <= MAX_ROWS and width.bit_count() == 1 for width in widths)
    assert 0 <= sum(widths) - left <= max(left // 4, MIN_ROWS - 1)
    assert len(widths) <= 5 + left // MAX_ROWS


@pytest.mark.parametrize("count", [1, 3, 4, 5, 9, 31, 64, 100, 389, 512, 700])
def test_many_rows_at_once_are_the_same_as_one_by_one(count: int) -> None:
    rows = [(f"{number:020x}", 1, 2, b"page") for number in range(count)]
    found = []
    for at_once in (True, False):
        session = Session(migrated(), Numbers(), 0)
        changed = (session.at_once if at_once else session.many)("insert_page", rows)
        again = session.db.execute("SELECT run, seq, last, body FROM history ORDER BY run").fetchall()
        found.append((changed, again))

    assert found[0] == found[1] == (count, rows)


@pytest.mark.parametrize("count", [4, 9, 100])
def test_what_is_missing_is_counted_whatever_fills_the_statement_up(count: int) -> None:
    session = Session(migrated(), Numbers(), 0)
    shared = (1, "task", "default", 0, 0, 0, "me", 1, None, None, None, 1, 1, 1, 1, 1, False, "step")
    tasks = [(f"{number:020x}", 1, -1, 1, number) for number in range(count)]
    assert session.at_once("insert_task", tasks, shared) == count

    ended = [(run, 1, -1, 1, 1) for run, *_ in tasks]
    ended[2] = (*ended[2][:4], 7)  # another fence
    assert session.at_once("end_task", ended) == count - 1
    assert session.db.execute("SELECT run FROM task").fetchall() == [(ended[2][0],)]


def migrated() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    for migration in read_migrations("penstock.store.sqlite"):
        db.execute(migration.sql)
    return db


def test_a_part_stands_wherever_a_query_uses_it() -> None:
    queries = (
        "-- name: one\nSELECT 1 WHERE a\n   -- use: cut\n;\n-- name: two\nSELECT 2 WHERE c\n-- use: cut\n"
    )
    text = f"-- part: cut\n AND b\n{queries}"

    assert parse(text, "x.sql") == {"one": "SELECT 1 WHERE a\n AND b", "two": "SELECT 2 WHERE c\n AND b"}


def test_a_part_that_is_not_there_is_told() -> None:
    with pytest.raises(ValueError, match="the query 'one' uses 'cut', and there is no such part"):
        parse("-- name: one\nSELECT 1\n-- use: cut\n", "x.sql")


def test_a_read_that_a_failing_disk_ends_tells_of_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    db = apsw.Connection(":memory:")

    def fail(*_: object) -> None:
        db.execute("ROLLBACK")  # as SQLite does by itself
        raise apsw.IOError("a sector")

    monkeypatch.setattr(runs, "_load_one", fail)
    with pytest.raises(apsw.IOError, match="a sector"):
        runs._load(Session(db, Numbers(), 0), ["a"])
    assert not db.in_transaction
