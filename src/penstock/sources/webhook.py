"""Hooks: a verified call starts a run, or fires an event into the run that it finds by key.

Read nothing, verify, then parse; answer when it is durable; what does not pass leaves no trace but a count.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from msgspec import Struct

from penstock.expression import EvaluationError, Expression, ExpressionError, compile_expression
from penstock.flow.compile import HOOK_SCOPE, Flow
from penstock.flow.definition import External, Source
from penstock.flow.errors import PenstockError
from penstock.flow.occurrence import Outside
from penstock.runtime.errors import IdempotencyMismatch, OtherWorkflow, UnknownWorkflow
from penstock.runtime.flows import Flows
from penstock.runtime.intake import Intake
from penstock.runtime.trace_ids import LABEL, read_parent
from penstock.sources.certificates import Certificates, Fetch, system_roots
from penstock.sources.cloudevents import Handshake, handshake
from penstock.sources.envelope import Call, Message, message_of_letter, messages_of
from penstock.sources.errors import CallRefused, CertificateAway, SourceStopped, UnknownHook, Unverified
from penstock.sources.fetching import fetch
from penstock.sources.sns import Letter, confirmation_address, read_letter
from penstock.sources.verifying import Rule, Secret, Sns, rule_of, verify
from penstock.store.rows import WorkflowState

Secrets = Callable[[str], Awaitable[str | None]]
"""The value of a secret by its name; None where there is none."""

log = logging.getLogger("penstock.hooks")


class Received(Struct, frozen=True, kw_only=True):
    """What became of a call: durable, a repeat, or nothing for this hook. A batch has `items`."""

    status: int
    run: str | None = None
    duplicate: bool = False
    ignored: bool = False
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
        flows: Flows,
        intake: Intake,
        secrets: Secrets,
        *,
        fetch: Fetch = fetch,
        certificates: Certificates | None = None,
        topics: Collection[str] = (),
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._flows, self._intake, self._secrets = flows, intake, secrets
        self._fetch, self._certificates = fetch, certificates
        self._topics, self._now = tuple(topics), now
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

    async def consent(self, workflow: str, event: str | None, headers: Mapping[str, str]) -> Handshake:
        """The answer to CloudEvents' OPTIONS call. Raises UnknownHook."""
        flow, _ = await self._newest(workflow, event)
        rule = rule_of(_verify_of(_hook(flow, event)))
        return handshake(rule.origins if rule is not None and not isinstance(rule, Sns) else (), headers)

    async def _newest(self, workflow: str, event: str | None) -> tuple[Flow, WorkflowState]:
        """Raises UnknownHook: anybody may call, and must not learn which workflows there are."""
        try:
            return await self._flows.newest(workflow)
        except UnknownWorkflow:
            raise UnknownHook(workflow, event) from None

    async def _receive(self, workflow: str, event: str | None, call: Call) -> Received:
        flow, state = await self._newest(workflow, event)
        hook = _hook(flow, event)
        rule = rule_of(_verify_of(hook))
        if rule is None:
            raise Unverified("no_secret")
        messages = await self._messages(rule, call)
        if event is None and not state.started:
            raise SourceStopped(workflow)
        done = [await self._take(flow, hook, message) for message in messages]
        return done[0] if len(done) == 1 else _of_many(done)

    # -- who sent it ---------------------------------------------------------------------------------------

    async def _messages(self, rule: Rule, call: Call) -> list[Message]:
        if isinstance(rule, Sns):
            letter = await self._letter(rule, call)
            if letter.kind == "Notification":
                return [message_of_letter(letter, call, rule)]
            await self._settle(letter)
            return []
        verified = verify(rule, await self._values(rule), call.headers, call.body, self._now())
        return messages_of(call, rule, verified)

    async def _values(self, rule: Secret) -> list[str]:
        found = [await self._secrets(name) for name in rule.secrets]
        if not any(found):
            log.warning(
                "a hook refuses every call: there is no secret %s", " or ".join(rule.secrets) or "named"
            )
        return [value for value in found if value]

    async def _letter(self, rule: Sns, call: Call) -> Letter:
        now = self._now()
        letter = read_letter(call.body, (*rule.topics, *self._topics), now)
        if self._certificates is None:
            self._certificates = Certificates(self._fetch, system_roots())
        letter.check_signature(await self._certificates.key(letter.certificate, now))
        return letter

    async def _settle(self, letter: Letter) -> None:
        """A subscription of a listed topic is confirmed by a call that we make up; an end of one is only told."""
        if letter.kind == "UnsubscribeConfirmation":
            log.warning("SNS says that the subscription to %s has ended", letter.topic)
            return
        try:
            await self._fetch(confirmation_address(letter.topic, letter.token))
        except OSError as error:
            raise CertificateAway(type(error).__name__) from error
        log.info("the subscription to %s is confirmed", letter.topic)

    # -- what it does --------------------------------------------------------------------------------------

    async def _take(self, flow: Flow, hook: Source | External, message: Message) -> Received:
        if isinstance(hook, Source):
            return await self._start(flow, hook, message)
        return await self._emit(flow, hook, message)

    async def _start(self, flow: Flow, source: Source, message: Message) -> Received:
        says = source.options
        if not _holds(says.get("where"), message):
            return IGNORED
        id = _id(says.get("id"), message)
        try:
            run, duplicate = await self._intake.start_once(
                flow.name,
                subject=None if "subject" not in says else _text("subject", says["subject"], message),
                input=message.body if "input" not in says else _value("input", says["input"], message),
                labels=_trace(message),
                idempotency_key=None if id is None else f"hook:{id}",
            )
        except IdempotencyMismatch as error:  # the sender's word for what is the same counts, not ours
            run, duplicate = error.run, True  # type: ignore[assignment]
        return Received(status=200 if duplicate else 201, run=run, duplicate=duplicate)

    async def _emit(self, flow: Flow, external: External, message: Message) -> Received:
        says = external.from_
        assert says is not None, "only an event with `from` is a hook"
        if not _holds(says.where, message):
            return IGNORED
        keys = {name: _text(f"key.{name}", source, message) for name, source in (says.key or {}).items()}
        if not keys:
            raise CallRefused("key", "the hook has none: say which key finds the run, such as {job: body.id}")
        outside = Outside(
            event=external.name,
            data=message.body if says.data is None else _value("data", says.data, message),
            set=None if says.set is None else _map("set", says.set, message),
            id=_id(says.id, message),
            workflow=flow.name,
        )
        try:
            answer = await self._intake.emit_by_key(keys, outside, f"hook/{flow.name}")
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


