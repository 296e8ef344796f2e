"""One run of a test: what became of it, and what a test can do to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from penstock.engine.approval_form import Form, port_of
from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.quiescence import Starving, starving, waiting_for
from penstock.flow.model.plan import Attempt, Entry
from penstock.flow.model.run import ElementKey, Failure, RunId, Snapshot, StepState
from penstock.flow.model.run_input import Outside
from penstock.flow.model.tags import visible
from penstock.flow.views.run_view import keys_view, run_view, time_text
from penstock.runtime.errors import Invalid, NotSeparate
from penstock.runtime.node.clock import VirtualClock
from penstock.testing.executor import Try
from penstock.testing.explanations import explain, marking_view
from penstock.testing.stubs import Duration, span

if TYPE_CHECKING:
    from penstock.testing.world import World

MOVING = frozenset({"running", "backoff", "sleep", "key", "parked"})


class Play:
    """A run in a test. What `play` made goes on until it is at rest after each action; in a `World` you say when."""

    def __init__(self, world: World, id: RunId, playing: bool) -> None:
        self._world = world
        self._playing = playing
        self._deciders: set[str] = set()
        self.id = id

    # -- what became of it ---------------------------------------------------------------------------------

    @property
    def flow(self) -> Flow:
        return self._world.host.run_of(self.id).flow

    @property
    def snapshot(self) -> Snapshot:
        """The whole state of the run, as a value."""
        return self._world.host.run_of(self.id).snapshot

    @property
    def status(self) -> str:
        return self.snapshot.status

    @property
    def ending(self) -> str | None:
        return self.snapshot.ending

    @property
    def result(self) -> Any:
        return self.snapshot.result

    @property
    def data(self) -> Any:
        return self.snapshot.data

    @property
    def tags(self) -> dict[str, Any]:
        return visible(self.snapshot.tags)

    @property
    def error(self) -> Failure | None:
        return self.snapshot.error

    @property
    def keys(self) -> dict[str, str]:
        """The correlation keys of the run."""
        return keys_view(self.snapshot)

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """The outside events that would let the run go on."""
        return waiting_for(self.flow, self.snapshot) if self.status in ("waiting", "stalled") else ()

    @property
    def approvals(self) -> list[dict[str, Any]]:
        """What people are asked, with `approvals="wait"`: `step`, `text`, `role`, `fields`, `due`, …"""
        return [
            {"step": attempt.step, **attempt.params}
            for (run, _), attempt in self._world.executor.asked.items()
            if run == self.id
        ]

    @property
    def starving(self) -> tuple[Starving, ...]:
        """The steps that hold something and miss something."""
        return starving(self.flow, self.snapshot) if self.status in ("waiting", "stalled") else ()

    @property
    def steps(self) -> dict[str, StepState]:
        """Every step with its latest firing; one that never fired is `blocked`."""
        known = self.snapshot.steps
        return {name: known.get(name) or StepState() for name in self.flow.steps}

    @property
    def history(self) -> list[Entry]:
        return list(self._world.host.run_of(self.id).history)

    @property
    def events(self) -> list[str]:
        """The names of all events, in the order in which they were fired."""
        return [entry.event for entry in self.history if entry.kind == "event" and entry.event]

    @property
    def order(self) -> list[str]:
        """The steps in the order in which their firings ended."""
        return [entry.step for entry in self.history if entry.kind == "ended" and entry.step]

    @property
    def ports(self) -> list[tuple[str, str | None]]:
        """Each firing that ended: its step and port, in order."""
        return [(entry.step, entry.port) for entry in self.history if entry.kind == "ended" and entry.step]

    def fired(self, step: str) -> int:
        """How often the step fired."""
        self._known(step)
        return self.steps[step].firings

    def attempts(self, step: str) -> list[Try]:
        """Each try at the step, in order: when it began and ended, its time-outs and their multiplier."""
        self._known(step)
        return [tried for tried in self._world.executor.tries.get(self.id, ()) if tried.step == step]

    def marking(self) -> dict[str, dict[str, list[str]]]:
        """The events that wait: step → slot, as the definition writes it → names."""
        return marking_view(self.flow, self.snapshot)

    def view(self) -> dict[str, Any]:
        """The run as the API and `--json` show it."""
        return run_view(self.flow, self.snapshot)

    def explain(self) -> str:
        """The run as readable text."""
        return explain(self.flow, self.snapshot, self.history)

    def __repr__(self) -> str:
        return f"<Play of '{self.flow.name}': {self.status}>"

    # -- time ----------------------------------------------------------------------------------------------

    @property
    def clock(self) -> VirtualClock:
        return self._world.clock

    @property
    def now(self) -> datetime:
        return self._world.clock.now()

    @property
    def at_rest(self) -> bool:
        """Whether nothing will happen unless somebody does something, or the run's timeout strikes."""
        live_run = self._world.host.run_of(self.id)
        if live_run.unfinished:
            return False
        snapshot, asked = live_run.snapshot, self._world.executor.asked
        return snapshot.ended or not any(
            each.state in MOVING and (self.id, each.id) not in asked for each in snapshot.elements.values()
        )

    def run(self, until: Duration | None = None) -> Play:
        """Let time pass until the run is at rest, or `until` so much of it has passed. Raises Endless."""
        self._world.play_until(lambda: self.at_rest, until)
        return self

    def advance(self, by: Duration) -> Play:
        """Let so much time pass; all that falls due on the way happens."""
        self._world.clock.advance(span(by))
        return self

    # -- what a test can do to it --------------------------------------------------------------------------

    def emit(
        self,
        event: str,
        data: Any = None,
        *,
        id: str | None = None,
        set: Mapping[str, Any] | None = None,
        key: Mapping[str, str] | None = None,
    ) -> str:
        """Fire an outside event, into this run or the one that has `key`; how it was taken."""
        outside = Outside(event=event, data=data, set=None if set is None else dict(set), id=id)
        host = self._world.host
        answer = host.emit(self.id, outside) if key is None else host.emit_by_key(dict(key), outside)
        self._go_on()
        return answer

    def decide(
        self,
        step: str,
        decision: str = "approved",
        *,
        fields: Any = None,
        by: str = "somebody",
        comment: str | None = None,
    ) -> Play:
        """Approve or reject what a step asks, as a person would; what it asked first, where it asks several times.

        Raises Invalid where it asks nothing, InvalidFields, NotSeparate.
        """
        self._known(step)
        element, attempt = self._asked_by(step)
        done = Form(step, attempt.params.get("fields")).decided(
            port_of(decision), fields, {"by": by, "at": time_text(self.now), "comment": comment}
        )
        if attempt.params.get("separate") and by in self._deciders:
            raise NotSeparate(by, "decided in this run before")
        self._deciders.add(by)
        self._world.executor.decide(self.id, element, done)
        return self._go_on()

    def _asked_by(self, step: str) -> tuple[ElementKey, Attempt]:
        for (run, element), attempt in self._world.executor.asked.items():
            if run == self.id and attempt.step == step:
                return element, attempt
        asked = ", ".join(each["step"] for each in self.approvals) or "nobody is asked anything"
        raise Invalid(f"step '{step}' does not wait for a decision ({asked}): play with `approvals=\"wait\"`")

    def cancel(self, force: bool = False) -> Play:
        """Cancel the run; `force` skips its clean-up. Raises RunEnded."""
        self._world.host.cancel(self.id, force)
        return self._go_on()

    def pause(self) -> Play:
        """Dispatch nothing new. Raises RunEnded."""
        self._world.host.pause(self.id)
        return self._go_on()

    def resume(self) -> Play:
        """Go on after a pause. Raises RunEnded."""
        self._world.host.resume(self.id)
        return self._go_on()

    def retry(self, step: str | None = None) -> Play:
        """Put back what failed, and go on. Raises NotRetryable."""
        self._world.host.retry(self.id, step)
        return self._go_on()

    def disable(self, step: str, port: str | None = "done") -> Play:
        """Let the step end on `port` at once, in this run; None makes it work again. Raises Invalid."""
        self._known(step)
        self._world.host.disable(self.id, step, port)
        return self

    def _go_on(self) -> Play:
        return self.run() if self._playing else self

    # -- assertions ----------------------------------------------------------------------------------------

    def expect(
        self,
        status: str | None = None,
        *,
        fired: Iterable[str] | Mapping[str, int] = (),
        never: Iterable[str] = (),
        events: Iterable[str] = (),
        result: Any = ...,
    ) -> Play:
        """Assert how the run went, with the run as text where it went otherwise.

        `fired` lists steps that fired (one listed twice: at least twice; a map: exactly so often), `never`
        steps that did not, `events` events that were fired.
        """
        __tracebackhide__ = True
        wrong = []
        if status is not None and self.status != status:
            wrong.append(f"expected the run to be {status}, it is {self.status}")
        wrong += self._wrong_counts(fired)
        wrong += [
            f"expected '{step}' never to fire, it fired {self.fired(step)}x"
            for step in never
            if self.fired(step)
        ]
        wrong += [f"expected event '{name}' to be fired" for name in events if name not in self.events]
        if result is not ... and self.result != result:
            wrong.append(f"expected the result {result!r}, it is {self.result!r}")
        if wrong:
            raise AssertionError("\n".join([*wrong, "", self.explain()]))
        return self

    def _wrong_counts(self, fired: Iterable[str] | Mapping[str, int]) -> list[str]:
        exact = isinstance(fired, Mapping)
        return [
            f"expected '{step}' to fire {'' if exact else 'at least '}{times}x, it fired {self.fired(step)}x"
            for step, times in Counter(fired).items()
            if self.fired(step) < times or (exact and self.fired(step) != times)
        ]

    def _known(self, step: str) -> None:
        if step not in self.flow.steps:
            raise Invalid(
                f"'{self.flow.name}' has no step '{step}'; its steps are {', '.join(self.flow.steps)}"
            )
