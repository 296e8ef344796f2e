"""C7: the id of an event counts for seven days by the clock of the database, and not for ever."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from penstock.flow.model.run_input import Outside
from penstock.store.open import open_store
from tests.trust.test_ticking import Shifted, nodes

WAITS = """
penstock: 1
name: waits
external: [paid]
steps:
  ship: {task: set, after: paid, with: {x: 1}}
"""
PAUSES = (timedelta(0), timedelta(days=6, hours=23), timedelta(hours=2))


def test_c7_the_id_of_an_event_counts_for_seven_days(url: str) -> None:
    clock = Shifted()

    async def main() -> list[str]:
        await (await open_store(url, clock=clock)).close()
        answers: list[str] = []
        for pause in PAUSES:
            clock.ahead += pause
            await clock.set(url)
            async with nodes(url, clock, 1, feed=False) as [only]:  # each remembers nothing of the one before
                await only.catalog.publish(WAITS)
                event = Outside(event="paid", id="m1")
                answers.append(await only.node.commands.emit_by_key({"order": "7"}, event, "shop"))
        return answers

    assert asyncio.run(main()) == ["accepted", "duplicate", "accepted"]
