"""Workers over HTTP: polling, reporting, what is refused, and the palette."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec
import pytest

from penstock.api.work import reports
from penstock.api.work.worker_registry import MAX_POLLS, WorkerRegistry
from tests.api.conftest import OWN, Answer, Client
from tests.waiting import until

SOON = {"initial": "0.01s", "jitter": 0}
FAR: dict[str, Any] = {
    "penstock": 1,
    "name": "far",
    "defaults": {"task_list": "far"},
    "steps": {
        "load": {"task": "far.load", "with": {"path": "${ data.path }"}, "retries": 1, "backoff": SOON},
        "store": {"task": "far.store", "after": ["load"]},
    },
}
TOKENS: dict[str, dict[str, Any]] = {
    "far": {"task_lists": ["far"]},
    "gpu": {"task_lists": ["gpu*"]},
    "two": {"task_lists": ["far"], "concurrency": 2},
}
"""Those of workers."""


class Talk:
    """A worker's side of the conversation."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._made: dict[str, str] = {}

    async def start(self, times: int = 1) -> list[str]:
        await self.client.engine.publish(FAR)
        return [await self.client.engine.start("far", input={"path": "/a"}) for _ in range(times)]

    async def poll(self, token: str | None = None, **more: Any) -> Answer:
        return await self.post("poll", token, **{"worker": "w", "task_list": "far", "wait": 5, **more})

    async def one(self, **more: Any) -> dict[str, Any]:
        """The next task."""
        [task] = (await self.poll(**more)).json["tasks"]
        return dict(task)

    async def say(
        self, task: dict[str, Any], what: str, token: str | None = None, **said: Any
    ) -> tuple[int, Any]:
        """Status, and the code of what is wrong or the answer."""
        answer = await self.post(f"{task['id']}/{what}", token, lease=task["lease"], **said)
        return answer.status, answer.json.get("code") or answer.json

    async def post(self, path: str, token: str | None = None, **body: Any) -> Answer:
        headers = {} if token is None else await self.shown(token)
        return await self.client.post(f"/api/tasks/{path}", body, headers=headers)

    async def shown(self, token: str) -> dict[str, str]:
        """The header of one of the tokens, made when it is shown first; another is nobody's."""
        if token in TOKENS and token not in self._made:
            wish = {"name": token, "role": "worker", **TOKENS[token]}
            own = {"authorization": f"Bearer {OWN}"}
            self._made[token] = (await self.client.post("/api/access", wish, headers=own)).json["token"]
        return {"authorization": f"Bearer {self._made.get(token, token)}"}


Play = Callable[..., Any]
TAKEN = (200, {"status": "taken"})


@pytest.fixture
def play(serve: Callable[..., Any]) -> Play:
    """One conversation of a worker with a fresh server."""

    def run(talk: Callable[[Talk], Awaitable[Any]], **more: Any) -> Any:
        return serve(lambda client: talk(Talk(client)), **more)

    return run


LOAD = {
    "task": "far.load",
    "step": "load",
    "params": {"path": "/a"},
    "input": {},
    "events": {"START": {"path": "/a"}},
    "data": {"path": "/a"},
    "tags": {},
}
STORE = {
    "task": "far.store",
    "step": "store",
    "params": {},
    "input": {"load": {"bytes": 3}},
    "events": {"load": {"bytes": 3}},
    "data": {"path": "/a", "size": 3},
    "tags": {"kind": "video"},
}


