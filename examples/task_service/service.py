"""A task service to copy: it stages and publishes its part of a release, is asked for its state, or reports it."""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

STEPS = 4
"""In how many parts the work is done here."""
REFUSED = (400, 401, 403, 404)
"""Answers to a report that would be the same next time."""
LONGEST = 30.0
"""Seconds between two reports of the same end."""


def stage(studies: list[str], part: int, seconds: float) -> None:
    """Your own work: take one part of the data in, where nobody sees it yet. Raise where that cannot be done."""
    time.sleep(seconds)


def publish(studies: list[str], part: int, seconds: float) -> None:
    """Your own work: let one part be seen. All that can go wrong should have gone wrong in `stage`."""
    time.sleep(seconds)


WORK = {"running": (stage, "staged"), "publishing": (publish, "published")}
"""By the state of a task that is at work: what is done, and the state that it is in then."""
ENDS = ("staged", "published", "failed")
"""States that the coordinator must hear of."""


class Task:
    """One task of one release: its state, and the work that is under way."""

    def __init__(self, id: str, release: str, studies: list[str]) -> None:
        self.id, self.release, self.studies = id, release, studies
        self.state, self.progress = "pending", 0
        self.told: str | None = None  # the end that the coordinator has taken

    def shown(self) -> dict[str, Any]:
        return {
            "task_id": self.id,
            "release_id": self.release,
            "state": self.state,
            "progress": self.progress,
        }


class Tasks:
    """All tasks, kept in a file so that they survive a restart: what was under way then is begun again, and told."""

    def __init__(
        self,
        push: str | None,
        token: str | None,
        seconds: float,
        asked: bool = True,
        file: Path | None = None,
    ) -> None:
        self._push, self._token, self._seconds, self._asked, self._file = push, token, seconds, asked, file
        self._tasks: dict[str, Task] = {}
        self._lock = threading.Lock()
        if file is not None and file.exists():
            for kept in json.loads(file.read_text()):
                task = Task(kept["task_id"], kept["release_id"], kept["studies"])
                task.state, task.progress, task.told = kept["state"], kept["progress"], kept.get("told")
                self._tasks[task.id] = task
            for task in self._tasks.values():
                if task.state in WORK:
                    self._begin(task, task.state)
                elif task.state in ENDS and task.told != task.state:
                    self._aside(self._report, task, task.state)

    def _keep(self) -> None:
        """Write all tasks down, whole or not at all; called with the lock held, before anybody is told."""
        if self._file is not None:
            made = [
                {**task.shown(), "studies": task.studies, "told": task.told} for task in self._tasks.values()
            ]
            beside = self._file.with_suffix(".new")
            beside.write_text(json.dumps(made))
            os.replace(beside, self._file)

    def act(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Do what the coordinator asks for: status code and answer. Asked twice, it does the work once."""
        action, id = body.get("action"), body.get("task_id")
        if not isinstance(action, str) or not isinstance(id, str):
            return 400, {"message": "action and task_id are needed"}
        with self._lock:
            if action == "initialize":
                new = Task(id, str(body.get("release_id")), list(body.get("studies") or []))
                known = self._tasks.setdefault(id, new)
                self._keep()
                return 200, known.shown()
            task = self._tasks.get(id)
            if task is None:
                return 404, {"message": f"there is no task {id}"}
            return self._go_on(task, action)

    def _go_on(self, task: Task, action: str) -> tuple[int, dict[str, Any]]:
        """The next state of a task that is known."""
        if action == "get_status" and not self._asked:
            return 405, {"message": "this service reports by itself"}
        if action == "start" and task.state == "pending":
            self._begin(task, "running")
        elif action == "publish" and task.state == "staged":
            self._begin(task, "publishing")
        elif action == "cancel":
            task.state = task.state if task.state == "published" else "canceled"
        elif action not in ("get_status", "start", "publish"):
            return 400, {"message": f"there is no action {action}"}
        if action != "get_status":
            self._keep()
        return 200, task.shown()

    def _begin(self, task: Task, state: str) -> None:
        task.state, task.progress = state, 0
        self._aside(self._work, task, state)

    def _aside(self, does: Callable[[Task, str], None], task: Task, state: str) -> None:
        threading.Thread(target=does, args=(task, state), daemon=True).start()

    def _work(self, task: Task, state: str) -> None:
        """All parts, one after the other. Whoever cancels meanwhile changes the state: then it stops."""
        does, then = WORK[state]
        for part in range(1, STEPS + 1):
            try:
                does(task.studies, part, self._seconds / STEPS)
                reached = then if part == STEPS else state
            except Exception as error:
                print(f"task {task.id} failed: {error!r}", flush=True)
                reached = "failed"
            with self._lock:
                if task.state != state:
                    return
                task.state, task.progress = reached, 100 * part // STEPS
                self._keep()
            self._report(task, reached)
            if reached == "failed":
                return

    def _report(self, task: Task, state: str) -> None:
        """Tell the coordinator. An end is told again until it is answered, or the task is in another state.

        A service that cannot be asked and tells its end once only may leave the release waiting until its time-out;
        a report that is repeated does no harm.
        """
        if self._push is None:
            return
        headers = {"Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        body = json.dumps({"state": state, "progress": task.progress}).encode()
        request = Request(f"{self._push}/tasks/{task.id}", body, headers, method="PATCH")
        seconds = 0.5
        while task.state == state:
            try:
                urlopen(request, timeout=10).close()
                return self._heard(task, state)
            except HTTPError as error:
                if error.code in REFUSED:
                    print(
                        f"the coordinator refused the report of {task.id}: {error.code} {error.reason}",
                        flush=True,
                    )
                    return
            except OSError:
                pass
            if state in WORK:
                return  # how far it is will be told again anyway
            time.sleep(seconds)
            seconds = min(2 * seconds, LONGEST)

    def _heard(self, task: Task, state: str) -> None:
        """An end that the coordinator has taken is not told again after a restart."""
        if state in ENDS:
            with self._lock:
                task.told = state
                self._keep()


class Handler(BaseHTTPRequestHandler):
    """`GET /status` and `POST /tasks`."""

    tasks: Tasks
    name: str

    def do_GET(self) -> None:
        if self.path == "/status":
            self._answer(200, {"name": self.name, "message": "ready for work", "version": "1.0.0"})
        else:
            self._answer(404, {"message": "nothing is here"})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if self.path != "/tasks":
            self._answer(404, {"message": "nothing is here"})
        elif not isinstance(body, dict):
            self._answer(400, {"message": "the body must be a JSON object"})
        else:
            self._answer(*self.tasks.act(body))

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: put your own log here."""


def listening(name: str, tasks: Tasks, host: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
    """The service; it answers once `serve_forever` is called."""
    return ThreadingHTTPServer((host, port), type("Own", (Handler,), {"name": name, "tasks": tasks}))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--name", default="example")
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=8001)
    options.add_argument("--push", metavar="URL", help="the coordinator to report to; else it must ask")
    options.add_argument("--only-push", action="store_true", help="refuse to be asked for a state")
    options.add_argument("--token", help="the token that reports carry")
    options.add_argument("--seconds", type=float, default=2.0, help="how long the work takes")
    options.add_argument("--keep", type=Path, metavar="FILE", help="where tasks are kept over a restart")
    given = options.parse_args()
    tasks = Tasks(given.push, given.token, given.seconds, not given.only_push, given.keep)
    server = listening(given.name, tasks, given.host, given.port)
    with suppress(KeyboardInterrupt):
        print(f"{given.name} listens on http://{given.host}:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
