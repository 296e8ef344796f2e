"""A secret is opened only where the definition of a step names it, never because the data of a run looks so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock.access.caller import ANYBODY_HERE
from penstock.boxes.kinds import tasks_in
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.compile.compile import compile_flow
from penstock.flow.format.definition_parser import read_definition
from penstock.steps.kinds import IO_TASKS, kinds_with
from penstock.workers.context import Context
from tests.boxes.conftest import OWN, functions, says, site
from tests.flow.driver import Drive

VALUE = "hush-hush-7"
DATA = {"x": {"secret": "KEY"}}
NEEDED: dict[str, dict[str, Any]] = {
    "http": {"url": "BASE/f"},
    "service": {"url": "BASE/f", "until": "*", "poll": "never"},
    "update": {"store": "s", "key": "k"},
    "mail": {"to": "a@b.example"},
}
KINDS: dict[str, dict[str, Any]] = {
    "key": {"kind": "azure"},
    "credentials": {"kind": "lambda-invoke", "function": "f", "region": "eu-central-1"},
}
SHAPES: dict[str, Any] = {
    "whole": "${ data.x }",
    "part": {"a": "${ data.x }", "id": "${ data.x }", "secret": "${ data.x }"},
    "name": {"secret": "${ data.x.secret }"},
    "names": {"a": {"secret": "${ data.x.secret }"}},
    "map": "${ {'a': data.x, 'id': data.x, 'secret': data.x} }",
    "literal": {"a": "${ {'secret': 'KEY'} }"},
    "list": ["${ data.x }"],
}


async def opened(task: str, params: dict[str, Any]) -> list[str]:
    """The secrets that a step asks for, with data that looks like one; its definition is taken as it is."""
    asked: list[str] = []

    async def secrets(names: Sequence[str]) -> Mapping[str, str]:
        asked.extend(names)
        return {name: VALUE for name in names}

    async with functions(f=says({"output": 1})) as there:
        given = {k: v.replace("BASE", there.base) if isinstance(v, str) else v for k, v in params.items()}
        definition = {"penstock": 1, "name": "w", "steps": {"s": {"task": task, "with": given}}}
        flow = compile_flow(
            read_definition(json.dumps(definition)), kinds_with(IO_TASKS, checked=False), IO_TASKS
        )
        attempt = Drive(flow, DATA).tasks["s"]
        environment = TaskEnvironment(
            egress_allow=["127.0.0.1"], smtp_url="smtp://127.0.0.1:9", secrets=secrets
        )
        with suppress(Exception):  # many of these are no parameters at all
            async with asyncio.timeout(5):
                await tasks_in(environment)[task].function(Context(attempt), **attempt.params)
        await environment.close()
    return asked


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("task", "name"), [(task, name) for task in NEEDED for name in IO_TASKS[task].parameters["properties"]]
)
def test_no_parameter_opens_what_comes_from_data(task: str, name: str, shape: str) -> None:
    params = {**NEEDED[task], **KINDS.get(name, {}), name: SHAPES[shape]}

    assert asyncio.run(opened(task, params)) == []


@pytest.mark.parametrize(
    ("task", "params"),
    [
        ("http", {"headers": {"A": {"secret": "KEY"}}}),
        ("http", {"query": {"secret": {"secret": "KEY"}}}),
        ("http", {"kind": "azure", "key": {"secret": "KEY"}}),
        ("http", {**KINDS["credentials"], "credentials": {"id": "a", "secret": {"secret": "KEY"}}}),
        ("service", {"headers": {"A": {"secret": "KEY"}, "B": "${ data.x }"}}),
    ],
)
def test_what_the_definition_names_is_opened_once(task: str, params: dict[str, Any]) -> None:
    assert asyncio.run(opened(task, {**NEEDED[task], **params})) == ["KEY"]


def test_a_header_that_is_called_secret_is_a_header(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({"output": 1})) as there:
            call = {"task": "http", "with": {"url": f"{there.base}/f", "headers": {"secret": "KEY"}}}
            await here.run({"steps": {"call": call}})
            assert there.got[0][1]["secret"] == "KEY"

    asyncio.run(main())


def test_who_posts_to_a_hook_gets_no_secret_sent(tmp_path: Path) -> None:
    addresses: list[str] = []

    async def price(request: web.Request) -> web.StreamResponse:
        addresses.append(request.path_qs)
        return web.json_response({"output": dict(request.headers)})

    async def main() -> None:
        async with site(tmp_path) as here, functions(price=price) as there:
            await here.service.access.set_secret(ANYBODY_HERE, "PRODKEY", VALUE)
            query = {"sku": "${ data.sku }"}
            given = {"url": f"{there.base}/price", "method": "GET", "query": query}
            step = {"task": "http", "with": {**given, "headers": {"X-Trace": "${ data.sku }"}}}
            await here.service.access.set_secret(ANYBODY_HERE, "HOOK", OWN)
            source = {"kind": "webhook", "verify": {"method": "token", "secret": "HOOK"}}
            await here.engine.publish(
                {"penstock": 1, "name": "w", "source": source, "steps": {"s": step}}, start=True
            )
            status, told = await here.ask("POST", "/hooks/w", {"sku": {"secret": "PRODKEY"}})
            assert status < 300, told
            [run] = await here.engine.runs()
            shown = await here.engine.wait(run["id"], 20)

            assert shown["status"] == "succeeded"
            assert addresses == ["/price?sku=%7B%22secret%22%3A%22PRODKEY%22%7D"]
            assert shown["steps"]["s"]["output"]["output"]["X-Trace"] == '{"secret":"PRODKEY"}'

    asyncio.run(main())


@pytest.mark.parametrize("task", ["http", "service"])
def test_a_server_that_echoes_a_secret_gets_none_of_it_stored(task: str, tmp_path: Path) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        told = {"token": request.headers["X-Key"], "n": 1}
        return web.json_response({"state": "done", "output": told, "tags": {"t": [told]}, "set": told})

    async def main() -> dict[str, Any]:
        async with site(tmp_path, str(tmp_path / "echo.db")) as here, functions(echo=echo) as there:
            await here.service.access.set_secret(ANYBODY_HERE, "KEY", VALUE)
            given = {"url": f"{there.base}/echo", "headers": {"X-Key": {"secret": "KEY"}}}
            shown = await here.run({"steps": {"s": {"task": task, "with": given}}})
            assert there.got[0][1]["x-key"] == VALUE
            return shown

    shown = asyncio.run(main())

    assert shown["status"] == "succeeded"
    assert VALUE not in json.dumps(shown)
    assert not [path for path in tmp_path.glob("echo.db*") if VALUE.encode() in path.read_bytes()]
