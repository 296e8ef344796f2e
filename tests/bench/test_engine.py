"""The measurement of the engine: every run succeeds, every figure has its floor and its bar, gaps are told."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest
from bench.engine import figures as bars
from bench.engine.figures import Figure, Saturated, chain_figures, past_figures
from bench.engine.filling import PIECE, pieces
from bench.engine.measure import Sizes, measure
from bench.engine.places import PostgresPlace, SqlitePlace, places
from bench.engine.report import lines, plain, report_on
from bench.engine.workflows import CHAIN
from bench.floor.figures import Floor
from bench.floor.sqlite import floor
from tests.postgres_server import PostgresServer

from penstock.runtime.errors import Invalid

TINY = Sizes(runs=42, fans=(3, 1_000), singles=3, idle=0.1, past=120)
CHAINS = 1 + 2 * TINY.runs + 1 + TINY.singles + TINY.past
"""The node's run, those at saturation, the single ones with a first one to warm up, and the copies."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Figure]]:
    path = tmp_path_factory.mktemp("bench") / "bench.db"
    said: list[str] = []
    return path, asyncio.run(measure(SqlitePlace(path), TINY, said.append))


def test_every_workload_gives_its_figures(measured: tuple[Path, list[Figure]]) -> None:
    shown = [(each.work, each.unit, each.floor is None, each.bar) for each in measured[1]]
    assert shown == [
        ("W1 chain of 3 at saturation", "runs/s", False, 0.25),
        ("W2 fan of 3", "s", True, None),
        ("W2 fan of 1,000", "s", True, 0.5),
        ("W3 one run, idle: median", "ms", False, 2.5),
        ("W3 one run, idle: p95", "ms", True, None),
        ("W4 launch to first run", "s", True, None),
        ("W4 idle processor", "%", True, 1.0),
        ("W4 idle memory", "MB", True, 90.0),
        ("W6 cost after 120 runs", "runs/s", False, 1.2),
        ("W6 a finished run on disk", "bytes", True, None),
    ]
    assert all(each.value > 0 for each in measured[1] if each.work != "W4 idle processor")


def test_the_past_is_made_of_whole_finished_runs(measured: tuple[Path, list[Figure]]) -> None:
    pages = "(SELECT count(*) FROM history h WHERE h.run = r.id)"
    columns = f"status, count(*), min(length(id)), max(length(id)), sum({pages})"
    db = apsw.Connection(str(measured[0]))
    found = db.execute(f"SELECT {columns} FROM run r WHERE workflow = ? GROUP BY status", (CHAIN,)).fetchall()
    db.close()
    assert found == [("succeeded", CHAINS, 20, 20, 4 * CHAINS)]


def test_postgresql_is_measured_the_same_way(
    measured: tuple[Path, list[Figure]], server: PostgresServer
) -> None:
    url = server.create_database()
    found = asyncio.run(measure(PostgresPlace(url), TINY, print))
    counted = server.query(
        "SELECT status, count(*) FROM run WHERE workflow = 'bench-chain' GROUP BY 1", url.rpartition("/")[2]
    )
    assert [each.work for each in found] == [each.work for each in measured[1]]
    assert counted == f"succeeded|{CHAINS}"


def test_a_store_that_holds_runs_is_left_alone(measured: tuple[Path, list[Figure]]) -> None:
    with pytest.raises(Invalid, match="holds runs already"):
        asyncio.run(measure(SqlitePlace(measured[0]), TINY, print))


def test_the_floor_leaves_no_file_behind(tmp_path: Path) -> None:
    found = floor(tmp_path, runs=25, batch=10, singles=3)
    assert (len(found.latency), found.runs_per_s > 0, list(tmp_path.iterdir())) == (3, True, [])


def test_an_address_names_the_one_store_that_is_measured(tmp_path: Path) -> None:
    with places(f"sqlite://{tmp_path}/a.db") as found:
        assert [(each.name, each.url) for each in found] == [("sqlite", f"{tmp_path}/a.db")]
    with places("postgresql://me@there/bench") as found:
        assert [(each.name, each.url) for each in found] == [("postgresql", "postgresql://me@there/bench")]


def test_the_past_is_copied_in_pieces_that_leave_nothing_out() -> None:
    cut = list(pieces(2 * PIECE + 1))
    assert [last - first + 1 for first, last in cut] == [PIECE, PIECE, 1]
    assert all(before[1] + 1 == after[0] for before, after in pairwise(cut))


def _saturated(runs_per_s: float, floor: float) -> Saturated:
    return Saturated(runs_per_s, (Floor(floor * 0.5, (1.0,)), Floor(floor * 1.5, (1.0,))))


@pytest.mark.parametrize("store", bars.CHAIN_BARS)
def test_saturation_is_judged_by_its_part_of_the_floor_around_it(store: str) -> None:
    at_bar = _saturated(bars.CHAIN_BARS[store] * 1000, 1000)
    below = _saturated(bars.CHAIN_BARS[store] * 999, 1000)
    assert [chain_figures(store, each)[0].met for each in (at_bar, below)] == [True, False]


def test_the_past_is_judged_by_the_cost_beside_the_floor_of_the_moment() -> None:
    first = _saturated(300, 1000)
    slower_machine, slower_engine = _saturated(150, 500), _saturated(200, 1000)
    met = [past_figures("sqlite", 10, first, then, 900.0)[0].met for then in (slower_machine, slower_engine)]
    assert met == [True, False]


def test_the_report_tells_each_bar_and_whether_it_was_kept() -> None:
    kept = Figure(store="sqlite", work="W2 fan of 1,000", value=0.25, unit="s", bar=0.5)
    missed = msgspec.structs.replace(kept, value=0.75)
    free = Figure(store="sqlite", work="W4 launch to first run", value=123.4, unit="s")
    assert (report_on([kept, free]).met, report_on([kept, missed]).met) == (True, False)
    text = "\n".join(lines(report_on([kept, missed, free])))
    for part in (
        "0.25 s",
        "at most 0.5 s kept",
        "at most 0.5 s NOT KEPT",
        "123 s\n",
        "A promise was not kept.",
    ):
        assert part in text


def test_the_json_has_every_figure() -> None:
    figure = Figure(
        store="sqlite", work="w", value=2.0, unit="ms", floor=1.0, ratio=2.0, bar=2.5, judged="ratio"
    )
    row: dict[str, Any] = plain(report_on([figure]))["figures"][0]
    assert row == {
        "store": "sqlite",
        "work": "w",
        "value": 2.0,
        "unit": "ms",
        "floor": 1.0,
        "ratio": 2.0,
        "bar": 2.5,
        "judged": "ratio",
        "least": False,
        "met": True,
    }
