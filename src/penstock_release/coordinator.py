"""The release coordinator as a whole: its parts, and the chores that it does by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from penstock import Engine, StoreBusy, StoreUnavailable
from penstock_release import workflow
from penstock_release.bearer import Bearer
from penstock_release.documents import ROOT, Documents
from penstock_release.errors import Refused, conflict
from penstock_release.ids import new_id
from penstock_release.library import Library
from penstock_release.options import Options
from penstock_release.releases import Releases, Whole
from penstock_release.reports import Reports
from penstock_release.services import Services

log = logging.getLogger("penstock.release")
HEALTH = "chores/health"
MAX_SERVICES = 400
"""Services in one release."""
IDLE = 5
"""How much less often is looked where no release is under way."""


class Coordinator:
    """Serves releases on an engine: `async with Coordinator(engine, options)`."""

    def __init__(self, engine: Engine, options: Options | None = None) -> None:
        self.engine, self.options = engine, options or Options()
        self.documents = Documents(engine)
        self.bearer = Bearer(engine, self.options)
        self.releases = Releases(engine, self.documents)
        self.reports = Reports(engine, self.documents, self.releases)
        self.services = Services(engine, self.documents, self.options, self.bearer)
        self.library = Library(engine, self.documents, self.options)
        self.wake = asyncio.Event()
        self._version: int | None = None  # of the workflow, as this installation is set
        self._me = new_id("CO")
        self._background_tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Coordinator:
        await self.engine.manage(workflow.NAME, workflow.OWNER)
        await self.engine.give_addresses(self.services.address)
        if self.options.signs:
            for name in (workflow.SECRET, workflow.OLD_SECRET):
                await self.engine.give_secret(name, self.bearer.header, self.bearer.renew)
        rest = self.options.health_every.total_seconds()
        self._background_tasks = [
            asyncio.create_task(self._again(self.look, self._rest_of_looking), name="releases"),
            asyncio.create_task(self._again(self.check_health, lambda _: asyncio.sleep(rest)), name="health"),
        ]
        return self

    async def create(self, fields: Mapping[str, Any]) -> Whole:
        """A new release, by the services that `services` names, else by all that are enabled. Raises Refused."""
        enabled = await self.services.chosen(fields.get("services"))
        if len(enabled) > MAX_SERVICES:
            raise conflict(f"{len(enabled)} services are enabled: a release may have {MAX_SERVICES} at most.")
        whole = await self.releases.create(fields, enabled[::-1], await self._workflow())
        self.wake.set()
        return whole

    async def publish(self, id: str) -> None:
        """Publish a release. Raises Refused."""
        await self.releases.publish(id, await self._workflow())
        self.wake.set()

    async def _workflow(self) -> int:
        """The version of the workflow, as this installation is set; one without releases has no such workflow."""
        if self._version is None:
            with self.engine.acting_for(workflow.NAME):
                self._version = await self.engine.publish(workflow.definition(self.options), again=False)
        return self._version

    async def rerun(self, id: str, others: Mapping[str, Any]) -> Whole:
        """The same release again, as a new one, by the same services where `others` names none. Raises Refused."""
        old = (await self.releases.whole(id)).release.data
        await self.library.reject_unknown(old["studies"])
        names = ("name", "description", "studies", "tags", "author", "is_major")
        services = others.get("services") if "services" in others else old.get("services")
        if "services" not in others and services is not None:
            enabled = [each["kf_id"] for each in await self.services.all() if each["enabled"]]
            gone = [each for each in services if each not in enabled]
            if gone:
                raise conflict(
                    f"Release {id} went to {', '.join(gone)}, which is not there or not enabled any more: "
                    "say in `services` which others take part, or null for all that are enabled."
                )
        return await self.create({name: old[name] for name in names} | {"services": services})

    async def __aexit__(self, *_: object) -> None:
        for chore in self._background_tasks:
            chore.cancel()
        await asyncio.gather(*self._background_tasks, return_exceptions=True)

    async def look(self) -> int:
        """Begin what was not begun, follow what is under way, hand over reports that were kept; how many releases."""
        self.wake.clear()  # before looking: what comes meanwhile must not wait
        found = await self.releases.catch_up()
        for each in found:
            try:
                await self._look_at(await self.releases.begin(each))
            except (StoreUnavailable, StoreBusy):
                raise
            except Exception:
                log.exception("release %s cannot be processed; it is tried again", each.id)
        return len(found)

    async def check_now(self) -> list[Whole]:
        """Have all services asked now that are asked from time to time, and look; the releases under way."""
        await self.engine.ask_services_now()
        await self.look()
        return await self.releases.catch_up()

    async def _look_at(self, whole: Whole) -> None:
        kept = [task for task in whole.tasks if task.data.get("report") is not None]
        await asyncio.gather(*(self.reports.deliver(whole, task) for task in kept))
        await self.releases.hear(await self.releases.whole(whole.id) if kept else whole)

    async def check_health(self) -> int:
        """Ask the services how they are, where no other process has just done so; how many were asked."""
        if not await self.services.all():
            return 0
        if await self.documents.get(HEALTH) is None:
            await self.documents.change(insert=[(HEALTH, {})])
        lease = max(self.options.health_every * 0.9, timedelta(milliseconds=10))
        with self.engine.acting_for(workflow.NAME):
            mine = await self.engine.claim_tokens(self._me, ROOT + HEALTH, lease=lease)
        if mine:
            return await self.services.check_health()
        return 0

    async def _again(
        self, chore: Callable[[], Awaitable[int]], rest: Callable[[int], Awaitable[None]]
    ) -> None:
        """Do a chore again and again, with a rest between; one that fails is done again later."""
        while True:
            found = 1
            try:
                found = await chore()
            except (StoreUnavailable, StoreBusy, Refused) as error:
                log.warning("the release coordinator waits: %s", error)
            except Exception:
                log.exception("a chore of the release coordinator failed; it is tried again")
            await rest(found)

    async def _rest_of_looking(self, found: int) -> None:
        """Longer where there is nothing to look at, until something comes."""
        seconds = self.options.look_every.total_seconds()
        if found:
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self.wake.wait(), seconds * IDLE)