def _hook(flow: Flow, event: str | None) -> Source | External:
    definition = flow.definition
    if event is None:
        if definition.source is not None and definition.source.kind == "webhook":
            return definition.source
    else:
        for each in definition.external or ():
            if each.name == event and each.from_ is not None and each.from_.kind == "webhook":
                return each
    raise UnknownHook(flow.name, event)


def _verify_of(hook: Source | External) -> Any:
    if isinstance(hook, Source):
        return hook.options.get("verify")
    return None if hook.from_ is None else hook.from_.verify


# -- expressions -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _compiled(source: str) -> Expression:
    return compile_expression(source, HOOK_SCOPE)


def _value(key: str, source: str, message: Message) -> Any:
    try:
        return _compiled(source)(message.scope)
    except (EvaluationError, ExpressionError) as error:
        raise CallRefused(key, str(error)) from None


def _holds(source: str | None, message: Message) -> bool:
    if source is None:
        return True
    found = _value("where", source, message)
    if not isinstance(found, bool):
        raise CallRefused("where", "it must be true or false")
    return found


def _text(key: str, source: str, message: Message) -> str:
    found = _value(key, source, message)
    if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
        raise CallRefused(key, "it must be a text that is not empty, or a whole number")
    return str(found)


def _id(source: str | None, message: Message) -> str | None:
    return message.id if source is None else _text("id", source, message)


def _trace(message: Message) -> dict[str, str] | None:
    """The trace that the caller says it is part of: of the event, or of the call."""
    event, headers = message.scope["event"], message.scope["headers"]
    said = event.get(LABEL) or headers.get(LABEL)
    return {LABEL: said} if isinstance(said, str) and read_parent(said) is not None else None


def _map(key: str, source: str, message: Message) -> dict[str, Any]:
    found = _value(key, source, message)
    if not isinstance(found, dict):
        raise CallRefused(key, "it must be a map")
    return found
