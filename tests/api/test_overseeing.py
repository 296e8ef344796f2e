"""Looking after runs over HTTP: lists, reasons, repairs, many at once, tokens; and who sees which."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Answer, Client, Serve
from tests.api.test_access import made

WAITING = {
    "penstock": 1,
    "name": "waiting",
    "external": ["go"],
    "steps": {"first": {"task": "one", "after": ["go"]}},
}


async def begun(client: Client, *names: str) -> list[str]:
    """A run of each of these workflows that has come to rest."""
    await client.engine.publish(WAITING)
    runs = [str(await client.engine.start(name)) for name in names]
    for run in runs:
        await client.engine.wait(run, 30, rest=True)
    return runs


def test_runs_are_listed_page_by_page(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[str], list[Answer]]:
        runs = await begun(client, "waiting", "waiting", "chain")
        first = await client.get("/api/runs?limit=2")
        return runs, [first, await client.get(f"/api/runs?limit=2&cursor={first.json['next']}")]

    runs, pages = serve(talk)

    assert [[row["id"] for row in page.json["items"]] for page in pages] == [runs[:0:-1], runs[:1]]
    assert pages[1].json["next"] is None


def test_the_runs_that_a_run_started_are_listed(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[str, Answer]:
        calls = {"call": {"task": "workflow", "with": {"name": "chain"}}}
        await client.engine.publish({"penstock": 1, "name": "above", "steps": calls})
        above, _ = await begun(client, "above", "chain")
        return above, await client.get(f"/api/runs?parent={above}")

    above, page = serve(talk)

    assert [(row["workflow"], row["parent"]) for row in page.json["items"]] == [("chain", above)]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("status=odd", "invalid_parameter"),
        ("label=x", "invalid_parameter"),
        ("since=soon", "invalid_parameter"),
        ("since=2026-03-02T15:30:00", "invalid_parameter"),
        ("sort=colour", "invalid_parameter"),
        ("limit=201", "invalid_parameter"),
        ("colour=red", "unknown_parameter"),
        ("cursor=abc", "bad_cursor"),
        ("since=9999-12-31T23:59:59-14:00", "invalid_parameter"),
    ],
)
def test_a_filter_that_cannot_be_is_told(serve: Serve, query: str, code: str) -> None:
    answer = serve(lambda client: client.get(f"/api/runs?{query}"))

    assert (answer.status, answer.json["code"]) == (400, code)


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00%2b14:00"])
@pytest.mark.parametrize("name", ["from", "to"])
def test_a_time_that_is_out_of_the_calendar_is_refused(serve: Serve, name: str, moment: str) -> None:
    async def talk(client: Client) -> list[Answer]:
        filter = {"since": moment.replace("%2b", "+")}
        return [
            await client.get(f"/api/workflows/chain/stats?{name}={moment}"),
            await client.post("/api/runs/bulk", {"filter": filter, "action": "cancel", "dry_run": True}),
        ]

    query, body = serve(talk)

    said = [(each.status, [error["path"] for error in each.json["errors"]]) for each in (query, body)]
    assert said == [(400, [name]), (422, ["/filter/since"])]


def test_a_run_says_why_and_is_repaired(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        [run] = await begun(client, "waiting")
        path = f"/api/runs/{run}/marking"
        marking = await client.get(path)
        put = {"put": [{"step": "first", "slot": 0, "event": "go"}], "expect": marking.json["seq"]}
        tried = await client.ask("PATCH", path, {**put, "dry_run": True})
        done = await client.ask("PATCH", path, {**put, "reason": "by hand"})
        late = await client.ask("PATCH", path, put)
        return [
            await client.get(f"/api/runs/{run}/why"),
            marking,
            tried,
            done,
            late,
            await client.get("/api/audit"),
        ]

    why, marking, tried, done, late, audit = serve(talk)

    assert (why.status, [slot["takes"] for slot in marking.json["slots"]]) == (200, [["go"]])
    assert [answer.json["will_fire"] for answer in (tried, done)] == [["first"], ["first"]]
    assert late.status == 409
    assert [entry["action"] for entry in audit.json["items"]] == ["repair_run"]


def test_many_runs_are_counted_and_then_acted_on(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        await begun(client, "waiting", "waiting", "chain")
        body: dict[str, Any] = {"filter": {"workflow": "waiting", "status": ["waiting"]}, "action": "cancel"}
        counted = await client.post("/api/runs/bulk", {**body, "dry_run": True})
        body["filter"]["status"] = "waiting"
        done = await client.post("/api/runs/bulk", body)
        return [counted.json, done.json, await client.engine.counts(workflow="waiting")]

    counted, done, counts = serve(talk)

    assert (counted["count"], counted["statuses"], counted["done"]) == (2, {"waiting": 2}, 0)
    assert (done["count"], done["done"], counts["canceled"]) == (2, 2, 2)


def test_who_is_bound_to_a_workflow_sees_its_runs_alone(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[str], dict[str, Answer]]:
        runs = await begun(client, "waiting", "chain")
        headers = await made(client, "operator", workflows=["chain"])

        async def ask(path: str) -> Answer:
            return await client.get(path, headers=dict(headers))

        bulk = {"filter": {}, "action": "rerun", "dry_run": True}
        return runs, {
            "list": await ask("/api/runs"),
            "why": await ask(f"/api/runs/{runs[0]}/why"),
            "stats": await ask("/api/workflows/waiting/stats"),
            "all tokens": await ask("/api/tokens?prefix=/runs/"),
            "own tokens": await ask("/api/tokens?prefix=/history/chain/"),
            "other tokens": await ask("/api/tokens?prefix=/runs/waiting/"),
            "bulk": await client.post("/api/runs/bulk", bulk, headers=dict(headers)),
        }

    runs, answers = serve(talk)

    assert [row["id"] for row in answers["list"].json["items"]] == [runs[1]]
    assert answers["bulk"].json["count"] == 1
    assert {name: answer.status for name, answer in answers.items()} == {
        "list": 200,
        "why": 404,
        "stats": 404,
        "all tokens": 403,
        "own tokens": 200,
        "other tokens": 404,
        "bulk": 200,
    }


def test_incidents_and_statistics_are_told(serve: Serve) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    async def talk(client: Client) -> list[Answer]:
        await client.engine.publish({"penstock": 1, "name": "bad", "steps": {"only": {"task": "breaks"}}})
        await client.engine.wait(await client.engine.start("bad"), 30)
        return [
            await client.get(path)
            for path in ("/api/incidents?workflow=bad", "/api/workflows/bad/stats", "/api/incidents/slow")
        ]

    incidents, stats, slow = serve(talk, tasks={"breaks": fail})

    assert [each["kind"] for each in incidents.json["items"]] == ["failed"]
    assert (stats.status, slow.json) == (200, {"items": [], "next": None})


def test_tokens_are_claimed(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        insert = [{"name": f"/custom/{number}", "priority": number} for number in (1, 2)]
        await client.post("/api/tokens", {"insert": insert})
        claim = {"claim": {"owner": "ann", "prefix": "/custom/", "lease": 60}}
        return [await client.post("/api/tokens", claim) for _ in range(3)]

    answers = serve(talk)

    assert [[each["name"] for each in answer.json["items"]] for answer in answers] == [
        ["/custom/2"],
        ["/custom/1"],
        [],
    ]


@pytest.mark.parametrize(
    ("size", "claims"), [(1, [60, 0]), (20_000, [60, 0]), (200_000, [16, 16, 16, 12, 0])]
)
def test_of_large_tokens_some_are_claimed_at_a_time(serve: Serve, size: int, claims: list[int]) -> None:
    async def talk(client: Client) -> list[Answer]:
        for first in range(0, 60, 4):
            some = [
                {"name": f"/custom/{number:02}", "priority": -number, "data": "x" * size}
                for number in range(first, first + 4)
            ]
            assert (await client.post("/api/tokens", {"insert": some})).status == 200
        claim = {"claim": {"owner": "ann", "prefix": "/custom/", "lease": 60, "limit": 100}}
        return [await client.post("/api/tokens", claim) for _ in claims]

    answers = serve(talk)

    assert [len(answer.json["items"]) for answer in answers] == claims
    names = [each["name"] for answer in answers for each in answer.json["items"]]
    assert names == [f"/custom/{number:02}" for number in range(60)]


def test_a_canceled_run_is_no_success_and_says_nothing_of_how_long_one_takes(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[Answer, Answer]:
        engine = client.engine
        external = {"external": ["go"], "steps": {"only": {"task": "set", "with": {"a": 1}, "after": "go"}}}
        await engine.publish({"penstock": 1, "name": "both", **external})
        quick, stopped = await engine.start("both"), await engine.start("both")
        await engine.emit("go", run=quick)
        await engine.wait(quick, 30)
        await engine.cancel(stopped)
        await engine.wait(stopped, 30)
        return await client.get("/api/stats?points=4"), await client.get("/api/workflows/both/stats")

    pulse, stats = serve(talk, tasks={})

    mine = pulse.json["workflows"]["both"]
    assert [sum(mine[each]) for each in ("ended", "succeeded", "failed")] == [2, 1, 0]
    assert mine["typical"] == stats.json["runs"]["seconds"]["p50"] == stats.json["runs"]["seconds"]["max"]


def test_steps_that_are_handed_over_at_once_are_said_to_begin_at_once(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        before = await client.get("/api/stats?points=4")
        runs = await begun(client, "chain")
        await client.engine.wait(runs[0], 30)
        return [before, await client.get("/api/stats?points=4")]

    before, after = serve(talk, tasks={})

    assert (before.json["start"], set(before.json["starts"])) == (None, {None})
    assert after.json["start"]["p50"] < 1.0
    assert sum(1 for each in after.json["starts"] if each) == 1


def test_what_ended_is_told_over_time_and_by_workflow(serve: Serve) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    async def talk(client: Client) -> list[Answer]:
        await client.engine.publish({"penstock": 1, "name": "bad", "steps": {"only": {"task": "breaks"}}})
        await client.engine.wait(await client.engine.start("bad"), 30)
        runs = await begun(client, "chain")
        await client.engine.wait(runs[0], 30)
        headers = await made(client, "operator", workflows=["chain"])
        return [
            await client.get("/api/stats?points=4"),
            await client.get("/api/stats?points=4", headers=dict(headers)),
            await client.get("/api/stats?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"),
        ]

    everything, bound, wrong = serve(talk, tasks={"breaks": fail})

    assert (sum(everything.json["ended"]), sum(everything.json["failed"])) == (2, 1)
    assert len(everything.json["ended"]) == 4
    assert everything.json["workflows"]["bad"]["failed"][-1] == 1
    assert (sum(bound.json["ended"]), list(bound.json["workflows"])) == (1, ["chain"])
    assert wrong.status == 422
