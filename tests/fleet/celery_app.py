"""A team's Celery app: the tasks of the worker rules, and some that behave as real ones do."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from celery import Celery

from penstock import Fatal

BROKER = os.environ["FLEET_BROKER"]

app = Celery("fleet", broker=f"{BROKER}/0", backend=f"{BROKER}/1")
app.conf.update(worker_prefetch_multiplier=1, broker_connection_retry_on_startup=True)


class Flaky(Exception):
    """It may go better the next time."""


@app.task(name="echo")
def echo(value: Any = None) -> Any:
    """Answer what was given."""
    return value


@app.task(name="fail", ignore_result=True)
def fail(message: str) -> None:
    raise RuntimeError(message)


@app.task(name="fail_for_good")
def fail_for_good(message: str) -> None:
    raise Fatal(message)


@app.task(name="hold")
def hold(begun: str, go: str) -> str:
    Path(begun).touch()
    while not Path(go).exists():
        time.sleep(0.005)
    return "held"


@app.task(name="until_canceled")
def until_canceled(begun: str, seen: str) -> None:
    def stopped(*_: Any) -> None:
        Path(seen).touch()
        sys.exit(0)

    signal.signal(signal.SIGTERM, stopped)
    Path(begun).touch()
    while True:
        time.sleep(0.005)


@app.task(name="tell", bind=True)
def tell(self: Any, lines: list[str], progress: Any, go: str) -> str:
    if progress is not None:
        self.update_state(state="PROGRESS", meta=progress)
    while not Path(go).exists():
        time.sleep(0.005)
    return "told"


@app.task(name="shop.ship")
def ship(order: int, /, *parcels: str, fast: bool = False) -> dict[str, Any]:
    return {"order": order, "parcels": list(parcels), "fast": fast}


@app.task(name="shop.flaky", bind=True, autoretry_for=(Flaky,), default_retry_delay=0, max_retries=2)
def flaky(self: Any, log: str) -> int:
    with open(log, "a") as lines:
        lines.write(f"{self.request.id}\n")
    if self.request.retries < 2:
        raise Flaky("not yet")
    return int(self.request.retries)


@app.task(name="shop.second_time", bind=True)
def second_time(self: Any) -> Any:
    """Fails at the first attempt of Penstock; says by what it is known."""
    about = self.request.headers["penstock"]
    if about["attempt"] == 1:
        raise Flaky("the first attempt")
    return about


@app.task(name="shop.die")
def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
