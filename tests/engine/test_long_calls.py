"""A call that goes on and on is given up before it fills the memory, and one that is only long is not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from penstock import Engine
from penstock.runtime.call_errors import CannotCall

SET = {"task": "set", "with": {"n": 1}}
TIMED = {**SET, "timeouts": {"start_to_close": "9s"}}


def loop(step: dict[str, Any]) -> dict[str, Any]:
    steps = {"a": {**step, "after": "START | b"}, "b": {**step, "after": "a"}}
    return {"penstock": 1, "name": "w", "endless": True, "steps": steps}


def call(workflow: dict[str, Any], **more: Any) -> Any:
    async def main() -> Any:
        async with Engine("memory:", tasks={"f": lambda: 1}) as engine:
            await engine.publish(workflow)
            return await engine.call("w", timeout=30, **more)

    return asyncio.run(main())


@pytest.mark.parametrize("step", [SET, {"task": "f"}, TIMED], ids=["set", "task", "timed"])
def test_a_loop_is_given_up(step: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.workers.execute.workflow_call.MAX_HISTORY", 5_000)

    with pytest.raises(
        CannotCall, match="it came to more than 5,000 entries of history; start a run instead"
    ):
        call(loop(step))


def test_a_call_over_as_many_items_as_a_run_may_have_is_not_too_long() -> None:
    each = {"penstock": 1, "name": "w", "steps": {"a": {"task": "f", "each": "data", "emits": "OK"}}}

    assert call(each, input=list(range(20_000)))["status"] == "succeeded"
