"""Drafts: what authors work on, checked whenever it is read, and published on request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from penstock.engine.authoring.check_gate import CheckFailed, check_loaded
from penstock.engine.authoring.loader import Loaded, load_text
from penstock.engine.authoring.offers import offers_by_task
from penstock.engine.authoring.workflow_list import Listing
from penstock.engine.services import EngineServices
from penstock.flow.checks.checks import BUDGET
from penstock.flow.checks.findings import Report
from penstock.flow.format.definition_parser import from_plain
from penstock.flow.format.yaml_writer import to_plain, write_yaml
from penstock.flow.model.definition import Definition
from penstock.flow.model.offer import Offer
from penstock.flow.model.problems import DefinitionError
from penstock.flow.views.run_view import time_text
from penstock.runtime.errors import DraftChanged, Invalid, NameMismatch, UnknownVersion, UnknownWorkflow
from penstock.runtime.node.audit_context import audit_for
from penstock.store.rows.drafts import DraftRow, NewDraft, etag_of
from penstock.store.rows.rows import Version, WorkflowState
from penstock.workers.execute.threads import Threads
from penstock.workers.task import Task

Written = str | Mapping[str, Any]
"""A definition as it comes: YAML or JSON text, never a path; or decoded JSON."""

MAX_CONCURRENT_CHECKS = 2
"""Definitions that are checked at a time: a check may use its whole budget of processor time."""
MAX_SAVE_ATTEMPTS = 4
MAX_CACHED_CHECKS = 128


class Checked(Struct, frozen=True):
    """A text and everything known about it."""

    text: str
    loaded: Loaded
    report: Report

    @property
    def etag(self) -> str:
        return etag_of(self.text)


class Drafts:
    """The drafts of one engine. A published workflow without a draft reads as its newest version."""

    def __init__(self, opened: Callable[[], Awaitable[EngineServices]], tasks: Mapping[str, Task]) -> None:
        self._opened, self.tasks = opened, tasks
        self.threads = Threads(MAX_CONCURRENT_CHECKS, "penstock-check")
        self.tries = Threads(
            MAX_SAVE_ATTEMPTS, "penstock-try"
        )  # with real tasks: checks must not wait for those
        self._known: dict[tuple[str, str], Checked] = {}
        self._listing: Listing | None = None

    async def callable(self, workflow: str) -> Mapping[str, Task]:
        """The tasks that this process can do at once, in memory. Raises Invalid where the workflow is paused."""
        running = await self._opened()
        states = await running.store.workflows()
        if any(state.halted or (state.name == workflow and state.paused) for state in states):
            raise Invalid(
                f"'{workflow}' is paused, so no task of it does its work: resume it, or try it with stubs"
            )
        return running.callable

    # -- checking ------------------------------------------------------------------------------------------

    async def check(
        self,
        written: Written,
        budget: float = BUDGET,
        stored: str | None = None,
        unfinished: bool = False,
    ) -> Checked:
        """Read and check a definition in a thread. Raises DefinitionError.

        Decoded JSON becomes YAML text, or `stored` where that says the same: it may have comments. What is
        `unfinished`, as a draft is, may have no step yet: then nothing is proved.
        """
        elsewhere = await offers_by_task((await self._opened()).store)
        offered = str(elsewhere)  # what workers elsewhere offer decides too what is found
        if isinstance(written, str) and budget == BUDGET:
            known = self._known.get((etag_of(written), offered))
            if known is not None and (unfinished or known.loaded.definition.steps):
                return known
        work = partial(_check, written, self.tasks, elsewhere, budget, stored, unfinished)
        checked = await self.threads.result_of(work)
        if budget == BUDGET:
            while len(self._known) >= MAX_CACHED_CHECKS:
                del self._known[next(iter(self._known))]
            self._known[checked.etag, offered] = checked
        return checked

    async def check_draft(self, workflow: str, budget: float = BUDGET) -> Checked:
        """Raises UnknownWorkflow."""
        draft, newest, _ = await self._find(workflow)
        return await self.check(_text(draft, newest), budget, unfinished=True)

    # -- the draft -----------------------------------------------------------------------------------------

    async def show(self, workflow: str) -> dict[str, Any]:
        """The draft with its findings. Raises UnknownWorkflow."""
        draft, newest, state = await self._find(workflow)
        checked = await self.check(_text(draft, newest), unfinished=True)
        return draft_view(workflow, checked, draft, newest, state)

    async def etag(self, workflow: str) -> str:
        """That of what reads as the draft; empty where there is nothing."""
        draft, newest, _ = await self._look(await self._opened(), workflow)
        found = draft or newest
        return etag_of(None if found is None else found.definition)

    async def latest(self, workflow: str) -> int | None:
        """The number of the newest version, if there is one."""
        newest = await (await self._opened()).store.version(workflow, None)
        return None if newest is None else newest.version

    async def save(
        self, workflow: str, written: Written, *, author: str, expect: Collection[str] | None = None
    ) -> tuple[dict[str, Any], bool]:
        """Keep a draft, whatever its findings; the draft, and whether the workflow is new.

        `expect`: the etags that the present one may have. Raises DefinitionError, NameMismatch, DraftChanged.
        """
        running = await self._opened()
        running.node.owners.authorize(workflow)
        draft, newest, state = await self._look(running, workflow)
        found = draft or newest
        stored = None if found is None else found.definition
        checked = await self.check(written, stored=stored, unfinished=True)
        definition = checked.loaded.definition
        if definition.name != workflow:
            raise NameMismatch(workflow, definition.name)
        new = NewDraft(definition=checked.text, title=definition.title, author=author)
        at = await running.store.save_draft(workflow, new, expect, audit_for(workflow, stored, checked.text))
        if at is None:
            raise DraftChanged(workflow)
        saved = DraftRow(workflow=workflow, at=at, **asdict(new))
        return draft_view(workflow, checked, saved, newest, state), found is None

    async def discard(self, workflow: str, expect: Collection[str] | None = None) -> None:
        """Forget the draft; versions stay. Raises UnknownWorkflow where there is neither, DraftChanged."""
        draft, _, _ = await self._find(workflow)
        running = await self._opened()
        running.node.owners.authorize(workflow)
        by = audit_for(workflow, None if draft is None else draft.definition)
        if await running.store.save_draft(workflow, None, expect, by) is None:
            raise DraftChanged(workflow)

    async def restore(self, workflow: str, version: int, *, author: str) -> dict[str, Any]:
        """Make a version the draft. Raises UnknownWorkflow, UnknownVersion."""
        found = await self.version(workflow, version)
        return (await self.save(workflow, found.definition, author=author))[0]

    # -- versions ------------------------------------------------------------------------------------------

    async def publish(
        self,
        workflow: str,
        written: Written | None = None,
        *,
        note: str | None = None,
        start: bool | None = None,
        override: bool = False,
        again: bool = True,
        expect: Collection[str] | None = None,
        consent: Callable[[Definition], None] = lambda definition: None,
    ) -> tuple[Version, Checked]:
        """Publish a definition, or (None) the draft, which then no longer exists.

        `override` publishes what the checks refute; `consent` may raise what speaks against it.
        Raises UnknownWorkflow, DefinitionError, NameMismatch, CheckFailed, DraftChanged.
        """
        running = await self._opened()
        draft, newest, _ = await self._look(running, workflow)
        if written is None and draft is None and newest is None:
            raise UnknownWorkflow(workflow)
        checked = await self.check(_text(draft, newest) if written is None else written)
        if checked.loaded.definition.name != workflow:
            raise NameMismatch(workflow, checked.loaded.definition.name)
        consent(checked.loaded.definition)
        if checked.report.verdict == "refuted" and not override:
            raise CheckFailed(workflow, checked.report)
        before = None if newest is None else newest.definition
        version = await running.catalog.put_draft(
            checked.loaded, checked.text, note, start, again, expect, before
        )
        if version is None:
            raise DraftChanged(workflow)
        return version, checked

    async def version(self, workflow: str, version: int) -> Version:
        """Raises UnknownWorkflow, UnknownVersion."""
        store = (await self._opened()).store
        newest = await store.version(workflow, None)
        if newest is None:
            raise UnknownWorkflow(workflow)
        found = await store.version(workflow, version) if version <= newest.version else None
        if found is None:
            raise UnknownVersion(workflow, version, newest.version)
        return found

    async def versions(
        self, workflow: str, *, before: int | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        """Version, note and time of each, newest first. Raises UnknownWorkflow."""
        _, newest, _ = await self._find(workflow)
        known = 0 if newest is None else newest.version
        before = known + 1 if before is None else min(before, known + 1)
        lines = await (await self._opened()).store.versions(workflow, before, limit)
        return [{"version": line.version, "note": line.note, "at": time_text(line.at)} for line in lines]

    async def page(self, **how: Any) -> list[dict[str, Any]]:
        """Workflows by name, published or not: see `Listing.page`."""
        self._listing = self._listing or Listing(await self._opened())
        return await self._listing.page(**how)

    # -- what there is -------------------------------------------------------------------------------------

    async def _find(self, workflow: str) -> tuple[DraftRow | None, Version | None, WorkflowState | None]:
        """Raises UnknownWorkflow where there is neither a draft nor a version."""
        running = await self._opened()
        found = await self._look(running, workflow)
        if found[0] is None and found[1] is None:
            raise UnknownWorkflow(workflow, [each.name for each in await running.node.flows.states()])
        return found

    async def _look(
        self, running: EngineServices, workflow: str
    ) -> tuple[DraftRow | None, Version | None, WorkflowState | None]:
        draft = await running.store.draft(workflow)
        newest = await running.store.version(workflow, None)
        states = await running.node.flows.states() if newest is not None else []
        return draft, newest, next((each for each in states if each.name == workflow), None)


def _text(draft: DraftRow | None, newest: Version | None) -> str:
    found = draft or newest
    return "" if found is None else found.definition


def _check(
    written: Written,
    tasks: Mapping[str, Task],
    elsewhere: Mapping[str, Offer],
    budget: float,
    stored: str | None,
    unfinished: bool,
) -> Checked:
    text = written if isinstance(written, str) else _as_text(written, stored, unfinished)
    loaded = load_text(text, tasks, elsewhere, unfinished)
    report = check_loaded(loaded, budget)
    return Checked(text, loaded, report if loaded.definition.steps else replace(report, verdict="undecided"))


def _as_text(plain: Mapping[str, Any], stored: str | None, unfinished: bool) -> str:
    definition = from_plain(dict(plain), unfinished)
    if stored is not None:
        try:
            if load_text(stored, unfinished=unfinished).definition == definition:
                return stored
        except DefinitionError:
            pass  # a draft of an older Penstock: it is replaced
    return write_yaml(definition)


def draft_view(
    workflow: str,
    checked: Checked,
    draft: DraftRow | None,
    newest: Version | None,
    state: WorkflowState | None,
) -> dict[str, Any]:
    """A draft as people and programs read it."""
    at = draft.at if draft is not None else newest.at if newest is not None else None
    return {
        "name": workflow,
        "title": checked.loaded.definition.title,
        "definition": to_plain(checked.loaded.definition),
        "text": checked.text,
        "etag": checked.etag,
        "changed": newest is None or newest.definition != checked.text,
        "published_version": newest and newest.version,
        "started": state is not None and state.started,
        "paused": state is not None and (state.paused or state.halted),
        "findings": [finding.to_plain() for finding in checked.report.findings],
        "verdict": checked.report.verdict,
        "updated_at": time_text(at),
        "updated_by": draft and draft.author,
    }
