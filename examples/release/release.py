"""Three services on this machine, and a release of all of them: staged, and published where it is asked for.

    PENSTOCK_EGRESS_ALLOW=127.0.0.1 PENSTOCK_RELEASE_OPEN_REPORTS=true penstock up
    python release.py --publish

`index` is asked for its state, `portal` reports and cannot be asked, `archive` does both.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from task_service.service import Tasks, listening

STUDIES = {"SD_00000001": "Sleep in the mountains", "SD_00000002": "Tides and moods"}
AUTHOR = "examples"
LONGEST = 60.0
"""Seconds that staging or publishing may take here."""


class Coordinator:
    """The release coordinator over HTTP."""

    def __init__(self, server: str, token: str | None = None) -> None:
        self.server, self.token = server.rstrip("/"), token

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What it answers. Raises OSError, which has the reason as its text."""
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(f"{self.server}{path}", data, headers, method=method), timeout=20) as answer:
                return json.load(answer)
        except HTTPError as error:
            said = error.read(1000).decode(errors="replace")
            raise OSError(f"{method} {path} was answered with {error.code}: {said}") from error
        except URLError as error:
            raise OSError(f"{self.server} cannot be asked: {error.reason}") from error

    def register(self, name: str, url: str) -> str:
        """Register a service, or say where it is now; its id."""
        about = {"description": f"The {name} of all studies", "author": AUTHOR, "url": url, "enabled": True}
        for known in self.call("GET", "/task-services?limit=400")["results"]:
            if (known["name"], known["author"]) == (name, AUTHOR):
                return str(self.call("PATCH", f"/task-services/{known['kf_id']}", about)["kf_id"])
        return str(self.call("POST", "/task-services", {"name": name, **about})["kf_id"])

    def disable(self, service: str) -> None:
        """Let a service take part in no more releases: it is about to end."""
        self.call("PATCH", f"/task-services/{service}", {"enabled": False})

    def stage(self, name: str) -> str:
        """Begin a release of all studies; its id."""
        known = [each["kf_id"] for each in self.call("GET", "/studies?limit=1000")["results"]]
        for id, title in STUDIES.items():
            if id not in known:
                self.call("POST", "/studies", {"kf_id": id, "name": title})
        made = self.call("POST", "/releases", {"name": name, "studies": list(STUDIES)})
        return str(made["kf_id"])

    def until(self, release: str, state: str) -> dict[str, Any]:
        """The release, once it is in a state. Raises TimeoutError where it ends up in another."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            found: dict[str, Any] = self.call("GET", f"/releases/{release}")
            if found["state"] == state:
                return found
            if found["state"] in ("failed", "canceled"):
                break
            time.sleep(0.1)
        raise TimeoutError(f"the release {release} is {found['state']}, not {state}")


def services(coordinator: Coordinator, seconds: float = 0.5) -> dict[str, ThreadingHTTPServer]:
    """The three services, at work in threads of this process, by their names."""
    push, token = coordinator.server, coordinator.token
    every = {
        "index": Tasks(None, None, seconds),
        "portal": Tasks(push, token, seconds, asked=False),
        "archive": Tasks(push, token, seconds),
    }
    made = {name: listening(name, tasks) for name, tasks in every.items()}
    for server in made.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return made


def address(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def main() -> None:
    options = argparse.ArgumentParser(description="A release of three services.")
    options.add_argument("--server", default=os.environ.get("PENSTOCK_SERVER", "http://127.0.0.1:7777"))
    options.add_argument("--name", default="Spring")
    options.add_argument("--publish", action="store_true", help="publish it once it is staged")
    given = options.parse_args()
    coordinator = Coordinator(given.server, os.environ.get("PENSTOCK_TOKEN"))
    own = [coordinator.register(name, address(server)) for name, server in services(coordinator).items()]
    try:
        release = coordinator.stage(given.name)
        print(f"release {release} is {coordinator.until(release, 'staged')['state']}", flush=True)
        if given.publish:
            coordinator.call("POST", f"/releases/{release}/publish", {})
            ended = coordinator.until(release, "published")
            print(f"release {release} is published as {ended['version']}", flush=True)
    finally:
        for service in own:
            coordinator.disable(service)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"error: {error}")
