"""C15: of a cancel and what comes at the same time one is first, in every order; after the answer nothing goes on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from penstock.engine.services import EngineServices
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Done, Failed, Outcome
from penstock.runtime.dispatch.gate import Assignment, Report, Verdict
from penstock.store.rows.rows import ClaimRequest, Heartbeat
from tests.chaos.checking import Ran, read_runs, torn
from tests.trust.racing import Pair, two_nodes

ORDERS = ("aabb", "abab", "abba", "baab", "baba", "bbaa")
"""All of them: `a` is the cancel, `b` its rival; each decides, and then commits."""

RACED = """
penstock: 1
name: raced
defaults: {task_list: far}
steps:
  load: {task: load, retries: 1, backoff: {initial: 10ms, jitter: 0}}
  next: {task: next, after: load}
  undo: {task: undo, after: CANCEL}
"""
RIVALS: dict[str, Outcome] = {
    "done": Done(output={"n": 1}),
    "failed": Failed(error=Failure("task", "no disk")),
}


async def claim(node: EngineServices, *tasks: str, wait: float = 5.0) -> list[Assignment]:
    wish = ClaimRequest(worker="w", limit=10, task_lists=("far",), tasks=tasks)
    return await node.node.dispatch.claim(wish, timedelta(seconds=wait))


async def told(node: EngineServices, task: Assignment, rival: Outcome) -> Verdict:
    """What a worker is answered."""
    return (await node.node.dispatch.report([Report(task.lease, rival)]))[0]


async def raced(pair: Pair, rival: Outcome, order: str) -> tuple[Any, Ran]:
    """A run that is canceled while its task ends: what the worker was told, and the run when all is over."""
    one, other = pair.nodes
    run = await one.node.commands.start("raced")
    [task] = await claim(other, "load")
    cancel = one.node.commands.cancel(run, False, None)
    canceled, answer = await pair.race([cancel, told(other, task, rival)], order)
    assert not isinstance(canceled, BaseException), canceled
    [renewal] = await other.node.dispatch.heartbeat([Heartbeat(task.lease)])
    assert renewal.expires is None, "whoever works on it is told"
    assert await told(other, task, Done(output={"n": 2})) in ("superseded", "conflict")
    assert await claim(other, "load", "next", wait=0) == [], "nothing new is handed out"
    [undo] = await claim(one, "undo")
    assert await told(one, undo, Done()) == "accepted"
    return answer, (await read_runs(one.store, "raced"))[run]


def first_of(ran: Ran) -> str:
    """Who was first, by the history."""
    said = [entry.event or entry.kind for entry in ran.history if entry.step in (None, "load")]
    ends = [number for number, kind in enumerate(said) if kind in ("ended", "attempt")]
    assert len(ends) <= 1, "a report is there once"
    return "worker" if ends and ends[0] < said.index("CANCEL") else "cancel"


@pytest.mark.parametrize("rival", list(RIVALS))
def test_c15_of_a_cancel_and_a_report_one_is_first_in_every_order_and_the_history_says_which(
    url: str, rival: str
) -> None:
    async def main() -> list[tuple[Any, str, str, list[str]]]:
        async with two_nodes(url) as pair:
            await pair.nodes[0].catalog.publish(RACED)
            found = [await raced(pair, RIVALS[rival], order) for order in ORDERS]
            return [
                (answer, first_of(ran), ran.snapshot.status, list(torn({"run": ran}, {})))
                for answer, ran in found
            ]

    found = asyncio.run(main())

    cancel: Any = ("superseded", "cancel", "canceled", [])
    worker: Any = ("accepted", "worker", "canceled", [])
    assert dict(zip(ORDERS, found, strict=True)) == {
        "aabb": cancel,
        "abab": cancel,
        "baab": cancel,
        "abba": worker,
        "baba": worker,
        "bbaa": worker,
    }
