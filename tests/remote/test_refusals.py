"""A server that does not take a call as it is: what is innocent in it suffers nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import aiohttp
import msgspec

from penstock.flow.model.run_input import Done
from penstock.remote.connection import Connection
from penstock.remote.gate import HttpGate, _instead, _verdict
from penstock.remote.problems import error_of
from penstock.runtime.dispatch.gate import Report
from penstock.store.rows.rows import Heartbeat, Lease, LogLine, Renewal
from penstock.workers.wire import Items, Told
from tests.remote.engines import engine_behind_http, launch

NOW = datetime(2026, 1, 1, tzinfo=UTC)
UNTIL = NOW + timedelta(minutes=1)
LEASES = [Lease(f"run{number}", 1, -1, 1, 1) for number in range(2)]
Talk = Callable[[HttpGate, list[Any]], Awaitable[Any]]


class Strict:
    """Takes no call in which there is the word `bad`, and no progress that is `large`."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    async def ask(self, method: str, path: str, body: Items, **how: Any) -> Any:
        text = msgspec.json.encode(body).decode()
        if "bad" in text:
            raise error_of({"code": "invalid_unicode", "status": 400, "detail": "that word cannot be kept"})
        items = msgspec.to_builtins(body)["items"]
        self.taken += items
        told = [
            {"id": each["id"], "status": 413 if "large" in str(each) else 200, "expires": UNTIL}
            for each in items
        ]
        return msgspec.to_builtins({"items": told, "now": NOW})

    async def close(self) -> None: ...


def _play(talk: Talk) -> Any:
    async def main() -> Any:
        server = Strict()
        gate = HttpGate(cast(Connection, server))
        return await talk(gate, server.taken)

    return asyncio.run(main())


def test_progress_that_is_refused_costs_no_lease() -> None:
    async def talk(gate: HttpGate, taken: list[Any]) -> Any:
        renewals = await gate.heartbeat([Heartbeat(LEASES[0], b'"bad"'), Heartbeat(LEASES[1], b'"fine"')])
        return renewals, [item["heartbeat"] for item in taken]

    assert _play(talk) == ([Renewal(UNTIL)] * 2, [{}, {}])


def test_progress_that_is_too_large_is_left_out_alone() -> None:
    async def talk(gate: HttpGate, taken: list[Any]) -> Any:
        renewals = await gate.heartbeat([Heartbeat(LEASES[0], b'"large"'), Heartbeat(LEASES[1], b'"fine"')])
        return renewals, [item["heartbeat"] for item in taken[2:]]

    assert _play(talk) == ([Renewal(UNTIL)] * 2, [{}])


def test_a_report_that_is_refused_ends_its_attempt_as_a_failure() -> None:
    async def talk(gate: HttpGate, taken: list[Any]) -> Any:
        verdicts = await gate.report([Report(LEASES[0], Done(output="bad"))])
        return verdicts, [item["fail"] for item in taken]

    why = "the server does not take what the task gave: that word cannot be kept"
    assert _play(talk) == (["accepted"], [{"error": {"message": why, "kind": "error"}, "retry": False}])


def test_of_many_reports_none_becomes_a_failure_for_anothers_fault() -> None:
    async def talk(gate: HttpGate, taken: list[Any]) -> Any:
        try:
            await gate.report([Report(LEASES[0], Done(output="bad")), Report(LEASES[1], Done(output=1))])
        except Exception as error:
            return str(error), taken

    assert _play(talk) == ("that word cannot be kept", [])


def test_after_an_output_that_was_not_offered_there_is_nothing_more_to_report() -> None:
    told = Told(id="t", status=422, code="invalid_output", detail="the attempt has failed")

    assert (_instead(LEASES[0], told), _verdict(told)) == (None, "accepted")


def test_the_worker_in_node_that_gives_what_it_does_not_offer_fails_its_step_for_good(tmp_path: Path) -> None:
    offer = {"name": "promise", "output": {"type": "object", "properties": {"rows": {"type": "integer"}}}}
    flow = {
        "penstock": 1,
        "name": "p",
        "steps": {"s": {"task": "promise", "retries": 1, "backoff": {"initial": "10ms"}}},
    }

    async def main() -> Any:
        async with engine_behind_http(tmp_path) as (engine, base), asyncio.timeout(30):
            async with aiohttp.ClientSession() as session:
                body = {"worker": "w", "offers": [offer]}
                answer = await session.put(f"{base}/api/tasks/offers", json=body)
                assert answer.status == 200
            await engine.publish(flow)
            run = await engine.start("p")
            process = await launch("node", base, script="bad_text_tasks.mjs")
            try:
                return await engine.wait(run, 20)
            finally:
                process.terminate()
                await process.wait()

    step = asyncio.run(main())["steps"]["s"]

    assert (step["status"], step["attempts"], step["error"]["kind"]) == ("failed", 1, "fatal")


def test_lines_that_are_refused_are_dropped_and_later_ones_kept() -> None:
    async def talk(gate: HttpGate, taken: list[Any]) -> Any:
        writer = ("run0", "s", None, 1)
        gate._writers[writer] = LEASES[0]
        for text in ("bad", "fine"):
            body = {"at": NOW, "step": "s", "index": None, "attempt": 1, "level": "info", "text": text}
            await gate.log([LogLine("run0", NOW, msgspec.json.encode(body))])
        return [line["text"] for item in taken for line in item["log"]["lines"]]

    assert _play(talk) == ["fine"]


def test_the_worker_in_node_ends_each_task_that_says_what_cannot_be_kept(tmp_path: Path) -> None:
    names = ("output", "deep", "error", "say")

    async def main() -> Any:
        async with engine_behind_http(tmp_path) as (engine, base), asyncio.timeout(30):
            for name in names:
                flow = {
                    "penstock": 1,
                    "name": name,
                    "defaults": {"retries": 0},
                    "steps": {"s": {"task": name}},
                }
                await engine.publish(flow)
            runs = [await engine.start(name) for name in names]
            process = await launch("node", base, script="bad_text_tasks.mjs")
            try:
                for run in runs:
                    await engine.wait(run, 20)
            finally:
                process.terminate()
                await process.wait()
            ends = [(await engine.show(run))["error"] for run in runs]
            said = [line["text"] for line in await engine.logs(runs[-1])]
            return [end and end["message"] for end in ends], said

    [output, deep, error, say], said = asyncio.run(main())

    assert output == "the output has a NUL or half a character, which no database keeps: leave it out"
    assert deep.startswith("the server does not take what the task gave: ")
    assert error == "half \ufffd"
    assert (say, said) == (None, ["a\ufffdb"])


def test_who_has_no_token_is_told_where_to_say_it() -> None:
    detail = "no token was sent: send 'Authorization: Bearer …' with a token of `penstock access create`"

    told = error_of({"code": "unauthenticated", "status": 401, "detail": detail})

    assert str(told) == (
        "no token was sent: give a token of `penstock access create`, as PENSTOCK_TOKEN or with --token"
    )
