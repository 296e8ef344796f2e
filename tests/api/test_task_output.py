"""What workers elsewhere promise to give."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Serve
from tests.api.test_tasks import FAR, Talk

SCHEMA = {"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]}
WRONG = "output.rows: expected integer, found string"


async def promised(worker: Talk) -> tuple[str, dict[str, Any]]:
    """A run, and its task: a worker promised what it gives."""
    offers = [{"name": "far.count", "ports": ["done", "other"], "output": SCHEMA}]
    await worker.client.ask("PUT", "/api/tasks/offers", {"worker": "w", "offers": offers})
    await worker.client.engine.publish({**FAR, "steps": {"load": {"task": "far.count"}}})
    return await worker.client.engine.start("far"), await worker.one()


def test_a_result_that_does_not_fit_what_was_offered_fails_the_attempt_and_a_repeat_is_answered_the_same(
    serve: Serve,
) -> None:
    async def talk(worker: Talk) -> Any:
        run, task = await promised(worker)
        lease = {"lease": task["lease"]}
        alone = await worker.post(f"{task['id']}/complete", output={"rows": "many"}, **lease)
        item = {"id": task["id"], **lease, "complete": {"output": {"rows": "many"}}}
        many = await worker.post("report", worker="w", items=[item])
        other = await worker.say(task, "complete", output={"rows": 3})
        return alone, many.json["items"], other, await worker.client.engine.wait(run, 10)

    alone, many, other, run = serve(lambda client: talk(Talk(client)))

    assert (alone.status, alone.json["code"]) == (422, "invalid_output")
    assert alone.json["errors"] == [{"path": "/output/rows", "code": "schema", "message": WRONG}]
    assert [(each["status"], each["code"], each["detail"]) for each in many] == [
        (422, "invalid_output", alone.json["detail"])
    ]
    assert other == (409, "already_completed")
    step = run["steps"]["load"]
    assert (run["status"], step["attempts"], step["error"]["kind"]) == ("failed", 1, "fatal")
    assert step["error"]["detail"] == {"errors": [WRONG]}


def test_a_result_on_another_port_may_be_anything_where_nothing_is_said_of_it(serve: Serve) -> None:
    async def talk(worker: Talk) -> Any:
        _, task = await promised(worker)
        return await worker.say(task, "complete", port="other", output={"rows": "many"})

    assert serve(lambda client: talk(Talk(client))) == (200, {"status": "taken"})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"output": {"type": "strange"}}, "`output` of task 'far.count' is no JSON Schema"),
        ({"sets": {"type": "strange"}}, "`sets` of task 'far.count' is no JSON Schema"),
        ({"outputs": {"done": {"type": "strange"}}}, "`outputs.done` of task 'far.count' is no JSON Schema"),
        ({"outputs": {"other": {}}}, "`outputs` of task 'far.count' names 'other', which is no port"),
        ({"outputs": {"failed": {}}}, "`outputs` of task 'far.count' names 'failed', which is no port"),
    ],
)
def test_an_offer_whose_schemas_are_none_is_refused(said: Any, why: str, serve: Serve) -> None:
    async def talk(worker: Talk) -> Any:
        body = {"worker": "w", "offers": [{"name": "far.count", **said}]}
        return await worker.client.ask("PUT", "/api/tasks/offers", body)

    answer = serve(lambda client: talk(Talk(client)))

    assert (answer.status, why in answer.json["detail"]) == (422, True)


def test_the_palette_shows_every_schema_of_an_offer(serve: Serve) -> None:
    schemas = {"output": SCHEMA, "outputs": {"other": {"type": "string"}}, "sets": {"type": "object"}}

    async def talk(worker: Talk) -> Any:
        offers = [{"name": "far.count", "ports": ["done", "other"], **schemas}]
        await worker.client.ask("PUT", "/api/tasks/offers", {"worker": "w", "offers": offers})
        tasks = (await worker.client.ask("GET", "/api/tasks")).json["items"]
        return next(each for each in tasks if each["name"] == "far.count")

    found = serve(lambda client: talk(Talk(client)))

    assert {name: found[name] for name in schemas} == schemas
