"""Studies of a data service: all of them are read, however it pages, or nothing is changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.release.conftest import Site, coordinating


class Data:
    """A data service with so many studies, which pages in its own way."""

    def __init__(self, count: int, cap: int = 100, strange: int | None = None, by: str = "offset") -> None:
        self.count, self.cap, self.strange, self.by = count, cap, strange, by
        self.total: int | None = None

    async def studies(self, request: web.Request) -> web.StreamResponse:
        every = [{"kf_id": f"SD_{n:08}", "name": str(n)} for n in range(self.count)]
        if self.strange is not None:
            every[self.strange] = {"kf_id": "RE_00000001"}
        begin = int(request.query.get({"offset": "offset", "next": "after", "nothing": "-"}[self.by], "0"))
        limit = min(int(request.query["limit"]), self.cap)
        said: dict[str, Any] = {"results": every[begin : begin + limit]}
        if self.by == "next":
            more = begin + limit < self.count
            said["next"] = f"/studies?limit={limit}&after={begin + limit}" if more else None
        return web.json_response(said if self.total is None else said | {"total": self.total})


@asynccontextmanager
async def syncing(folder: Path, data: Data) -> AsyncIterator[Site]:
    app = web.Application()
    app.router.add_get("/studies", data.studies)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with coordinating(folder, dataservice_url=address) as here:
            yield here
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    "change", [{"strange": 5}, {"cap": 50}, {"by": "next"}, {"by": "next", "cap": 30}, {"total": 250}]
)
def test_all_are_read_however_they_are_paged(change: dict[str, Any], tmp_path: Path) -> None:
    async def talk() -> None:
        data = Data(250)
        async with syncing(tmp_path, data) as here:
            assert (await here.good("POST", "/studies/sync"))["new"] == 250
            vars(data).update(change)
            told = await here.good("POST", "/studies/sync")
            assert (told["new"], told["deleted"]) == (0, 1 if "strange" in change else 0)

    asyncio.run(talk())


@pytest.mark.parametrize("change", [{"by": "nothing"}, {"total": 300}])
def test_where_not_all_can_be_read_nothing_is_changed(change: dict[str, Any], tmp_path: Path) -> None:
    async def talk() -> None:
        data = Data(250)
        async with syncing(tmp_path, data) as here:
            await here.good("POST", "/studies/sync")
            vars(data).update(change)
            status, problem = await here.ask("POST", "/studies/sync")
            assert (status, "nothing was changed" in problem["detail"]) == (502, True)
            found = await here.coordinator.documents.newest("studies/")
            assert not any(each["deleted"] for each in found)

    asyncio.run(talk())


def test_more_studies_than_one_change_may_have_are_synced(tmp_path: Path) -> None:
    async def talk() -> None:
        data = Data(1200)
        async with syncing(tmp_path, data) as here:
            assert (await here.good("POST", "/studies/sync"))["new"] == 1200
            data.count = 1
            assert (await here.good("POST", "/studies/sync"))["deleted"] == 1199

    asyncio.run(talk())
