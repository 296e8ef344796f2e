"""What a task is told: the run, its data, what happened before, and whether it is still wanted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from penstock.flow.decisions.scope import events_of, inputs_of, run_variable
from penstock.flow.model.plan import Attempt
from penstock.flow.model.secret_references import References
from penstock.flow.model.tags import visible
from penstock.flow.values.payload import copied
from penstock.runtime.node.trace_ids import traceparent

LogSink = Callable[[Attempt, str, str], None]
"""Where the lines of tasks go: the attempt that wrote it, the level, the text."""


class Log:
    """Lines that a task writes, for people: `ctx.log("...")`, `ctx.log.warning("...")`."""

    def __init__(self, write: Callable[[str, str], None]) -> None:
        self._write = write

    def __call__(self, message: object, *values: object) -> None:
        self.info(message, *values)

    def debug(self, message: object, *values: object) -> None:
        self._write("debug", _text(message, values))

    def info(self, message: object, *values: object) -> None:
        self._write("info", _text(message, values))

    def warning(self, message: object, *values: object) -> None:
        self._write("warning", _text(message, values))

    def error(self, message: object, *values: object) -> None:
        self._write("error", _text(message, values))


class Context:
    """One attempt, as its task sees it. Nothing that is changed here changes the run: return it with `Out`.

    What it holds is copied when it is looked at: a task that looks at nothing pays for nothing.
    """

    def __init__(
        self,
        attempt: Attempt,
        write: LogSink | None = None,
        on_progress: Callable[[], None] | None = None,
        again: bool = False,
    ) -> None:
        """`on_progress` is called, in the task's thread, when the task says how far it is."""
        self.again = again or attempt.attempt > 1
        """Whether somebody may have begun this work before: it was leased before."""
        self._attempt = attempt
        self._write = write
        self._on_progress = on_progress
        self._canceled = False
        self.progress: Any = None

    @cached_property
    def run(self) -> dict[str, Any]:
        """id, workflow, version, subject."""
        return run_variable(self._attempt.run)

    @cached_property
    def data(self) -> Any:
        """The run's data: its input and what was set on it."""
        return copied(self._attempt.data)

    @cached_property
    def tags(self) -> dict[str, Any]:
        return {name: copied(value) for name, value in visible(self._attempt.tags).items()}

    @property
    def removed_tags(self) -> list[str]:
        """The names of tags that a step before this one took away."""
        return [name for name, tag in self._attempt.tags.items() if tag.removed]

    @cached_property
    def input(self) -> dict[str, Any]:
        """Step name → output, for each firing that this one follows."""
        return {name: copied(data) for name, data in inputs_of(self._attempt.taken.tokens()).items()}

    @cached_property
    def events(self) -> dict[str, Any]:
        """Event name → data, of each event that this firing consumed."""
        return {name: copied(data) for name, data in events_of(self._attempt.taken.tokens()).items()}

    @property
    def step(self) -> str:
        return self._attempt.step

    @property
    def index(self) -> int | None:
        """Inside an `each`: which item this is."""
        return self._attempt.index

    @property
    def attempt(self) -> int:
        """1 for the first try."""
        return self._attempt.attempt

    @property
    def secrets(self) -> References:
        """Where the definition of the step names secrets."""
        return self._attempt.secrets

    @property
    def place(self) -> tuple[str, int, int | None, int]:
        """The attempt among all others: run, firing, index and number."""
        attempt = self._attempt
        return attempt.run.id, attempt.firing, attempt.index, attempt.attempt

    @property
    def idempotency_key(self) -> str:
        """The same over all attempts: hand it to services, so that a repeat does nothing twice."""
        return self._attempt.id

    @property
    def bounded(self) -> bool:
        """Whether a time-out of the step ends the attempt."""
        times = self._attempt.timeouts
        return times.start_to_close is not None or times.schedule_to_close is not None

    @property
    def traceparent(self) -> str:
        """W3C trace context: send it as the header of that name, and what you call shows below this attempt."""
        return traceparent(self._attempt)

    @property
    def canceled(self) -> bool:
        """Whether the work is no longer wanted: stop soon, the result will not be used."""
        return self._canceled

    @cached_property
    def log(self) -> Log:
        return Log(self._write_line)

    def _write_line(self, level: str, text: str) -> None:
        if self._write is not None:
            self._write(self._attempt, level, text)

    def heartbeat(self, progress: Any = None) -> bool:
        """Say that the task is alive, and how far it is; True: the work is still wanted."""
        if progress is not None:
            self.progress = progress
            if self._on_progress is not None:
                self._on_progress()
        return not self._canceled

    def cancel(self) -> None:
        """The work is no longer wanted."""
        self._canceled = True


def _text(message: object, values: tuple[object, ...]) -> str:
    """The line. One that is badly written is shown as it is: it must not fail the task."""
    try:
        return str(message) % values if values else str(message)
    except Exception:
        return " ".join(_shown(each) for each in (message, *values))


def _shown(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
