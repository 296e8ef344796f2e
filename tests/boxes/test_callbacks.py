"""Callbacks: an address for one attempt; what comes too late, twice or from nobody changes nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock.access.caller import ANYBODY_HERE
from penstock.access.rate_limits import Limiter, Rate
from penstock.boxes.callback_tokens import Attempted, CallbackTokens
from penstock.runtime.errors import AlreadyOver, UnknownCallback
from tests.boxes.conftest import ONE_STORE, Functions, Site, functions, says, site
from tests.waiting import until


def waits(url: str, **more: Any) -> dict[str, Any]:
    step = {"task": "http", "with": {"url": url, "mode": "async"}, **more}
    return {"steps": {"call": step, "then": {"task": "set", "after": "call", "with": {"went": "on"}}}}


def address(there: Functions, number: int = -1) -> str:
    _, headers, body = there.got[number]
    assert headers["penstock-callback"] == body["callback"]
    return str(body["callback"])


async def parked(here: Site, run: str) -> None:
    await until(lambda: here.engine.show(run), "the run to wait", so=lambda view: view["status"] == "waiting")


def test_a_callback_ends_the_step_that_waits_for_it(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here, functions(f=says({}, 202)) as there:
            run = await here.run(waits(f"{there.base}/f"))
            assert (run["status"], run["waiting_for"]) == ("waiting", ["call"])
            why = await here.engine.why(run["id"])
            assert [each["reason"] for each in why["steps"]] == ["callback"]

            said = {"output": 7, "tags": {"mime": "x"}, "data": {"seen": 1}}
            status, answer = await here.ask("POST", address(there), said)
            ended = await here.engine.wait(run["id"], 20)

            assert (status, answer) == (200, {"status": "accepted"})
            assert (
                ended["status"],
                ended["steps"]["call"]["output"],
                ended["steps"]["call"]["attempts"],
            ) == ("succeeded", 7, 1)
            assert (ended["data"], ended["tags"]) == ({"seen": 1, "went": "on"}, {"mime": "x"})

    asyncio.run(main())


def test_a_callback_that_echoes_a_secret_of_the_call_is_redacted(url: str, tmp_path: Path) -> None:
    key = "a-key-of-this-function"

    async def main() -> None:
        async with site(tmp_path, url) as here, functions(f=says({}, 202)) as there:
            await here.service.access.set_secret(ANYBODY_HERE, "KEY", key)
            flow = waits(f"{there.base}/f")
            flow["steps"]["call"]["with"]["headers"] = {"x-key": {"secret": "KEY"}}
            run = await here.run(flow)
            said = {"output": {"echo": f"key={key}"}, "tags": {"key": key}, "data": {"key": key}}
            await here.ask("POST", address(there), said)
            ended = await here.engine.wait(run["id"], 20)

            assert ended["steps"]["call"]["output"] == {"echo": "key=***"}
            assert (ended["tags"], ended["data"]) == ({"key": "***"}, {"key": "***", "went": "on"})
            assert key not in str(await here.engine.history(run["id"]))

    asyncio.run(main())


@ONE_STORE
def test_the_same_callback_again_is_answered_alike_and_another_is_refused(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here, functions(f=says({}, 202)) as there:
            await here.run(waits(f"{there.base}/f"))
            first = await here.ask("POST", address(there), {"output": 1})
            again = await here.ask("POST", address(there), {"output": 1})
            other = await here.ask("POST", address(there), {"output": 2})

            assert first == (200, {"status": "accepted"})
            assert again == (200, {"status": "repeated"})
            assert (other[0], other[1]["code"]) == (409, "already_over")

    asyncio.run(main())


@ONE_STORE
def test_a_callback_of_an_attempt_that_is_over_changes_nothing(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here, functions(f=says({}, 202)) as there:
            flow = waits(f"{there.base}/f", timeouts={"start_to_close": "200ms"}, timeout_retries=[50])
            run = await here.run(flow)
            await until(lambda: len(there.got) == 2, "the second call")
            await parked(here, run["id"])
            before = await here.engine.show(run["id"])

            stale = await here.ask("POST", address(there, 0), {"output": "late"})
            assert (stale[0], stale[1]["code"]) == (409, "already_over")
            assert await here.engine.show(run["id"]) == before
            fresh = await here.ask("POST", address(there, 1), {"output": "in time"})

            assert fresh[0] == 200
            ended = await here.engine.wait(run["id"], 20)
            assert ended["steps"]["call"]["output"] == "in time"

    asyncio.run(main())


@ONE_STORE
def test_a_callback_that_overtakes_the_answer_of_the_call_counts(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:

            async def hasty(request: web.Request) -> web.StreamResponse:
                body = await request.json()
                status, _ = await here.ask("POST", body["callback"], {"output": "at once"})
                return web.json_response({"status": status}, status=202)

            async with functions(f=hasty) as there:
                await here.engine.publish({"penstock": 1, "name": "w", **waits(f"{there.base}/f")})
                run = await here.engine.wait(await here.engine.start("w"), 20)

                assert (run["status"], run["steps"]["call"]["output"]) == ("succeeded", "at once")
                assert len(there.got) == 1

    asyncio.run(main())


@ONE_STORE
def test_a_withdrawn_step_is_called_back_in_vain(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here, functions(f=says({}, 202)) as there:
            run = await here.run(waits(f"{there.base}/f"))
            await here.engine.cancel(run["id"])

            assert (await here.ask("POST", address(there), {"output": 1}))[0] == 409
            assert (await here.engine.show(run["id"]))["status"] == "canceled"

    asyncio.run(main())


def test_an_address_that_nobody_gave_away_is_not_known(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({}, 202)) as there:
            run = await here.run(waits(f"{there.base}/f"))
            good = address(there)

            forged = [good[:-4] + "AAAA", good.rsplit("/", 1)[0] + "/x", good.rsplit("/", 1)[0] + "/%00"]
            answers = [(await here.ask("POST", each, {"output": 1}))[0] for each in forged]

            assert answers == [404, 404, 404]
            assert (await here.engine.show(run["id"]))["status"] == "waiting"

    asyncio.run(main())


def test_a_body_that_comes_to_an_address_that_nobody_gave_away_is_not_read(tmp_path: Path) -> None:
    """Anybody may send one, and a large one holds all others while it is read."""

    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({}, 202)) as there:
            await here.run(waits(f"{there.base}/f"))
            forged = address(there).rsplit("/", 1)[0] + "/x"

            async def status(path: str) -> int:
                async with here.session.post(path, data=b"no JSON at all") as answer:
                    return answer.status

            assert [await status(forged), await status(address(there))] == [404, 400]

    asyncio.run(main())


def test_who_floods_addresses_that_nobody_gave_away_keeps_no_function_from_calling_back(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({}, 202)) as there:
            await here.run(waits(f"{there.base}/f"))
            here.service.limiters.hooks = Limiter(Rate(0.001, 1, "one"))
            forged = address(there).rsplit("/", 1)[0] + "/x"

            floods = [(await here.ask("POST", forged, {}))[0] for _ in range(2)]

            assert floods == [404, 429]
            assert (await here.ask("POST", address(there), {"output": 1}))[0] == 200

    asyncio.run(main())


@ONE_STORE
def test_a_failure_that_is_called_back_is_tried_again_with_another_address(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here, functions(f=says({}, 202)) as there:
            run = await here.run(waits(f"{there.base}/f", retries=1, backoff={"initial": "1ms"}))
            await here.ask("POST", address(there), {"error": "no space"})
            await until(lambda: len(there.got) == 2, "the second call")
            await parked(here, run["id"])

            assert address(there, 0) != address(there, 1)
            await here.ask("POST", address(there), {"error": {"message": "no space"}, "retry": False})
            ended = await here.engine.wait(run["id"], 20)
            assert (ended["status"], ended["error"]["message"]) == ("failed", "no space")

    asyncio.run(main())


def test_a_callback_that_cannot_be_understood_leaves_the_step_waiting(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({}, 202)) as there:
            run = await here.run(waits(f"{there.base}/f"))

            status, problem = await here.ask("POST", address(there), {"tags": ["a"]})

            assert (status, problem["code"]) == (422, "invalid")
            assert (await here.engine.show(run["id"]))["status"] == "waiting"

    asyncio.run(main())


def test_a_run_that_waits_for_a_callback_goes_on_after_a_restart(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with functions(f=says({}, 202)) as there:
            async with site(tmp_path, url) as here:
                run = await here.run(waits(f"{there.base}/f"))
            async with site(tmp_path, url) as here:
                id = address(there).rsplit("/", 1)[1]
                assert await here.engine.call_back(id, {"output": 3}) == "accepted"
                assert (await here.engine.wait(run["id"], 20))["steps"]["call"]["output"] == 3
                assert await here.engine.call_back(id, {"output": 3}) == "repeated"
                with pytest.raises(AlreadyOver):
                    await here.engine.call_back(id, {"output": 4})
                with pytest.raises(UnknownCallback):
                    await here.engine.call_back("nonsense", None)

    asyncio.run(main())


@pytest.mark.parametrize(
    "said",
    [
        {"error": {"message": "no hunter22", "detail": {"why": "no hunter22"}}, "retry": False},
        {"port": "failed", "output": {"why": "no hunter22"}},
    ],
    ids=["error", "port"],
)
def test_a_failure_that_is_called_back_has_no_secret(said: dict[str, Any], tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here, functions(f=says({}, 202)) as there:
            await here.ask("PUT", "/api/secrets/PW", {"value": "hunter22"})
            run = await here.run(waits(f"{there.base}/f"))

            status, _ = await here.ask("POST", address(there), said)
            ended = await here.engine.wait(run["id"], 20)

            assert (status, ended["status"]) == (200, "failed")
            assert "hunter22" not in str((ended, await here.engine.history(run["id"])))
            assert "no ***" in str(ended["error"])

    asyncio.run(main())


def test_a_seal_names_its_attempt_and_cannot_be_changed() -> None:
    class Kept:
        async def put_note(self, name: str, text: str, *, replace: bool) -> str | None:
            return "ab" * 32

    async def main() -> None:
        callback_tokens, place = CallbackTokens(Kept()), Attempted("run-1", 7, None, 2)
        id = await callback_tokens.issue(place)

        assert await callback_tokens.open(id) == place
        for at in range(len(id)):
            other = id[:at] + ("A" if id[at] != "A" else "B") + id[at + 1 :]
            assert await callback_tokens.open(other) in (None, place)
            assert await callback_tokens.open(other) is None or other.rstrip("=")[:-1] == id[:-1]

    asyncio.run(main())


@ONE_STORE
def test_tags_of_a_callback_replace_where_the_step_says_so(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here, functions(f=says({}, 202)) as there:
            call = {"url": f"{there.base}/f", "mode": "async", "tags_mode": "replace"}
            tag = {"task": "tag", "with": {"set": {"old": "1"}}}
            run = await here.run({"steps": {"t": tag, "call": {"task": "http", "after": "t", "with": call}}})
            await here.ask("POST", address(there), {"tags": {"new": "1"}})

            assert (await here.engine.wait(run["id"], 20))["tags"] == {"new": "1"}

    asyncio.run(main())


@ONE_STORE
def test_a_callback_with_a_port_that_is_not_there_may_be_mended(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here, functions(f=says({}, 202)) as there:
            run = await here.run(waits(f"{there.base}/f"))
            wrong = await here.ask("POST", address(there), {"port": "weird"})
            right = await here.ask("POST", address(there), {"port": "done"})

            assert (wrong[0], right) == (422, (200, {"status": "accepted"}))
            assert "has no port 'weird': it ends on done" in wrong[1]["detail"]
            assert (await here.engine.wait(run["id"], 20))["status"] == "succeeded"

    asyncio.run(main())
