"""What Prometheus reads is what happened, with few labels, and without the database too."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec import Struct

from penstock import Engine
from penstock.metrics import prometheus
from penstock.metrics.prometheus import Metrics
from penstock.store.errors import StoreAway
from tests.metrics.watching import BROKEN, TASKS, TEXT, samples

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"


class Route(Struct):
    path: str


class Hooked(Struct):
    taken: Counter[str]
    refused: Counter[str]


async def played(engine: Engine) -> Metrics:
    """An engine on which some things have happened, watched."""
    running = await engine.running()
    counts = running.worker.counts if running.worker is not None else None
    hooked = Hooked(Counter(taken=2), Counter(mismatch=3))
    metrics = Metrics(running.node, counts=counts, hooks=hooked, trigger_counts=running.triggers)
    await engine.publish(TEXT)
    await engine.publish(BROKEN)
    ended = await engine.start("w", idempotency_key="k")
    assert await engine.start("w", idempotency_key="k") == ended
    await engine.emit("go", run=ended, id="1")
    assert (await engine.wait(ended, 10))["status"] == "succeeded"
    assert (await engine.wait(await engine.start("broken"), 10))["status"] == "failed"
    waiting = await engine.start("w")
    await engine.wait(waiting, 10, rest=True)
    return metrics


def test_runs_attempts_and_reports_are_counted() -> None:
    async def main() -> dict[str, float]:
        async with Engine("memory:", tasks=TASKS) as engine:
            text, media = await (await played(engine)).exposition()
            assert media.startswith("text/plain")
            return samples(text)

    found = asyncio.run(main())
    expected = {
        "penstock_runs_started_total{workflow=w}": 2,
        "penstock_runs_started_total{workflow=broken}": 1,
        "penstock_runs_ended_total{status=succeeded,workflow=w}": 1,
        "penstock_runs_ended_total{status=failed,workflow=broken}": 1,
        "penstock_attempts_total{outcome=done,workflow=w}": 3,
        "penstock_attempts_total{outcome=failed,workflow=w}": 2,
        "penstock_attempts_total{outcome=failed,workflow=broken}": 1,
        "penstock_run_seconds_count{workflow=w}": 1,
        "penstock_duplicates_total": 1,
        "penstock_hooks_total{answer=taken}": 2,
        "penstock_hooks_refused_total{reason=mismatch}": 3,
        "penstock_reports_late_total": 0,
        "penstock_worker_total{what=claimed}": 6,
        "penstock_store_up": 1,
        "penstock_workers": 1,
        "penstock_worker_room": 100,
    }
    assert {name: found.get(name) for name in expected} == expected
    assert found["penstock_commits_total"] == found["penstock_commit_seconds_count"] > 0
    assert found["penstock_commit_runs_sum"] >= found["penstock_commit_runs_count"]


def test_task_lists_show_what_waits_and_since_when() -> None:
    async def main() -> dict[str, float]:
        async with Engine("memory:", tasks=TASKS) as engine:
            metrics = await played(engine)
            await engine.publish(
                {"penstock": 1, "name": "idle", "steps": {"a": {"task": "nobody", "task_list": "far"}}}
            )
            running = await engine.running()
            await running.node.commands.start("idle")
            return samples((await metrics.exposition())[0])

    found = asyncio.run(main())
    assert found["penstock_queue_ready{task_list=far}"] == 1
    assert 0 <= found["penstock_queue_oldest_seconds{task_list=far}"] < 30


def test_requests_are_counted_by_their_template() -> None:
    async def main() -> dict[str, float]:
        async with Engine("memory:", tasks={}) as engine:
            metrics = Metrics((await engine.running()).node)
            for status in (200, 200, 404):
                metrics.called(Route("/api/runs/{id}"), "GET", status, 0.002)
            metrics.called(None, "BREW", 404, 0.001)
            return samples((await metrics.exposition())[0])

    found = asyncio.run(main())
    assert {
        name: value for name, value in found.items() if name.startswith("penstock_http_requests_total")
    } == {
        "penstock_http_requests_total{method=GET,route=/api/runs/{id},status=200}": 2,
        "penstock_http_requests_total{method=GET,route=/api/runs/{id},status=404}": 1,
        "penstock_http_requests_total{method=any,route=unknown,status=404}": 1,
    }
    assert found["penstock_http_request_seconds_bucket{le=0.0025,route=/api/runs/{id}}"] == 3


def test_a_database_that_is_away_costs_only_what_is_in_it() -> None:
    async def main() -> dict[str, float]:
        async with Engine("memory:", tasks=TASKS) as engine:
            metrics = await played(engine)

            async def away() -> Any:
                raise StoreAway("the connection is lost")

            metrics.node.store.queues = away  # type: ignore[method-assign]
            return samples((await metrics.exposition())[0])

    found = asyncio.run(main())
    assert (found["penstock_store_up"], found["penstock_workers"]) == (0, 0)
    assert found["penstock_runs_started_total{workflow=w}"] == 2


def test_ever_more_workflows_do_not_make_ever_more_series(monkeypatch: Any) -> None:
    monkeypatch.setattr(prometheus, "MAX_LABEL_VALUES", 2)

    async def main() -> dict[str, float]:
        async with Engine("memory:", tasks={}) as engine:
            metrics = Metrics((await engine.running()).node)
            for number in range(5):
                await engine.publish({"penstock": 1, "name": f"w{number}", "steps": {"a": {"task": "set"}}})
                await engine.wait(await engine.start(f"w{number}"), 10)
            return samples((await metrics.exposition())[0])

    found = asyncio.run(main())
    assert {
        name: value for name, value in found.items() if name.startswith("penstock_runs_started_total")
    } == {
        "penstock_runs_started_total{workflow=w0}": 1,
        "penstock_runs_started_total{workflow=w1}": 1,
        "penstock_runs_started_total{workflow=other}": 3,
    }


def test_every_metric_is_on_its_page_and_none_is_left_over() -> None:
    async def main() -> set[str]:
        async with Engine("memory:", tasks=TASKS) as engine:
            text = (await (await played(engine)).exposition())[0].decode()
            return set(re.findall(r"^# TYPE (penstock_\w+)", text, re.M))

    made = asyncio.run(main())
    shown = set(re.findall(r"^\| `(penstock_\w+)`", PAGE.read_text(encoding="utf-8"), re.M))

    assert {name for name in made if not name.endswith("_created")} == shown
