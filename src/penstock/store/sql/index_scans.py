"""Builds one statement of a list of runs: conditions, page start, index scans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from penstock.store.rows.rows import Filter, RunRow

COLUMNS = ["waiting" if name == "waiting_for" else name for name in RunRow.__struct_fields__]
MAX_TASKS = 20_000
"""Tasks of one step that a list by step looks at: the newest."""

MAX_FOUND = 20_000
"""Runs that a list by prefix looks through, beside the latest ones."""

MAX_LATEST = 300
"""Runs of each status that a list by prefix looks at, whatever their names are."""

LAST = "\U0010ffff"
"""After every text."""


class Dialect(Struct, frozen=True):
    """What the two databases write differently."""

    mark: str  # before the number of a value
    hints: bool  # whether a statement may say which index to use
    time: Callable[[datetime], Any]
    never: str  # later than every time


class Question(Struct, frozen=True):
    """One statement and its values, by number."""

    sql: str
    values: tuple[Any, ...]


class Writing:
    """One statement being put together."""

    def __init__(self, filter: Filter, dialect: Dialect, names: Sequence[str] | None) -> None:
        self.filter, self.dialect, self.names = filter, dialect, names
        self.values: list[Any] = []
        self.paged = True
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
        return self.along("run", index)

    def along(self, table: str, index: str) -> str:
        return f"{table} INDEXED BY {index}" if self.dialect.hints else table

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
        """A walk along another table that lies in the order of the starts; its runs are looked up.

        Where only some statuses are asked for, by the index of those: thousands of runs of others are passed by
        without their rows being read.
        """
        joined = ["run.id = via.run", *driver]
        if self.at == "ended_at":
            return self.line(f"{table} AS via CROSS JOIN run", joined, drives)
        run = "run"
        if self.filter.statuses and self.dialect.hints:
            run, joined = self.by("run_by_status"), [*joined, "run.started_at = via.started_at"]
        return self.line(f"{table} AS via CROSS JOIN {run}", joined, drives, "via.started_at", "via.run")

    def prefixed(self, source: str, column: str, id: str) -> str:
        """What begins with a text, by the index alone; of very many, the first. Their rows are looked up after that."""
        begins = self.begins(column, self.filter.q or "")
        inner = f"SELECT {id} AS run, started_at FROM {source} WHERE {begins} LIMIT {MAX_FOUND}"
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
        order = f"run.{self.at} {self.way}, run.id {self.way} LIMIT {MAX_LATEST}"
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
            ("aside", filter.aside, self.undelivered),
            ("q", filter.q is not None, self.found),
        ]

    def labelled(self) -> str:
        same = "x.started_at = run.started_at AND x.run = run.id"
        return self.exists("run_label", same, self.named("x", self.filter.label))

    def keyed(self) -> str:
        return self.exists("run_key", "x.run = run.id", self.named("x", self.filter.key))

    def waiting(self) -> str:
        return self.exists("rest", "x.run = run.id", self.waits("x"))

    def undelivered(self) -> str:
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
        found = f"SELECT 1 FROM {table} AS x WHERE {' AND '.join([same, *more])}"
        # Of a page few rows are looked at: PostgreSQL would read all that EXISTS may find first, and join.
        return f"({found} LIMIT 1) = 1" if self.paged else f"EXISTS ({found})"

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
