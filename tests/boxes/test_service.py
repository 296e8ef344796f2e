"""`service`: a remote task service is asked, polled, and may report by itself."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock import StoreAway
from tests.boxes.conftest import Functions, functions, site
from tests.waiting import nothing_happens, until


class Remote:
    """A task service: what it answers to each action, in order; the last one stays."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body["action"])
        told = self.answers[body["action"]]
        answer = told.pop(0) if len(told) > 1 else told[0]
        if isinstance(answer, int):
            return web.Response(status=answer)
        return web.json_response({"task_id": body.get("task_id"), **answer})


def drives(there: Functions, **more: Any) -> dict[str, Any]:
    params = {"url": f"{there.base}/tasks", "body": {"task_id": "TA_1"}, "poll": "5ms", **more}
    return {
        "steps": {"s": {"task": "service", "with": params, "emits": {"canceled": "gone"}, "fails": "bad"}}
    }


async def driven(folder: Path, remote: Remote, **more: Any) -> dict[str, Any]:
    async with site(folder) as here, functions(tasks=remote) as there:
        run: dict[str, Any] = (await here.run(drives(there, **more)))["steps"]["s"]
        return run


@pytest.mark.parametrize(
    ("states", "port"),
    [
        (["pending", "running", "staged"], "done"),
        (["running", "failed"], "failed"),
        (["running", "Cancelled"], "canceled"),
        (["running", "canceled"], "canceled"),
    ],
)
def test_it_is_asked_until_its_state_is_an_end(states: list[str], port: str, tmp_path: Path) -> None:
    progress = [10, "50%", None]
    remote = Remote(
        start=[{"state": "running"}],
        get_status=[{"state": state, "progress": progress[n % 3]} for n, state in enumerate(states)],
    )

    step = asyncio.run(driven(tmp_path, remote))

    assert (step["port"], remote.asked) == (port, ["start", *["get_status"] * len(states)])


def test_an_answer_that_is_an_end_needs_no_question(tmp_path: Path) -> None:
    remote = Remote(initialize=[{"state": "initialized"}])

    step = asyncio.run(driven(tmp_path, remote, action="initialize", until="initialized"))

    assert (step["port"], step["output"]["task_id"], remote.asked) == ("done", "TA_1", ["initialize"])


@pytest.mark.parametrize("answer", [503, 404, {"state": "staged"}])
def test_an_action_that_is_not_accepted_fails(answer: Any, tmp_path: Path) -> None:
    step = asyncio.run(driven(tmp_path, Remote(start=[answer]), accept=[200, "running"]))

    assert step["status"] == "failed"


def test_a_service_that_knows_the_task_is_not_asked_to_begin_again(tmp_path: Path) -> None:
    remote = Remote(start=[{"state": "running"}], get_status=[500, {"state": "running"}, {"state": "done"}])

    async def main() -> None:
        async with site(tmp_path) as here, functions(tasks=remote) as there:
            flow = drives(there)
            flow["steps"]["s"] |= {"retries": 1, "backoff": {"initial": "1ms"}}
            assert (await here.run(flow))["steps"]["s"]["port"] == "done"
            assert remote.asked == ["start", *["get_status"] * 3]

    asyncio.run(main())


@pytest.mark.parametrize("poll", ["never", "1h"])
def test_a_report_by_key_counts_like_a_poll(poll: str, url: str, tmp_path: Path) -> None:
    remote = Remote(start=[{"state": "running"}])

    async def main() -> None:
        async with site(tmp_path, url) as here, functions(tasks=remote) as there:
            await here.engine.publish({"penstock": 1, "name": "w", **drives(there, poll=poll, key="TA_1")})
            run = await here.engine.start("w")
            await until(lambda: remote.asked, "a request")

            assert await here.engine.report("TA_1", "running", {"progress": 5}) == "progress"
            assert await here.engine.report("TA_other", "staged") == "ignored"
            assert await here.engine.report("TA_1", "staged", {"state": "staged", "by": "push"}) == "ended"
            ended = await here.engine.wait(run, 20)
            late = await here.engine.report("TA_1", "failed")

            assert (ended["status"], ended["steps"]["s"]["output"]["by"]) == ("succeeded", "push")
            assert late == "ignored"
            assert any("reports that it is running" in line["text"] for line in await here.engine.logs(run))

    asyncio.run(main())


