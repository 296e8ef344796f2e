"""Releases: made, followed by the history of their runs, published, canceled, made again."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from penstock import Engine, PayloadTooLarge, PenstockError, RunEnded, StoreBusy, StoreUnavailable
from penstock_release import versions, workflow
from penstock_release.defaults import filled, filled_task
from penstock_release.documents import TRIES, Document, Documents, Put
from penstock_release.errors import Refused, busy, conflict, made_but_not_begun, unknown
from penstock_release.ids import RELEASE, new_id
from penstock_release.new_release import (
    blank_outcome,
    event_name,
    new_release,
    new_task,
    next_task,
    task_documents,
    tasks_at,
)
from penstock_release.progress import Fold
from penstock_release.rules import RELEASE_ENDS
from penstock_release.shared_calls import Shared

log = logging.getLogger("penstock.release")
ENTRIES = 100
"""History entries that are folded at a time: what they tell must fit into one change of up to 1000 documents."""
REMEMBERED = 1000
"""Words of services that changed nothing, so that each is told once: what is kept of a release must stay small."""
COUNTER = "counter"
STOPS = RELEASE_ENDS | {"canceling"}


def now_text() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class Whole(Struct, frozen=True):
    """A release with its tasks, as they are kept: those that count, then those that others have replaced."""

    release: Document
    tasks: tuple[Document, ...]

    @property
    def current(self) -> list[Document]:
        return [task for task in self.tasks if task.data["kf_id"] in self.release.data["tasks"]]

    @property
    def state(self) -> str:
        return str(self.release.data["state"])

    @property
    def id(self) -> str:
        return str(self.release.data["kf_id"])

    def next_version(self, latest: str | None) -> str | None:
        """The version that it has once it is published, as things are; None: it has ended."""
        partly = self.state in ("failed", "canceled") and self.release.data["partly_published"]
        if latest is None or (self.state in RELEASE_ENDS and not partly):
            return None
        return versions.published(latest, self.release.data["is_major"])

    def task(self, id: str) -> Document:
        """Raises Refused where somebody removed it."""
        for task in self.tasks:
            if task.data["kf_id"] == id:
                return task
        raise unknown()


class Releases:
    """All of them. What it answers is durable."""

    def __init__(self, engine: Engine, documents: Documents) -> None:
        self._engine, self._documents = engine, documents
        self._folds: Shared[Whole] = Shared()
        self._broken: set[str] = set()

    # -- making ----------------------------------------------------------------------------------------------

    async def create(
        self, fields: Mapping[str, Any], services: Sequence[Mapping[str, Any]], by_version: int
    ) -> Whole:
        """A new release that goes to these services, by this version of the workflow; it begins at once."""
        id = new_id(RELEASE)
        made = now_text()
        tasks = [new_task(id, service, made) for service in services]
        for _ in range(TRIES):
            counter = await self._documents.get(COUNTER)
            version = versions.next_patch(None if counter is None else counter.data["latest"])
            release = new_release(id, fields, version, made, tasks) | {"workflow": by_version}
            inserts: list[Put] = [(f"releases/{id}", release), (f"live/{id}", {})]
            inserts += task_documents(id, tasks)
            latest = {"latest": version}
            if counter is None:
                inserts.append((COUNTER, latest))
            updates = [] if counter is None else [(counter, latest)]
            if await self._documents.change(insert=inserts, update=updates, quiet=True):
                try:
                    return await self.begin(await self.whole(id))
                except (PenstockError, Refused) as error:  # it begins later by itself
                    raise made_but_not_begun(id, error) from error
        raise busy()

    async def begin(self, whole: Whole) -> Whole:
        """Start the run of a release; done again, it finds the one that was started."""
        release = whole.release.data
        if release["run"] is not None or whole.state in RELEASE_ENDS:
            return whole
        try:
            run = await self._start(whole)
        except PayloadTooLarge as error:  # as often as it is tried
            return await self._give_up(whole, f"release {whole.id} cannot begin: {error}")
        for _ in range(TRIES):
            if await self._documents.change(
                update=[(whole.release, {**whole.release.data, "run": run})], quiet=True
            ):
                return await self.whole(whole.id)
            whole = await self.whole(whole.id)
            if whole.release.data["run"] is not None:
                return whole
        raise busy()

    async def _start(self, whole: Whole) -> str:
        """The run of a release. Raises PayloadTooLarge."""
        release = whole.release.data
        tasks = [
            {"at": n, "task_id": id, "service": task["task_service"], "url": tasks_at(task["url"])}
            for n, id, task in ((n, id, whole.task(id).data) for n, id in enumerate(release["round"]))
        ]
        input = {"release_id": whole.id, "studies": release["begun_with"], "tasks": tasks}
        with self._engine.acting_for(workflow.NAME):
            run = await self._engine.start(
                workflow.NAME,
                subject=whole.id,
                input={**input, "out": {}, "asked": False},
                idempotency_key=f"{whole.id}/{release['resumed']}",
                labels={"release": whole.id},
                version=release["workflow"],
            )
            if release["resumed"]:  # that it is published was decided before
                await self._ask_to_publish(whole.id, run)
        return run

    async def _give_up(self, whole: Whole, why: str) -> Whole:
        """End a release that nobody was called for; where somebody has changed it meanwhile, that is tried again."""
        fold = _fold_of(whole, now_text())
        fold.tell(why, "failed", None)
        fold.end("failed")
        await self._keep(whole, fold)
        return await self.whole(whole.id)

    async def _ask_to_publish(self, id: str, run: str) -> None:
        """Let a run publish once all have staged; asked again, it does so once."""
        with suppress(RunEnded), self._engine.acting_for(workflow.NAME):
            await self._engine.emit("publish_asked", run=run, id=f"{id}/publish")

    # -- reading ---------------------------------------------------------------------------------------------

    async def whole(self, id: str) -> Whole:
        """A release as it was folded last. Raises Refused."""
        release = filled(await self._documents.require(f"releases/{id}"))
        tasks = {task.name.rpartition("/")[2]: task for task in await self._documents.all(f"tasks/{id}/")}
        known = [each for each in (*release.data["tasks"], *release.data["replaced"]) if each in tasks]
        return Whole(release, tuple(filled_task(tasks[each], release.data) for each in known))

    async def some(self, ids: Sequence[str]) -> list[Whole]:
        """Of these releases those that can be read: one that is damaged does not hide the others."""
        found = []
        for id in ids:
            try:
                found.append(await self.whole(id))
            except (Refused, KeyError, TypeError) as error:
                log.warning("release %s cannot be shown: %r", id, error)
        return found

    async def fresh(self, id: str) -> Whole:
        """A release as it is now; many who ask at once share one look. Raises Refused."""
        return await self._folds.ask(id, self._fold)

    async def _fold(self, id: str) -> Whole:
        for _ in range(TRIES):
            whole = await self.whole(id)
            run, seq = whole.release.data["run"], whole.release.data["seq"]
            if run is None or whole.state in RELEASE_ENDS:
                return whole
            entries = await self._engine.history(run, after=seq, limit=ENTRIES)
            if not entries:
                return whole
            await self._write(whole, entries)
        return await self.whole(id)

    async def latest_version(self) -> str | None:
        """The greatest version that was ever given; None: there was no release yet."""
        counter = await self._documents.get(COUNTER)
        return None if counter is None else str(counter.data["latest"])

    async def all(self) -> list[dict[str, Any]]:
        """As they were folded last, newest first."""
        found = [kept.data for kept in await self._documents.all("releases/")]
        whole = [each for each in found if {"kf_id", "state", "studies", "created_at"} <= each.keys()]
        return sorted(whole, key=lambda each: str(each["created_at"]), reverse=True)

    async def catch_up(self) -> list[Whole]:
        """Fold all that is under way: those releases. One that cannot be read does not keep the others."""
        found = []
        for kept in await self._documents.all("live/"):
            id = kept.name.partition("/")[2]
            try:
                whole = await self.fresh(id)
            except (StoreUnavailable, StoreBusy):
                raise
            except Exception as error:
                if id not in self._broken:
                    log.exception("release %s cannot be followed: %s", id, error)
                self._broken.add(id)
                continue
            self._broken.discard(id)
            if whole.state in RELEASE_ENDS:
                await self._documents.change(delete=[kept], quiet=True)
            found.append(whole)
        return found

    async def hear(self, whole: Whole) -> None:
        """Show what services that are asked say of work that goes on; what changes meanwhile is heard next time."""
        run = whole.release.data["run"]
        if run is None or whole.state in ("waiting", "staged", *RELEASE_ENDS):
            return
        said = await self._engine.doing(run)
        fold = _fold_of(whole, now_text()).hear(said)
        await self._keep(whole, fold)

    async def _write(self, whole: Whole, entries: Sequence[Mapping[str, Any]]) -> bool:
        """Fold these entries, and keep what comes of it; False: somebody else did."""
        fold = _fold_of(whole)
        ends = any(entry["kind"] == "run_ended" for entry in entries)
        counter = await self._documents.get(COUNTER) if ends else None
        if counter is not None:
            is_major = fold.release["is_major"]
            fold.release["next_version"] = versions.published(counter.data["latest"], is_major)
        fold.take(entries)
        release = fold.release
        release.pop("next_version", None)
        more: list[tuple[Document, dict[str, Any]]] = []
        if counter is not None and release["version"] != whole.release.data["version"]:
            more.append((counter, {"latest": release["version"]}))
            more += await self._published_studies(release, fold.at)
        over = release["state"] in RELEASE_ENDS
        live = await self._documents.get(f"live/{whole.id}") if over else None
        return await self._keep(whole, fold, more, [] if live is None else [live])

    async def _end(self, whole: Whole, fold: Fold) -> bool:
        """End a release that everybody has published; False: somebody changed it meanwhile."""
        counter = await self._documents.require(COUNTER)
        version = versions.published(counter.data["latest"], fold.release["is_major"])
        fold.release["next_version"] = version
        fold.end_published()
        studies = await self._published_studies(fold.release, fold.at)
        return await self._keep(whole, fold, [(counter, {"latest": version}), *studies])

    async def _keep(
        self,
        whole: Whole,
        fold: Fold,
        more: Sequence[tuple[Document, dict[str, Any]]] = (),
        gone: Sequence[Document] = (),
        new: Sequence[Put] = (),
    ) -> bool:
        """Keep what a fold came to; False: somebody changed some of it meanwhile."""
        updates = [*more]
        if fold.release != whole.release.data:
            updates.append((whole.release, fold.release))
        updates += [
            (kept, task) for kept, task in zip(whole.tasks, fold.tasks, strict=True) if kept.data != task
        ]
        inserts = [*new, *((event_name(event), event) for event in fold.events)]
        if not updates and not inserts and not gone:
            return True
        return await self._documents.change(insert=inserts, update=updates, delete=gone, quiet=True)

    async def _published_studies(
        self, release: Mapping[str, Any], at: str
    ) -> list[tuple[Document, dict[str, Any]]]:
        """The studies of a release that was just published, as they are from now on."""
        version = release["version"]
        said = {"version": version, "last_pub_version": version, "last_pub_date": at}
        found = [await self._documents.get(f"studies/{id}") for id in dict.fromkeys(release["studies"])]
        return [(kept, {**kept.data, **said}) for kept in found if kept is not None]

    # -- changing --------------------------------------------------------------------------------------------

    async def describe(self, id: str, fields: Mapping[str, Any]) -> None:
        """Change what people say of a release; its studies are those that services were told of. Raises Refused."""
        for _ in range(TRIES):
            whole = await self.fresh(id)
            release = whole.release.data
            if "studies" in fields and list(fields["studies"]) != release["begun_with"]:
                raise conflict(f"Release {id} has begun with its studies: make another release for others.")
            named = whole.state in RELEASE_ENDS | {"publishing", "canceling"} or release["resumed"]
            if named and fields.get("is_major", release["is_major"]) != release["is_major"]:
                raise conflict(
                    f"Release {id} is {whole.state}: whether it is major can be said until it is published."
                )
            changed = [name for name, value in fields.items() if release.get(name) != value]
            if not changed:
                return
            fold = _fold_of(whole, now_text())
            fold.release |= fields
            fold.tell(f"release {id} was changed: {', '.join(changed)}", "", None)
            told = [(event_name(event), event) for event in fold.events]
            if await self._documents.change(update=[(whole.release, fold.release)], insert=told):
                return
        raise busy()

    async def note(self, id: str, task: str, message: str, published: bool = False) -> None:
        """Record something that a service said and that moves nothing: once, however often it is said.

        With `published` it went out although it should not: it is among those that are partly published.
        """
        for _ in range(TRIES):
            whole = await self.whole(id)
            fold = _fold_of(whole, now_text())
            if published:
                fold.show_published(task)
            if message not in fold.release["ignored"]:
                fold.release["ignored"] = [*fold.release["ignored"], message][-REMEMBERED:]
                fold.tell(message, "", whole.task(task).data, "warning")
            if await self._keep(whole, fold):
                return
        raise busy()

    async def cancel(self, id: str) -> Whole:
        """Cancel a release; one that has ended stays as it is. Raises Refused."""
        whole = await self.begin(await self.fresh(id))
        if whole.state not in RELEASE_ENDS:
            with suppress(RunEnded), self._engine.acting_for(workflow.NAME):
                await self._engine.cancel(whole.release.data["run"])
        return await self.fresh(id)

    async def publish(self, id: str, by_version: int) -> None:
        """Publish a release that is staged, or go on with one that is partly published. Raises Refused."""
        for _ in range(TRIES):
            whole = await self.fresh(id)
            release = whole.release.data
            if whole.state in ("failed", "canceled") and release["partly_published"]:
                if not await self._resume(whole, by_version):
                    continue  # somebody else did just now
                await self.begin(await self.whole(id))
            elif whole.state == "staged":
                await self._ask_to_publish(id, release["run"])
            elif whole.state != "publishing" and (not release["resumed"] or whole.state in STOPS):
                raise conflict(f"Release {id} is {whole.state}: only a staged release can be published.")
            await self.fresh(id)
            return
        raise busy()

    async def _resume(self, whole: Whole, by_version: int) -> bool:
        """Let the rest stage and publish again, by a run of its own, which `begin` starts; False: look again.

        Who is out is not asked again, and where all are, nobody is. Each of the rest has a new task: its service has
        ended the one before, and would do nothing for it. All of it is one change: whoever dies afterwards leaves a
        release that is begun by whoever looks next.
        """
        fold = _fold_of(whole, now_text())
        left = fold.left()
        shown = [task for task in fold.current() if task["state"] != "published"]
        if not left and shown:  # first by itself: a change has its limits
            for task in shown:
                fold.change_task(task, "published")
            await self._keep(whole, fold)
            return False
        if not left:
            return await self._end(whole, fold)
        made = [next_task(task, fold.at) for task in left]
        new = dict(zip((task["kf_id"] for task in left), made, strict=True))
        release = fold.release
        release["replaced"] = [*release["replaced"], *new]
        release["tasks"] = [new[id]["kf_id"] if id in new else id for id in release["tasks"]]
        release |= {"run": None, "seq": 0, "round": [task["kf_id"] for task in made], **blank_outcome()}
        release |= {"workflow": by_version, "resumed": release["resumed"] + 1}
        names = ", ".join(task["service_name"] for task in made)
        fold.tell(f"release {whole.id} goes on with those that have not published: {names}", "", None)
        fold.change_release("initializing")
        return await self._keep(whole, fold, new=[(f"live/{whole.id}", {}), *task_documents(whole.id, made)])


def _fold_of(whole: Whole, at: str = "") -> Fold:
    release = {**whole.release.data, "out": dict(whole.release.data["out"])}
    return Fold(release, [dict(task.data) for task in whole.tasks], at=at)
