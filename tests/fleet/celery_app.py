"""A team's Celery app: the tasks of the worker rules, and some that behave as real ones do."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from celery import Celery
from celery.concurrency.asynpool import AsynPool

from penstock import Fatal

F = TypeVar("F", bound=Callable[..., Any])
BROKER = os.environ["FLEET_BROKER"]

app = Celery("fleet", broker=f"{BROKER}/0", backend=f"{BROKER}/1")
app.conf.update(worker_prefetch_multiplier=1, broker_connection_retry_on_startup=True, worker_lost_wait=0.1)
# A worker looks after its child processes every five seconds: tests that kill some would wait for it.
AsynPool.timers = property(lambda pool: {pool.maintain_pool: 0.1})


def celery_task(name: str, **options: Any) -> Callable[[F], F]:
    made: Callable[[F], F] = app.task(name=name, **options)
    return made


class Flaky(Exception):
    """It may go better the next time."""


@celery_task("echo")
def echo(value: Any = None) -> Any:
    """Answer what was given."""
    return value


@celery_task("fail", ignore_result=True)
def fail(message: str) -> None:
    raise RuntimeError(message)


@celery_task("fail_for_good")
def fail_for_good(message: str) -> None:
    raise Fatal(message)


@celery_task("hold")
def hold(begun: str, go: str) -> str:
    Path(begun).touch()
    while not Path(go).exists():
        time.sleep(0.005)  # a task in another process: a file or a signal ends it
    return "held"


@celery_task("until_canceled")
def until_canceled(begun: str, seen: str) -> None:
    def stopped(*_: Any) -> None:
        Path(seen).touch()
        sys.exit(0)

    signal.signal(signal.SIGTERM, stopped)
    Path(begun).touch()
    while True:
        time.sleep(0.005)  # a task in another process: a file or a signal ends it


@celery_task("tell", bind=True)
def tell(self: Any, lines: list[str], progress: Any, go: str) -> str:
    if progress is not None:
        self.update_state(state="PROGRESS", meta=progress)
    while not Path(go).exists():
        time.sleep(0.005)  # a task in another process: a file or a signal ends it
    return "told"


@celery_task("shop.ship")
def ship(order: int, /, *parcels: str, fast: bool = False) -> dict[str, Any]:
    return {"order": order, "parcels": list(parcels), "fast": fast}


@celery_task("shop.flaky", bind=True, autoretry_for=(Flaky,), default_retry_delay=0.3, max_retries=1)
def flaky(self: Any, log: str) -> int:
    with open(log, "a") as lines:
        lines.write(f"{self.request.id}\n")
    if self.request.retries < 1:
        raise Flaky("not yet")
    return int(self.request.retries)


@celery_task("shop.second_time", bind=True)
def second_time(self: Any) -> Any:
    """Fails at the first attempt of Penstock; says by what it is known."""
    about = self.request.headers["penstock"]
    if about["attempt"] == 1:
        raise Flaky("the first attempt")
    return about


@celery_task("shop.die")
def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
