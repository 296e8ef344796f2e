"""What workers elsewhere promise to give."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import Serve
from tests.api.test_tasks import FAR, Talk


def test_a_result_that_does_not_fit_what_was_offered_fails_the_attempt(serve: Serve) -> None:
    flow = {**FAR, "steps": {"load": {"task": "far.count"}}}
    schema = {"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]}

    async def talk(worker: Talk) -> Any:
        offers = [{"name": "far.count", "output": schema}]
        await worker.client.ask("PUT", "/api/tasks/offers", {"worker": "w", "offers": offers})
        await worker.client.engine.publish(flow)
        run = await worker.client.engine.start("far")
        await worker.say(await worker.one(), "complete", output={"rows": "many"})
        return (await worker.client.engine.wait(run, 10))["error"]

    error = serve(lambda client: talk(Talk(client)))
    assert (error["kind"], error["detail"]) == (
        "error",
        {"errors": ['rows: "many" is not of type "integer"']},
    )


def test_an_offer_with_an_output_that_is_no_schema_is_refused(serve: Serve) -> None:
    async def talk(worker: Talk) -> Any:
        offers = [{"name": "far.count", "output": {"type": "strange"}}]
        return await worker.client.ask("PUT", "/api/tasks/offers", {"worker": "w", "offers": offers})

    answer = serve(lambda client: talk(Talk(client)))
    assert (answer.status, "`output` of task 'far.count' is no JSON Schema" in answer.json["detail"]) == (
        422,
        True,
    )
