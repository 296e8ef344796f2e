"""C6: a report that is repeated because its answer was lost is answered as the first; another one is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
import pytest

from penstock import Engine
from tests.api.conftest import Client
from tests.chaos.proxy import Proxy
from tests.trust.standing import node

FAR: dict[str, Any] = {
    "penstock": 1,
    "name": "far",
    "defaults": {"task_list": "far"},
    "steps": {
        "load": {"task": "far.load", "retries": 1, "backoff": {"initial": "1h"}},
        "then": {"task": "wait", "after": "load", "with": {"for": "1h"}},
    },
}
REPORTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "complete": ({"output": {"n": 1}, "tags": {"kind": "a"}}, {"output": {"n": 2}, "tags": {"kind": "a"}}),
    "fail": ({"error": "no disk"}, {"error": "no network"}),
}
"""What is reported, and what somebody else might say of the same attempt."""


async def begun(client: Client) -> tuple[str, dict[str, Any]]:
    """A run, and its first task in the hands of a worker."""
    await client.engine.publish(FAR, again=False)
    run = await client.engine.start("far")
    asked = {"worker": "w", "task_list": "far", "wait": 5, "max": 1}
    [task] = (await client.post("/api/tasks/poll", asked)).json["tasks"]
    return run, task


async def report(client: Client, task: dict[str, Any], how: str, said: dict[str, Any]) -> tuple[int, str]:
    answer = await client.post(f"/api/tasks/{task['id']}/{how}", {"lease": task["lease"], **said})
    return answer.status, answer.text


async def lose(client: Client, task: dict[str, Any], how: str, said: dict[str, Any]) -> None:
    """Report, and never hear the answer, though it was given."""
    base = urlsplit(client.base)
    assert base.hostname is not None and base.port is not None
    async with Proxy((base.hostname, base.port)) as proxy, aiohttp.ClientSession() as session:
        proxy.lose_answer(b"/api/tasks/")
        body = msgspec.json.encode({"lease": task["lease"], **said})
        path = f"http://127.0.0.1:{proxy.port}/api/tasks/{task['id']}/{how}"
        with pytest.raises(aiohttp.ClientError):
            await session.post(path, data=body, headers={"content-type": "application/json"})
        assert proxy.lost == 1


async def told_of(engine: Engine, run: str) -> list[tuple[str, Any, Any]]:
    """What the history says of the first attempt."""
    entries = await engine.history(run)
    return [
        (each["kind"], each.get("data"), each.get("error"))
        for each in entries
        if each["kind"] in ("ended", "attempt") and each["step"] == "load"
    ]


@pytest.mark.parametrize("how", ["complete", "fail"])
def test_c6_a_report_whose_answer_was_lost_is_answered_as_the_first_and_another_refused(
    url: str, tmp_path: Path, how: str
) -> None:
    said, other = REPORTS[how]

    async def main() -> Any:
        async with node(url, tmp_path) as client:
            _, heard = await begun(client)
            first = await report(client, heard, how, said)
            run, task = await begun(client)
            await lose(client, task, how, said)
            again = [await report(client, task, how, said) for _ in range(2)]
            refused = await report(client, task, how, other)
        async with node(url, tmp_path) as client:  # another process, which remembers nothing
            again.append(await report(client, task, how, said))
            still = await report(client, task, how, other)
            return first, again, (refused, still), await told_of(client.engine, run)

    first, again, refused, entries = asyncio.run(main())

    assert first[0] == 200
    assert again == [first] * 3
    assert [(status, msgspec.json.decode(text)["code"]) for status, text in refused] == [
        (409, "already_completed")
    ] * 2
    assert len(entries) == 1