def test_a_poll_is_answered_with_all_that_a_task_needs(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        first = await worker.one()
        await worker.say(first, "complete", output={"bytes": 3}, tags={"kind": "video"}, set={"size": 3})
        return run, first, await worker.one()

    run, first, then = play(talk)

    assert len({task.pop("lease") for task in (first, then)}) == 2
    for task in (first, then):
        assert task.pop("expires").endswith("Z")
        # What is left of it by the clock of the node, which is not quite that of the store.
        assert task["timeouts"].pop("heartbeat") == pytest.approx(60, abs=1)
    same = {
        "attempt": 1,
        "run": {"id": run, "workflow": "far", "version": 1, "subject": None},
        "index": None,
        "timeouts": {"start_to_close": None, "schedule_to_close": None},
        "deadline": None,
        "task_list": "far",
    }
    assert first == same | LOAD | {"id": first["id"], "idempotency_key": first["id"]}
    assert then == same | STORE | {"id": then["id"], "idempotency_key": then["id"]}


def test_id_and_key_stay_over_attempts_and_the_lease_does_not(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start()
        first = await worker.one()
        failed = await worker.say(first, "fail", error="no disk")
        return failed, first, await worker.one()

    failed, first, again = play(talk)

    assert failed == TAKEN
    assert [(task["attempt"], task["id"]) for task in (first, again)] == [(1, first["id"]), (2, first["id"])]
    assert first["idempotency_key"] == again["idempotency_key"]
    assert first["lease"] != again["lease"]


def test_time_outs_are_told_in_seconds_that_are_left(play: Play) -> None:
    limited = {
        **FAR,
        "steps": {"load": {"task": "t", "timeouts": {"start_to_close": "20s", "heartbeat": "5s"}}},
    }

    async def talk(worker: Talk) -> Any:
        await worker.client.engine.publish(limited)
        await worker.client.engine.start("far")
        return await worker.one()

    task = play(talk)

    assert 19 < task["timeouts"]["start_to_close"] <= 20
    assert 4 < task["timeouts"]["heartbeat"] <= 5
    assert task["deadline"] > task["expires"]


# -- reports that change nothing ---------------------------------------------------------------------------


def test_a_completion_again_is_answered_alike_and_another_one_refused(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        task = await worker.one()
        said = [await worker.say(task, "complete", output={"n": n}) for n in (1, 1, 2)]
        return said, (await worker.client.engine.show(run))["steps"]["load"]["output"]

    assert play(talk) == ([TAKEN, TAKEN, (409, "already_completed")], {"n": 1})


def test_a_completion_with_other_tags_is_another_one(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start()
        task = await worker.one()
        tags: list[dict[str, Any]] = [{"tags": {"x": 1}}, {"tags": {"x": 1}}, {"tags": {"x": 2}}, {}]
        return [await worker.say(task, "complete", **each) for each in tags]

    assert play(talk) == [TAKEN, TAKEN, (409, "already_completed"), (409, "already_completed")]


def test_a_report_with_an_old_fence_changes_nothing(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        old = await worker.one()
        await worker.say(old, "release")
        new = await worker.one()
        said = [await worker.say(old, what) for what in ("complete", "heartbeat", "release")]
        before = (await worker.client.engine.show(run))["steps"]["load"]["status"]
        return old["attempt"], new["attempt"], said, before, await worker.say(new, "complete", output=2)

    lost = (409, "attempt_superseded")
    assert play(talk) == (1, 1, [lost, lost, lost], "running", TAKEN)


def test_a_heartbeat_renews_and_after_the_loss_says_cancel(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        task = await worker.one()
        alive = await worker.post(f"{task['id']}/heartbeat", lease=task["lease"], progress={"percent": 4})
        shown = await worker.client.engine.show(run)
        await worker.client.engine.cancel(run)
        gone = await worker.post(f"{task['id']}/heartbeat", lease=task["lease"])
        return task, alive, shown["status"], gone

    task, alive, status, gone = play(talk)

    assert (alive.status, alive.json["cancel"], alive.json["deadline"], status) == (
        200,
        False,
        None,
        "running",
    )
    assert alive.json["expires"] > task["expires"]
    assert (gone.status, gone.json["code"], gone.json["cancel"]) == (409, "attempt_superseded", True)


def test_a_lease_that_nobody_gave_is_lost_and_one_of_another_task_unknown(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start(2)
        one, other = (await worker.poll(max=2)).json["tasks"]
        changed = one["lease"][:-2] + ("AA" if one["lease"][-2:] != "AA" else "BB")
        return [
            await worker.say(one | {"lease": lease}, "complete")
            for lease in ("", "nonsense", "ü", changed, other["lease"])
        ]

    assert play(talk) == [(409, "attempt_superseded")] * 4 + [(404, "unknown_task")]


@pytest.mark.parametrize("size", [300 * 1024, 2 * 1024 * 1024])
def test_a_result_that_is_too_large_is_refused_and_the_lease_kept(play: Play, size: int) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start()
        task = await worker.one()
        body = BytesIO(msgspec.json.encode({"lease": task["lease"], "output": "x" * size}))
        headers = {"content-type": "application/json"}
        answer = await worker.client.post(f"/api/tasks/{task['id']}/complete", data=body, headers=headers)
        refused = answer.status, answer.json["code"]
        return refused, await worker.say(task, "complete", output={"at": "s3://bucket/key"})

    assert play(talk) == ((413, "result_too_large"), TAKEN)


def test_a_port_that_the_task_does_not_have_is_refused_and_the_lease_kept(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        task = await worker.one()
        refused = await worker.say(task, "complete", port="nope")
        item = {"id": task["id"], "lease": task["lease"], "complete": {"port": "nope"}}
        told = (await worker.post("report", worker="w", items=[item])).json["items"][0]
        status = (await worker.client.engine.show(run))["status"]
        return refused, (told["status"], told["code"]), status, await worker.say(task, "complete", output=1)

    wrong = (422, "invalid_port")
    assert play(talk) == (wrong, wrong, "running", TAKEN)


# -- ends --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "kind", "attempts"),
    [
        ({"error": "no disk"}, "error", 2),
        ({"error": {"message": "no disk", "detail": {"code": 5}}, "retry": True}, "error", 2),
        ({"error": "no such video", "retry": False}, "fatal", 1),
        ({"error": {"message": "no such video", "kind": "fatal"}}, "fatal", 1),
    ],
)
def test_a_failure_is_tried_again_unless_it_says_otherwise(
    play: Play, said: dict[str, Any], kind: str, attempts: int
) -> None:
    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        for _ in range(attempts):
            await worker.say(await worker.one(), "fail", **said)
        ended = await worker.client.engine.wait(run, 5)
        return ended["status"], ended["steps"]["load"]["attempts"], ended["error"]["kind"]

    assert play(talk) == ("failed", attempts, kind)


def test_a_failure_says_how_long_to_wait(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start()
        await worker.say(await worker.one(), "fail", error="busy", retry_after=60)
        return (await worker.poll(wait=0.1)).json["tasks"]

    assert play(talk) == []


def test_lines_of_a_task_are_kept(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        lines = ["one", {"text": "two", "level": "warning", "at": "2026-01-01T00:00:00Z"}]
        said = await worker.say(await worker.one(), "log", lines=lines)
        kept = await worker.client.engine.logs(run)
        return said, [{name: value for name, value in line.items() if name != "id"} for line in kept]

    said, [one, two] = play(talk)

    where = {"step": "load", "index": None, "attempt": 1}
    assert said == TAKEN
    assert {**one, "at": None} == {**where, "at": None, "level": "info", "text": "one"}
    assert two == {**where, "at": "2026-01-01T00:00:00Z", "level": "warning", "text": "two"}


def test_nothing_that_a_worker_says_of_a_failure_keeps_a_secret(play: Play) -> None:
    secret = 'hunter"22'

    async def talk(worker: Talk) -> list[str]:
        client = worker.client
        [run] = await worker.start()
        await client.ask("PUT", "/api/secrets/db", {"value": secret})
        task = await worker.one()
        await worker.say(task, "log", lines=[f"as {secret}"])
        await worker.say(task, "heartbeat", progress={"with": secret})
        error = {"message": f"not with {secret}", "detail": {"sent": [secret]}}
        await worker.say(task, "fail", error=error, retry=False)
        await client.engine.wait(run, 10)
        unknown = await client.get(f"/api/workflows/{quote(secret)}")
        return [unknown.text, *[(await client.get(f"/api/runs/{run}{each}")).text for each in SEEN]]

    texts = play(talk)

    assert all("hunter" not in text and "***" in text for text in texts), texts


SEEN = ("", "/history", "/logs")


def test_lines_of_a_lost_lease_are_refused(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        task = await worker.one()
        await worker.say(task, "complete", output={"bytes": 3})
        said = await worker.say(task, "log", lines=["too late"])
        return said, await worker.client.engine.logs(run)

    assert play(talk) == ((409, "attempt_superseded"), [])


def test_one_call_has_so_many_lines_at_most(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MAX_LINES", 3)

    async def talk(worker: Talk) -> Any:
        [run] = await worker.start()
        task = await worker.one()
        items = [
            {"id": task["id"], "lease": task["lease"], "log": {"lines": lines}}
            for lines in (["a", "b"], ["c", "d"], ["e"])
        ]
        told = (await worker.post("report", worker="w", items=items)).json["items"]
        kept = [line["text"] for line in await worker.client.engine.logs(run)]
        return [each["status"] for each in told], kept

    assert play(talk) == ([200, 422, 200], ["a", "b", "e"])


def test_many_reports_are_answered_one_by_one(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        runs = await worker.start(5)
        tasks = (await worker.poll(max=10)).json["tasks"]
        ids = [{"id": task["id"], "lease": task["lease"]} for task in tasks]
        said: list[dict[str, Any]] = [{"complete": {"output": 1}}, {"fail": {"error": "no"}}, {"release": {}}]
        said += [{"heartbeat": {"progress": 1}}, {"log": {"lines": ["x"]}}]
        items = [{**id, **each} for id, each in zip(ids, said, strict=True)]
        extra = [
            {**ids[0], "complete": {"output": 2}},
            {**ids[1], "lease": "x", "release": {}},
            ids[2],
            {**ids[3], "complete": {"output": "x" * 300_000}},
        ]
        answer = await worker.post("report", worker="w", items=items)
        more = await worker.post("report", worker="w", items=extra)
        other = await worker.post("report", worker="other", items=[{**ids[4], "release": {}}])
        return runs, answer, more, other, [(await worker.client.engine.show(run))["steps"] for run in runs]

    _, answer, more, other, steps = play(talk)

    told = answer.json["items"]
    assert [each["status"] for each in told] == [200] * 5
    assert (told[3]["cancel"], "expires" in told[3]) == (False, True)
    assert [(each["status"], each["code"], each.get("cancel")) for each in more.json["items"]] == [
        (409, "already_completed", None),
        (409, "attempt_superseded", True),
        (422, "invalid_request", None),
        (413, "result_too_large", None),
    ]
    assert [each["code"] for each in other.json["items"]] == ["attempt_superseded"]
    assert [each["load"]["status"] == "complete" for each in steps] == [True, False, False, False, False]


def test_an_item_that_cannot_be_read_does_not_hold_up_the_others(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start(2)
        ids = [
            {"id": task["id"], "lease": task["lease"]} for task in (await worker.poll(max=2)).json["tasks"]
        ]
        bad = [{"id": "x", "lease": "y", "complete": {"correlate": {"k": 5}}}, "what?", {"id": 1}]
        items = [bad[0], {**ids[0], "complete": {}}, bad[1], {**ids[1], "complete": {}}, bad[2]]
        return await worker.post("report", worker="w", items=items)

    answer = play(talk)

    assert [each["status"] for each in answer.json["items"]] == [422, 200, 422, 200, 422]
    assert answer.json["items"][0]["id"] == "x" and "correlate" in answer.json["items"][0]["detail"]


# -- who may -----------------------------------------------------------------------------------------------


def test_a_token_serves_its_own_lists_alone(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start()
        polls = [(await worker.poll(token, wait=0)).status for token in ("gpu", "nobody")]
        named = await worker.poll("gpu", task_list="gpu-large", wait=0)
        task = (await worker.poll("far")).json["tasks"][0]
        verbs: list[tuple[str, dict[str, Any]]] = [
            ("complete", {}),
            ("fail", {"error": "x"}),
            ("heartbeat", {}),
            ("release", {}),
            ("log", {"lines": []}),
        ]
        said = [await worker.say(task, verb, "gpu", **more) for verb, more in verbs]
        headers = await worker.shown("far")
        read = [
            (await worker.client.get(path, headers=headers)).status for path in ("/api/tasks", "/api/workers")
        ]
        return polls, named.status, said, read, await worker.say(task, "complete", "far")

    polls, named, said, read, done = play(talk)

    assert (polls, named) == ([403, 401], 200)
    assert said == [(403, "forbidden")] * 5
    assert (read, done) == ([403, 403], TAKEN)


def test_a_worker_that_names_no_list_gets_those_of_its_token(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start()
        answer = await worker.post("poll", "far", worker="w", wait=5)
        return [task["task_list"] for task in answer.json["tasks"]]

    assert play(talk) == ["far"]


def test_a_token_holds_no_more_tasks_than_it_may(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.start(4)
        first = await worker.poll("two", max=50)
        full = await worker.poll("two", max=1)
        await worker.say(first.json["tasks"][0], "complete", "two")
        then = await worker.poll("two", max=50)
        return (
            len(first.json["tasks"]),
            (full.status, full.json["code"], full.headers["retry-after"]),
            len(then.json["tasks"]),
        )

    assert play(talk) == (2, (429, "too_many_tasks", "1"), 1)


def test_a_million_tasks_are_too_many(play: Play) -> None:
    answer = play(lambda worker: worker.poll(max=1_000_000))

    assert (answer.status, answer.json["code"]) == (429, "too_many_tasks")


def test_a_node_holds_a_thousand_polls(play: Play) -> None:
    registry = WorkerRegistry()
    registry.open = MAX_POLLS
    answer = play(lambda worker: worker.poll(), worker_registry=registry)

    assert (answer.status, answer.json["code"], answer.headers["retry-after"]) == (429, "too_many_polls", "1")


@pytest.mark.parametrize(
    "body",
    [
        {"worker": "w", "wait": 31},
        {"worker": "w", "max": 0},
        {"worker": "", "wait": 0},
        {"worker": "w", "task_list": "a", "task_lists": ["b"]},
        {"worker": "w", "task_lists": []},
        {"worker": "w", "task_list": "a b", "wait": 0},
        {"worker": "w", "task_lists": ["far", "a/b"], "wait": 0},
        {"worker": "w", "tasks": "all"},
        {"wait": 0},
    ],
)
def test_a_poll_that_is_not_valid_is_refused(play: Play, body: dict[str, Any]) -> None:
    answer = play(lambda worker: worker.post("poll", **body))

    assert (answer.status, answer.json["code"]) == (422, "invalid_request")


# -- polls that end ----------------------------------------------------------------------------------------


def test_who_goes_away_during_a_poll_takes_nothing_along(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        async with aiohttp.ClientSession() as session:
            going = Talk(Client(worker.client.base, session, worker.client.service))
            poll = asyncio.create_task(going.poll(wait=30))
            await until(lambda: registry.open, "the poll to wait")
            poll.cancel()
        await until(lambda: not registry.open, "the poll to end")
        await worker.start()
        return (await worker.one(worker="another"))["attempt"]

    registry = WorkerRegistry()
    assert play(talk, worker_registry=registry) == 1


def test_a_poll_that_is_hung_up_is_answered_at_once(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        poll = asyncio.create_task(worker.poll(wait=30))
        await until(lambda: registry.open, "the poll to wait")
        await worker.post("hangup", worker="w")
        answer = await asyncio.wait_for(poll, 5)
        return answer.status, answer.json["tasks"]

    registry = WorkerRegistry()
    assert play(talk, worker_registry=registry) == (200, [])


def test_a_poll_does_not_hold_up_a_server_that_stops(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        polls = asyncio.create_task(worker.poll(wait=30))
        await until(lambda: registry.open, "the poll to wait")
        registry.close()
        answer, refused = await asyncio.wait_for(polls, 5), await worker.poll(wait=30)
        return answer.status, answer.json["tasks"], refused.status, refused.json["code"]

    registry = WorkerRegistry()
    assert play(talk, worker_registry=registry) == (200, [], 503, "store_away")


# -- who is there, and what there is -----------------------------------------------------------------------


def test_a_worker_that_polls_or_offers_is_listed_until_it_leaves(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.poll(worker="bare", tasks=["far.load"], max=7, wait=0.05)
        offers = [{"name": "far.load", "title": "Load", "ports": ["done", "empty", "failed"]}]
        body = {"worker": "w1", "name": "loader", "offers": offers, "task_lists": ["far"], "concurrency": 3}
        put = await worker.client.ask("PUT", "/api/tasks/offers", body)
        there = await worker.client.engine.workers()
        palette = (await worker.client.get("/api/tasks")).json["items"]
        await worker.post("leave", worker="w1")
        return put.json, there, palette, [each["id"] for each in await worker.client.engine.workers()]

    put, there, palette, left = play(talk)

    shown = {
        each["id"]: (each["name"], each["task_lists"], each["tasks"], each["concurrency"]) for each in there
    }
    assert put == {"status": "taken"}
    assert shown.pop("bare") == ("bare", ["far"], ["far.load"], 7)
    assert shown.pop("w1") == ("loader", ["far"], ["far.load"], 3)
    offered = {each["name"]: each for each in palette}
    load = offered["far.load"]
    assert (load["title"], load["ports"], load["kind"]) == ("Load", ["done", "empty", "failed"], "task")
    assert (load["workers"], load["seen_at"] is None) == (["bare", "loader"], False)
    assert (offered["decide"]["kind"], offered["one"]["kind"]) == ("built-in", "task")
    assert "w1" not in left


def test_a_workflow_may_use_the_ports_that_a_worker_elsewhere_offers(play: Play) -> None:
    steps = {
        "load": {"task": "far.sort", "emits": {"empty": "nothing", "done": "some"}},
        "after": {"task": "far.store", "after": ["nothing | some"]},
    }
    flow = {**FAR, "steps": steps}

    async def talk(worker: Talk) -> Any:
        offers = [{"name": "far.sort", "ports": ["done", "empty", "failed"]}]
        await worker.client.ask("PUT", "/api/tasks/offers", {"worker": "w", "offers": offers})
        await worker.client.engine.publish(flow)
        run = await worker.client.engine.start("far")
        await worker.say(await worker.one(), "complete", port="empty")
        return (await worker.one())["step"], (await worker.client.engine.show(run))["steps"]["load"]["port"]

    assert play(talk) == ("after", "empty")
