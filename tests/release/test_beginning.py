"""A release that cannot begin ends, and says why."""

from __future__ import annotations

import asyncio
from pathlib import Path

from penstock.flow.values.payload import set_payload_limit
from tests.release.conftest import coordinating, states
from tests.release.remote import Remote, serving


def test_a_release_whose_run_would_be_too_large_has_failed(url: str, tmp_path: Path) -> None:
    """It could not be canceled either, and was tried again for ever."""

    async def talk() -> None:
        remotes = [Remote(f"s{n}") for n in range(12)]
        async with serving(*remotes), coordinating(tmp_path, url) as here:
            await here.register(*remotes)
            set_payload_limit(1200)
            id = await here.release()

            ended = await here.good("GET", f"/releases/{id}")
            assert (ended["state"], set(states(ended).values())) == ("failed", {"canceled"})
            assert [told for told in await here.events(id) if told.startswith(f"release {id} cannot begin: ")]
            assert not any(remote.actions for remote in remotes)
            set_payload_limit()
            await here.until(await here.release(), "staged")

    try:
        asyncio.run(talk())
    finally:
        set_payload_limit()
