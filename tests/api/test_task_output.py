"""What workers elsewhere promise to give."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import Serve
from tests.api.test_tasks import FAR, Talk

SCHEMA = {"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]}
WRONG = 'rows: the value is not of type "integer"'


async def promised(worker: Talk) -> tuple[str, dict[str, Any]]:
    """A run, and its task: a worker promised what it gives."""
    offers = [{"name": "far.count", "ports": ["done", "other"], "output": SCHEMA}]
    await worker.client.ask("PUT", "/api/tasks/offers", {"worker": "w", "offers": offers})
    await worker.client.engine.publish({**FAR, "steps": {"load": {"task": "far.count"}}})
    return await worker.client.engine.start("far"), await worker.one()


def test_a_result_that_does_not_fit_what_was_offered_is_refused_and_the_lease_kept(serve: Serve) -> None:
    async def talk(worker: Talk) -> Any:
        run, task = await promised(worker)
        lease = {"lease": task["lease"]}
        alone = await worker.post(f"{task['id']}/complete", output={"rows": "many"}, **lease)
        item = {"id": task["id"], **lease, "complete": {"output": {"rows": "many"}}}
        many = await worker.post("report", worker="w", items=[item])
        taken = await worker.say(task, "complete", output={"rows": 3})
        return alone, many.json["items"], taken, await worker.client.engine.wait(run, 10)

    alone, many, taken, run = serve(lambda client: talk(Talk(client)))

    assert (alone.status, alone.json["code"]) == (422, "invalid_output")
    assert alone.json["errors"] == [{"path": "/output/rows", "code": "schema", "message": WRONG}]
    assert [(each["status"], each["code"], each["detail"]) for each in many] == [
        (422, "invalid_output", alone.json["detail"])
    ]
    assert taken == (200, {"status": "taken"})
    assert (run["status"], run["steps"]["load"]["attempts"]) == ("succeeded", 1)


def test_a_result_on_another_port_was_not_promised(serve: Serve) -> None:
    async def talk(worker: Talk) -> Any:
        _, task = await promised(worker)
        return await worker.say(task, "complete", port="other", output={"rows": "many"})

    assert serve(lambda client: talk(Talk(client))) == (200, {"status": "taken"})


def test_an_offer_with_an_output_that_is_no_schema_is_refused(serve: Serve) -> None:
    async def talk(worker: Talk) -> Any:
        offers = [{"name": "far.count", "output": {"type": "strange"}}]
        return await worker.client.ask("PUT", "/api/tasks/offers", {"worker": "w", "offers": offers})

    answer = serve(lambda client: talk(Talk(client)))
    assert (answer.status, "`output` of task 'far.count' is no JSON Schema" in answer.json["detail"]) == (
        422,
        True,
    )
