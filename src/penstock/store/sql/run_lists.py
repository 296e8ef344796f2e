"""Lists of runs as SQL, for both databases: which indexes to scan for a filter, and in which order.

A list is a few *lines*, each a walk along one index that lies in the order of the list, so that a page costs the same
among a hundred runs and among a million. The lines are merged. SQL is put together here and not in a `.sql` file:
what a filter does not ask for must not be in the statement, or SQLite finds no index for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec.structs import replace

from penstock.flow.model.run import ENDED, STATUSES
from penstock.flow.values.name_patterns import matches
from penstock.store.rows.rows import Filter, RunCount, RunRow
from penstock.store.sql.index_scans import MAX_FOUND, MAX_TASKS, Dialect, Question, Writing

UNTROUBLED = ("running", "succeeded")
MAX_LINES = 40
"""Lines that are asked for in one statement."""

MAX_SORTED = 5_000
"""So many runs are rather sorted than looked for along another index."""

Pair = tuple[str, int]
"""A workflow and one of its versions."""


Line = Callable[[Writing], str]


def questions(
    filter: Filter, dialect: Dialect, names: Sequence[str] | None, driver: str, pairs: Sequence[Pair]
) -> list[Question]:
    """The statements whose rows, merged, are the list.

    `names` are the workflows that the filter allows, `pairs` all versions of them that have runs, where the list is
    driven by "version".
    """
    made = []
    lines = _lines(filter, names, driver, pairs)
    for first in range(0, len(lines), MAX_LINES):
        writing = Writing(filter, dialect, names)
        parts = [
            f"SELECT * FROM ({line(writing)}) AS line{number}"
            for number, line in enumerate(lines[first : first + MAX_LINES])
        ]
        made.append(Question(" UNION ALL ".join(parts), tuple(writing.values)))
    return made


def count_question(filter: Filter, dialect: Dialect, names: Sequence[str] | None) -> Question:
    """How many runs of each status the filter finds; where the page begins does not count."""
    writing = Writing(replace(filter, after=None), dialect, names)
    writing.paged = False
    conditions = [*writing.conditions(), *writing.window("run.started_at", "run.id")]
    sql = f"SELECT status, count(*) FROM run WHERE {' AND '.join(conditions) or '1 = 1'} GROUP BY status"
    return Question(sql, tuple(writing.values))


def allowed(filter: Filter, known: Callable[[], Sequence[str]]) -> list[str] | None:
    """The workflows whose runs may be listed; None: all. `known` tells those that have runs, for patterns."""
    patterns = filter.workflows
    if filter.workflow is None and patterns is None:
        return None
    names = known() if filter.workflow is None else [filter.workflow]
    return [name for name in names if matches(patterns, name)]


def tallied(runs: Iterable[Sequence[Any]], others: Iterable[Sequence[Any]]) -> list[RunCount]:
    """Counts by group and status: `runs` are all of each group, `others` those that did not go well."""
    known = [RunCount(workflow, status, number, group) for workflow, group, status, number in others]
    left = Counter({(workflow, group): number for workflow, group, number in runs})
    for count in known:
        left[count.workflow, count.group] -= count.number
    return known + [RunCount(workflow, "succeeded", n, group) for (workflow, group), n in left.items() if n]


def probe(filter: Filter, dialect: Dialect, names: Sequence[str] | None) -> Question | None:
    """How many runs there are to be sorted, where that decides how: a question for their number, up to a limit."""
    driver = _driver(filter, names)
    writing = Writing(filter, dialect, names)
    if driver == "q":
        columns = ((writing.by("run_by_subject"), "subject"), ("run_key", "value"))
        sources = [f"{table} WHERE {writing.begins(column, filter.q or '')}" for table, column in columns]
    elif driver == "end" and filter.label is not None:
        sources = [f"run_label AS via WHERE {' AND '.join(writing.named('via', filter.label))}"]
    elif driver == "end" and names is not None:
        sources = [f"{writing.by('run_by_version')} WHERE {writing.any_of('workflow', names)}"]
    else:
        return None
    limit = MAX_FOUND if driver == "q" else MAX_SORTED
    counts = [f"(SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {limit}) AS x)" for source in sources]
    return Question(f"SELECT {' + '.join(counts)}", tuple(writing.values))


def driver_of(filter: Filter, names: Sequence[str] | None, number: int | None) -> str:
    """What the list walks along; `number` is what `probe` told."""
    driver = _driver(filter, names)
    if driver == "q":
        return "found" if number is not None and number < MAX_FOUND else "q"
    if number is None or number >= MAX_SORTED:
        return driver
    return "label" if filter.label is not None else "version"


def merged(rows: Iterable[RunRow], filter: Filter) -> list[RunRow]:
    """The rows of all lines as one page: each run once, in order."""
    by_id = {row.id: row for row in rows}

    def place(row: RunRow) -> tuple[datetime, str]:
        at = row.ended_at if filter.sort == "ended" else row.started_at
        assert at is not None
        return at, row.id

    return sorted(by_id.values(), key=place, reverse=filter.sort != "oldest")[: filter.limit]


def _driver(filter: Filter, names: Sequence[str] | None) -> str:
    """What a list walks along: that of which there are likely to be few."""
    few = ("q", "key", "subject", "parent", "step", "waiting_for", "label")
    first = next((name for name in few if getattr(filter, name) is not None), None)
    if first is not None and not (filter.sort == "ended" and first in ("waiting_for", "label")):
        return first
    if filter.aside:
        return "aside"
    if filter.sort == "ended":
        return "end"
    if names is None and filter.version is None:
        return "status"
    if filter.statuses and "succeeded" not in filter.statuses and names is not None:
        return "trouble"
    return "version"


def _lines(filter: Filter, names: Sequence[str] | None, driver: str, pairs: Sequence[Pair]) -> list[Line]:
    if names is not None and not names:
        return []
    if driver == "version":
        return [_of_version(pair) for pair in pairs if filter.version in (None, pair[1])]
    if driver == "trouble":
        assert names is not None
        troubled = [status for status in filter.statuses if status not in UNTROUBLED]
        lines = [_of_trouble(name, status) for name in names for status in troubled]
        return lines + [_in_status(status) for status in filter.statuses if status in UNTROUBLED]
    if driver == "status":
        return [_in_status(status) for status in filter.statuses or STATUSES]
    if driver == "end":
        return [_in_status(status, "run_by_end") for status in filter.statuses or STATUSES if status in ENDED]
    if driver == "found":
        return _PREFIXED
    if driver == "q":
        statuses = filter.statuses or tuple(x for x in STATUSES if x in ENDED or filter.sort != "ended")
        return [*_PREFIXED, *(partial(Writing.latest, status=status) for status in statuses)]
    return _DRIVEN[driver]


def _of_version(pair: Pair) -> Line:
    def line(w: Writing) -> str:
        driver = [f"run.workflow = {w.bind(pair[0])}", f"run.version = {w.bind(pair[1])}"]
        return w.line(w.by("run_by_version"), driver, "workflow version")

    return line


def _of_trouble(name: str, status: str) -> Line:
    def line(w: Writing) -> str:
        driver = [f"run.workflow = {w.bind(name)}", f"run.status = {w.bind(status)}"]
        driver.append("run.status NOT IN ('running', 'succeeded')")
        return w.line(w.by("run_by_trouble"), driver, "workflow status")

    return line


def _in_status(status: str, index: str = "run_by_status") -> Line:
    return lambda w: w.line(w.by(index), [f"run.status = {w.bind(status)}"], "status")


def _undelivered(w: Writing) -> str:
    asides = "SELECT DISTINCT run FROM rest WHERE kind = 'aside'"
    return w.line(f"({asides}) AS via CROSS JOIN run", ["run.id = via.run"], "aside")


def _of_tasks(w: Writing, index: str, which: str) -> str:
    source, step = w.along("task", index), w.bind(w.filter.step)
    tasks = f"SELECT DISTINCT run FROM {source} WHERE step = {step} AND {which} ORDER BY run DESC LIMIT {MAX_TASKS}"
    return w.line(f"({tasks}) AS via CROSS JOIN run", ["run.id = via.run"], "step")


def _id_prefix(w: Writing) -> str:
    """By id, which is nearly the order of the starts: a short prefix may be that of every run."""
    assert w.filter.q is not None
    return w.line("run", [w.begins("run.id", w.filter.q)], "q", order=f"run.id {w.way}")


_PREFIXED: list[Line] = [
    lambda w: w.prefixed(w.by("run_by_subject"), "subject", "id"),
    lambda w: w.prefixed("run_key", "value", "run"),
    _id_prefix,
]
_DRIVEN: dict[str, list[Line]] = {
    "key": [lambda w: w.via("run_key", w.named("via", w.filter.key), "key")],
    "subject": [
        lambda w: w.line(w.by("run_by_subject"), [f"run.subject = {w.bind(w.filter.subject)}"], "subject")
    ],
    "parent": [
        lambda w: w.line(w.by("run_by_parent"), [f"run.parent = {w.bind(w.filter.parent)}"], "parent")
    ],
    "step": [
        lambda w: w.via("rest", ["via.kind = 'step'", f"via.name = {w.bind(w.filter.step)}"], "step"),
        lambda w: _of_tasks(w, "task_by_step", "worker IS NULL"),
        # There are never many that run: by the index of leases, for no other would be worth its cost.
        lambda w: _of_tasks(w, "task_by_expiry", f"worker IS NOT NULL AND expires < {w.dialect.never}"),
    ],
    "waiting_for": [lambda w: w.via("rest", w.waits("via"), "waiting_for")],
    "label": [lambda w: w.via("run_label", w.named("via", w.filter.label), "label")],
    "aside": [_undelivered],
}
