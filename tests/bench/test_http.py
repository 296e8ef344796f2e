"""The measurement of the service: real processes are asked, every figure has its floor and its bar, gaps are told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from bench.engine.places import Place, PostgresPlace, SqlitePlace
from bench.engine.workflows import CHAIN, DEFINITIONS, tasks
from bench.engine.workloads import NotDone
from bench.http.figures import beside, beside_figures, list_figures, step_figures
from bench.http.load import Ask, Heard
from bench.http.measure import CALL, HELLO, START, _far
from bench.http.past import LONG, queries
from bench.http.places import fill
from bench.http.processes import load, process
from tests.postgres_server import PostgresServer

from penstock import Engine

SHORT = 0.2


def short(ask: Ask) -> Ask:
    return Ask(method=ask.method, path=ask.path, body=ask.body, connections=2, seconds=SHORT)


def heard(per_s: float, *latency: float) -> Heard:
    return Heard(per_s=per_s, latency=list(latency), wrong=[])


def test_the_bare_framework_starts_and_calls_are_answered(tmp_path: Path) -> None:
    found = []
    for args, asks in ((("hello",), [HELLO]), (("api", str(tmp_path / "b.db")), [START, CALL])):
        with process("node", *args) as node, process("load", node.hear()) as client:
            found += [load(client, short(ask)) for ask in asks]

    assert all(each.per_s > 0 and each.latency == sorted(each.latency) for each in found)
    with Engine.sync(str(tmp_path / "b.db"), work=False) as engine:
        started = engine.counts(workflow="bench-start")["running"]
    assert started >= len(found[1].latency)


def test_an_answer_that_is_not_good_is_no_figure() -> None:
    refused = pytest.raises(NotDone, match="404")
    with process("node", "hello") as node, process("load", node.hear()) as client, refused:
        load(client, short(Ask(method="GET", path="/nothing")))


def test_a_worker_over_http_does_every_step(tmp_path: Path) -> None:
    assert _far(str(tmp_path / "b.db"), 20) > 0
    with Engine.sync(str(tmp_path / "b.db"), work=False) as engine:
        assert engine.counts(workflow=CHAIN)["succeeded"] == 20


def test_figures_have_their_floor_and_their_bar() -> None:
    found = beside(heard(250, 1.0, 2.0), heard(900), heard(1100))
    rate, slow = beside_figures("sqlite", "H1", found, 0.2)
    [steps] = step_figures("sqlite", 900, 200)
    lists = list_figures("sqlite", 10, {"": heard(1, 99.0), "q": heard(1, 101.0)})

    assert (rate.value, rate.floor, rate.ratio, rate.bar, rate.met) == (250, 1000, 0.25, 0.2, True)
    assert (slow.value, slow.met, steps.met) == (2.0, None, False)
    assert [(each.work, each.met) for each in lists] == [
        ("H4 list of 10: all: p95", True),
        ("H4 list of 10: q: p95", False),
    ]


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return SqlitePlace(tmp_path / "b.db")
    server: PostgresServer = request.getfixturevalue("server")
    return PostgresPlace(server.create_database())


def test_the_past_has_runs_of_every_kind_and_each_filter_finds_some(place: Place) -> None:
    async def one() -> str:
        async with Engine(place.url, tasks=tasks()) as engine:
            await engine.publish(DEFINITIONS[0])
            run = await engine.wait(await engine.start(CHAIN), 20)
            return str(run["id"])

    fill(place, asyncio.run(one()), 1_000)
    with Engine.sync(place.url, work=False, retention=LONG) as engine:
        counts = engine.counts(workflow=CHAIN)
        found = [
            engine.runs(**filters)
            for filters in (
                {"subject": "subject 47"},
                {"label": ("team", "team 7")},
                {"waiting_for": "paid"},
                {"key": ("order", "o100000000010")},
            )
        ]

    assert {name: count for name, count in counts.items() if count} == {
        "succeeded": 901,
        "failed": 40,
        "canceled": 20,
        "timed_out": 10,
        "waiting": 20,
        "stalled": 10,
    }
    assert [len(each) for each in found] == [1, 5, 30, 1]
    assert len(set(queries(CHAIN, 1_000).values())) == 16
