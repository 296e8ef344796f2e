"""A job that an attempt began is asked about by the next: it is begun again only where nobody knows it any more."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock.access.caller import ANYBODY_HERE
from penstock.engine.background import box_worker
from tests.boxes.conftest import Functions, Handler, Site, functions, says, site
from tests.waiting import until

WAITS = {"timeouts": {"start_to_close": "300ms"}, "timeout_retries": [100, 1]}


def polls(there: Functions, **more: Any) -> dict[str, Any]:
    params = {"url": f"{there.base}/begin", "poll": {"every": "10ms"}}
    return {"steps": {"call": {"task": "http", "emits": "OK", "with": params, **more}}}


async def begin(request: web.Request) -> web.Response:
    return web.Response(status=202, headers={"location": "/job/7"})


def job(*states: str | int, **headers: str) -> Handler:
    """What each call is told; the last one again and again. The headers go with what is refused."""
    left = list(states)

    async def answer(request: web.Request) -> web.Response:
        state = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(state, int):
            return web.Response(status=state, headers=headers)
        return web.json_response({"state": state, "output": 42})

    return answer


async def notes(here: Site) -> dict[str, str]:
    return await (await here.engine.running()).store.notes("http-job/")


async def second_attempt(here: Site, run: str) -> None:
    await until(
        lambda: here.engine.show(run),
        "the second attempt",
        so=lambda view: view["steps"]["call"]["attempts"] >= 2,
    )


def begun(there: Functions) -> int:
    return sum(path == "/begin" for path, _, _ in there.got)


def test_after_a_time_out_the_job_is_asked_about_and_not_begun_again(tmp_path: Path, url: str) -> None:
    late = asyncio.Event()

    async def state(request: web.Request) -> web.Response:
        return web.json_response({"state": "done" if late.is_set() else "running", "output": 42})

    async def main() -> tuple[dict[str, Any], int, dict[str, str]]:
        async with site(tmp_path, url) as here, functions(begin=begin, job=state) as there:
            await here.engine.publish({"penstock": 1, "name": "w", **polls(there, **WAITS)})
            run = await here.engine.start("w")
            await second_attempt(here, run)
            late.set()
            return await here.engine.wait(run, 20), begun(there), await notes(here)

    run, calls, left = asyncio.run(main())
    assert (run["status"], run["steps"]["call"]["output"], calls, left) == ("succeeded", 42, 1, {})


def test_an_address_that_shows_a_secret_is_not_kept(tmp_path: Path) -> None:
    key, asked = "a-key-of-this-function", asyncio.Event()

    async def start(request: web.Request) -> web.Response:
        return web.Response(status=202, headers={"location": f"/job?key={key}"})

    async def state(request: web.Request) -> web.Response:
        asked.set()
        return web.json_response({"state": "running"})

    async def main() -> dict[str, str]:
        async with site(tmp_path) as here, functions(begin=start, job=state) as there:
            await here.service.access.set_secret(ANYBODY_HERE, "KEY", key)
            await here.engine.publish({"penstock": 1, "name": "w", **polls(there)})
            await here.engine.start("w")
            await asyncio.wait_for(asked.wait(), 20)
            return await notes(here)

    assert asyncio.run(main()) == {}


def test_after_a_stop_of_the_node_another_goes_on_asking(tmp_path: Path) -> None:
    async def main() -> tuple[dict[str, Any], int]:
        path = str(tmp_path / "p.db")
        async with functions(begin=begin, job=job(*["running"] * 5, "done")) as there:
            async with site(tmp_path, path) as here:
                await here.engine.publish({"penstock": 1, "name": "w", **polls(there)})
                run = await here.engine.start("w")
                await until(lambda: notes(here), "a note of what was begun")
            async with site(tmp_path, path) as here:
                return await here.engine.wait(run, 20), begun(there)

    run, calls = asyncio.run(main())
    assert (run["status"], calls) == ("succeeded", 1)


def test_a_job_that_nobody_knows_any_more_is_begun_again(tmp_path: Path) -> None:
    forgotten = asyncio.Event()
    working, then = job("running"), job(404, "running", "done")

    async def state(request: web.Request) -> web.StreamResponse:
        return await (then if forgotten.is_set() else working)(request)

    async def main() -> tuple[dict[str, Any], int]:
        async with site(tmp_path) as here, functions(begin=begin, job=state) as there:
            await here.engine.publish({"penstock": 1, "name": "w", **polls(there, **WAITS)})
            run = await here.engine.start("w")
            await second_attempt(here, run)
            forgotten.set()
            return await here.engine.wait(run, 20), begun(there)

    run, calls = asyncio.run(main())
    assert (run["status"], calls) == ("succeeded", 2)


def test_jobs_that_are_waited_for_keep_nothing_else_from_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(box_worker, "MAX_CONCURRENT", 1)

    async def main() -> tuple[str, int]:
        async with site(tmp_path) as here, functions(begin=begin, job=job("running"), other=says(1)) as there:
            many = polls(there, each="[1, 2, 3]")["steps"]["call"]
            other = {"task": "http", "with": {"url": f"{there.base}/other"}}
            await here.engine.publish({"penstock": 1, "name": "w", "steps": {"call": many, "other": other}})
            run = await here.engine.start("w")
            await here.until(run, "other", "complete")
            await until(lambda: begun(there) >= 3, "three calls")
            view = await here.engine.show(run)
            await here.engine.cancel(run)
            return view["status"], view["steps"]["call"]["elements"]["done"]

    assert asyncio.run(main()) == ("running", 0)


@pytest.mark.parametrize("refusals", [[503], [429, 500, 502, 503], [404], [404, 503, 404]])
def test_a_question_that_is_put_off_is_asked_again(tmp_path: Path, refusals: list[int]) -> None:
    async def main() -> tuple[dict[str, Any], int]:
        async with site(tmp_path) as here, functions(begin=begin, job=job(*refusals, "done")) as there:
            return await here.run(polls(there)), begun(there)

    run, calls = asyncio.run(main())
    assert (run["status"], run["steps"]["call"]["attempts"], calls) == ("succeeded", 1, 1)


def test_a_question_is_asked_again_when_the_service_wishes_so(tmp_path: Path) -> None:
    states, times = job(429, "done", **{"Retry-After": "1"}), list[float]()

    async def timed(request: web.Request) -> web.StreamResponse:
        times.append(time.monotonic())
        return await states(request)

    async def main() -> dict[str, Any]:
        async with site(tmp_path) as here, functions(begin=begin, job=timed) as there:
            return await here.run(polls(there))

    run = asyncio.run(main())
    first, second = times
    assert (run["status"], second - first >= 1) == ("succeeded", True)


def test_a_service_that_is_never_back_is_asked_until_the_time_out(tmp_path: Path) -> None:
    async def main() -> dict[str, Any]:
        async with site(tmp_path) as here, functions(begin=begin, job=job(503)) as there:
            return await here.run(polls(there, timeouts={"schedule_to_close": "200ms"}, timeout_retries=[1]))

    run = asyncio.run(main())
    assert (run["status"], run["steps"]["call"]["error"]["kind"]) == ("failed", "timeout")


@pytest.mark.parametrize(("timeout", "status"), [("REGISTRATION_TIMEOUT", 404), ("SILENCE_TIMEOUT", 503)])
def test_without_a_time_out_no_service_is_asked_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeout: str, status: int
) -> None:
    monkeypatch.setattr(f"penstock.boxes.job_poll.{timeout}", 0.1)

    async def main() -> dict[str, Any]:
        async with site(tmp_path) as here, functions(begin=begin, job=job(status)) as there:
            return await here.run(polls(there))

    run = asyncio.run(main())
    assert run["status"] == "failed"
    assert f"answered {status}" in run["error"]["message"]


def test_a_job_that_is_refused_for_good_is_not_asked_about_again(tmp_path: Path) -> None:
    async def main() -> tuple[dict[str, Any], int]:
        async with site(tmp_path) as here, functions(begin=begin, job=job(403)) as there:
            return await here.run(polls(there)), len(there.got)

    run, calls = asyncio.run(main())
    assert (run["status"], calls) == ("failed", 2)


def test_a_function_that_says_no_place_to_ask_at_is_told_of(tmp_path: Path) -> None:
    async def main() -> dict[str, Any]:
        async with site(tmp_path) as here, functions(begin=says({}, 202)) as there:
            return await here.run(polls(there))

    run = asyncio.run(main())
    assert run["status"] == "failed" and "`poll.url`" in run["error"]["message"]


def test_what_is_kept_of_jobs_goes_with_their_runs(tmp_path: Path) -> None:
    async def main() -> dict[str, str]:
        path = str(tmp_path / "p.db")
        async with functions(begin=begin, job=job("running")) as there:
            async with site(tmp_path, path) as here:
                await here.engine.publish({"penstock": 1, "name": "w", **polls(there)})
                runs = [await here.engine.start("w") for _ in range(2)]
                await until(
                    lambda: notes(here), "two notes of what was begun", so=lambda found: len(found) == 2
                )
                await here.engine.cancel(runs[0])
            async with site(tmp_path, path) as here:
                kept = await notes(here)
                assert [runs[1] in name for name in kept] == [True]
                return kept

    [address] = asyncio.run(main()).values()
    assert address.endswith("/job/7")
