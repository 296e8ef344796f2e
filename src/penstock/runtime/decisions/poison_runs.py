"""Runs whose decision raises: after some attempts they fail, so that a person sees them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from penstock.flow.model.plan import Answer
from penstock.flow.model.run_input import GivenUp
from penstock.runtime.decisions.decision import Decision, Request
from penstock.store.errors import StoreError

MAX_FAILED_DECISIONS = 3
"""How often the decision of a run may raise before the run is abandoned."""

log = logging.getLogger("penstock.poison_runs")


def _reason(error: Exception) -> str:
    if isinstance(error, StoreError):
        return f"the database refuses what follows: {error}"
    return f"the engine cannot decide about this run: {type(error).__name__}: {error}"


class PoisonRuns:
    """How often decisions about a run came to nothing, in a row."""

    def __init__(self, submit: Callable[[Request], None]) -> None:
        self._submit = submit
        self._times: dict[str, int] = {}

    def settle(self, decisions: Sequence[Decision]) -> None:
        """These could be decided about."""
        if self._times:
            for decision in decisions:
                self._times.pop(decision.plan.snapshot.run.id, None)

    def tell(self, requests: Sequence[Request], error: Exception) -> None:
        """A decision raised. The caller gets the error; a request without a caller must not be lost."""
        run = requests[0].run
        # A caller sees the error. A row of the store or a worker's report would only be repeated.
        if requests[0].new is None and any(each.from_store or each.lease is not None for each in requests):
            times = self._times[run] = self._times.get(run, 0) + 1
            if times >= MAX_FAILED_DECISIONS:
                del self._times[run]
                self._let_fail(run, GivenUp(_reason(error)))
        for request in requests:
            request.tell(None, error)

    def _let_fail(self, run: str, request: GivenUp) -> None:
        def on_answer(_: Request, answer: Answer | None, error: BaseException | None) -> None:
            if answer in ("accepted", "refused"):
                return
            if request.force:
                log.error("run %s could not even be given up: %s", run, error)
            else:
                self._let_fail(run, GivenUp(request.reason, force=True))

        self._submit(Request(run, request, on_answer))
