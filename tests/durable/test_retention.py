"""Old runs go: those of a workflow after the time that it says itself, by its newest version."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from penstock import Engine
from penstock.runtime.node.retention import DEFAULT_RETENTION, Own, Retention
from tests.durable.conftest import Place


def kept_for(name: str, retention: str) -> str:
    return f"penstock: 1\nname: {name}\n{retention}\nsteps:\n  a: {{task: set, with: {{x: 1}}}}\n"


def test_runs_of_a_workflow_go_after_its_own_time(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(kept_for("short", "retention: 1ms"))
        await engine.publish(kept_for("plain", ""))
        for name in ("short", "plain", "short"):
            await engine.wait(await engine.start(name), 30)
        await asyncio.sleep(0.01)  # longer than they are kept

        await Retention((await engine.running()).store).run_once()

        assert [run["workflow"] for run in await engine.runs()] == ["plain"]

    place.run(main)


def test_what_the_newest_version_says_holds_for_all(place: Place) -> None:
    async def main(engine: Engine) -> None:
        store, own = (await engine.running()).store, Own()
        await engine.publish(kept_for("w", "retention: 7d"))
        first = await own.ages(store)
        await engine.publish(kept_for("w", "retention: 2h"))
        second = await own.ages(store)
        await engine.publish(kept_for("w", "description: no retention of its own"))

        assert (first, second) == ({"w": timedelta(days=7)}, {"w": timedelta(hours=2)})
        assert await own.ages(store) == {}
        assert DEFAULT_RETENTION["succeeded"] == timedelta(days=30)

    place.run(main)
