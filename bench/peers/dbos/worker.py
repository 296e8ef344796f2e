"""DBOS: workflows and steps as decorated functions, in this process, with the state in PostgreSQL or SQLite.

W1 and W3 start workflows in the process itself, which is faster than its queues; W2 is done both ways.
"""

from __future__ import annotations

import asyncio
from typing import Any

from dbos import DBOS

from bench.peers import common

AT_A_TIME = 32
POLLING = 0.01
"""Seconds between two looks at a queue; its default is 1."""


@DBOS.step()
def nothing() -> None:
    """A step whose own work costs nothing."""


@DBOS.step()
async def nothing_soon() -> None:
    """The same, for a workflow that is asynchronous."""


@DBOS.workflow()
def chain() -> None:
    nothing()
    nothing()
    nothing()


@DBOS.workflow()
async def fan_of_steps(size: int) -> None:
    """All elements as steps of this workflow: each is checkpointed, none is scheduled by itself."""
    await nothing_soon()
    await asyncio.gather(*(nothing_soon() for _ in range(size)))
    await nothing_soon()


@DBOS.workflow()
def element() -> None:
    nothing()


@DBOS.workflow()
def fan_by_queue(size: int) -> None:
    """Each element is enqueued and scheduled by itself."""
    nothing()
    handles = [DBOS.enqueue_workflow("bench", element) for _ in range(size)]
    for handle in handles:
        handle.get_result()
    nothing()


def start(work: Any, *args: Any) -> Any:
    return DBOS.start_workflow(work, *args).get_result()


def work(orders: common.Orders) -> None:
    url = orders.url if orders.store == "postgresql" else f"sqlite:///{orders.folder / 'dbos.sqlite'}"
    DBOS(
        config={
            "name": "bench",
            "system_database_url": url,
            "log_level": "ERROR",
            "sys_db_pool_size": AT_A_TIME,
            "max_executor_threads": 2 * AT_A_TIME,
        }
    )
    DBOS.launch()
    start(chain)
    orders.launched()
    with common.attempt("W3"):
        common.one_by_one(chain, orders.singles)
    with common.attempt("W1"):
        common.saturate(lambda: start(chain), orders.runs, AT_A_TIME)
    with common.attempt("W2", "steps"):
        common.fan(lambda size: start(fan_of_steps, size), orders.fans, "steps")
    if not orders.long:
        return
    with common.attempt("W2"):
        # Only now: a queue that is looked at so often is no figure for an idle process.
        DBOS.register_queue("bench", worker_concurrency=AT_A_TIME, polling_interval_sec=POLLING)
        common.fan(lambda size: start(fan_by_queue, size), orders.fans)


if __name__ == "__main__":
    common.main(work, "dbos")
