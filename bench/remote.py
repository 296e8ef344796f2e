"""W7: runs started over HTTP, their steps done by a worker over HTTP, each in a process of its own."""

from __future__ import annotations

import asyncio
import json
import time
from urllib.request import urlopen

from bench.engine.workflows import CHAIN
from bench.engine.workloads import NotDone, succeeded
from bench.http.load import Ask
from bench.http.processes import load, process
from penstock.engine.engine import Engine

CONNECTIONS = 32
PATIENCE = 120.0
LOOK = 0.02
START = f"/api/workflows/{CHAIN}/runs"


def runs_over_http(url: str, seconds: float) -> float:
    """Runs a second from the first start to the last end, with starts for so long."""
    with process("node", "api", url) as node:
        base = node.hear()
        with process("worker", base) as worker, process("load", base) as client:
            worker.hear()
            first = _started(client_ask(0.5), client)  # what is opened only once does not count
            _rest(base)
            began = time.perf_counter()
            started = _started(client_ask(seconds), client)
            _rest(base)
            took = time.perf_counter() - began
    done = asyncio.run(_done(url))
    if done < first + started:
        raise NotDone(f"{done} of {first + started} runs succeeded")
    return started / took


async def _done(url: str) -> int:
    async with Engine(url, work=False) as engine:
        return await succeeded(engine)


def client_ask(seconds: float) -> Ask:
    return Ask(method="POST", path=START, body="{}", connections=CONNECTIONS, seconds=seconds)


def _started(ask: Ask, client: object) -> int:
    return len(load(client, ask).latency)  # type: ignore[arg-type]


def _rest(base: str) -> None:
    """Wait until no run is under way. Raises NotDone where one did not succeed."""
    until = time.monotonic() + PATIENCE
    while _some(base, "running"):
        if time.monotonic() > until:
            raise NotDone(f"runs are under way after {PATIENCE:g} seconds")
        time.sleep(LOOK)
    if _some(base, "failed"):
        raise NotDone("a run failed")


def _some(base: str, status: str) -> bool:
    with urlopen(f"{base}/api/runs?workflow={CHAIN}&status={status}&limit=1", timeout=30) as answer:
        found = json.load(answer)
    return bool(found["items"])
