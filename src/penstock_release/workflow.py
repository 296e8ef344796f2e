"""The workflow that every release runs: the definition in the package, with the time-outs of this installation."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import Any

import yaml

from penstock_release.options import Options
from penstock_release.rules import PHASES

NAME = "penstock-release"
OWNER = "the release coordinator: use /releases"
SECRET = "release:authorization"
"""Under this name, which no secret can be given by hand, the server makes the header that task services are shown."""
OLD_SECRET = "release.authorization"
"""The same in runs that an earlier version began."""

RARELY = 6
"""How much less often services are asked that only wait to be told to publish."""


def definition(options: Options) -> dict[str, Any]:
    """The definition with what the settings say."""
    text = files("penstock_release").joinpath("release.yaml").read_text(encoding="utf-8")
    made: dict[str, Any] = yaml.safe_load(text)
    tries = made["steps"]["cancel"]["retries"] + 1
    first = options.request_timeout / 60
    # Shorter, and a release would be canceled while a service is still waited for, or never told.
    least = options.request_timeout * (2 * tries + 1) + first * 2**tries
    made["cleanup_timeout"] = _span(max(options.timeout, least))
    limit = _span(min(options.task_timeout, options.timeout))
    for name, step in made["steps"].items():
        if step["task"] == "wait":
            step["with"]["for"] = limit
        if step["task"] == "service":
            step["timeouts"] = {"heartbeat": _span(options.heartbeat)}
            step["with"] |= {**PHASES[name], **_calling(options)}
    made["steps"]["watch"]["with"]["poll"] = _span(options.poll_interval * RARELY)
    cancel = made["steps"]["cancel"]
    cancel["backoff"] = {"initial": _span(first), "factor": 2, "max": "30s"}
    cancel["with"]["turn"] = cancel["with"].pop("key")  # a report must not be taken for its answer
    return made


def _calling(options: Options) -> dict[str, Any]:
    headers: dict[str, Any] = {"User-Agent": "ReleaseCoordinator/penstock"}
    if options.signs:
        headers["Authorization"] = {"secret": SECRET}
    return {
        "service": "${ item.service }",
        "body": {"task_id": "${ item.task_id }", "release_id": "${ data.release_id }"},
        "args": {"studies": "${ data.studies }"},
        "headers": headers,
        "key": "${ item.task_id }",
        "poll": _span(options.poll_interval),
        "request_timeout": _span(options.request_timeout),
    }


def _span(time: timedelta) -> str:
    return f"{round(time.total_seconds() * 1000)}ms"
