"""Lists of runs never read a table whole, whatever they are asked for, and sort only what is few."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import apsw
import pytest

from penstock.store.postgres.tables.views import DIALECT as POSTGRES
from penstock.store.rows.rows import Filter
from penstock.store.sql.index_scans import Question
from penstock.store.sql.migrations import read_migrations
from penstock.store.sql.run_lists import allowed, driver_of, questions
from penstock.store.sqlite.tables.views import DIALECT as SQLITE
from tests.store.builders import NOON
from tests.store.places import PostgresPlace

PAIRS = [("w", 1), ("w", 2)]

ASKED: list[tuple[dict[str, Any], list[str] | None]] = [
    ({}, None),
    ({"workflow": "w"}, ["w"]),
    ({"workflow": "w", "version": 1}, ["w"]),
    ({"version": 1}, None),
    ({"statuses": ("failed", "running")}, None),
    ({"workflow": "w", "statuses": ("failed", "stalled")}, ["w"]),
    ({"workflow": "w", "statuses": ("running",)}, ["w"]),
    ({"workflow": "w", "statuses": ("succeeded",)}, ["w"]),
    ({"workflows": ("w*",)}, ["w", "w2"]),
    ({"workflows": ("w*",), "statuses": ("failed",)}, ["w", "w2"]),
    ({"subject": "s"}, None),
    ({"subject": "s", "workflow": "w", "statuses": ("failed",)}, ["w"]),
    ({"parent": "p"}, None),
    ({"label": ("a", "b")}, None),
    ({"label": ("a", "b"), "workflow": "w"}, ["w"]),
    ({"label": ("a", "b"), "statuses": ("failed",)}, None),
    ({"label": ("a", "b"), "statuses": ("failed", "canceled"), "workflow": "w"}, ["w"]),
    ({"key": ("a", "b")}, None),
    ({"waiting_for": "e"}, None),
    ({"waiting_for": "e", "waiting_since": NOON}, None),
    ({"waiting_for": "e", "statuses": ("stalled",)}, None),
    ({"since": NOON, "until": NOON + timedelta(1)}, None),
    ({"since": NOON, "workflow": "w"}, ["w"]),
    ({"after": (NOON, "x")}, None),
    ({"after": (NOON, "x"), "label": ("a", "b")}, None),
]
SORTING: list[tuple[dict[str, Any], list[str] | None]] = [
    ({"q": "x"}, None),
    ({"q": "x", "statuses": ("failed",)}, None),
    ({"step": "s"}, None),
]
"""These sort: what begins with a text lies in the order of the texts, and tasks in that of the ids."""

ENDS: list[tuple[dict[str, Any], list[str] | None]] = [
    ({"sort": "ended"}, None),
    ({"sort": "ended", "workflow": "w", "after": (NOON, "x")}, ["w"]),
]
ALL = [*ASKED, *SORTING, *ENDS]


def named(asked: list[tuple[dict[str, Any], list[str] | None]]) -> list[str]:
    return [json.dumps(said, default=str) for said, _ in asked]


@pytest.fixture(scope="module")
def empty() -> Iterator[apsw.Connection]:
    db = apsw.Connection(":memory:")
    for migration in read_migrations("penstock.store.sqlite"):
        db.execute(migration.sql)
    yield db
    db.close()


def plan(db: apsw.Connection, one: Question) -> list[str]:
    return [str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {one.sql}", one.values)]


def asked(said: dict[str, Any], names: list[str] | None, dialect: Any) -> list[Question]:
    filter = Filter(**said)
    return questions(filter, dialect, names, driver_of(filter, names, None), PAIRS)


@pytest.mark.parametrize("sort", ["newest", "oldest"])
@pytest.mark.parametrize(("said", "names"), ASKED, ids=named(ASKED))
def test_a_list_walks_along_an_index_that_lies_in_its_order(
    empty: apsw.Connection, said: dict[str, Any], names: list[str] | None, sort: str
) -> None:
    for one in asked(said | {"sort": sort}, names, SQLITE):
        steps = plan(empty, one)
        assert [
            step for step in steps if step.startswith("SCAN") and not re.match(r"SCAN (line\d|\()", step)
        ] == []
        assert [step for step in steps if "TEMP B-TREE" in step] == []


def test_runs_of_another_status_are_passed_by_without_their_rows(empty: apsw.Connection) -> None:
    said = {"label": ("a", "b"), "statuses": ("failed", "canceled")}

    [one] = asked(said, None, SQLITE)

    assert any("run_by_status (status=? AND started_at=? AND id=?)" in step for step in plan(empty, one))


@pytest.mark.parametrize(("said", "names"), [*SORTING, *ENDS], ids=named([*SORTING, *ENDS]))
def test_no_list_reads_all_runs(
    empty: apsw.Connection, said: dict[str, Any], names: list[str] | None
) -> None:
    for one in asked(said, names, SQLITE):
        scanned = [step for step in plan(empty, one) if re.match(r"SCAN (run|rest|run_\w+)\b", step)]
        assert scanned == []


def test_no_list_of_postgres_reads_all_runs(database: PostgresPlace) -> None:
    # Small tables are read whole for good reason: without that way, an index must serve.
    every = [one for said, names in ALL for one in asked(said, names, POSTGRES)]
    plans = "".join(f"SELECT '== {n}'; EXPLAIN (GENERIC_PLAN) {one.sql};" for n, one in enumerate(every))
    name = database.url.rsplit("/", 1)[1]

    shown = database.server.query(f"SET enable_seqscan = off; {plans}", name)

    parts = shown.split("== ")[1:]
    found = [scan for part in parts for scan in re.findall(r"Seq Scan on (?:run|rest|run_\w+)\b", part)]
    assert (found, len(parts)) == ([], len(every))


def test_runs_are_listed_of_the_workflows_that_their_patterns_name_and_of_no_other() -> None:
    """`*` alone stands for anything, as where it is said who may do what."""
    known = ["ab", "a?", "a[b]", "Ab", "x-1", "x"]

    found = allowed(Filter(workflows=("a?", "a[b]", "x*")), lambda: known)

    assert found == ["a?", "a[b]", "x-1", "x"]
