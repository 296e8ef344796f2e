"""Events from outside over HTTP."""

from __future__ import annotations

from typing import Any

from penstock import Out
from tests.api.conftest import OWN, Answer, Client, Serve

JOB = {
    "penstock": 1,
    "name": "job",
    "external": [{"name": "done", "schema": {"type": "object"}}],
    "steps": {"send": {"task": "send"}, "end": {"task": "one", "after": ["send", "done"]}},
}
TAKEN = {"status": "accepted", "duplicate": False}
AGAIN = {"status": "duplicate", "duplicate": True}


async def begin(client: Client) -> str:
    await client.engine.publish(JOB)
    id: str = (await client.post("/api/workflows/job/runs", {"input": {"number": "7"}})).json["id"]
    await client.engine.wait(id, 10, rest=True)
    return id


def send() -> Out:
    return Out(correlate={"job": "7"})


def test_an_event_for_a_run_counts_once(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[Answer], Any]:
        id = await begin(client)
        body = {"event": "done", "data": {"n": 1}, "set": {"came": True}, "id": "m1"}
        answers = [await client.post(f"/api/runs/{id}/events", body) for _ in range(2)]
        return answers, await client.engine.wait(id, 10)

    answers, run = serve(talk, tasks={"send": send})

    assert [(each.status, each.json) for each in answers] == [(202, TAKEN), (200, AGAIN)]
    assert (run["status"], run["data"]) == ("succeeded", {"number": "7", "came": True})


def test_an_event_finds_its_run_by_key(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[Answer], Any]:
        id = await begin(client)
        body = {"event": "done", "key": {"job": "7"}, "data": {}, "id": "m1"}
        answers = [await client.post("/api/events", body) for _ in range(2)]
        return answers, await client.engine.wait(id, 10)

    answers, run = serve(talk, tasks={"send": send})

    assert [(each.status, each.json) for each in answers] == [(202, TAKEN), (200, AGAIN)]
    assert run["status"] == "succeeded"


def test_an_event_that_comes_too_early_is_kept_listed_and_delivered_again(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        await client.engine.publish(JOB)
        early = [
            await client.post("/api/events", {"event": "done", "key": {"job": n}, "data": {}}) for n in "89"
        ]
        first = (await client.get("/api/events/undelivered?limit=1")).json
        second = (await client.get(f"/api/events/undelivered?limit=1&cursor={first['next']}")).json
        id = first["items"][0]["id"]
        path = "/api/events/undelivered"
        refused = [await client.post(f"{path}/{each}/redeliver") for each in (id, id + 9, "x", 2**70)]
        return [early, first, second, refused, (await client.get("/api/incidents")).json["items"]]

    early, first, second, refused, incidents = serve(talk, tasks={"send": send})

    assert [(each.status, each.json) for each in early] == [(202, TAKEN)] * 2
    [item] = first["items"]
    assert (item["event"], item["key"], item["data"]) == ("done", {"job": "8"}, {})
    assert ([each["key"] for each in second["items"]], second["next"]) == ([{"job": "9"}], None)
    assert [each.status for each in refused] == [409, 404, 404, 404]
    assert sorted(each["text"] for each in incidents) == [
        f"Event 'done' (job={n}) was taken by no run: no live run has its key" for n in "89"
    ]


def test_an_event_that_does_not_fit_is_refused(serve: Serve) -> None:
    async def talk(client: Client) -> list[tuple[int, str]]:
        id = await begin(client)
        bodies: list[dict[str, Any]] = [
            {"event": "nothing"},
            {"event": "START"},
            {"event": "done", "data": 1},
            {"event": ""},
            {"event": "done", "set": []},
            {"event": "done", "id": ""},
        ]
        answers = [await client.post(f"/api/runs/{id}/events", body) for body in bodies]
        answers += [await client.post("/api/events", {"event": "done", "key": key}) for key in ({}, {"a": 1})]
        return [(answer.status, answer.json["code"]) for answer in answers]

    assert serve(talk, tasks={"send": send}) == [
        (422, "undeclared_event"),
        (422, "undeclared_event"),
        (422, "invalid_event"),
        *[(422, "invalid_request")] * 5,
    ]


def test_an_id_of_one_caller_is_not_that_of_another(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        await client.engine.publish(JOB)
        admin = {"authorization": f"Bearer {OWN}"}
        made = [
            await client.post("/api/access", {"name": name, "role": "operator"}, headers=dict(admin))
            for name in ("one", "two")
        ]
        body = {"event": "done", "data": {}, "key": {"job": "7"}, "id": "1"}
        headers = [{"authorization": f"Bearer {each.json['token']}"} for each in made]
        return [
            (await client.post("/api/events", body, headers=dict(who))).status
            for who in (headers[0], headers[0], headers[1])
        ]

    assert serve(talk, open=False, tasks={"send": send}) == [202, 200, 202]


def test_a_key_leads_a_bound_caller_to_runs_of_its_own_workflows_alone(serve: Serve) -> None:
    """The key of a run of its own beside that of another must not help."""

    async def talk(client: Client) -> list[Any]:
        flow = {**JOB, "steps": {**JOB["steps"], "send": {"task": "name", "with": {"key": "${ data.key }"}}}}  # type: ignore[dict-item]
        runs = []
        for name, key in (("mine", "1"), ("other", "2")):
            await client.engine.publish({**flow, "name": name})
            runs.append(await client.engine.start(name, input={"key": key}))
            await client.engine.wait(runs[-1], 10, rest=True)
        body = {"name": "bound", "role": "operator", "workflows": ["mine"]}
        made = await client.post("/api/access", body, headers={"authorization": f"Bearer {OWN}"})
        found = []
        for keys in ({"job": "2"}, {"job": "2", "also": "1"}, {"job": "3"}, {"job": "1"}):
            answer = await client.post(
                "/api/events",
                {"event": "done", "key": keys, "data": {}},
                headers={"authorization": f"Bearer {made.json['token']}"},
            )
            found.append(answer.status)
        kept = await client.engine.undelivered()
        await client.engine.wait(runs[0], 10)
        return [found, kept, (await client.engine.show(runs[1]))["status"]]

    def name(key: str) -> Out:
        return Out(correlate={"job": key, "also": key})

    assert serve(talk, open=False, tasks={"name": name}) == [[404, 404, 404, 202], [], "waiting"]
