"""What callers do to runs: start them, fire events into them, pause, retry and cancel them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import Any, Protocol

from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.creation import new_run
from penstock.flow.errors import PenstockError
from penstock.flow.model.plan import Answer
from penstock.flow.model.run import Header, RunId, Snapshot
from penstock.flow.model.run_input import (
    Begun,
    BegunFrom,
    Canceled,
    Disabled,
    Outside,
    Paused,
    Resumed,
    Retried,
    RunInput,
)
from penstock.flow.values.key_text import key_text
from penstock.flow.values.payload import is_storable
from penstock.runtime.codec.messages import StartChild
from penstock.runtime.commands.approval_bypass import approvals_in, reject_approval_bypass
from penstock.runtime.commands.ownership import Managed, Owners
from penstock.runtime.commands.validation import (
    checked_event,
    checked_input,
    not_disabled,
    plain_event,
    plain_payload,
    validate_keys,
    validate_room,
    validate_step,
    validate_text_maps,
    validate_texts,
)
from penstock.runtime.decisions.children import begun_posts, forebears, refusal
from penstock.runtime.decisions.correlation import keep, seen_by_key
from penstock.runtime.decisions.decision import Request
from penstock.runtime.errors import (
    IdempotencyMismatch,
    Invalid,
    NotFound,
    NotRetryable,
    RunEnded,
    UndeclaredEvent,
    UnknownRun,
    UnknownWorkflow,
)
from penstock.runtime.node.audit_context import AUDIT, CALLER_NAME, audit_for
from penstock.runtime.node.background_tasks import BackgroundTasks
from penstock.runtime.node.clock import StoreClock
from penstock.runtime.node.flow_cache import FlowCache, wider_pauses
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.call_outcome import current_call, note_change
from penstock.store.errors import OutcomeUnknown, StoreAway, StoreUnavailable
from penstock.store.protocol import Approvals, InboundEvents, Runs, RunViews, WorkflowVersions
from penstock.store.rows.change import EventId, Post
from penstock.store.rows.rows import WorkflowState

log = logging.getLogger("penstock.commands")

Look = Callable[[str], Awaitable[CachedRun]]

MAX_PAUSE_CONFLICTS = 10
"""How often a call is repeated because a pause came or went meanwhile."""

OUTCOME_RETRY_DELAYS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds between checks of a start whose outcome is unknown."""


_CHANGING = ("accepted", "recorded")
"""Answers that say that something is durable now."""

BEGUN = Begun()
"""How most runs begin: with no tags."""


class CommandRows(Approvals, InboundEvents, Runs, RunViews, WorkflowVersions, Protocol):
    """What commands on runs read, and where they leave events."""


