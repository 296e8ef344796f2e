"""From the history of a run to the release: its state, the states of its tasks, and the events that tell of both.

A pure function of what is kept and the entries since: whoever folds, and however often, comes to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from penstock_release.ids import EVENT, derived_id
from penstock_release.rules import TASK_ENDS, hears_progress, progress_of

BEGINS = {"initialize": "initializing", "start": "running", "all_staged": "staged", "publish": "publishing"}
"""The state that a release is in once a step has begun."""
DONE = {
    "initialize": "initialized",
    "start": "running",
    "stage": "staged",
    "watch": "staged",
    "publish": "published",
}
"""The state of a task whose part of a step is done."""
BROKEN = {**dict.fromkeys(DONE, "failed"), "initialize": "rejected"}
"""The state of a task that we hold for broken, where its service does not say so itself."""
CLOCKS: Mapping[str, tuple[str, frozenset[str]]] = {
    "initialize_clock": ("answer", frozenset({"waiting"})),
    "stage_clock": ("stage", frozenset({"initialized", "running"})),
    "publish_clock": ("publish", frozenset({"staged", "publishing"})),
}
"""For each step that is a clock: what services had the time for, and in which states tasks are late when it rings."""
ASKS = {
    "initialize": "initialize",
    "start": "start",
    "stage": "get_status",
    "watch": "get_status",
    "publish": "publish",
    "cancel": "cancel",
}
ENDS = {"succeeded": "published", "failed": "failed", "canceled": "canceled", "timed_out": "canceled"}
PROGRESS = {"staged": 100, "publishing": 0, "published": 100}
"""How far a task is that has just come into a state: what was staged is not yet published."""
MAX_TEXT = 1000


class Fold(Struct):
    """A release with its tasks, in order, and what is told of them."""

    release: dict[str, Any]
    tasks: list[dict[str, Any]]
    events: list[dict[str, Any]] = field(default_factory=list)
    at: str = ""

    def take(self, entries: Iterable[Mapping[str, Any]]) -> Fold:
        """Go on by these entries."""
        for entry in entries:
            self.at = entry["at"]
            self._one(entry)
            self.release["seq"] = entry["seq"]
        return self

    def _one(self, entry: Mapping[str, Any]) -> None:
        kind = entry["kind"]
        if kind == "fired":
            self._begun(entry["step"])
        elif kind == "attempt":
            self._attempt(entry["step"], entry["data"] or {})
        elif kind == "ended":
            self._step_ended(entry["step"], entry["port"], entry["data"])
        elif kind == "set":
            self._note_dropped((entry["data"] or {}).get("out") or {})
        elif kind == "event":
            self._happened(entry["event"], entry["data"])
        elif kind == "run_ended":
            self.end(ENDS[entry["data"]["status"]])

    def _happened(self, event: str, data: Any) -> None:
        if event in ("FAIL", "CANCEL", "TIMEOUT"):
            self.change_release("canceling")
        elif event == "task_failed" and "wrong" in data:
            for task in self.tasks:
                if task["kf_id"] == data["task_id"]:
                    self._wrong(task, data["wrong"])

    def _wrong(self, task: dict[str, Any], word: str) -> None:
        """A service said what cannot be: it may be at work, and is told to stop with the others."""
        if task["state"] not in TASK_ENDS:
            message = f"task {task['kf_id']} reports {word} while it is {task['state']}: the release fails"
            self.tell(message, "failed", task)
            self._end_task(task, "failed")

    def _begun(self, step: str) -> None:
        if step in BEGINS:
            self.change_release(BEGINS[step])
        if step == "publish":
            for task in self._round():
                task["asked"] = True
        if step == "cancel":
            out = self.release["out"]
            self.release["canceling"] = [id for id in self.release["round"] if id not in out]

    def _round(self) -> list[dict[str, Any]]:
        """The tasks that the run is about."""
        return [task for task in self.tasks if task["kf_id"] in self.release["round"]]

    def _task(self, step: str, index: Any) -> dict[str, Any] | None:
        """The task that an element of a step is about; None: there is no such task any more."""
        asked = self.release["canceling" if step == "cancel" else "round"]
        id = asked[index] if isinstance(index, int) and index < len(asked) else None
        return next((task for task in self.tasks if task["kf_id"] == id), None)

    def _attempt(self, step: str, data: Mapping[str, Any]) -> None:
        task = self._task(step, data.get("index")) if step in ASKS else None
        if task is None:
            return
        if "error" in data:
            self._request_failed(step, task, data["error"])
        if step == "cancel" and "retry_at" not in data:
            if _state_in(data.get("output"), "before") == "publishing":
                self.accepted(task)
            if self._is_out(task) or _went_out(task, data.get("output")):
                self.show_published(task["kf_id"])
            self._stop(task)
        elif "parked" in data and step != "watch":  # that is known since it staged
            self._park(step, task)
        elif data.get("port") == "done":
            self._end_task(task, DONE[step])
        elif data.get("port") == "canceled":
            self._end_task(task, "canceled")

    def _park(self, step: str, task: dict[str, Any]) -> None:
        """A service only reports: from now on it is not asked, which may be a mistake of somebody."""
        if step == "publish":
            self.accepted(task)
        message = f"the service of task {task['kf_id']} does not take get_status: its report is waited for"
        self.tell(message, "", task)

    def _step_ended(self, step: str, port: str | None, data: Any) -> None:
        if step in CLOCKS and port == "done":
            self._time_out(*CLOCKS[step])
        if port != "failed" or step not in BROKEN or not isinstance(data, Mapping):
            return
        task = self._task(step, data.get("index"))
        if task is None:
            return
        self._request_failed(step, task, data["error"])
        detail = data["error"].get("detail")
        said = detail.get("said") if isinstance(detail, Mapping) else None
        if said is not None and step == "publish":
            self.accepted(task)
        self._end_task(task, said if said in TASK_ENDS else BROKEN[step])

    def _time_out(self, what: str, late: frozenset[str]) -> None:
        """Time is over: say who is late. Who should have published by then has failed, where it has not."""
        for task in self._round():
            if task["state"] in late:
                message = (
                    f"task {task['kf_id']} ran out of time: {task['service_name']} did not {what} in time"
                )
                self.tell(message, "failed", task)
                if what == "publish":
                    self.release["late"] = [*self.release["late"], task["kf_id"]]

    def _note_dropped(self, out: Mapping[str, Any]) -> None:
        """What the run knows of tasks that are out of it: they are sent no `cancel`."""
        for id, state in out.items():
            self.release["out"][id] = state
            for task in self.tasks:
                if task["kf_id"] == id:
                    self._end_task(task, state)

    def end(self, state: str) -> None:
        """The run has ended. Where everybody is out the release is published, whatever became of the run."""
        for task in self.tasks:
            if state == "published" or self._is_out(task):
                self._end_task(task, "published")
            self._stop(task)
        out = [task for task in self.current() if task["state"] == "published" or self._is_out(task)]
        self.release["partly_published"] = [task["kf_id"] for task in out]
        if state == "published" or (out and not self.left()):
            self.end_published()
        else:
            self.change_release(state)

    def _stop(self, task: dict[str, Any]) -> None:
        """A task whose service was told to stop has ended."""
        self._end_task(task, "failed" if task["kf_id"] in self.release["late"] else "canceled")

    def left(self) -> list[dict[str, Any]]:
        """The tasks of services that are not out."""
        return [task for task in self.current() if task["kf_id"] not in self.release["partly_published"]]

    def current(self) -> list[dict[str, Any]]:
        """The tasks that no others have replaced."""
        return [task for task in self.tasks if task["kf_id"] in self.release["tasks"]]

    def end_published(self) -> None:
        """Everybody has published."""
        for task in self.current():
            self.change_task(task, "published")
        self.release["partly_published"] = []
        self.change_release("published")

    def _is_out(self, task: Mapping[str, Any]) -> bool:
        """Whether a task is known to be published, also by a report that the run never waited for."""
        kept = task["asked"] and task.get("report") == "published"
        return kept or task["kf_id"] in self.release["partly_published"]

    def show_published(self, id: str) -> None:
        """A task was published although it was told to stop: one that has ended stays as it is, and is named.

        For one that was replaced the other is named: its service is out.
        """
        task = next((each for each in self.tasks if each["kf_id"] == id), None)
        if task is None:
            return
        self._end_task(task, "published")
        service, shown = task["task_service"], self.release["partly_published"]
        names = [each["kf_id"] for each in self.current() if each["task_service"] == service]
        self.release["partly_published"] = [*shown, *(name for name in names if name not in shown)]

    def _end_task(self, task: dict[str, Any], state: str) -> None:
        if task["state"] in TASK_ENDS:
            return
        if state == "published":
            self.accepted(task)
        self.change_task(task, state)

    def accepted(self, task: dict[str, Any]) -> None:
        """A service has accepted to publish."""
        if task["state"] == "staged" and task["asked"]:
            self.change_task(task, "publishing")

    def hear(self, said: Iterable[Mapping[str, Any]]) -> Fold:
        """What services that are asked for their state say of work that goes on: `{step, index, progress}`."""
        for each in said:
            task, told = self._task(each["step"], each["index"]), each["progress"]
            if task is None or each["step"] not in ASKS or not isinstance(told, Mapping):
                continue
            if "waits" in told:
                self._warn_once(task, each["step"], "waits", f"waits to be called: {told['waits']}")
            under_way = self.release["state"] in ("running", "publishing")
            if each["step"] not in ("stage", "publish") or not under_way:
                continue
            if each["step"] == "publish" and told.keys() - {"missed", "waits"}:
                self.accepted(task)
            if "missed" in told:
                why = f"is asked for its state again: {told['missed']}"
                self._warn_once(task, each["step"], "missed", why)
            heard = [each["step"], progress_of(told.get("progress"))]
            if heard[1] is not None and heard != task.get("heard") and hears_progress(self.release, task):
                task |= {"progress": heard[1], "heard": heard}  # once: what it reports afterwards is newer
        return self

    def _warn_once(self, task: dict[str, Any], step: str, about: str, sentence: str) -> None:
        """Warn about a service, once in each part of the work."""
        if task.get(about) != step:
            task[about] = step
            self.tell(f"task {task['kf_id']} {sentence}", "", task, "warning")

    def change_task(self, task: dict[str, Any], state: str) -> None:
        """Move a task, and tell of it."""
        was = task["state"]
        if was == state:
            return
        task["state"] = state
        self._since(task, state)
        if state in PROGRESS:
            task["progress"] = PROGRESS[state]
        self.tell(f"task {task['kf_id']} changed from {was} to {state}", state, task)

    def change_release(self, state: str) -> None:
        """Move the release, and tell of it."""
        release = self.release
        was = release["state"]
        if was == state:
            return
        release["state"] = state
        self._since(release, state)
        if state == "published":
            release["version"] = release.pop("next_version", release["version"])
        told = f"release {release['kf_id']}, version {release['version']} changed from {was} to {state}"
        self.tell(told, state, None)

    def _since(self, of: dict[str, Any], state: str) -> None:
        """Keep when it came into a state; `of` may be shared with what is kept, so the list is a new one."""
        of["states"] = [*of.get("states", ()), {"state": state, "at": self.at}]

    def _request_failed(self, step: str, task: dict[str, Any], error: Mapping[str, Any]) -> None:
        if error.get("kind") == "lost":  # nothing is wrong with the service
            self.tell(f"request to {ASKS[step]} task is made again: the coordinator was restarted", "", task)
            return
        self.tell(f"request to {ASKS[step]} task failed: {error.get('message')}", "failed", task)

    def tell(self, message: str, state: str, task: Mapping[str, Any] | None, kind: str | None = None) -> None:
        """One more event of this release."""
        number = self.release["told"] = self.release["told"] + 1
        # What a service was heard to say has the time of the hearing, later than entries that are read after it.
        at = self.release["told_at"] = max(self.at, self.release.get("told_at", ""))
        self.events.append(
            {
                "kf_id": derived_id(EVENT, self.release["kf_id"], number),
                "event_type": kind or ("error" if state in ("failed", "rejected") else "info"),
                "message": message[:MAX_TEXT],
                "release": self.release["kf_id"],
                "task": None if task is None else task["kf_id"],
                "task_service": None if task is None else task["task_service"],
                "created_at": at,
                "number": number,
            }
        )


def _went_out(task: Mapping[str, Any], answer: Any) -> bool:
    """Whether a service that was told to stop says that it has published."""
    return task["asked"] and "published" in (_state_in(answer, "state"), _state_in(answer, "status"))


def _state_in(answer: Any, name: str) -> str:
    return str(answer.get(name)).strip().lower() if isinstance(answer, Mapping) else ""
