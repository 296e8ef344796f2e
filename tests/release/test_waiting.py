"""A release waits for all its services at once, for hours it may be, and keeps nobody else from work."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.engine.background import box_worker
from tests.release.conftest import LIMIT, coordinating
from tests.release.remote import SILENCE, Remote, serving


def test_a_release_that_waits_keeps_no_other_from_its_work(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(box_worker, "MAX_CONCURRENT", 2)

    async def talk() -> None:
        slow, quick = [Remote(f"slow {n}", polled=False) for n in range(3)], Remote("quick")
        async with serving(*slow, quick), coordinating(tmp_path, url) as here:
            *waiting, other = await here.register(*slow, quick)
            first = await here.release(services=waiting)
            async with asyncio.timeout(LIMIT):
                await asyncio.gather(*(each.until("get_status") for each in slow))
            second = await here.release(services=[other])
            await here.until(second, "staged")
            await here.good("POST", f"/releases/{second}/publish")
            await here.until(second, "published")
            await here.good("DELETE", f"/releases/{first}")
            await here.until(first, "canceled")

            assert quick.actions == ["initialize", "start", "publish"]
            assert all(each.actions == ["initialize", "start", "cancel"] for each in slow)

    asyncio.run(talk())


def test_no_service_is_waited_for_before_others_are_asked(tmp_path: Path) -> None:
    """Each phase takes as long as its slowest service, not as all of them together."""

    async def talk() -> None:
        remotes = [Remote(f"s{n}", initialize=[SILENCE], start=[SILENCE]) for n in range(40)]
        async with (
            serving(*remotes),
            coordinating(tmp_path, request_timeout=timedelta(seconds=LIMIT)) as here,
            asyncio.timeout(2 * LIMIT),
        ):
            await here.register(*remotes)
            await here.release()
            for action in ("initialize", "start"):
                await asyncio.gather(*(each.until(action) for each in remotes))
                for each in remotes:
                    answered, each.hold = each.hold, asyncio.Event()
                    assert answered is not None
                    answered.set()

    asyncio.run(talk())