class Commands:
    """Every way in. What it answers is durable."""

    def __init__(
        self,
        store: CommandRows,
        flows: FlowCache,
        owners: Owners,
        clock: StoreClock,
        submit: Callable[[Request], None],
        look: Look,
        ids: Callable[[], str],
    ) -> None:
        self._store, self._flows, self._owners, self._clock = store, flows, owners, clock
        self._look, self._submit, self._ids = look, submit, ids
        self._children = BackgroundTasks(log, "a child run did not begin yet")
        self.duplicates = 0

    # -- starting ------------------------------------------------------------------------------------------

    async def start(self, workflow: str, **how: Any) -> RunId:
        """As `start_once`; the run alone."""
        run, _ = await self.start_once(workflow, **how)
        return run

    async def start_once(
        self,
        workflow: str,
        *,
        version: int | None = None,
        input: Any = None,
        subject: str | None = None,
        labels: Mapping[str, str] | None = None,
        tags: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        rerun_of: str | None = None,
        begun: BegunFrom | None = None,
    ) -> tuple[RunId, bool]:
        """Make a run and begin it. A key seen before gives the first run, and True.

        Raises UnknownWorkflow, InvalidInput, BadPayload, IdempotencyMismatch.
        """
        if subject is not None or idempotency_key is not None:
            validate_keys(subject=subject, idempotency_key=idempotency_key)
        if labels is not None:
            validate_text_maps(labels=labels)
        if tags is not None and not isinstance(tags, Mapping):
            raise Invalid(f"`tags` must be a map from names to values, not {type(tags).__name__}")
        own = plain_payload(dict(tags), "the tags") if tags else {}
        given = None if input is None else plain_payload(input, "the input")
        if not is_storable(workflow):
            validate_texts(workflow=workflow)
        id, first = RunId(self._ids()), begun or (Begun(own) if own else BEGUN)

        def header(flow: Flow) -> Header:
            if flow.definition.labels:
                validate_text_maps(labels=flow.definition.labels)
            return Header(
                id=id,
                workflow=flow.name,
                version=flow.version,
                subject=subject,
                labels={**(flow.definition.labels or {}), **(labels or {})},
                input=given if flow.definition.params is None else checked_input(flow, given),
                rerun_of=rerun_of,
                tags=own,
                by=CALLER_NAME.get(),
            )

        if idempotency_key is None:
            await self._begin(workflow, version, header, first)
            return id, False
        asked = {"input": given, "subject": subject, "labels": dict(labels or {})}
        digest = _digest({**asked, "version": version})
        if await self._begin(workflow, version, header, first, (idempotency_key, digest)) != "duplicate":
            return id, False
        return await self._known(workflow, idempotency_key, (digest, _digest(asked["input"]))), True

    async def _begin(
        self,
        workflow: str,
        version: int | None,
        header_of: Callable[[Flow], Header],
        begun: Begun | BegunFrom,
        start_key: tuple[str, bytes] | None = None,
        read: int | None = None,
        posts: tuple[Post, ...] = (),
    ) -> Answer:
        """Make the run of the version, or of the newest; held where its workflow or the installation is paused."""
        if workflow in self._owners:
            self._owners.authorize(workflow)
        believed: WorkflowState | None = None
        for _ in range(MAX_PAUSE_CONFLICTS):
            flow, state = self._flows.at_hand(workflow) or await self._flows.believed(workflow)
            if read is not None and state == believed:
                return "superseded"  # the wish was taken back
            believed = state
            if version is not None:
                flow = await self._flows.get(workflow, version)
            holds = wider_pauses(state)
            snapshot = new_run(header_of(flow))
            if holds:
                snapshot = replace(snapshot, paused=holds)
            latest = state.latest if version is None else None
            ask = partial(self._make, flow, begun, snapshot, start_key, latest, read, posts)
            try:
                answer = await ask()
            except StoreAway as error:
                if not error.unsure:
                    raise
                answer = await _find_outcome(ask, error)
            if answer != "superseded":
                return answer
            self._flows.forget()  # a pause came or went, or something was published
        raise pause_flapping_error(workflow)

    async def _make(
        self,
        flow: Flow,
        begun: Begun | BegunFrom,
        new: Snapshot,
        start_key: tuple[str, bytes] | None,
        latest: int | None,
        read: int | None,
        posts: tuple[Post, ...],
    ) -> Answer:
        run = new.run.id
        answer = await self._answered(
            Request(
                run,
                begun,
                read=read,
                new=new,
                flow=flow,
                start_key=start_key,
                latest=latest,
                posts=posts,
                audit=AUDIT.get() and audit_for(run),
            )
        )
        if answer == "superseded" and (await self._store.load([run]))[0] is not None:
            note_change()  # an earlier try of this call made it
            return "duplicate"
        return answer

    async def _known(self, workflow: str, key: str, digests: Collection[bytes]) -> RunId:
        """The run that a key started before. Raises IdempotencyMismatch where it was started otherwise."""
        known = await self._store.start_key(workflow, key)
        assert known is not None, "a start key was known and does not exist"
        self.duplicates += 1
        if known[1] not in digests:  # the input alone: an old row
            raise IdempotencyMismatch(key, known[0])
        return RunId(known[0])

    def begin_child(self, message: int, run: str, request: StartChild) -> None:
        """Start the child run that a message requests; errors are reported to its parent."""
        self._children.begin(self._begin_child(message, run, request))

    def stop(self) -> None:
        """Start no more child runs; another node will read their messages."""
        self._children.cancel()

    async def _begin_child(self, message: int, run: str, request: StartChild) -> None:
        try:
            await self._reject_canceled(run)
            validate_keys(subject=request.subject)
            header = partial(_child_header, RunId(run), request, await self._starter(request.parent))
            posts = begun_posts(run, request)
            await self._begin(request.workflow, None, header, Begun(), read=message, posts=posts)
        except (Invalid, UnknownWorkflow, RunEnded, Managed) as error:
            self._submit(Request(request.parent, refusal(run, str(error)), read=message))
        except PenstockError as error:
            log.warning("child run %s did not begin yet: %s", run, error)
        except Exception as error:  # its message would be read again forever, and nobody would see why
            log.exception("child run %s cannot begin", run)
            why = f"run '{run}' cannot begin: {type(error).__name__}: {error}"
            self._submit(Request(request.parent, refusal(run, why), read=message))

    async def _starter(self, run: str) -> str | None:
        """Who started a run, and with it all that it starts."""
        with suppress(UnknownRun):
            return (await self.look(run)).snapshot.run.by
        return None

    async def _reject_canceled(self, child: str) -> None:
        """A chain of runs must not grow as fast as it is being canceled. Raises RunEnded."""
        for run in forebears(child):
            with suppress(UnknownRun):
                snapshot = (await self.look(run)).snapshot
                if "canceled" in (snapshot.status, snapshot.ending):
                    raise RunEnded(run, "canceled")

    # -- outside events, for a run that is named or found by a key, also before it is known ------------------

    async def emit(self, run: str, event: Outside) -> Answer:
        """Fire an outside event into a run. Raises UnknownRun, UndeclaredEvent, InvalidEvent, BadPayload, SlotFull."""
        validate_texts(event=event.event)
        validate_keys(id=event.id)
        seen = None if event.id is None else EventId(run, event.id)
        live = await self.look(run)
        event = checked_event(live.flow, event)
        return self._counted(await self._event(live, event, seen))

    async def emit_by_key(
        self,
        key: Mapping[str, Any],
        event: Outside,
        source: str | None = None,
        sees: Callable[[str], bool] | None = None,
    ) -> Answer:
        """Fire an outside event into the run that has the key; one that comes too early is kept for it.

        Its id is unique within `source`: who calls, or the hook that is called. Who does not see every workflow must
        see that of the run, so that none may come later. Raises NotFound, UndeclaredEvent, InvalidEvent.
        """
        validate_keys(event=event.event, id=event.id)
        validate_text_maps(key=key)
        named = dict(key)
        if not named:
            raise Invalid("an event needs at least one key, such as {'et_job': '123'}, to find its run")
        event = plain_event(event)
        seen = seen_by_key(event, self._clock.now(), source)
        run = await self._store.find(list(named.items()))
        if sees is not None and (run is None or not sees((await self.look(run)).flow.name)):
            raise NotFound("no run that you may know of has this key")
        if run is None:
            if event.workflow is None:  # or else whoever brings it has seen that it is taken there
                await self._validate_declared(event.event)
            run = await self._store.keep(keep(named, event, self._clock.now(), source))
        if run is None:
            return "accepted"
        if run == "":
            return self._counted("duplicate")
        if seen is not None and (await self._store.seen([seen]))[0]:
            return self._counted("duplicate")
        live = await self.look(run)
        return self._counted(await self._event(live, checked_event(live.flow, event), seen))

    async def _validate_declared(self, event: str) -> None:
        """What no workflow takes is not kept: no run will ever ask for it. Raises UndeclaredEvent."""
        known: set[str] = set()
        for state in await self._flows.states():
            known |= (await self._flows.get(state.name, state.latest)).outside.keys()
            if event in known:
                return
        raise UndeclaredEvent(None, event, sorted(known))

    async def _event(self, live: CachedRun, event: Outside, seen: EventId | None) -> Answer:
        self._owners.authorize(live.flow.name)
        if seen is not None and (await self._store.seen([seen]))[0]:
            return "duplicate"
        validate_room(live.flow, live.snapshot, event)
        return await self.ask(live.snapshot.run.id, event, seen=seen)

    def _counted(self, answer: Answer) -> Answer:
        self.duplicates += answer == "duplicate"
        return answer

    # -- acting on runs ------------------------------------------------------------------------------------

    async def cancel(self, run: str, force: bool = False, reason: str | None = None) -> None:
        """Raises UnknownRun, RunEnded, and Managed where `force` would leave its clean-up out."""
        if force:
            self._owners.authorize((await self.look(run)).flow.name)
        await self._act(run, Canceled(force, reason))

    async def pause(self, run: str) -> None:
        """Raises UnknownRun, RunEnded, Managed."""
        self._owners.authorize((await self.look(run)).flow.name)
        await self._act(run, Paused())

    async def resume(self, run: str) -> None:
        """Raises UnknownRun, RunEnded."""
        await self._act(run, Resumed())

    async def _act(self, run: str, run_input: RunInput) -> None:
        if await self.ask(run, run_input) == "refused":
            raise RunEnded(run, (await self.look(run)).snapshot.status)

    async def retry(self, run: str, step: str | None = None) -> None:
        """Put back what failed. Raises UnknownRun, NotRetryable, Invalid, Managed."""
        flow = (await self.look(run)).flow
        self._owners.authorize(flow.name)
        validate_step(flow, step)
        for _ in range(MAX_PAUSE_CONFLICTS):
            _, state = await self._flows.newest(flow.name)
            answer = await self.ask(run, Retried(step, wider_pauses(state)))
            if answer == "refused":
                raise not_retryable((await self.look(run)).snapshot, step)
            if answer != "superseded":
                return
            self._flows.forget()  # a pause came or went meanwhile, or the run advanced
        raise pause_flapping_error(flow.name)

    async def rerun(
        self, run: str, version: int | None = None, input: Any = None, begun: BegunFrom | None = None
    ) -> RunId:
        """A new run of the same workflow, with the same tags, and the same input unless another is given."""
        header = (await self.look(run)).snapshot.run
        return await self.start(
            header.workflow,
            version=version,
            input=header.input if input is None else input,
            subject=header.subject,
            labels=header.labels,
            tags=header.tags,
            rerun_of=run,
            begun=begun,
        )

    async def disable(self, run: str, step: str, port: str | None = "done") -> None:
        """R9 for one run: the step ends on `port` at once, None makes it work again.

        Raises UnknownStep, Invalid, RunEnded, Managed, NotTheirs, NotSeparate.
        """
        live = await self.look(run)
        self._owners.authorize(live.flow.name)
        if port is not None:
            await reject_approval_bypass(self._store, live, approvals_in(live.flow, [step]))
        if await self.ask(run, Disabled(step, port)) != "refused":
            return
        live = await self.look(run)
        if live.snapshot.ended:
            raise RunEnded(run, live.snapshot.status)
        raise not_disabled(live.flow, step, port)

    # -- the way -------------------------------------------------------------------------------------------

    async def look(self, run: str) -> CachedRun:
        """The run as it is. Raises UnknownRun."""
        return await self._look(run)

    def ask(self, run: str, run_input: RunInput, *, seen: EventId | None = None) -> asyncio.Future[Answer]:
        """Let one thing happen; how it was taken, once it is durable."""
        return self._answered(Request(run, run_input, seen=seen, audit=audit_for(run)))

    def _answered(self, request: Request) -> asyncio.Future[Answer]:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        call = current_call()

        def on_answer(_: Request, answer: Answer | None, error: BaseException | None) -> None:
            if call is not None and answer in _CHANGING:
                call.changed = True
            if future.done():
                return
            if answer is not None:
                future.set_result(answer)
            else:
                stopped = "the engine stopped before this was done: ask again"
                future.set_exception(error or PenstockError(stopped))

        request.on_result = on_answer
        self._submit(request)
        return future


