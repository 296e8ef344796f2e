"""C18: what a call changes and its entry in the record are one transaction: without the entry nothing is changed."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from penstock.api.table import CALLS
from penstock.store.open import is_shared
from tests.api.conftest import CHAIN, OWN, Client
from tests.api.test_recording import Ask, bad, prepared
from tests.trust.beside import Beside, Tables, beside
from tests.trust.standing import ADMIN, node
from tests.waiting import until

REFUSE = {
    False: """
CREATE TABLE test_refusing (yes INTEGER);
CREATE TRIGGER test_refuse BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM test_refusing)
BEGIN SELECT RAISE(ABORT, 'the record is full'); END""",
    True: """
CREATE TABLE test_refusing (yes int);
CREATE FUNCTION test_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN IF EXISTS (SELECT 1 FROM test_refusing) THEN RAISE 'the record is full'; END IF; RETURN NEW; END $$;
CREATE TRIGGER test_refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION test_refuse()""",
}
"""By whether it is PostgreSQL: no entry is written as long as there is a row in `test_refusing`."""

PRESENCE = {"test_refusing", "worker"}
"""Tables that say what is there now, and nothing of what was done."""

IN_HISTORY = {
    "start_run",
    "call_workflow",
    "start_by_hook",
    "emit_by_hook",
    "call_back",
    "notify_of_objects",
    "emit_event",
    "emit_by_key",
    "poll_tasks",
    "report_tasks",
    "heartbeat_task",
    "complete_task",
    "fail_task",
    "release_task",
    "log_task",
    "hang_up",
    "leave",
    "put_offers",
}
"""Calls that bring runs forward: their history says what came, and a worker's presence is no change."""

CHANGELESS = {
    "check_definition",
    "check_draft",
    "import_definition",
    "try_workflow",
    "evaluate_expression",
    "preview_schedule",
    "verify_audit",
    "consent_to_start",
    "consent_to_emit",
}
"""Calls that are asked with a body and change nothing."""

AT_THE_DOOR = {"sign_in", "sign_out"}
"""Recorded where there is no caller yet."""


async def quiet(rows: Beside) -> Tables:
    """The rows once nothing is on its way to a run any more: pauses are told to runs one by one."""

    async def twice() -> tuple[Tables, Tables]:
        before = await rows.tables()
        await asyncio.sleep(0.02)  # who is under way writes meanwhile
        return before, await rows.tables()

    _, found = await until(
        twice, "quiet", so=lambda both: both[0] == both[1] and not both[1]["message"] and not both[1]["task"]
    )
    return {name: each for name, each in found.items() if name not in PRESENCE}


async def refused(client: Client, rows: Beside, ask: Ask) -> tuple[bool, list[str]]:
    """Whether a call whose entry cannot be written says that it was done, and which tables it changed all the same."""
    before = await quiet(rows)
    await rows.sql("INSERT INTO test_refusing VALUES (1)")
    answer = await client.ask(*ask, headers=dict(ADMIN))
    after = await quiet(rows)  # many runs at once may be gone on with after the answer
    await rows.sql("DELETE FROM test_refusing")
    # Of many runs each is told by itself what became of it.
    done = answer.status < 300 and not (answer.json or {}).get("failed")
    return done, [name for name in before if before[name] != after[name]]


async def recorded(client: Client, rows: Beside, ask: Ask) -> tuple[bool, bool]:
    """Whether the call is done now, and leaves an entry."""
    count = len((await rows.tables())["audit"])
    answer = await client.ask(*ask, headers=dict(ADMIN))
    return answer.status < 300, len((await rows.tables())["audit"]) > count


def test_c18_every_call_that_changes_something_is_known_here() -> None:
    changing = {call.name for call in CALLS if call.method != "GET"}

    assert changing - {call.name for call in CALLS if call.recorded} == (
        IN_HISTORY | CHANGELESS | AT_THE_DOOR
    )


def test_c18_where_no_entry_can_be_written_no_call_changes_anything(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "penstock")

    async def main() -> dict[str, Any]:
        found: dict[str, Any] = {}
        tasks = {"one": lambda: 1, "two": lambda: 2, "bad": bad}
        async with node(url, tmp_path, tasks, open=False, feed=False) as client, beside(url) as rows:
            await client.engine.publish(CHAIN)
            calls = await prepared(client) | {"sign_in": ("POST", "/api/session", {"token": OWN})}
            await rows.sql(REFUSE[is_shared(url)])
            for name, ask in calls.items():
                found[name] = (await refused(client, rows, ask), await recorded(client, rows, ask))
        return found

    found = asyncio.run(main())

    wanted = {call.name for call in CALLS if call.recorded} - {"redeliver_event"} | {"sign_in"}
    assert found == dict.fromkeys(wanted, ((False, []), (True, True)))
