"""Every metric that a process shows: its kind, its labels and what it is. The reference is made from this."""

from __future__ import annotations

from functools import partial
from typing import Literal

from msgspec import Struct

Kind = Literal["counter", "gauge", "histogram"]


class Measure(Struct, frozen=True):
    """One metric. A counter is shown with `_total` behind its name."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    about: str

    @property
    def shown(self) -> str:
        """The name by which Prometheus knows it."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


def _measure(kind: Kind, name: str, about: str, *labels: str) -> Measure:
    return Measure(f"penstock_{name}", kind, labels, about)


_counter = partial(_measure, "counter")
_gauge = partial(_measure, "gauge")
_histogram = partial(_measure, "histogram")


GROUPS: dict[str, list[Measure]] = {
    "Runs": [
        _counter("runs_started", "Runs that were started.", "workflow"),
        _counter(
            "runs_ended",
            "Runs that ended: `succeeded`, `failed`, `canceled`, `timed_out`.",
            "workflow",
            "status",
        ),
        _histogram("run_seconds", "How long runs took.", "workflow"),
        _counter("attempts", "Attempts that ended: `done`, `failed`, `timed_out`.", "workflow", "outcome"),
        _counter(
            "calls",
            "Calls of workflows, which leave no run: `succeeded`, `failed`, `stalled`, `refused`, `timed_out`.",
            "workflow",
            "status",
        ),
        _counter("duplicates", "Starts and outside events that were repeats."),
    ],
    "Work": [
        _gauge("queue_ready", "Tasks that wait for a worker, in the whole installation.", "task_list"),
        _gauge("queue_held", "Tasks that a pause holds, in the whole installation.", "task_list"),
        _gauge("queue_leased", "Tasks that are under way, in the whole installation.", "task_list"),
        _gauge("queue_oldest_seconds", "How long the oldest task has waited.", "task_list"),
        _gauge("outbox_waiting", "Messages that wait to be published.", "bus"),
        _gauge("outbox_oldest_seconds", "How long the oldest message has waited.", "bus"),
        _gauge("workers", "Workers that are there, in the whole installation."),
        _gauge("worker_room", "Tasks that these workers can do at a time."),
        _counter(
            "worker",
            "What the worker of this process did: `claimed`, `reported`, `rejected`, `released`, `canceled`,"
            " `dropped`, `…_failures` of its chores.",
            "what",
        ),
        _counter("tasks_handed", "Tasks handed to a worker that waited for them."),
        _counter("tasks_leased", "Tasks taken from their lists."),
        _counter("reports_late", "Reports of attempts that were over: nothing was changed."),
        _counter("reports_repeated", "Reports that came before, with the same body."),
        _counter("timers_rung", "Timers that fell due."),
        _counter("attempts_overdue", "Attempts that outlived a time-out."),
        _counter("attempts_lost", "Attempts whose worker vanished."),
    ],
    "Database": [
        _gauge("store_up", "1 where the database answers."),
        _counter("commits", "Commits of decisions."),
        _histogram("commit_seconds", "How long a commit took."),
        _histogram("commit_runs", "How many runs one commit changed."),
        _counter("decisions", "Decisions about runs."),
        _counter("decisions_stale", "Decisions that were repeated because another process was faster."),
        _counter("loop_failures", "How often a loop of the engine failed and was restarted.", "loop"),
    ],
    "HTTP and hooks": [
        _counter(
            "http_requests",
            "Requests that were answered, by the template of their address.",
            "method",
            "route",
            "status",
        ),
        _histogram("http_request_seconds", "How long requests took.", "route"),
        _counter("hooks", "Calls of hooks: `taken`, `duplicate`, `ignored`.", "answer"),
        _counter(
            "hooks_refused",
            "Calls of hooks that were refused: `missing`, `mismatch`, `malformed`, `stale`, `no_secret`,"
            " `bad_secret`, `topic`, `certificate`, or the code of the error.",
            "reason",
        ),
    ],
    "Sources": [
        _gauge("feeders", "Sources that this node feeds: schedules, searches, topics, backfills.", "kind"),
        _counter("fed", "Runs that feeders of this node started.", "kind"),
        _counter("feeder_failures", "How often feeders of this node failed and were begun again.", "kind"),
    ],
}

MEASURES = {each.name: each for group in GROUPS.values() for each in group}
