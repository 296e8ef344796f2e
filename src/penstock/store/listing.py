"""Lists of runs as SQL, for both databases: which indexes to walk for a filter, and in which order.

A list is a few *lines*, each a walk along one index that lies in the order of the list, so that a page costs the same
among a hundred runs and among a million. The lines are merged. SQL is put together here and not in a `.sql` file:
what a filter does not ask for must not be in the statement, or SQLite finds no index for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from penstock.store.rows import Filter, RunRow

COLUMNS = [
    "id",
    "workflow",
    "version",
    "subject",
    "status",
    "parent",
    "labels",
    "waiting",
    "started_at",
    "ended_at",
]
STATUSES = ("running", "waiting", "paused", "stalled", "succeeded", "failed", "canceled", "timed_out")
ENDED = STATUSES[4:]
UNTROUBLED = ("running", "succeeded")
TOGETHER = 40
"""Lines that are asked for in one statement."""

MOST_TASKS = 20_000
"""Tasks of one step that a list by step looks at: the newest."""

MOST_FOUND = 20_000
"""Runs that a list by prefix looks through, beside the latest ones."""

LATEST = 300
"""Runs of each status that a list by prefix looks at, whatever their names are."""

FEW = 5_000
"""So many runs are rather sorted than looked for along another index."""

LAST = "\U0010ffff"
"""After every text."""

Pair = tuple[str, int]
"""A workflow and one of its versions."""


class Dialect(Struct, frozen=True):
    """What the two databases write differently."""

    mark: str  # before the number of a value
    hints: bool  # whether a statement may say which index to use
    time: Callable[[datetime], Any]


class Question(Struct, frozen=True):
    """One statement and its values, by number."""

    sql: str
    values: tuple[Any, ...]


class _Writing:
    """One statement being put together."""

    def __init__(self, filter: Filter, dialect: Dialect, names: Sequence[str] | None) -> None:
        self.filter, self.dialect, self.names = filter, dialect, names
        self.values: list[Any] = []
        self.way, self.beyond = ("ASC", ">") if filter.sort == "oldest" else ("DESC", "<")
        self.at = "ended_at" if filter.sort == "ended" else "started_at"

    def bind(self, value: Any) -> str:
        if isinstance(value, datetime):
            value = self.dialect.time(value)
        self.values.append(value)
        return f"{self.dialect.mark}{len(self.values)}"

    def any_of(self, column: str, values: Iterable[Any]) -> str:
        marks = ", ".join([self.bind(value) for value in values])
        return f"{column} IN ({marks})" if marks else "1 = 0"

    def by(self, index: str) -> str:
        return f"run INDEXED BY {index}" if self.dialect.hints else "run"

    # -- lines -----------------------------------------------------------------------------------------------

    def line(
        self,
        source: str,
        driver: Sequence[str],
        drives: str,
        at: str = "",
        id: str = "run.id",
        order: str = "",
    ) -> str:
        """One walk: what drives it, where the page begins, and whatever else is asked for."""
        at = at or f"run.{self.at}"
        where = [*driver, *self.window(at, id), *self.conditions(drives.split())]
        if self.at == "ended_at":
            where.append("run.ended_at IS NOT NULL")
        columns = ", ".join([f"run.{name}" for name in COLUMNS])
        order = order or f"{at} {self.way}, {id} {self.way}"
        limit = self.bind(self.filter.limit)
        return f"SELECT {columns} FROM {source} WHERE {' AND '.join(where)} ORDER BY {order} LIMIT {limit}"

    def window(self, at: str, id: str) -> list[str]:
        """From when to when, and after which row."""
        filter = self.filter
        found = []
        started = at if self.at == "started_at" else "run.started_at"
        if filter.since is not None:
            found.append(f"{started} >= {self.bind(filter.since)}")
        if filter.until is not None:
            found.append(f"{started} < {self.bind(filter.until)}")
        if filter.after is not None:
            moment, run = (self.bind(value) for value in filter.after)
            found.append(f"({at}, {id}) {self.beyond} ({moment}, {run})")
        return found

    def via(self, table: str, driver: Sequence[str], drives: str) -> str:
        """A walk along another table that lies in the order of the starts; its runs are looked up."""
        source = f"{table} AS via CROSS JOIN run"
        joined = ["run.id = via.run", *driver]
        if self.at == "ended_at":
            return self.line(source, joined, drives)
        return self.line(source, joined, drives, "via.started_at", "via.run")

    def prefixed(self, source: str, column: str, id: str) -> str:
        """What begins with a text, by the index alone; of very many, the first. Their rows are looked up after that."""
        begins = self.begins(column, self.filter.q or "")
        inner = f"SELECT {id} AS run, started_at FROM {source} WHERE {begins} LIMIT {MOST_FOUND}"
        if self.at == "started_at" and not self.others("q"):  # no row has to be looked at to choose
            where = " AND ".join(self.window("started_at", "run")) or "1 = 1"
            order = f"started_at {self.way}, run {self.way} LIMIT {self.bind(self.filter.limit)}"
            inner = f"SELECT run FROM ({inner}) AS cut WHERE {where} ORDER BY {order}"
        return self.line(f"({inner}) AS via CROSS JOIN run", ["run.id = via.run"], "q")

    def latest(self, status: str) -> str:
        """Of the next few runs of a status, those that are found: where very many are, it is these one looks for."""
        window = self.window(f"run.{self.at}", "run.id")
        where = " AND ".join([f"run.status = {self.bind(status)}", f"run.{self.at} IS NOT NULL", *window])
        index = "run_by_end" if self.at == "ended_at" else "run_by_status"
        order = f"run.{self.at} {self.way}, run.id {self.way} LIMIT {LATEST}"
        inner = f"SELECT id AS run FROM {self.by(index)} WHERE {where} ORDER BY {order}"
        return self.line(f"({inner}) AS via CROSS JOIN run", ["run.id = via.run"], "")

    # -- conditions ------------------------------------------------------------------------------------------

    def others(self, drives: str) -> bool:
        """Whether more is asked for than what drives the line."""
        return any(name not in drives.split() for name, asked, _ in self.asked() if asked)

    def conditions(self, drives: Sequence[str] = ()) -> list[str]:
        """Each thing that is asked for, as a condition on a row of `run`, but for what drives the line."""
        return [write() for name, asked, write in self.asked() if asked and name not in drives]

    def asked(self) -> list[tuple[str, bool, Callable[[], str]]]:
        filter = self.filter
        return [
            ("workflow", self.names is not None, lambda: self.any_of("run.workflow", self.names or ())),
            ("version", filter.version is not None, lambda: f"run.version = {self.bind(filter.version)}"),
            ("status", bool(filter.statuses), lambda: self.any_of("run.status", filter.statuses)),
            ("subject", filter.subject is not None, lambda: f"run.subject = {self.bind(filter.subject)}"),
            ("parent", filter.parent is not None, lambda: f"run.parent = {self.bind(filter.parent)}"),
            ("label", filter.label is not None, self.labelled),
            ("key", filter.key is not None, self.keyed),
            ("waiting_for", filter.waiting_for is not None, self.waiting),
            ("step", filter.step is not None, self.at_step),
            ("aside", filter.aside, self.set_aside),
            ("q", filter.q is not None, self.found),
        ]

    def labelled(self) -> str:
        same = "x.started_at = run.started_at AND x.run = run.id"
        return self.exists("run_label", same, self.named("x", self.filter.label))

    def keyed(self) -> str:
        return self.exists("run_key", "x.run = run.id", self.named("x", self.filter.key))

    def waiting(self) -> str:
        return self.exists("rest", "x.run = run.id", self.waits("x"))

    def set_aside(self) -> str:
        return self.exists("rest", "x.run = run.id", ["x.kind = 'aside'"])

    def at_step(self) -> str:
        step = self.bind(self.filter.step)
        resting = self.exists("rest", "x.run = run.id", [f"x.kind = 'step' AND x.name = {step}"])
        return f"({resting} OR {self.exists('task', 'x.run = run.id', [f'x.step = {step}'])})"

    def found(self) -> str:
        q = self.filter.q or ""
        held = self.exists("run_key", "x.run = run.id", [self.begins("x.value", q)])
        return f"({self.begins('run.subject', q)} OR {self.begins('run.id', q)} OR {held})"

    def exists(self, table: str, same: str, more: Sequence[str]) -> str:
        return f"EXISTS (SELECT 1 FROM {table} AS x WHERE {' AND '.join([same, *more])})"

    def named(self, of: str, pair: tuple[str, str] | None) -> list[str]:
        assert pair is not None
        return [f"{of}.name = {self.bind(pair[0])}", f"{of}.value = {self.bind(pair[1])}"]

    def waits(self, of: str) -> list[str]:
        found = [f"{of}.kind = 'event'", f"{of}.name = {self.bind(self.filter.waiting_for)}"]
        if self.filter.waiting_since is not None:
            since = self.bind(self.filter.waiting_since)
            found.append(f"{of}.since <= {since} AND {of}.started_at <= {since}")
        return found

    def begins(self, column: str, prefix: str) -> str:
        return f"({column} >= {self.bind(prefix)} AND {column} < {self.bind(prefix + LAST)})"


Line = Callable[[_Writing], str]


def questions(
    filter: Filter, dialect: Dialect, names: Sequence[str] | None, driver: str, pairs: Sequence[Pair]
) -> list[Question]:
    """The statements whose rows, merged, are the list.

    `names` are the workflows that the filter allows, `pairs` all versions of them that have runs, where the list is
    driven by "version".
    """
    made = []
    lines = _lines(filter, names, driver, pairs)
    for first in range(0, len(lines), TOGETHER):
        writing = _Writing(filter, dialect, names)
        parts = [
            f"SELECT * FROM ({line(writing)}) AS line{number}"
            for number, line in enumerate(lines[first : first + TOGETHER])
        ]
        made.append(Question(" UNION ALL ".join(parts), tuple(writing.values)))
    return made


def count_question(filter: Filter, dialect: Dialect, names: Sequence[str] | None) -> Question:
    """How many runs of each status the filter finds; where the page begins does not count."""
    writing = _Writing(replace(filter, after=None), dialect, names)
    conditions = [*writing.conditions(), *writing.window("run.started_at", "run.id")]
    sql = f"SELECT status, count(*) FROM run WHERE {' AND '.join(conditions) or '1 = 1'} GROUP BY status"
    return Question(sql, tuple(writing.values))


def allowed(filter: Filter, known: Callable[[], Sequence[str]]) -> list[str] | None:
    """The workflows whose runs may be listed; None: all. `known` tells those that have runs, for patterns."""
    patterns = filter.workflows
    if filter.workflow is None and patterns is None:
        return None
    names = known() if filter.workflow is None else [filter.workflow]
    return [name for name in names if patterns is None or any(fnmatchcase(name, one) for one in patterns)]


def probe(filter: Filter, dialect: Dialect, names: Sequence[str] | None) -> Question | None:
    """Whether there are few runs to be sorted by their end: a question for their number, up to one more than FEW."""
    if _driver(filter, names) != "end" or (names is None and filter.label is None):
        return None
    writing = _Writing(filter, dialect, names)
    if filter.label is not None:
        source = f"run_label AS via WHERE {' AND '.join(writing.named('via', filter.label))}"
    else:
        source = f"{writing.by('run_by_version')} WHERE {writing.any_of('workflow', names or ())}"
    return Question(
        f"SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {FEW + 1}) AS x", tuple(writing.values)
    )


def driver_of(filter: Filter, names: Sequence[str] | None, number: int | None) -> str:
    """What the list walks along; `number` is what `probe` told."""
    if number is None or number > FEW:
        return _driver(filter, names)
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
        return [_ended(status) for status in filter.statuses or ENDED if status in ENDED]
    if driver == "q":
        statuses = filter.statuses or (ENDED if filter.sort == "ended" else STATUSES)
        return [_subject_prefix, _key_prefix, _id_prefix, *(_latest(status) for status in statuses)]
    return _FEW[driver]


def _of_version(pair: Pair) -> Line:
    def line(w: _Writing) -> str:
        driver = [f"run.workflow = {w.bind(pair[0])}", f"run.version = {w.bind(pair[1])}"]
        return w.line(w.by("run_by_version"), driver, "workflow version")

    return line


def _of_trouble(name: str, status: str) -> Line:
    def line(w: _Writing) -> str:
        driver = [f"run.workflow = {w.bind(name)}", f"run.status = {w.bind(status)}"]
        driver.append("run.status NOT IN ('running', 'succeeded')")
        return w.line(w.by("run_by_trouble"), driver, "workflow status")

    return line


def _in_status(status: str) -> Line:
    return lambda w: w.line(w.by("run_by_status"), [f"run.status = {w.bind(status)}"], "status")


def _ended(status: str) -> Line:
    return lambda w: w.line(w.by("run_by_end"), [f"run.status = {w.bind(status)}"], "status")


def _subject(w: _Writing) -> str:
    return w.line(w.by("run_by_subject"), [f"run.subject = {w.bind(w.filter.subject)}"], "subject")


def _parent(w: _Writing) -> str:
    return w.line(w.by("run_by_parent"), [f"run.parent = {w.bind(w.filter.parent)}"], "parent")


def _label(w: _Writing) -> str:
    return w.via("run_label", w.named("via", w.filter.label), "label")


def _key(w: _Writing) -> str:
    return w.via("run_key", w.named("via", w.filter.key), "key")


def _waiting(w: _Writing) -> str:
    return w.via("rest", w.waits("via"), "waiting_for")


def _aside(w: _Writing) -> str:
    asides = "SELECT DISTINCT run FROM rest WHERE kind = 'aside'"
    return w.line(f"({asides}) AS via CROSS JOIN run", ["run.id = via.run"], "aside")


def _resting_step(w: _Writing) -> str:
    return w.via("rest", ["via.kind = 'step'", f"via.name = {w.bind(w.filter.step)}"], "step")


def _step_under_way(w: _Writing) -> str:
    tasks = f"SELECT DISTINCT run FROM task WHERE step = {w.bind(w.filter.step)} ORDER BY run DESC LIMIT {MOST_TASKS}"
    return w.line(f"({tasks}) AS via CROSS JOIN run", ["run.id = via.run"], "step")


def _subject_prefix(w: _Writing) -> str:
    return w.prefixed(w.by("run_by_subject"), "subject", "id")


def _key_prefix(w: _Writing) -> str:
    return w.prefixed("run_key", "value", "run")


def _latest(status: str) -> Line:
    return lambda w: w.latest(status)


def _id_prefix(w: _Writing) -> str:
    """By id, which is nearly the order of the starts: a short prefix may be that of every run."""
    assert w.filter.q is not None
    return w.line("run", [w.begins("run.id", w.filter.q)], "q", order=f"run.id {w.way}")


_FEW: dict[str, list[Line]] = {
    "key": [_key],
    "subject": [_subject],
    "parent": [_parent],
    "step": [_resting_step, _step_under_way],
    "waiting_for": [_waiting],
    "label": [_label],
    "aside": [_aside],
}
