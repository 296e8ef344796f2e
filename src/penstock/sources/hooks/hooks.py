"""Hooks: a verified call starts a run, or fires an event into the run that it finds by key.

Read nothing, verify, then parse; answer when it is durable; what does not pass leaves no trace but a count.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.errors import PenstockError
from penstock.flow.model.definition import External, Source
from penstock.runtime.commands.commands import Commands
from penstock.runtime.errors import (
    Conflict,
    IdempotencyMismatch,
    Invalid,
    NotFound,
    OtherWorkflow,
    UnknownWorkflow,
)
from penstock.runtime.node.flow_cache import FlowCache
from penstock.sources.earlier_versions import Earlier, VersionRows, taken
from penstock.sources.errors import CertificateAway, SourceStopped, UnknownHook, Unverified
from penstock.sources.hooks.certificates import Certificates, Fetch, system_roots
from penstock.sources.hooks.cloudevents import Handshake, handshake
from penstock.sources.hooks.envelope import Call, Message, message_of_sns, messages_of
from penstock.sources.hooks.fetch import fetch
from penstock.sources.hooks.hook_list import HookLine, list_hooks
from penstock.sources.hooks.sns import SnsMessage, confirmation_address, read_sns_message
from penstock.sources.hooks.verification import Rule, Secret, Sns, rule_of, verify
from penstock.sources.message_mapping import event_asked, start_asked
from penstock.store.rows.rows import WorkflowState

Secrets = Callable[[str], Awaitable[str | None]]
"""The value of a secret by its name; None where there is none."""

KIND = "webhook"

log = logging.getLogger("penstock.hooks")


class Received(Struct, frozen=True, kw_only=True):
    """What became of a call: durable, a repeat, or nothing for this hook. A batch has `items`, some maybe refused."""

    status: int
    run: str | None = None
    duplicate: bool = False
    ignored: bool = False
    refused: str | None = None
    items: tuple[Received, ...] = ()


IGNORED = Received(status=200, ignored=True)


def utc_now() -> datetime:
    return datetime.now(UTC)


class Hooks:
    """Takes the calls of `/hooks/{workflow}` and `/hooks/{workflow}/{event}`.

    `topics` are those of SNS that every hook with `verify: sns` takes, besides its own. `taken` and `refused` count.
    """

    def __init__(
        self,
        store: VersionRows,
        flows: FlowCache,
        commands: Commands,
        secrets: Secrets,
        *,
        fetch: Fetch = fetch,
        certificates: Certificates | None = None,
        topics: Collection[str] = (),
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._flows, self._commands, self._secrets = flows, commands, secrets
        self._fetch, self._certificates = fetch, certificates
        self._topics, self._now = tuple(topics), now
        self._earlier = Earlier(flows, store, KIND)
        self.taken: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    async def receive(self, workflow: str, event: str | None, call: Call) -> Received:
        """Do what a call asks for; answers when it is durable.

        Raises UnknownHook, Unverified, Stale, Untrusted, CertificateAway, Unreadable, WrongType,
        SourceStopped, CallRefused, what a start or an event raises, and StoreError where it may be sent again.
        """
        try:
            received = await self._receive(workflow, event, call)
        except PenstockError as error:
            self.refused[str(getattr(error, "reason", error.code))] += 1
            raise
        self.taken["ignored" if received.ignored else "duplicate" if received.duplicate else "taken"] += 1
        return received

    async def all(self) -> list[HookLine]:
        """Which hooks there are."""
        return await list_hooks(self._flows)

    async def consent(self, workflow: str, event: str | None, headers: Mapping[str, str]) -> Handshake:
        """The answer to CloudEvents' OPTIONS call. Raises UnknownHook."""
        _, hook, _ = await self._found(workflow, event)
        rule = rule_of(_verify_of(hook))
        return handshake(rule.origins if rule is not None and not isinstance(rule, Sns) else (), headers)

    async def _is_known(self, workflow: str) -> bool:
        """Asked first: to find the name that is nearest to a wrong one takes its time, and nobody is told of it."""
        if self._flows.at_hand(workflow) is not None:
            return True
        return any(state.name == workflow for state in await self._flows.states())

    async def _newest(self, workflow: str, event: str | None) -> tuple[Flow, WorkflowState]:
        """Raises UnknownHook: anybody may call, and must not learn which workflows there are."""
        if not await self._is_known(workflow):
            raise UnknownHook(workflow, event)
        try:
            return await self._flows.newest(workflow)
        except UnknownWorkflow:
            raise UnknownHook(workflow, event) from None

    async def _found(self, workflow: str, event: str | None) -> tuple[Flow, Source | External, WorkflowState]:
        """The hook of the newest version, or of an earlier one whose runs may wait for it. Raises UnknownHook."""
        flow, state = await self._newest(workflow, event)
        hook = _hook(flow, event)
        if hook is None and event is not None:
            flow, hook = await self._earlier.taking(state, event) or (flow, None)
        if hook is None:
            raise UnknownHook(workflow, event)
        return flow, hook, state

    async def _receive(self, workflow: str, event: str | None, call: Call) -> Received:
        flow, hook, state = await self._found(workflow, event)
        rule = rule_of(_verify_of(hook))
        if rule is None:
            raise Unverified("no_secret")
        messages = await self._messages(rule, call)
        if event is None and not state.started:
            raise SourceStopped(workflow)
        if len(messages) == 1:
            return await self._take(flow, hook, messages[0])
        return _of_many([await self._take_of_many(flow, hook, message) for message in messages])

    # -- who sent it ---------------------------------------------------------------------------------------

    async def _messages(self, rule: Rule, call: Call) -> list[Message]:
        if isinstance(rule, Sns):
            message = await self.sns_message_of(rule.topics, call)
            return [] if message is None else [message_of_sns(message, call, rule)]
        try:
            verified = verify(rule, await self._values(rule), call.headers, call.body, self._now())
        except Unverified as error:
            if error.reason == "bad_secret":  # a stranger is not told why
                named = " or ".join(rule.secrets)
                log.warning("a hook refuses every call: its secret %s must be base64, as `whsec_…` is", named)
            raise
        return messages_of(call, rule, verified)

    async def _values(self, rule: Secret) -> list[str]:
        found = [await self._secrets(name) for name in rule.secrets]
        if not any(found):
            log.warning(
                "a hook refuses every call: there is no secret %s", " or ".join(rule.secrets) or "named"
            )
        return [value for value in found if value]

    async def sns_message_of(self, topics: Collection[str], call: Call) -> SnsMessage | None:
        """What SNS delivers for one of the topics; None: it was about the subscription itself, which is settled.

        Raises Unreadable, Untrusted, Unverified, Stale, CertificateAway.
        """
        now = self._now()
        message = read_sns_message(call.body, (*topics, *self._topics), now)
        if self._certificates is None:
            self._certificates = Certificates(self._fetch, system_roots())
        message.check_signature(await self._certificates.key(message.certificate, now))
        if message.kind == "Notification":
            return message
        await self._settle(message)
        return None

    async def _settle(self, message: SnsMessage) -> None:
        """A subscription of a listed topic is confirmed by a call that we make up; an end of one is only told."""
        if message.kind == "UnsubscribeConfirmation":
            log.warning("SNS says that the subscription to %s has ended", message.topic)
            return
        try:
            await self._fetch(confirmation_address(message.topic, message.token))
        except OSError as error:
            raise CertificateAway(type(error).__name__) from error
        log.info("the subscription to %s is confirmed", message.topic)

    # -- what it does --------------------------------------------------------------------------------------

    async def _take(self, flow: Flow, hook: Source | External, message: Message) -> Received:
        if isinstance(hook, Source):
            return await self._start(flow, hook, message)
        return await self._emit(flow, hook, message)

    async def _take_of_many(self, flow: Flow, hook: Source | External, message: Message) -> Received:
        """A rejected message does not block those after it. Raises errors that a retry may fix."""
        try:
            return await self._take(flow, hook, message)
        except (Invalid, Conflict, NotFound) as error:
            self.refused[str(getattr(error, "reason", error.code))] += 1
            status = 404 if isinstance(error, NotFound) else 409 if isinstance(error, Conflict) else 422
            return Received(status=status, refused=str(error))

    async def _start(self, flow: Flow, source: Source, message: Message) -> Received:
        asked = start_asked(source.options, message)
        if asked is None:
            return IGNORED
        try:
            run, duplicate = await asked.begin(self._commands, flow.name, "hook")
        except IdempotencyMismatch as error:  # the sender's word for what is the same counts, not ours
            run, duplicate = error.run, True  # type: ignore[assignment]
        return Received(status=200 if duplicate else 201, run=run, duplicate=duplicate)

    async def _emit(self, flow: Flow, external: External, message: Message) -> Received:
        says = external.from_
        assert says is not None, "only an event with `from` is a hook"
        asked = event_asked(says, message)
        if asked is None:
            return IGNORED
        try:
            answer = await asked.fire(self._commands, external.name, flow.name, "hook")
        except OtherWorkflow:
            return IGNORED  # the same topic may feed the hooks of several workflows
        duplicate = answer == "duplicate"
        return Received(status=200 if duplicate else 202, duplicate=duplicate)


def _of_many(done: list[Received]) -> Received:
    """A batch, or nothing at all: as good as the worst of it."""
    if not done:
        return IGNORED
    return Received(
        status=max(each.status for each in done),
        duplicate=all(each.duplicate for each in done),
        ignored=all(each.ignored for each in done),
        items=tuple(done),
    )


def _hook(flow: Flow, event: str | None) -> Source | External | None:
    if event is not None:
        return taken(flow.definition, KIND).get(event)
    source = flow.definition.source
    return source if source is not None and source.kind == KIND else None


def _verify_of(hook: Source | External) -> Any:
    if isinstance(hook, Source):
        return hook.options.get("verify")
    return None if hook.from_ is None else hook.from_.verify
