"""Several runs on one virtual clock: they share time, `serialize` keys and correlation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal
from weakref import ref

from penstock.engine.authoring.loader import Source, load
from penstock.flow.compile.compile import Flow
from penstock.flow.errors import PenstockError
from penstock.flow.model.plan import Plan
from penstock.flow.model.run import RunId
from penstock.flow.model.run_input import Outside
from penstock.runtime.errors import Invalid, NoTask
from penstock.runtime.inmemory.engine import InMemoryEngine, InMemoryRun
from penstock.runtime.node.clock import VirtualClock
from penstock.testing.executor import Cast, Player, StubExecutor
from penstock.testing.played_run import Play
from penstock.testing.stubbed_flow import unpromised, with_stubs
from penstock.testing.stubs import Duration, as_sequence, span
from penstock.workers.task import Task, missing_tasks, tasks_of

START = datetime(2026, 1, 1, tzinfo=UTC)
MAX_HISTORY = 100_000
"""History entries of one run: one that goes on for longer will not come to rest."""

Others = Literal["stub", "fail"]
Approvals = Literal["approve", "wait"]
Event = str | tuple[str, Any] | Mapping[str, Any]

RECENT: deque[ref[Play]] = deque(maxlen=50)
"""The plays made last: the pytest plug-in shows those of a test that failed."""


class Endless(PenstockError):
    """A run does not come to rest."""

    code = "endless"

    def __init__(self, workflow: str) -> None:
        super().__init__(
            f"a run of '{workflow}' went on for {MAX_HISTORY:,} history entries without coming to rest: "
            "play it for a while with `until=`, or let a stub end its loop"
        )


class PlayEngine(InMemoryEngine):
    """A host that gives a run up that does not come to rest."""

    def _apply(self, live_run: InMemoryRun, plan: Plan) -> None:
        # A loop of decisions alone takes no time: nothing else would ever stop it.
        if len(live_run.history) > MAX_HISTORY:
            self._queue.clear()
            raise Endless(live_run.flow.name)
        super()._apply(live_run, plan)


class World:
    """Runs that share a virtual clock. Nothing moves until `run()` or `advance()`."""

    def __init__(
        self, *, tasks: Any = None, stubs: Mapping[str, Any] | None = None, start: datetime = START
    ) -> None:
        self.clock = VirtualClock(start)
        self.executor = StubExecutor(
            self.clock, lambda run, element: self.host.runs[run].snapshot.elements[element].multiplier
        )
        self.host = PlayEngine(self.clock, self.executor, lambda: f"run-{len(self.plays) + 1}")
        self.plays: list[Play] = []
        self._tasks = {} if tasks is None else tasks_of(tasks)
        self._stubs = dict(stubs or {})

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def start(
        self,
        source: Source | Flow,
        *,
        input: Any = None,
        subject: str | None = None,
        tags: Mapping[str, Any] | None = None,
        tasks: Any = None,
        stubs: Mapping[str, Any] | None = None,
        events: Iterable[Event] = (),
        others: Others = "stub",
        approvals: Approvals = "approve",
        playing: bool = False,
    ) -> Play:
        """Begin a run; `tasks` and `stubs` add to those of the world. Raises what `play` raises."""
        offered = self._tasks if tasks is None else {**self._tasks, **tasks_of(tasks)}
        flow = source if isinstance(source, Flow) else load(source, offered).flow
        shared = {name: stub for name, stub in self._stubs.items() if _names(flow, name)}
        flow, cast = cast_of(flow, offered, {**shared, **(stubs or {})}, others, approvals == "wait")
        return self.begin(flow, cast, input=input, subject=subject, tags=tags, events=events, playing=playing)

    def begin(
        self, flow: Flow, player: Player, *, events: Iterable[Event] = (), playing: bool = False, **given: Any
    ) -> Play:
        """Begin a run whose tasks `player` plays."""
        run = RunId(f"run-{len(self.plays) + 1}")
        self.executor.players[run] = player
        self.host.start(flow, then=tuple(outside_event(event) for event in events), **given)
        play = Play(self, run, playing)
        self.plays.append(play)
        RECENT.append(ref(play))
        return play

    def emit(
        self,
        event: str,
        data: Any = None,
        *,
        key: Mapping[str, str],
        id: str | None = None,
        set: Mapping[str, Any] | None = None,
    ) -> str:
        """Fire an outside event into the run that has the key; one that comes too early is kept."""
        wanted = Outside(event=event, data=data, set=None if set is None else dict(set), id=id)
        return self.host.emit_by_key(dict(key), wanted)

    def emit_at(self, moment: datetime, play: Play, event: str) -> None:
        """Let an outside event come to a run at a later moment."""

        def come() -> None:
            self.host.emit(play.id, Outside(event=event))

        self.clock.at(moment, come)

    def run(self, until: Duration | None = None) -> None:
        """Let time pass until every run is at rest, `until` so much has passed at most."""
        self.play_until(lambda: all(play.at_rest for play in self.plays), until)

    def advance(self, by: Duration) -> None:
        """Let time pass; all that falls due on the way happens."""
        self.clock.advance(span(by))

    def play_until(self, done: Callable[[], bool], until: Duration | None = None) -> None:
        end = None if until is None else self.clock.now() + span(until)
        while not done():
            due = self.clock.next()
            if due is None:
                return
            if end is not None and due > end:
                self.clock.advance(end - self.clock.now())
                return
            self.clock.step()


def cast_of(
    flow: Flow, tasks: Mapping[str, Task], stubs: Mapping[str, Any], others: Others, asks: bool = False
) -> tuple[Flow, Cast]:
    """The flow with its stubbed steps, and who plays what. Raises Invalid, NoTask."""
    for name in stubs:
        if not _names(flow, name):
            raise Invalid(
                f"'{flow.name}' has no step or task '{name}' to stub; its steps are {', '.join(flow.steps)}"
            )
    made = {name: as_sequence(stub) for name, stub in stubs.items()}
    cast = Cast({name: stub for name, stub in made.items() if name in flow.steps}, made, tasks, asks)
    unplayed = {
        step.task
        for step in flow.steps.values()
        if step.name not in cast.steps and step.task not in cast.named
    }
    missing = [name for name in missing_tasks(flow, tasks) if name in unplayed]
    if missing and others == "fail":
        raise NoTask(missing, [*tasks, *stubs])
    played = with_stubs(flow, lambda step: step.name in cast.steps or step.task in cast.named)
    idle = {step.name for step in flow.steps.values() if step.task in missing and step.name not in cast.steps}
    return unpromised(played, idle), cast


def _names(flow: Flow, name: str) -> bool:
    """Whether a step of the flow, or its task, has that name."""
    return name in flow.steps or any(step.task == name for step in flow.steps.values())


def outside_event(event: Event) -> Outside:
    """An event as tests write it: a name, a name with data, or a map with `event`, `data`, `id`, `set`."""
    if isinstance(event, str):
        return Outside(event=event)
    if isinstance(event, tuple):
        name, data = event
        return Outside(event=name, data=data)
    unknown = [key for key in event if key not in ("event", "name", "data", "id", "set")]
    name = event.get("event", event.get("name"))
    if unknown or not isinstance(name, str):
        raise Invalid(f"{dict(event)!r} is no event: write {{'event': NAME, 'data': …, 'id': …, 'set': …}}")
    return Outside(event=name, data=event.get("data"), id=event.get("id"), set=event.get("set"))


def play(
    source: Source | Flow,
    *,
    input: Any = None,
    subject: str | None = None,
    tags: Mapping[str, Any] | None = None,
    tasks: Any = None,
    stubs: Mapping[str, Any] | None = None,
    events: Iterable[Event] = (),
    others: Others = "stub",
    approvals: Approvals = "approve",
    start: datetime = START,
    until: Duration | None = None,
) -> Play:
    """Start a run and play it until it is at rest: ended, waiting, stalled, or `until` so much time has passed.

    Raises DefinitionError, InvalidInput, UndeclaredEvent, Invalid (a stub that fits nothing), NoTask
    (`others="fail"`) and Endless.
    """
    made = World(start=start).start(
        source,
        input=input,
        subject=subject,
        tags=tags,
        tasks=tasks,
        stubs=stubs,
        events=events,
        others=others,
        approvals=approvals,
        playing=True,
    )
    return made.run(until)
