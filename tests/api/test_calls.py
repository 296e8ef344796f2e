"""Workflows as functions, and drafts tried."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.api.conftest import CHAIN, Answer, Client, Serve

CALL = "/api/workflows/chain/call"
TRY = "/api/workflows/chain/try"
PATHS = {
    "penstock": 1,
    "name": "chain",
    "external": ["go"],
    "steps": {
        "look": {"task": "look"},
        "choose": {"task": "decide", "after": "look", "with": {"if": "steps.look.output.n > 1"}},
        "many": {"task": "count", "after": "choose.then"},
        "few": {"task": "count", "after": "choose.else", "fails": "missed"},
        "mend": {"task": "count", "after": "missed"},
    },
}


def test_a_workflow_answers_like_a_function(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        await client.engine.publish({**CHAIN, "result": "'second'"})
        return [
            await client.post(CALL),
            await client.post(CALL, {"version": 1, "input": {"a": 1}, "subject": "s"}),
            await client.post(CALL, {"version": 3}),
            await client.post("/api/workflows/x/call"),
            await client.post(CALL, {"timeout": 0}),
        ]

    newest, first, *refused = serve(talk)

    assert (newest.status, newest.json["status"], newest.json["result"]) == (200, "succeeded", "second")
    assert set(newest.json) == {"status", "result", "data", "tags", "steps", "error"}
    assert first.json["result"] == {"a": 1}
    assert [each.status for each in refused] == [404, 404, 422]


def test_a_workflow_that_waits_cannot_be_called_and_its_steps_are_named(serve: Serve) -> None:
    waits = {
        "penstock": 1,
        "name": "w",
        "steps": {"nap": {"task": "wait", "with": {"for": "1h"}}, "x": {"task": "no"}},
    }

    async def talk(client: Client) -> Answer:
        await client.engine.publish(waits)
        return await client.post("/api/workflows/w/call")

    answer = serve(talk)

    assert (answer.status, answer.json["code"]) == (409, "cannot_call")
    said = [each["message"] for each in answer.json["errors"]]
    assert [("nap" in text, "x" in text) for text in said] == [(True, False), (False, True)]


def test_a_workflow_that_tells_other_runs_cannot_be_called(serve: Serve) -> None:
    step = {"task": "emit", "with": {"event": "paid", "key": {"order": "7"}}}

    async def talk(client: Client) -> Answer:
        await client.engine.publish({"penstock": 1, "name": "w", "steps": {"tell": step}})
        return await client.post("/api/workflows/w/call")

    answer = serve(talk)

    assert (answer.status, answer.json["errors"][0]["message"]) == (409, "step 'tell' is an `emit`")


@pytest.mark.parametrize(
    "limits", [{}, {"timeouts": {"start_to_close": "20s"}}], ids=["in place", "on a loop"]
)
@pytest.mark.parametrize("way", ["call", "try"])
def test_steps_read_failures_without_secrets(serve: Serve, way: str, limits: dict[str, Any]) -> None:
    """A workflow can pass on why a step failed: what it passes on must not hold a secret either."""

    def sign_in() -> None:
        raise RuntimeError("no sign-in with hunter22")

    why = {"task": "set", "after": "oops", "with": {"why": "${ events.oops.error.message }"}}
    failing = {"task": "sign_in", "retries": 0, "emits": {"failed": "oops"}, **limits}
    workflow = {"penstock": 1, "name": "w", "steps": {"only": failing, "told": why}, "result": "data"}

    async def talk(client: Client) -> Answer:
        await client.engine.publish(workflow)
        await client.ask("PUT", "/api/secrets/pw", {"value": "hunter22"})
        body = {"definition": workflow, "real": True} if way == "try" else {}
        return await client.post(f"/api/workflows/w/{way}", body)

    answer = serve(talk, tasks={"sign_in": sign_in})

    assert answer.status == 200
    assert "no sign-in with ***" in str(answer.json)
    assert "hunter22" not in str(answer.json)


def test_a_call_that_takes_too_long_is_given_up(serve: Serve) -> None:
    slow = {"penstock": 1, "name": "slow", "steps": {"a": {"task": "slow"}}}

    async def talk(client: Client) -> Answer:
        await client.engine.publish(slow)
        return await client.post("/api/workflows/slow/call", {"timeout": 0.05})

    answer = serve(talk, tasks={"slow": lambda: time.sleep(0.3)})  # a task that takes long

    assert (answer.status, answer.json["code"]) == (504, "call_timed_out")


def test_calls_are_counted_and_leave_no_run(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        await client.engine.publish(
            {"penstock": 1, "name": "w", "steps": {"nap": {"task": "wait", "with": {"for": 1}}}}
        )
        for path in (CALL, CALL, "/api/workflows/w/call"):
            await client.post(path)
        stats = [(await client.get(f"/api/workflows/{name}/stats")).json for name in ("chain", "w")]
        return [*stats, (await client.get("/metrics")).text]

    chain, waits, metrics = serve(talk)

    assert (chain["runs"]["started"], chain["calls"]["count"], chain["calls"]["statuses"]) == (
        0,
        2,
        {"succeeded": 2},
    )
    assert {step["firings"] for step in chain["calls"]["steps"].values()} == {2}
    assert waits["calls"]["statuses"] == {"refused": 1}
    assert 'penstock_calls_total{status="succeeded",workflow="chain"} 2.0' in metrics


def steps_of(answer: Answer) -> dict[str, tuple[str, str | None]]:
    return {name: (step["status"], step["port"]) for name, step in answer.json["run"]["steps"].items()}


def test_a_draft_is_tried_with_stubs_and_nothing_is_kept(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        await client.ask("PUT", "/api/workflows/chain", PATHS)
        tried = [
            await client.post(TRY, {"stubs": {"look": {"output": {"n": 2}}}, "input": {"x": 1}}),
            await client.post(TRY, {"stubs": {"choose": {"port": "else"}, "few": {"error": "no"}}}),
            await client.post(
                TRY, {"definition": CHAIN, "stubs": {"first": [{"error": {"message": "m"}}, {}]}}
            ),
        ]
        return [tried, await client.engine.runs(), await client.engine.workflows()]

    (many, few, given), runs, workflows = serve(talk)

    assert (many.status, many.json["run"]["status"], many.json["stopped"]) == (200, "succeeded", None)
    assert many.json["run"]["data"] == {"x": 1}
    assert steps_of(many)["many"] == ("complete", "done")
    assert steps_of(many)["few"] == ("blocked", None)
    assert [entry["seq"] for entry in many.json["history"]] == list(range(1, len(many.json["history"]) + 1))
    assert (steps_of(few)["few"], steps_of(few)["mend"]) == (("failed", "failed"), ("complete", "done"))
    assert (given.json["run"]["status"], given.json["run"]["error"]["message"]) == ("failed", "m")
    assert (runs, [each["published_version"] for each in workflows]) == ([], [1])


def test_a_try_stops_where_it_should(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        wishes = ["first", {"after": "first"}, {"before": "second"}, {"before": "first"}]
        return [await client.post(TRY, {"until": wish}) for wish in wishes]

    answers = serve(talk)

    assert {answer.json["stopped"] for answer in answers} == {"until"}
    done = [(steps_of(answer)["first"][0], steps_of(answer)["second"][0]) for answer in answers]
    assert done[0] == done[1]
    assert [first for first, _ in done] == ["complete", "complete", "complete", "running"]
    assert done[2][1] == "running"
    assert "complete" not in {second for _, second in done}


def outputs_of(answer: Answer) -> dict[str, Any]:
    return {name: step["output"] for name, step in answer.json["run"]["steps"].items()}


def test_tasks_do_their_work_in_a_try_only_where_that_is_asked_for(serve: Serve) -> None:
    done: list[str] = []
    tasks = {"one": lambda: done.append("one"), "two": lambda: done.append("two")}

    async def talk(client: Client) -> list[list[str]]:
        seen = []
        for real in (False, ["second"], True):
            await client.post(TRY, {"real": real})
            seen.append(list(done))
            done.clear()
        return seen

    assert serve(talk, tasks=tasks) == [[], ["two"], ["one", "two"]]


def test_in_a_real_try_a_stub_stands_in_for_its_step_alone(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        bodies: list[dict[str, Any]] = [
            {"real": True, "stubs": {"first": {"output": "pinned"}}},
            {"real": True, "from": "second", "until": "second"},
            {"real": True, "until": "first"},
        ]
        return [await client.post(TRY, body) for body in bodies]

    pinned, second, first = serve(talk)

    assert outputs_of(pinned) == {"first": "pinned", "second": 2}
    assert outputs_of(second) == {"first": None, "second": 2}
    assert (outputs_of(first), first.json["stopped"]) == ({"first": 1, "second": None}, "until")


def test_a_real_try_names_the_steps_that_it_could_not_do(serve: Serve) -> None:
    elsewhere = {**CHAIN, "steps": {**CHAIN["steps"], "far": {"task": "elsewhere", "after": "second"}}}  # type: ignore[dict-item]

    async def talk(client: Client) -> list[Answer]:
        return [
            await client.post(TRY, {"definition": elsewhere, "real": True}),
            await client.post(TRY, {"real": ["nobody"]}),
        ]

    tried, refused = serve(talk)

    assert (tried.json["run"]["status"], tried.json["absent"]) == ("succeeded", ["far"])
    assert (refused.status, refused.json["detail"]) == (
        422,
        "'chain' has no step 'nobody': its steps are first, second",
    )


def test_no_task_does_its_work_in_a_try_while_the_workflow_is_paused(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        await client.post("/api/workflows/chain/pause")
        return [(await client.post(TRY, {"real": real})).status for real in (True, False)]

    assert serve(talk) == [422, 200]


def test_a_real_task_that_fails_fails_the_try(serve: Serve) -> None:
    def breaks() -> None:
        raise ValueError("no such file")

    async def talk(client: Client) -> Answer:
        return await client.post(TRY, {"real": True})

    run = serve(talk, tasks={"one": breaks, "two": breaks}).json["run"]

    assert (run["status"], run["error"]["message"]) == ("failed", "ValueError: no such file")


def test_what_leads_to_the_step_that_a_try_is_from_ends_at_once(serve: Serve) -> None:
    waits = {
        "penstock": 1,
        "name": "chain",
        "external": ["go"],
        "steps": {"a": {"task": "wait", "with": {"for": "1h"}}, "b": {"task": "t", "after": "a"}},
    }

    async def talk(client: Client) -> list[bool]:
        answers = [await client.post(TRY, {"definition": waits, **more}) for more in ({}, {"from": "b"})]
        return [each.json["run"]["started_at"][:13] == each.json["run"]["ended_at"][:13] for each in answers]

    assert serve(talk) == [False, True]


def test_an_event_comes_in_a_try(serve: Serve) -> None:
    waits = {"penstock": 1, "name": "chain", "external": ["go"], "steps": {"a": {"task": "t", "after": "go"}}}

    async def talk(client: Client) -> list[str]:
        bodies: list[dict[str, Any]] = [{}, {"events": [{"event": "go"}]}]
        answers = [await client.post(TRY, {"definition": waits, **body}) for body in bodies]
        return [answer.json["run"]["status"] for answer in answers]

    assert serve(talk) == ["waiting", "succeeded"]


def test_a_try_that_never_ends_is_shown_as_it_is(serve: Serve) -> None:
    round_ = {
        "penstock": 1,
        "name": "chain",
        "endless": True,
        "steps": {"a": {"task": "t", "after": "START | b"}, "b": {"task": "t", "after": "a"}},
    }
    decided = {
        "penstock": 1,
        "name": "chain",
        "steps": {"a": {"task": "set", "after": "START | b"}, "b": {"task": "set", "after": "a"}},
    }

    async def talk(client: Client) -> list[Answer]:
        return [await client.post(TRY, {"definition": each}) for each in (round_, decided)]

    long, endless = serve(talk)

    assert (long.status, long.json["stopped"], long.json["run"]["status"]) == (200, "long", "running")
    assert (endless.status, endless.json.get("stopped", endless.json.get("code"))) in (
        (200, "long"),
        (422, "endless"),
    )


def test_a_try_with_something_wrong_is_refused(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        bodies: list[dict[str, Any]] = [
            {"stubs": {"nothing": {}}},
            {"until": "nothing"},
            {"from": "nothing"},
            {"until": {"around": "first"}},
            {"stubs": {"first": {"nothing": 1}}},
            {"stubs": {"first": []}},
            {"definition": {"steps": 1}},
            {"events": [{"event": "nothing"}]},
        ]
        return [(await client.post(TRY, body)).status for body in bodies]

    assert serve(talk) == [422] * 8
