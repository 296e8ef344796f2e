"""Task services: registered once they answer, looked after, called only where the installation may call."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock_release.options import OAuth
from tests.boxes.conftest import functions
from tests.release.conftest import Site, coordinating, service, states
from tests.release.remote import Remote, serving
from tests.waiting import until

TELLS = {
    "kf_id",
    "name",
    "description",
    "last_ok_status",
    "author",
    "health_status",
    "url",
    "created_at",
    "enabled",
}


def test_a_service_that_answers_is_registered_changed_and_removed(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("one")
        async with serving(remote), coordinating(tmp_path, url) as here:
            status, made = await here.ask("POST", "/task-services", service(remote))
            assert (status, set(made)) == (201, TELLS)
            assert (made["enabled"], made["health_status"], made["kf_id"][:3]) == (True, "ok", "TS_")

            path = f"/task-services/{made['kf_id']}"
            assert (await here.good("PATCH", path, {"enabled": False}))["enabled"] is False
            assert (await here.good("GET", "/task-services?enabled=true"))["count"] == 0
            assert (await here.good("GET", path))["name"] == "one"
            assert (await here.ask("DELETE", path))[0] == 204
            assert await here.ask("GET", path) == (404, {"detail": "Not found."})

    asyncio.run(talk())


def test_what_is_no_task_service_is_refused(tmp_path: Path) -> None:
    async def talk() -> list[tuple[int, Any]]:
        remote = Remote("one")
        async with serving(remote), coordinating(tmp_path) as here:
            good = service(remote)
            found = [
                await here.ask("POST", "/task-services", {}),
                await here.ask("POST", "/task-services", good | {"url": "ftp://x"}),
                await here.ask("POST", "/task-services", good | {"url": "http://127.0.0.1:1"}),
                await here.ask("POST", "/task-services", good | {"name": " ", "enabled": "yes"}),
            ]
            remote.status = {"message": "hello"}
            found.append(await here.ask("POST", "/task-services", good))
            remote.status = 503
            return [*found, await here.ask("POST", "/task-services", good)]

    nothing, ftp, away, blank, nameless, down = asyncio.run(talk())
    required = ["This field is required."]
    assert nothing == (400, {name: required for name in ("name", "description", "author", "url")})
    assert ftp == (400, {"url": ["Enter a valid URL."]})
    assert (away[0], away[1]["url"][0].startswith("could not reach http://127.0.0.1:1")) == (400, True)
    assert blank == (400, {"name": ["This field may not be blank."], "enabled": ["Must be a valid boolean."]})
    for answer in (nameless, down):
        assert (answer[0], "did not return the expected /status response" in answer[1]["url"][0]) == (
            400,
            True,
        )


def test_what_a_service_says_of_its_token_is_not_told(tmp_path: Path) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.Response(text=f"no access for {request.headers['authorization']}", status=403)

    async def talk() -> tuple[int, Any]:
        async with (
            functions(status=echo) as there,
            coordinating(tmp_path, token="token-of-this-hour") as here,
        ):
            return await here.ask("POST", "/task-services", service(Remote()) | {"url": there.base})

    status, answer = asyncio.run(talk())

    assert status == 400
    assert answer["url"][0].endswith("403 no access for ***")


@pytest.mark.parametrize(
    "address", ["http://169.254.169.254/", "http://127.0.0.1:9", "http://[::1]:9", "http://10.0.0.1"]
)
def test_a_forbidden_address_is_refused_at_registration(address: str, tmp_path: Path) -> None:
    async def talk() -> tuple[int, Any]:
        async with coordinating(tmp_path, allow=("services.example",)) as here:
            return await here.ask("POST", "/task-services", service(Remote()) | {"url": address})

    status, answer = asyncio.run(talk())
    assert (status, "egress_allow" in answer["url"][0]) == (400, True)


def test_a_forbidden_address_is_refused_at_call_time(tmp_path: Path) -> None:
    db = str(tmp_path / "r.db")

    async def talk() -> None:
        remote = Remote("one")
        async with serving(remote):
            async with coordinating(tmp_path, db) as here:
                await here.register(remote)
            async with coordinating(tmp_path, db, allow=()) as here:
                ended = await here.until(await here.release(), "failed", "staged")

            assert (ended["state"], states(ended), remote.log) == ("failed", {"one": "rejected"}, [])

    asyncio.run(talk())


def test_a_service_is_down_after_four_failed_checks_and_well_after_one_good(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("one")
        async with serving(remote), coordinating(tmp_path, url) as here:
            [id] = await here.register(remote)
            remote.status = 503
            shown = [await checked(here, id) for _ in range(4)]
            remote.status = {"message": {"name": "nested"}}
            shown.append(await checked(here, id))

            assert shown == [("ok", 1), ("ok", 2), ("ok", 3), ("down", 4), ("ok", 0)]

    async def checked(here: Site, id: str) -> tuple[str, int]:
        assert (await here.good("POST", "/task-services/health_checks"))["status"] == "ok"
        found = await here.good("GET", f"/task-services/{id}")
        return found["health_status"], found["last_ok_status"]

    asyncio.run(talk())


def test_health_is_looked_after_by_itself(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("one")
        every = timedelta(milliseconds=50)
        async with serving(remote), coordinating(tmp_path, health_every=every) as here:
            [id] = await here.register(remote)
            remote.status = 503
            await until(
                lambda: here.good("GET", f"/task-services/{id}"),
                "a service that is down",
                so=lambda shown: shown["health_status"] == "down",
            )

    asyncio.run(talk())


def test_a_static_token_goes_with_every_call(tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("one")
        async with serving(remote), coordinating(tmp_path, token="hush-hush") as here:
            await here.register(remote)
            id = await here.release()
            run = (await here.until(id, "staged"))["run"]

            assert {each["Authorization"] for each in remote.headers} == {"Bearer hush-hush"}
            assert "hush-hush" not in str(await here.engine.history(run))

    asyncio.run(talk())


def test_a_token_is_fetched_with_client_credentials_once(tmp_path: Path) -> None:
    forms: list[dict[str, Any]] = []

    class Issuer(Remote):
        async def take(self, request: web.Request) -> web.StreamResponse:
            forms.append(dict(await request.post()))
            return web.json_response({"access_token": f"made-{len(forms)}", "expires_in": 3600})

    async def talk() -> None:
        issuer, remote = Issuer(), Remote("one")
        async with serving(issuer, remote):
            oauth = OAuth(
                token_url=f"{issuer.base}/tasks", client_id="me", client_secret="mine", audience="all"
            )
            async with coordinating(tmp_path, oauth=oauth) as here:
                await here.register(remote)
                await here.until(await here.release(), "staged")

            assert {each["Authorization"] for each in remote.headers} == {"Bearer made-1"}

    asyncio.run(talk())
    said = {"grant_type": "client_credentials", "client_id": "me", "client_secret": "mine", "audience": "all"}
    assert forms == [said]
