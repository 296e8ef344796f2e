"""The token that services are shown: fetched once for all, anew when it ends or is not accepted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock_release.options import OAuth
from tests.release.conftest import coordinating, service
from tests.release.remote import Remote, serving
from tests.waiting import until


class Issuer(Remote):
    """Gives tokens away: made-1, made-2 …"""

    def __init__(self, lasts: Any = 3600) -> None:
        super().__init__("issuer")
        self.lasts, self.given = lasts, 0

    async def take(self, request: web.Request) -> web.StreamResponse:
        self.given += 1
        if self.lasts == "gone":
            return web.Response(status=503)
        await asyncio.sleep(0.02)  # many ask while the first is not answered
        return web.json_response({"access_token": f"made-{self.given}", "expires_in": self.lasts})

    @property
    def oauth(self) -> OAuth:
        return OAuth(token_url=f"{self.base}/tasks", client_id="me", client_secret="mine")


@pytest.mark.parametrize("lasts", [3600, "3600", 3600.5, 10**30, "soon", None])
def test_many_calls_at_once_fetch_one_token(lasts: Any, tmp_path: Path) -> None:
    async def talk() -> None:
        issuer = Issuer(lasts)
        async with serving(issuer), coordinating(tmp_path, oauth=issuer.oauth) as here:
            bearer = here.coordinator.bearer
            found = await asyncio.gather(*(bearer.header() for _ in range(50)))

            assert (set(found), issuer.given) == ({"Bearer made-1"}, 1)

    asyncio.run(talk())


def test_a_token_that_is_not_accepted_is_fetched_anew(tmp_path: Path) -> None:
    class Strict(Remote):
        async def take(self, request: web.Request) -> web.StreamResponse:
            if request.headers["Authorization"] == "Bearer made-1" and self.actions[-1:] == ["start"]:
                return web.Response(status=401)
            return await super().take(request)

    async def talk() -> None:
        issuer, remote = Issuer(), Strict("a")
        async with serving(issuer, remote), coordinating(tmp_path, oauth=issuer.oauth) as here:
            await here.register(remote)
            id = await here.release()

            assert (await here.until(id, "staged", "failed"))["state"] == "staged"
            assert issuer.given == 2

    asyncio.run(talk())


def test_a_token_that_is_still_good_does_where_no_other_can_be_had(tmp_path: Path) -> None:
    async def talk() -> None:
        issuer = Issuer(2)  # from half of its time on another is fetched
        async with serving(issuer), coordinating(tmp_path, oauth=issuer.oauth) as here:
            bearer = here.coordinator.bearer
            first = await bearer.header()
            issuer.lasts = "gone"

            async def asked() -> bool:
                assert await bearer.header() == first
                return issuer.given > 1

            await until(asked, "a request for another token", 1.5)

            assert await bearer.header() == first

    asyncio.run(talk())


@pytest.mark.parametrize("phase", ["initialize", "stage", "cancel"])
def test_a_service_waits_to_be_called_while_no_token_can_be_had(phase: str, tmp_path: Path) -> None:
    async def talk() -> None:
        issuer, remote = Issuer(), Remote("a", polled=False)
        async with serving(issuer, remote), coordinating(tmp_path, oauth=issuer.oauth) as here:
            await here.register(remote)
            id = await here.release() if phase != "initialize" else ""
            if id:
                await here.until(id, "running")
            issuer.lasts = "gone"
            here.coordinator.bearer.renew(f"Bearer made-{issuer.given}")
            id = id or await here.release()
            if phase == "cancel":
                await here.good("DELETE", f"/releases/{id}")
            [task] = (await here.good("GET", f"/releases/{id}"))["tasks"]
            await here.until_told(id, f"task {task['kf_id']} waits to be called: the secret")
            issuer.lasts, remote.polled = 3600, True

            ended = await here.until(id, "staged", "canceled", "failed")
            assert ended["state"] == ("canceled" if phase == "cancel" else "staged")
            assert remote.actions[-1] == ("cancel" if phase == "cancel" else "start")

    asyncio.run(talk())


def test_no_service_is_down_because_no_token_can_be_had(tmp_path: Path) -> None:
    async def talk() -> None:
        issuer, remote, other = Issuer(), Remote("a"), Remote("b")
        async with serving(issuer, remote, other), coordinating(tmp_path, oauth=issuer.oauth) as here:
            [id] = await here.register(remote)
            issuer.lasts = "gone"
            here.coordinator.bearer.renew(f"Bearer made-{issuer.given}")
            checked = await here.ask("POST", "/task-services/health_checks")
            registered = await here.ask("POST", "/task-services", service(other))

            said = f"No service can be asked, for want of a token to show them: {issuer.base}/tasks gave no"
            for status, answer in (checked, registered):
                assert (status, answer["detail"].startswith(said)) == (502, True)
            assert (await here.good("GET", f"/task-services/{id}"))["last_ok_status"] == 0

    asyncio.run(talk())
