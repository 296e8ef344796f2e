"""Reports of task services: each counts once, at its time; one that comes too late is recorded and changes nothing.

A report needs its own task and the state of its release, not the whole release: hundreds come at the same time. One
that comes before the run waits for it is kept and handed over when it does: `Reports.deliver`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock import Engine, PenstockError, StoreBusy, StoreUnavailable
from penstock_release import workflow
from penstock_release.defaults import filled, filled_task
from penstock_release.documents import TRIES, Document, Documents
from penstock_release.errors import FieldErrors, busy
from penstock_release.releases import Releases, Whole
from penstock_release.rules import SPELLINGS, STATES, Meaning, hears_progress, meaning, progress_of

BROKEN = ("failed", "canceled")


class Reports:
    """What task services say of their tasks by themselves."""

    def __init__(self, engine: Engine, documents: Documents, releases: Releases) -> None:
        self._engine, self._documents, self._releases = engine, documents, releases

    async def release_of(self, task: str) -> str:
        """The id of the release that a task belongs to. Raises Refused."""
        return str((await self._documents.require(f"task-of/{task}")).data["release"])

    async def take(self, task: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """A report; the task as it is then. Raises Refused."""
        word, progress = read_report(body)
        id = await self.release_of(task)
        for turn in range(TRIES):
            if turn > 0:  # what was kept last did not settle it: look at what is so now
                await self._releases.fresh(id)
            release, document = await self._read(id, task)
            said = Meaning.SAME if word is None else meaning(release.data, document.data, word)
            if turn == 0 and said not in (Meaning.SAME, Meaning.ENDS):
                continue
            done = await self._act(release.data, document, word, progress, said, turn > 0)
            if done is not None:
                return done
        raise busy()

    async def _read(self, id: str, task: str) -> tuple[Document, Document]:
        release = filled(await self._documents.require(f"releases/{id}"))
        return release, filled_task(await self._documents.require(f"tasks/{id}/{task}"), release.data)

    async def _act(
        self,
        release: Mapping[str, Any],
        document: Document,
        word: str | None,
        progress: int | None,
        said: Meaning,
        sure: bool,
    ) -> dict[str, Any] | None:
        """Do what a report means; the task then, None: look again."""
        task: dict[str, Any] = document.data
        if said is Meaning.SAME:
            heard = progress is not None and hears_progress(release, task)
            return await self._change(document, {"progress": progress} if heard else {})
        assert word is not None
        if await self._hand_over(release, task, word, said):
            if word not in BROKEN and said is not Meaning.WRONG:
                return {**task, "state": word, "progress": 100}
            await self._releases.fresh(release["kf_id"])
            return (await self._read(release["kf_id"], task["kf_id"]))[1].data
        kept_for_later = said is Meaning.WRONG and release["run"] is None
        if said in (Meaning.ENDS, Meaning.EARLY) or kept_for_later:
            return await self._change(document, {"report": word}) if sure else None
        await self._note(task, word, said)
        return (await self._read(release["kf_id"], task["kf_id"]))[1].data

    async def _note(self, task: Mapping[str, Any], word: str, said: Meaning) -> None:
        """Record what ends nothing any more, and show what is out."""
        shown = said is Meaning.SHOWN
        ends = "shown" if shown else "ignored"
        message = f"task {task['kf_id']} reports {word} while it is {task['state']}: {ends}"
        await self._releases.note(task["release"], task["kf_id"], message, shown)

    async def _change(self, document: Document, fields: Mapping[str, Any]) -> dict[str, Any] | None:
        changed = {**document.data, **fields}
        if changed == document.data or await self._documents.change(update=[(document, changed)]):
            return changed
        return None

    async def deliver(self, whole: Whole, task: Document) -> None:
        """Hand a report that was kept to the run, where it waits for it; one that came to nothing is recorded."""
        word = task.data["report"]
        said = meaning(whole.release.data, task.data, word)
        handed = await self._hand_over(whole.release.data, task.data, word, said)
        if said not in (Meaning.ENDS, Meaning.EARLY):
            # An answer may have said the same.
            been = word in [each["state"] for each in task.data.get("states", ())]
            if not handed and said is not Meaning.SAME and not been:
                await self._note(task.data, word, said)
            document = (await self._read(whole.id, task.data["kf_id"]))[1]
            await self._documents.change(update=[(document, {**document.data, "report": None})], quiet=True)

    async def _hand_over(
        self, release: Mapping[str, Any], task: Mapping[str, Any], word: str, said: Meaning
    ) -> bool:
        """Tell the run what counts; False: it does not wait for that, now or any more."""
        id, run = task["kf_id"], release["run"]
        if run is None or said not in (Meaning.ENDS, Meaning.WRONG):
            return False
        if said is Meaning.WRONG:
            return await self._tell(run, "task_failed", {"task_id": id, "wrong": word}, f"{id}/wrong")
        try:
            if await self._engine.report(id, word, {"state": word, "progress": task["progress"]}) == "ended":
                return True
        except (StoreUnavailable, StoreBusy):
            raise
        except PenstockError:
            return False  # the run has ended meanwhile: nothing waits for it any more
        return word in BROKEN and await self._tell(run, f"task_{word}", {"task_id": id}, f"{id}/{word}")

    async def _tell(self, run: str, event: str, data: Mapping[str, Any], id: str) -> bool:
        """Tell the run of a task that is out of it; False: it has ended."""
        try:
            with self._engine.acting_for(workflow.NAME):
                return await self._engine.emit(event, data, run=run, id=id) == "accepted"
        except (StoreUnavailable, StoreBusy):
            raise
        except PenstockError:
            return False


def read_report(body: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """State and progress, in one spelling. Raises FieldErrors."""
    errors: dict[str, list[str]] = {}
    state, progress = body.get("state"), body.get("progress")
    if state is not None:
        named = state.strip().lower() if isinstance(state, str) else ""
        named = SPELLINGS.get(named, named)
        if named not in STATES:
            errors["state"] = [f'"{str(state)[:80]}" is not a valid choice.']
        state = named
    number = progress_of(progress)
    if progress is not None and number is None:
        errors["progress"] = ["A valid integer is required."]
    if errors:
        raise FieldErrors(errors)
    return state, number