def test_a_withdrawn_step_is_not_polled_any_more(tmp_path: Path) -> None:
    remote = Remote(start=[{"state": "running"}], get_status=[{"state": "running"}])

    async def main() -> None:
        async with site(tmp_path) as here, functions(tasks=remote) as there:
            await here.engine.publish({"penstock": 1, "name": "w", **drives(there)})
            run = await here.engine.start("w")
            await until(lambda: len(remote.asked) >= 3, "three requests")
            await here.engine.cancel(run)
            count = len(remote.asked)
            await nothing_happens(0.1)

            assert len(remote.asked) <= count + 1

    asyncio.run(main())


def test_a_restart_costs_no_attempt_and_begins_nothing_twice(url: str, tmp_path: Path) -> None:
    remote = Remote(start=[{"state": "running"}], get_status=[{"state": "running"}])

    async def main() -> None:
        async with functions(tasks=remote) as there:
            async with site(tmp_path, url) as here:
                flow = drives(there)
                flow["steps"]["s"]["timeout_retries"] = []
                await here.engine.publish({"penstock": 1, "name": "w", **flow})
                run = await here.engine.start("w")
                await until(lambda: "get_status" in remote.asked, "a request for the state")
            remote.answers["get_status"] = [{"state": "done"}]
            async with site(tmp_path, url) as here:
                ended = await here.engine.wait(run, 20)

            assert (ended["status"], ended["steps"]["s"]["attempts"]) == ("succeeded", 1)
            assert remote.asked.count("start") == 1

    asyncio.run(main())


@pytest.mark.parametrize(
    ("task", "says"), [("service", "needs `url`"), ("mail", "mail server"), ("http", "needs `url`")]
)
def test_what_is_missing_is_told_when_the_step_runs(task: str, says: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            run = await here.run({"steps": {"s": {"task": task}}}, override="to see it fail")
            assert says in run["error"]["message"]

    asyncio.run(main())


@pytest.mark.parametrize("answer", [{"state": "banana"}, {"state": "pending"}, {}])
def test_a_state_that_cannot_be_fails_it(answer: Any, tmp_path: Path) -> None:
    remote = Remote(start=[{"state": "running"}], get_status=[{"state": "running"}, answer])

    step = asyncio.run(driven(tmp_path, remote, goes_on=["running"]))

    assert (step["status"], "a state that cannot be now" in step["error"]["message"]) == ("failed", True)


@pytest.mark.parametrize("kind", ["text/plain", "text/html", "application/octet-stream"])
def test_an_answer_is_read_as_json_whatever_type_it_names(kind: str, tmp_path: Path) -> None:
    async def plain(request: web.Request) -> web.StreamResponse:
        state = "running" if (await request.json())["action"] == "start" else "staged"
        return web.Response(text=f'{{"state": "{state}"}}', content_type=kind)

    async def talk() -> str:
        async with site(tmp_path) as here, functions(tasks=plain) as there:
            return str((await here.run(drives(there)))["steps"]["s"]["port"])

    assert asyncio.run(talk()) == "done"


@pytest.mark.parametrize("path", ["/a b", "/a\nX-Evil: 1", "/a\tb"])
def test_an_address_with_blanks_or_line_ends_is_not_called(path: str, tmp_path: Path) -> None:
    remote = Remote(start=[{"state": "staged"}])

    async def talk() -> dict[str, Any]:
        async with site(tmp_path) as here, functions(tasks=remote) as there:
            run: dict[str, Any] = await here.run(drives(there, url=there.base + path))
            return dict(run["steps"]["s"])

    step = asyncio.run(talk())

    assert ("is no address" in step["error"]["message"], remote.asked) == (True, [])


def test_who_hurries_does_not_wait_for_the_next_time(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def staged(request: web.Request) -> web.StreamResponse:
        starts = (await request.json())["action"] == "start"
        asked.set()
        return web.json_response({"state": "running" if starts else "staged"})

    async def talk() -> str:
        async with site(tmp_path) as here, functions(tasks=staged) as there:
            run = asyncio.ensure_future(here.run(drives(there, poll="1h")))
            await asked.wait()

            async def hurried() -> bool:
                await here.engine.ask_services_now()
                return run.done()

            await until(hurried, "the end of the run")
            return str((await run)["steps"]["s"]["port"])

    assert asyncio.run(talk()) == "done"


@pytest.mark.parametrize("answer", [{"state": "published"}, {"state": "banana"}, {}])
def test_a_first_state_that_cannot_be_fails_it_too(answer: Any, tmp_path: Path) -> None:
    remote = Remote(get_status=[answer, {"state": "staged"}])

    step = asyncio.run(driven(tmp_path, remote, action="get_status", goes_on=["running"], until=["staged"]))

    assert (step["status"], remote.asked) == ("failed", ["get_status"])


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ([503, 500, "running", 503, 503, "done"], "complete"),
        ([503, 503, 503, "done"], "failed"),
        ([404, "banana", "running", "banana", 404, "done"], "complete"),
        ([404, 404, "banana", "done"], "failed"),
    ],
)
def test_a_state_that_cannot_be_had_fails_it_when_that_happens_too_often_in_a_row(
    answers: list[Any], status: str, tmp_path: Path
) -> None:
    told = [{"state": each} if isinstance(each, str) else each for each in answers]

    step = asyncio.run(
        driven(tmp_path, Remote(get_status=told), action="get_status", misses=2, goes_on=["running"])
    )

    assert step["status"] == status


