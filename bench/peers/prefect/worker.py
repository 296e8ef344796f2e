"""Prefect: its server on SQLite, flows and tasks called in this process, which tells the server of every state.

No retries, no caching, no logs to the server: the least that Prefect does for a task.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any
from urllib.request import urlopen

from bench.peers import common

AT_A_TIME = 4
QUIET = {
    "PREFECT_LOGGING_LEVEL": "ERROR",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_ENABLED": "false",
    "PREFECT_SERVER_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",
    "DO_NOT_TRACK": "1",
}


def flows() -> tuple[Callable[[], Any], Callable[[int], Any]]:
    """They are made when the server's address is in the environment: Prefect reads it once."""
    from prefect import flow, task

    @task(persist_result=False)
    def nothing(*after: Any) -> None:
        """A task whose own work costs nothing."""

    @flow(persist_result=False)
    def chain() -> None:
        nothing()
        nothing()
        nothing()

    @flow(persist_result=False)
    def fan(size: int) -> None:
        nothing()
        for future in [nothing.submit() for _ in range(size)]:
            future.result()
        nothing()

    return chain, fan


def work(orders: common.Orders) -> None:
    port = common.free_port()
    base = f"http://127.0.0.1:{port}/api"
    os.environ.update(QUIET, PREFECT_HOME=str(orders.folder / "prefect"), PREFECT_API_URL=base)
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    common.spawn(command, orders.folder / "server.log")
    chain, fan = flows()
    common.wait_for(lambda: urlopen(f"{base}/health", timeout=1).status == 200, 60, "the server of Prefect")
    chain()
    orders.launched()
    with common.attempt("W3"):
        common.one_by_one(chain, orders.singles)
    with common.attempt("W1"):
        common.saturate(chain, orders.runs, AT_A_TIME)
    with common.attempt("W2"):
        common.fan(fan, orders.fans)


if __name__ == "__main__":
    common.main(work, "prefect")
