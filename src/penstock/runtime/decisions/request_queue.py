"""What happened to runs and waits to be decided about: anybody may submit it, the advancer takes it."""

from __future__ import annotations

import asyncio
from collections.abc import Container

from penstock.flow.model.run_input import Outside
from penstock.runtime.decisions.request import Request

BATCH = 512


class RequestQueue:
    """Requests by run, each run's in the order in which they came. `wake` is set while there may be some to take."""

    def __init__(self) -> None:
        self.wake = asyncio.Event()
        self.waiting: dict[str, list[Request]] = {}
        self._closed: BaseException | None = None

    def submit(self, request: Request) -> None:
        """Let something happen to a run; `request.told` is called when it is durable, or why it is not."""
        if self._closed is not None:
            request.tell(None, self._closed)
            return
        self.waiting.setdefault(request.run, []).append(request)
        self.wake.set()

    def take(self, busy: Container[str]) -> dict[str, list[Request]]:
        """One decision for each run that is not busy."""
        batch: dict[str, list[Request]] = {}
        for run in self.waiting:
            if run not in busy:
                batch[run] = self.waiting[run]
                if len(batch) >= BATCH:
                    self.wake.set()  # there may be more
                    break
        for run in batch:
            requests = self.waiting.pop(run)
            if len(requests) > 1:
                batch[run], rest = _one_decision(requests)
                if rest:
                    self.waiting[run] = rest
        return batch

    def close(self, error: BaseException) -> None:
        """Nothing more is decided: tell whoever waits, and whoever still comes."""
        self._closed = error
        waiting, self.waiting = self.waiting, {}
        for requests in waiting.values():
            for request in requests:
                request.tell(None, error)


def _one_decision(requests: list[Request]) -> tuple[list[Request], list[Request]]:
    """As many as may be decided at once: one that had a conflict goes alone, so does one id of an event."""
    ids = 0
    for number, request in enumerate(requests):
        ids += isinstance(request.occurrence, Outside) and request.seen is not None
        if ids > 1 or (request.alone and number) or (number and requests[0].alone):
            return requests[:number], requests[number:]
    return requests, []