@pytest.mark.parametrize(("found", "called"), [("/moved", "moved"), (None, "tasks")])
def test_it_is_called_where_it_is_now(found: str | None, called: str, tmp_path: Path) -> None:
    places = {"moved": Remote(start=[{"state": "done"}]), "tasks": Remote(start=[{"state": "done"}])}

    async def main() -> None:
        async with site(tmp_path) as here, functions(**places) as there:

            async def finds(id: str) -> str | None:
                assert id == "TS_1"
                return None if found is None else there.base + found

            await here.engine.give_addresses(finds)
            await here.run(drives(there, service="TS_1"))

    asyncio.run(main())
    assert [name for name, remote in places.items() if remote.asked] == [called]


@pytest.mark.parametrize(
    ("states", "times"), [(["idle"] * 3 + ["done"], 2), ((["idle"] * 2 + ["running"]) * 2 + ["done"], 1)]
)
def test_what_it_has_forgotten_it_is_asked_for_again(states: list[str], times: int, tmp_path: Path) -> None:
    remote = Remote(start=[{"state": "running"}], get_status=[{"state": each} for each in states])

    step = asyncio.run(driven(tmp_path, remote, ask_again=["Idle"], goes_on=["running", "idle"]))

    assert (step["port"], remote.asked.count("start")) == ("done", times)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"state": "Failed"}, "failed"),
        (400, "rejected"),
        (503, "rejected"),
        (500, None),
        ({"state": "odd"}, None),
    ],
)
def test_what_the_service_said_itself_is_told_apart(answer: Any, said: str | None, tmp_path: Path) -> None:
    remote = Remote(start=[answer])

    step = asyncio.run(driven(tmp_path, remote, accept=[200, "running"], refusal="rejected"))

    assert step["error"]["detail"].get("said") == said


@pytest.mark.parametrize(
    ("state", "asked"), [("published", ["get_status"]), ("publishing", ["get_status", "cancel"])]
)
def test_one_that_is_asked_first_is_told_only_where_it_must_be(
    state: str, asked: list[str], tmp_path: Path
) -> None:
    remote = Remote(get_status=[{"state": state}], cancel=[{"state": "canceled"}])

    asyncio.run(driven(tmp_path, remote, action="cancel", until="*", known=["published"], ask_first=True))

    assert remote.asked == asked


class Flaky:
    """Something of our own that asks the database, which is away for the first times."""

    def __init__(self, value: Any, times: int = 2) -> None:
        self.value, self.times = value, times

    async def __call__(self, *_: Any) -> Any:
        self.times -= 1
        if self.times >= 0:
            raise StoreAway("it is restarted")
        return self.value


@pytest.mark.parametrize("what", ["addresses", "secrets", "turns"])
def test_a_database_that_is_away_is_waited_for(what: str, tmp_path: Path) -> None:
    remote, flaky = Remote(get_status=[{"state": "done"}]), Flaky({"KEY": "k"} if what == "secrets" else None)

    async def main() -> dict[str, Any]:
        async with site(tmp_path) as here, functions(tasks=remote) as there:
            environment = (await here.engine.running()).environment
            assert environment is not None
            place, name = (
                (environment.parts.call_order, "others_over") if what == "turns" else (environment, what)
            )
            setattr(place, name, flaky)
            more = {"headers": {"X-Key": {"secret": "KEY"}}} if what == "secrets" else {"service": "TS_1"}
            flow = drives(there, action="get_status", turn="TA_1", **more)
            return dict((await here.run(flow))["steps"]["s"])

    step = asyncio.run(main())

    assert (step["port"], flaky.times < 0, remote.asked) == ("done", True, ["get_status"])


