"""What is old goes: ended runs after their days, in every table, a little at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from penstock.store.protocol import Upkeep

DAYS = {
    "succeeded": timedelta(days=30),
    "canceled": timedelta(days=30),
    "failed": timedelta(days=90),
    "timed_out": timedelta(days=90),
}


@dataclass
class Retention:
    """On by default. Batches are small and apart, so that nobody waits for them."""

    store: Upkeep
    days: dict[str, timedelta] = field(default_factory=lambda: dict(DAYS))
    batch: int = 500
    every: timedelta = timedelta(minutes=5)
    pause: timedelta = timedelta(seconds=0.5)

    async def run(self) -> None:
        while True:
            while await self.run_once():
                await asyncio.sleep(self.pause.total_seconds())
            await asyncio.sleep(self.every.total_seconds())

    async def run_once(self) -> bool:
        """One batch; True where there may be more."""
        gone = await self.store.retain(self.days, self.batch, False)
        return any(count >= self.batch for count in gone.rows.values())
