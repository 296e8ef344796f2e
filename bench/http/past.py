"""A store with a past for lists: many runs of every status, with subjects, labels, keys and times of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from urllib.parse import urlencode

from bench.engine.filling import FIRST, pieces

STATUSES = ("succeeded", "failed", "canceled", "timed_out", "waiting", "stalled")
LONG = dict.fromkeys(("succeeded", "failed", "canceled", "timed_out"), timedelta(days=36_500))
"""The past is years ago: retention must not clear it away meanwhile."""
SUBJECTS = 50_000
TEAMS = 200

_STATUS = (
    "CASE WHEN i % 100 < 90 THEN 'succeeded' WHEN i % 100 < 94 THEN 'failed' WHEN i % 100 < 96 THEN 'canceled'"
    " WHEN i % 100 < 97 THEN 'timed_out' WHEN i % 100 < 99 THEN 'waiting' ELSE 'stalled' END"
)
_LIVE = "i % 100 >= 97"
_ID = "'00000000' || CAST(i AS text)"


class Words:
    """What the two databases write differently."""

    def __init__(self, mark: str, time: str, label: str, waiting: str) -> None:
        self.mark, self.time, self.label, self.waiting = mark, time, label, waiting


SQLITE = Words(
    "?",
    f"1700000000000000 + (i - {FIRST}) * 1000000",
    "'{{\"team\":\"' || {team} || '\"}}'",
    "'[\"paid\"]'",
)
POSTGRES = Words(
    "$",
    f"timestamptz '2023-11-14' + (i - {FIRST}) * interval '1 second'",
    "jsonb_build_object('team', {team})",
    "jsonb '[\"paid\"]'",
)


def statements(tables: Mapping[str, Sequence[str]], words: Words) -> Iterator[str]:
    """SQL for each table that is there: values 1 and 2 are the first and last number, value 3 the run to copy."""
    team = f"'team ' || CAST(i % {TEAMS} AS text)"
    changed = {
        "id": _ID,
        "subject": f"'subject ' || CAST(i % {SUBJECTS} AS text)",
        "status": _STATUS,
        "labels": words.label.format(team=team),
        "started_at": words.time,
        "ended_at": f"CASE WHEN {_LIVE} THEN NULL ELSE {words.time} END",
        "waiting": f"CASE WHEN {_LIVE} THEN {words.waiting} ELSE NULL END",
    }
    yield _insert("run", tables["run"], changed, words, f"run WHERE id = {words.mark}3")
    beside: dict[str, tuple[dict[str, str], str]] = {
        "run_label": ({"name": "'team'", "value": team}, "TRUE"),
        "run_key": ({"name": "'order'", "value": "'o' || CAST(i AS text)"}, "i % 10 = 0"),
        "rest": ({"kind": "'event'", "name": "'paid'", "since": words.time}, _LIVE),
    }
    for table, (values, where) in beside.items():
        if table in tables:
            made = {"run": _ID, "started_at": words.time, **values}
            third = f"CAST({words.mark}3 AS text) IS NOT NULL"  # every statement has the same values
            yield _insert(table, tables[table], made, words, f"(SELECT 1) AS one WHERE {where} AND {third}")


def _insert(table: str, columns: Sequence[str], values: Mapping[str, str], words: Words, source: str) -> str:
    first, last = f"{words.mark}1", f"{words.mark}2"
    numbers = (
        f"WITH RECURSIVE n(i) AS (SELECT CAST({first} AS bigint)"
        f" UNION ALL SELECT i + 1 FROM n WHERE i < {last})"
    )
    made = ", ".join(values.get(name, name) for name in columns)
    return f"{numbers} INSERT INTO {table} ({', '.join(columns)}) SELECT {made} FROM n, {source}"


def ranges(times: int) -> Iterator[tuple[int, int]]:
    return pieces(times)


def queries(workflow: str, times: int) -> dict[str, str]:
    """Name and query string of each filter of the run list."""
    number = FIRST + times // 2
    filters: dict[str, dict[str, str]] = {
        "": {},
        "workflow": {"workflow": workflow},
        "version": {"workflow": workflow, "version": "1"},
        "status": {"status": "failed"},
        "workflow and status": {"workflow": workflow, "status": "failed,stalled"},
        "subject": {"subject": "subject 4711"},
        "label": {"label": "team=team 7"},
        "label and status": {"label": "team=team 7", "status": "canceled"},
        "key": {"key": f"order=o{number - number % 10}"},
        "step": {"workflow": workflow, "step": "two"},
        "waiting_for": {"waiting_for": "paid"},
        "since and until": {"since": "2023-11-15T00:00:00Z", "until": "2023-11-16T00:00:00Z"},
        "q, a subject": {"q": "subject 47"},
        "q, an id": {"q": f"00000000{number}"},
        "q, nothing": {"q": "there is no such thing"},
        "sort": {"sort": "oldest"},
    }
    return {name: urlencode({**each, "limit": "50"}) for name, each in filters.items()}
