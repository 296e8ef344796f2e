"""What the boxes that act on the world give is what their offers say."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.boxes.shell import shell_task
from penstock.flow.values.schema_validation import violations
from penstock.runtime.errors import InvalidFields
from penstock.steps.kinds import OFFERS, kinds_with
from penstock.steps.outputs import NO_DATA
from tests.boxes.conftest import ONE_STORE, functions, says, site
from tests.boxes.test_mail import Postbox, post
from tests.boxes.test_service import Remote, driven

__all__ = ["post"]
KINDS = kinds_with({})
FORM = {"properties": {"price": {"type": "integer"}}}


def broken(task: str, params: dict[str, Any], port: str, output: Any, patches: list[Any]) -> list[str]:
    """What does not fit the offer of a step with these parameters."""
    offer = KINDS[task].offer_for(params)
    wrong = violations(offer.schemas.get(port), output)
    return wrong + [each for patch in patches for each in violations(offer.sets, patch)]


async def patches_of(engine: Engine, run: str) -> list[Any]:
    return [entry["data"] for entry in await engine.history(run) if entry["kind"] == "set"]


@pytest.mark.parametrize(
    ("params", "says_what"),
    [
        ({}, {"output": {"a": 1}, "data": {"b": 2}}),
        ({"answer": "text"}, "a"),
        ({"answer": "nothing"}, {"data": {"b": 2}}),
        ({"method": "GET"}, {"data": {"b": 2}}),
        ({"method": "HEAD"}, None),
        ({"method": "HEAD", "answer": "text"}, None),
        ({"body": {"x": 1}}, {"data": {"b": 2}}),
    ],
)
def test_http_gives_and_sets_what_its_offer_says(
    params: dict[str, Any], says_what: Any, tmp_path: Path
) -> None:
    async def main() -> list[str]:
        async with site(tmp_path) as here, functions(f=says(says_what)) as there:
            given = {"url": f"{there.base}/f", **params}
            run = await here.run({"steps": {"s": {"task": "http", "with": given}}})
            step = run["steps"]["s"]
            assert step["status"] == "complete", step
            patches = await patches_of(here.engine, run["id"])
            return broken("http", given, step["port"], step["output"], patches)

    assert asyncio.run(main()) == []


def test_http_credentials_need_an_id_and_a_secret(tmp_path: Path) -> None:
    async def main() -> Any:
        async with site(tmp_path) as here, functions(f=says({})) as there:
            given = {"url": f"{there.base}/f", "kind": "lambda", "credentials": "${ dyn({'id': 'a'}) }"}
            run = await here.run({"steps": {"s": {"task": "http", "with": given}}})
            return run["steps"]["s"]["error"]["message"]

    schema = OFFERS["http"].parameters["properties"]["credentials"]
    assert violations(schema, {"id": "a"}) == ['"secret" is a required property']
    assert "`credentials` needs `id` and `secret`" in asyncio.run(main())


def test_mail_gives_and_sets_what_its_offer_says(post: tuple[Postbox, str], tmp_path: Path) -> None:
    params = {"to": ["a@b.example", "no@b.example"], "subject": "Hello", "text": "You"}

    async def main() -> Any:
        async with site(tmp_path, smtp_url=post[1]) as here:
            run = await here.run({"steps": {"s": {"task": "mail", "with": params}}})
            return run["steps"]["s"]["output"], await patches_of(here.engine, run["id"])

    output, patches = asyncio.run(main())

    assert output["refused"] == ["no@b.example"]
    assert broken("mail", params, "done", output, patches) == []


@ONE_STORE
@pytest.mark.parametrize("decision", ["approved", "rejected"])
@pytest.mark.parametrize(
    ("form", "fields"), [(FORM, {"price": 3}), (FORM, None), (None, None), (None, {"a": 1})]
)
def test_an_approval_gives_and_sets_what_its_offer_says(
    decision: str, form: Any, fields: Any, url: str, tmp_path: Path
) -> None:
    params = {"text": "?"} if form is None else {"text": "?", "fields": form}

    async def main() -> list[str]:
        async with site(tmp_path, url) as here:
            run = await here.run({"steps": {"s": {"task": "approval", "with": params}}})
            _, inbox = await here.ask("GET", "/api/approvals")
            await here.engine.decide(inbox["items"][0]["id"], decision, fields=fields)
            step = (await here.engine.wait(run["id"], 20))["steps"]["s"]
            patches = await patches_of(here.engine, run["id"])
            return broken("approval", params, step["port"], step["output"], patches)

    assert asyncio.run(main()) == []


@ONE_STORE
def test_what_a_person_fills_in_must_be_a_map_where_there_is_a_form(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            await here.run({"steps": {"s": {"task": "approval", "with": {"text": "?", "fields": FORM}}}})
            _, inbox = await here.ask("GET", "/api/approvals")
            await here.engine.decide(inbox["items"][0]["id"], "approved", fields=[3])

    with pytest.raises(InvalidFields, match='is not of type "object"'):
        asyncio.run(main())


@ONE_STORE
@pytest.mark.parametrize("params", [{}, {"wait": True}, {"wait": False}, {"wait": "${ data.wait }"}])
def test_a_workflow_gives_and_sets_what_its_offer_says(
    params: dict[str, Any], url: str, tmp_path: Path
) -> None:
    given = {"name": "child", **params}

    async def main() -> list[str]:
        async with site(tmp_path, url) as here:
            child = {"penstock": 1, "name": "child", "steps": {"s": {"task": "set", "with": {"a": 1}}}}
            await here.engine.publish(child)
            run = await here.run({"steps": {"s": {"task": "workflow", "with": given}}}, {"wait": True})
            step = run["steps"]["s"]
            assert step["status"] == "complete", step
            patches = await patches_of(here.engine, run["id"])
            return broken("workflow", given, step["port"], step["output"], patches)

    assert asyncio.run(main()) == []


def test_a_service_gives_and_sets_what_its_offer_says(tmp_path: Path) -> None:
    remote = Remote(start=[{"state": "done", "more": [1]}])
    params = {"set": {"a": 1}}

    step = asyncio.run(driven(tmp_path, remote, **params))

    assert broken("service", params, step["port"], step["output"], [{"a": 1}]) == []
    assert broken("service", {}, "done", None, [{"a": 1}])


def test_the_shell_sets_nothing_and_gives_any_json(tmp_path: Path) -> None:
    async def main() -> Any:
        async with Engine(tasks={"shell": shell_task(tmp_path)}) as engine:
            step = {"task": "shell", "with": {"command": "echo [1]"}}
            await engine.publish({"penstock": 1, "name": "w", "steps": {"s": step}})
            run = await engine.wait(await engine.start("w"), 20)
            return run["steps"]["s"]["output"], await patches_of(engine, run["id"])

    assert asyncio.run(main()) == ([1], [])
    assert (OFFERS["shell"].schemas, OFFERS["shell"].sets) == ({}, NO_DATA)
