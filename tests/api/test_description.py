"""The description is true: whatever it allows or forbids is sent to a live server, and every answer fits it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from schemathesis.engine import events, from_schema

from penstock.api.openapi import describe
from penstock.api.table import CALLS
from tests.api.conftest import standing

ASKED = [call for call in CALLS if call.described and not call.path.endswith(("/stream", "/poll"))]
"""A stream never ends, and a poll waits: `test_streams` and `test_tasks` have them."""
TAGS = sorted({call.tag for call in ASKED})

REFUSED = ["404", "409", "412", "422"]
"""What may be answered to a request that fits the description: it names what is not there, or is not right there."""

FORGIVEN = {("POST /api/tasks/report", "negative_data_rejection")}
"""One item that is wrong is answered by itself, with its own status: the others are taken."""

CONFIG: dict[str, Any] = {
    "generation": {
        "max-examples": 1,
        "deterministic": True,
        "database": "none",
        "allow-x00": False,
        "no-shrink": True,
    },
    "phases": {"stateful": {"enabled": False}},
    "checks": {
        "not_a_server_error": {
            "expected-statuses": ["2xx", "4xx", "504"]
        },  # 504: a call within a millisecond
        "positive_data_acceptance": {"expected-statuses": ["2xx", *REFUSED, "504"]},
        "negative_data_rejection": {"expected-statuses": ["400", "405", "413", "415", *REFUSED]},
    },
    "operations": [
        {  # a text is any text, and may be no YAML
            "include-path-regex": r"/(check|publish|try|workflows/\{name\})$",
            "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "400", *REFUSED]}},
        },
        {  # a cursor is any text, and may not be that of the list
            "include-path": [
                call.path for call in CALLS if "cursor" in getattr(call.query, "__struct_fields__", ())
            ],
            "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "400", *REFUSED]}},
        },
        {  # a token is any text, and may be nobody's
            "include-path-regex": "^/api/session",
            "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "401", *REFUSED]}},
        },
    ],
}


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """A server in a thread of its own, with a workflow and a run of it."""
    begun = threading.Event()
    found: dict[str, Any] = {}

    async def main() -> None:
        async with standing(folder) as (base, service):
            await service.engine.start("chain")
            over, loop = asyncio.Event(), asyncio.get_running_loop()
            found.update(base=base, stop=lambda: loop.call_soon_threadsafe(over.set))
            begun.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert begun.wait(10)
    try:
        yield found["base"]
    finally:
        found["stop"]()
        thread.join(30)


@pytest.mark.parametrize("tag", TAGS)
def test_every_answer_fits_the_description(tag: str, tmp_path: Path) -> None:
    wrong, cases = [], 0
    with server(tmp_path) as base:
        config = schemathesis.Config.from_dict({**CONFIG, "base-url": base})
        described = describe([call for call in ASKED if call.tag == tag], "test")
        schema = schemathesis.openapi.from_dict(described, config=config)
        for event in from_schema(schema).execute():
            if isinstance(event, events.NonFatalError | events.FatalError):
                wrong.append(str(event))
            elif isinstance(event, events.ScenarioFinished):
                cases += len(event.recorder.checks)
                wrong += failures(event)

    assert (wrong, cases > 0) == ([], True)


def failures(event: events.ScenarioFinished) -> list[str]:
    return [
        f"{event.label}: {check.name}: {check.failure_info.failure.message}\n{check.failure_info.code_sample}"
        for checks in event.recorder.checks.values()
        for check in checks
        if check.failure_info is not None and (event.label, check.name) not in FORGIVEN
    ]
