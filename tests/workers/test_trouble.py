"""What a worker tells people: when its gate is away and back, and what became of work as it stopped."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from penstock.runtime.dispatch.gate import Assignment
from penstock.store.errors import StoreAway
from penstock.store.rows.rows import ClaimRequest
from penstock.testing.scripted_gate import ScriptedGate
from tests.workers.working import reported, working


def test_a_gate_that_is_away_is_told_once_and_its_return_too(caplog: pytest.LogCaptureFixture) -> None:
    class Away(ScriptedGate):
        tries, back = 0, False

        async def claim(self, wish: ClaimRequest, wait: timedelta) -> list[Assignment]:
            if not self.back:
                self.tries += 1
                raise StoreAway("nobody is there")
            return await super().claim(wish, wait)

    async def main() -> None:
        gate = Away()
        run = gate.give("echo")
        async with working(gate, {"echo": lambda: None}):
            await gate.until(lambda: gate.tries >= 4)
            gate.back = True
            await reported(gate, run)

    with caplog.at_level("INFO"):
        asyncio.run(main())
    told = [each.getMessage() for each in caplog.records if each.name.startswith("penstock")]
    assert sum("nobody is there" in text for text in told) == 1
    assert sum(text.endswith("continues") for text in told) == 1


@pytest.mark.parametrize(
    ("hands_back", "told"),
    [(True, ("INFO", "is given back")), (False, ("WARNING", "did not end in the time"))],
)
def test_work_that_goes_on_elsewhere_is_no_reason_to_warn(
    hands_back: bool, told: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async def endless() -> None:
        await asyncio.Event().wait()

    async def main() -> str:
        gate = ScriptedGate()
        run = gate.give("endless")
        more = {"hands_back": hands_back, "grace": timedelta(0)}
        async with working(gate, {"endless": endless}, **more) as worker:
            await gate.until(lambda: worker.counts["worker.claimed"])
        return run

    with caplog.at_level("INFO"):
        run = asyncio.run(main())
    level, why = told
    [said] = [each for each in caplog.records if each.name == "penstock.worker"]
    assert (said.levelname, said.message.startswith(f"task endless of run {run} {why}")) == (level, True)