async def _find_outcome(ask: Callable[[], Awaitable[Answer]], error: PenstockError) -> Answer:
    """A caller must not start a second run if the first may exist: its id says which one."""
    for wait in OUTCOME_RETRY_DELAYS:
        await asyncio.sleep(wait)
        try:
            return await ask()
        except PenstockError as again:
            error = again
            if not isinstance(error, StoreUnavailable):
                break
    raise OutcomeUnknown(error.why if isinstance(error, StoreUnavailable) else str(error)) from error


def _child_header(run: RunId, request: StartChild, by: str | None, flow: Flow) -> Header:
    validate_text_maps(labels=flow.definition.labels)
    return Header(
        id=run,
        workflow=flow.name,
        version=flow.version,
        subject=request.subject,
        labels=flow.definition.labels or {},
        input=checked_input(flow, plain_payload(request.input, "the input")),
        parent=request.parent,
        by=by,
    )


def not_retryable(snapshot: Snapshot, step: str | None) -> NotRetryable:
    """Why a run, or a step of it, cannot be retried."""
    failed = snapshot.status == "failed" and bool(snapshot.failed)
    return NotRetryable(snapshot.run.id, snapshot.status, step if failed else None)


def pause_flapping_error(workflow: str) -> PenstockError:
    """The error for pauses that come and go faster than a call is decided."""
    return PenstockError(f"'{workflow}' keeps being paused and resumed; try again")


def _digest(asked: Any) -> bytes:
    return blake2b(key_text(asked).encode(), digest_size=16).digest()
