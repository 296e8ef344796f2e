"""Procrastinate: jobs in PostgreSQL, a worker in this process. It has no workflows: a chain and a fan are made by hand.

A job defers the next one, and the join of a fan is counted in memory: neither is one transaction with the job before,
so that after a crash a step may be done twice, and a fan may never be joined. The caller is told in this process.
"""

from __future__ import annotations

import asyncio
from itertools import count

from procrastinate import App, PsycopgConnector

from bench.peers import common

AT_A_TIME = 32
LOOK = 0.05
"""Seconds after which it looks by itself: now and then NOTIFY comes before the job can be seen, and it waits for 5."""
app = App(connector=PsycopgConnector())
ended: dict[int, asyncio.Future[None]] = {}
left: dict[int, int] = {}
numbers = count()


@app.task
async def link(run: int, step: int) -> None:
    """One step of a chain."""
    if step < 2:
        await link.defer_async(run=run, step=step + 1)
    else:
        ended.pop(run).set_result(None)


@app.task
async def split(run: int, size: int) -> None:
    left[run] = size
    await element.batch_defer_async(*({"run": run} for _ in range(size)))


@app.task
async def element(run: int) -> None:
    left[run] -= 1
    if not left[run]:
        await join.defer_async(run=run)


@app.task
async def join(run: int) -> None:
    ended.pop(run).set_result(None)


def begun() -> tuple[int, asyncio.Future[None]]:
    run = next(numbers)
    future = ended[run] = asyncio.get_running_loop().create_future()
    return run, future


async def chain() -> None:
    run, future = begun()
    await link.defer_async(run=run, step=0)
    await asyncio.wait_for(future, 60)


async def fan(size: int) -> None:
    run, future = begun()
    await split.defer_async(run=run, size=size)
    await asyncio.wait_for(future, 120)


async def measure(orders: common.Orders) -> None:
    pool = PsycopgConnector(conninfo=orders.url, min_size=4, max_size=AT_A_TIME)
    with app.replace_connector(pool) as here:
        async with here.open_async():
            await here.schema_manager.apply_schema_async()
            worker = asyncio.create_task(
                here.run_worker_async(
                    concurrency=AT_A_TIME,
                    install_signal_handlers=False,
                    delete_jobs="never",
                    fetch_job_polling_interval=LOOK,
                )
            )
            await chain()
            await asyncio.to_thread(orders.launched)
            with common.attempt("W3"):
                await common.one_by_one_async(chain, orders.singles)
            with common.attempt("W1"):
                await common.saturate_async(chain, orders.runs, 2 * AT_A_TIME, asyncio.gather)
            with common.attempt("W2"):
                await common.fan_async(fan, orders.fans)
            worker.cancel()


def work(orders: common.Orders) -> None:
    asyncio.run(measure(orders))


if __name__ == "__main__":
    common.main(work, "procrastinate")