def test_a_step_that_looks_its_service_up_while_the_engine_closes_is_given_back(
    tmp_path: Path,
) -> None:
    remote = Remote(get_status=[404, {"state": "done"}], start=[{"state": "done"}])
    url, looks = str(tmp_path / "closed.db"), asyncio.Event()

    async def main() -> dict[str, Any]:
        async with functions(tasks=remote) as there:
            async with site(tmp_path, url) as here:

                async def finds(_: str) -> str:
                    looks.set()
                    while True:  # until the engine is closed, and says so
                        await here.engine.tokens("/custom/", limit=1)

                await here.engine.give_addresses(finds)
                await here.engine.publish({"penstock": 1, "name": "w", **drives(there, service="TS_1")})
                run = await here.engine.start("w")
                await looks.wait()
            async with site(tmp_path, url) as here:
                return dict((await here.engine.wait(run, 20, rest=True))["steps"]["s"])

    assert asyncio.run(main()).get("port") == "done"


@pytest.mark.parametrize("refusal", [400, 403, 404, 409, 422])
@pytest.mark.parametrize("lost", ["state", "answer"])
def test_a_repeated_action_that_is_refused_may_have_been_taken_before(
    lost: str, refusal: int, tmp_path: Path
) -> None:
    first = [{"state": "publishing"}] if lost == "state" else [500]
    states = ["idle"] * 5 + ["running", "done"]  # it is slow to say that it has begun
    remote = Remote(start=[*first, refusal], get_status=[{"state": each} for each in states])

    async def main() -> dict[str, Any]:
        async with site(tmp_path) as here, functions(tasks=remote) as there:
            flow = drives(there, ask_again=["idle"], known=["running"], goes_on=["running", "idle"])
            flow["steps"]["s"] |= {"retries": 1, "backoff": {"initial": "1ms"}}
            return dict((await here.run(flow))["steps"]["s"])

    assert (asyncio.run(main()).get("port"), remote.asked.count("start") > 1) == ("done", True)


def test_an_action_that_is_refused_at_once_was_not_taken(tmp_path: Path) -> None:
    remote = Remote(start=[409], get_status=[{"state": "done"}])

    step = asyncio.run(driven(tmp_path, remote, ask_again=["idle"]))

    assert (step["status"], remote.asked) == ("failed", ["start"])


def odd(kind: str) -> web.Response:
    """An answer that cannot be used, of a service that did what it was asked for, or of something in between."""
    if kind == "coding":
        return web.Response(body=gzip.compress(b'{"state": "running"}'), headers={"Content-Encoding": "gzip"})
    if kind == "large":
        return web.json_response({"state": "running", "more": "y" * 300_000})
    status, _, place = kind.partition(" ")
    return web.Response(status=int(status), headers={"Location": place} if place else {})


ODD = [
    "coding",
    "large",
    "302 /login",
    "307 /tasks",
    "307 https://127.0.0.2/tasks",
    "307 http://[::1",
    "304",
    "300",
]


@pytest.mark.parametrize("kind", ODD)
def test_what_may_be_done_is_asked_for_where_the_answer_cannot_be_used(kind: str, tmp_path: Path) -> None:
    asked: list[str] = []

    async def takes(request: web.Request) -> web.StreamResponse:
        asked.append((await request.json())["action"])
        return odd(kind) if asked[-1] == "start" else web.json_response({"state": "done"})

    async def main() -> str:
        async with site(tmp_path) as here, functions(tasks=takes) as there:
            return str((await here.run(drives(there, ask_again=["idle"])))["steps"]["s"].get("port"))

    assert (asyncio.run(main()), asked[-1]) == ("done", "get_status")


def test_what_was_never_sent_fails_at_once(tmp_path: Path) -> None:
    step = asyncio.run(driven(tmp_path, Remote(), ask_again=["idle"], url="http://127.0.0.2:9/tasks"))

    assert step["error"]["kind"] == "egress"


@pytest.mark.parametrize("code", [405, 501])
@pytest.mark.parametrize(
    "states", [["odd", "odd", "done"], ["running", "odd", "odd", "odd", "running", "done"]]
)
def test_one_that_tells_its_state_now_and_then_is_asked_on(
    states: list[str], code: int, tmp_path: Path
) -> None:
    told = [code if each == "odd" else {"state": each} for each in states]

    step = asyncio.run(driven(tmp_path, Remote(start=[{"state": "running"}], get_status=told), misses=3))

    assert step.get("port") == "done"
