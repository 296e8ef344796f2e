"""Every metric that a process shows: its kind, its labels and what it is. The reference is made from this."""

from __future__ import annotations

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


GROUPS: dict[str, list[Measure]] = {
    "Runs": [
        _measure("counter", "runs_started", "Runs that were started.", "workflow"),
        _measure(
            "counter",
            "runs_ended",
            "Runs that ended: `succeeded`, `failed`, `canceled`, `timed_out`.",
            "workflow",
            "status",
        ),
        _measure("histogram", "run_seconds", "How long runs took.", "workflow"),
        _measure(
            "counter",
            "attempts",
            "Attempts that ended: `done`, `failed`, `timed_out`.",
            "workflow",
            "outcome",
        ),
        _measure(
            "counter",
            "calls",
            "Calls of workflows, which leave no run: `succeeded`, `failed`, `stalled`, `refused`, `timed_out`.",
            "workflow",
            "status",
        ),
        _measure("counter", "duplicates", "Starts and outside events that were repeats."),
    ],
    "Work": [
        _measure(
            "gauge", "queue_ready", "Tasks that wait for a worker, in the whole installation.", "task_list"
        ),
        _measure("gauge", "queue_held", "Tasks that a pause holds, in the whole installation.", "task_list"),
        _measure(
            "gauge", "queue_leased", "Tasks that are under way, in the whole installation.", "task_list"
        ),
        _measure("gauge", "queue_oldest_seconds", "How long the oldest task has waited.", "task_list"),
        _measure("gauge", "outbox_waiting", "Messages that wait to be published.", "bus"),
        _measure("gauge", "outbox_oldest_seconds", "How long the oldest message has waited.", "bus"),
        _measure("gauge", "workers", "Workers that are there, in the whole installation."),
        _measure("gauge", "worker_room", "Tasks that these workers can do at a time."),
        _measure(
            "counter",
            "worker",
            "What the worker of this process did: `claimed`, `reported`, `rejected`, `released`, `canceled`,"
            " `dropped`, `…_failures` of its chores.",
            "what",
        ),
        _measure("counter", "tasks_handed", "Tasks handed to a worker that waited for them."),
        _measure("counter", "tasks_leased", "Tasks taken from their lists."),
        _measure("counter", "reports_late", "Reports of attempts that were over: nothing was changed."),
        _measure("counter", "reports_repeated", "Reports that came before, with the same body."),
        _measure("counter", "timers_rung", "Timers that fell due."),
        _measure("counter", "attempts_overdue", "Attempts that outlived a time-out."),
        _measure("counter", "attempts_lost", "Attempts whose worker vanished."),
    ],
    "Database": [
        _measure("gauge", "store_up", "1 where the database answers."),
        _measure("counter", "commits", "Commits of decisions."),
        _measure("histogram", "commit_seconds", "How long a commit took."),
        _measure("histogram", "commit_runs", "How many runs one commit changed."),
        _measure("counter", "decisions", "Decisions about runs."),
        _measure(
            "counter", "decisions_stale", "Decisions that were made anew because another process was faster."
        ),
        _measure("counter", "loop_failures", "How often a loop of the engine failed and began anew.", "loop"),
    ],
    "HTTP and hooks": [
        _measure(
            "counter",
            "http_requests",
            "Requests that were answered, by the template of their address.",
            "method",
            "route",
            "status",
        ),
        _measure("histogram", "http_request_seconds", "How long requests took.", "route"),
        _measure("counter", "hooks", "Calls of hooks: `taken`, `duplicate`, `ignored`.", "answer"),
        _measure(
            "counter",
            "hooks_refused",
            "Calls of hooks that were refused: `missing`, `mismatch`, `malformed`, `stale`, `no_secret`,"
            " `bad_secret`, `topic`, `certificate`, or the code of the error.",
            "reason",
        ),
    ],
    "Sources": [
        _measure(
            "gauge",
            "feeders",
            "Sources that this node feeds: schedules, searches, topics, backfills.",
            "kind",
        ),
        _measure("counter", "fed", "Runs that feeders of this node started.", "kind"),
        _measure(
            "counter",
            "feeder_failures",
            "How often feeders of this node failed and were begun again.",
            "kind",
        ),
    ],
}

MEASURES = {each.name: each for group in GROUPS.values() for each in group}
