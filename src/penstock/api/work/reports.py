"""Reports of workers, many in one call: each is accepted or rejected by itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from penstock.access.caller import Caller
from penstock.api.request_body import NotFitting
from penstock.api.work.errors import (
    AlreadyCompleted,
    AttemptSuperseded,
    InvalidOutput,
    InvalidPort,
    OtherList,
    ResultTooLarge,
    UnknownTask,
)
from penstock.api.work.lease_tokens import Held
from penstock.api.work.worker_registry import Behind, WorkerCall
from penstock.flow.compile.compile import Flow, FlowStep
from penstock.flow.decisions.finish import broken_promise
from penstock.flow.errors import PenstockError
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Done, Failed, TimedOut
from penstock.runtime.dispatch.gate import Report, Verdict
from penstock.runtime.node.flow_cache import FlowCache
from penstock.store.rows.rows import Heartbeat, Lease, LogLine, Renewal
from penstock.workers.wire import Completion, Error, Fault, Item, Line, Written

MAX_LINE_LENGTH = 16_384
"""Characters of a line that are stored."""
MAX_LINES = 10_000
"""Lines in one call."""
MAX_MESSAGE_LENGTH = 2_000
"""Characters of an error's message that are stored."""

Answer = Renewal | PenstockError | None
"""How an item was taken: a renewal, or what is wrong with it, or simply taken."""


class Batch(Struct):
    """The items of one call by what they ask; numbers are their places in the call."""

    heartbeats: list[tuple[int, Heartbeat]] = []
    reports: list[tuple[int, Report]] = []
    releases: list[tuple[int, Held]] = []
    lines: list[tuple[int, Held, list[LogLine]]] = []
    broken: dict[int, InvalidOutput] = {}  # what is answered to reports that break what was offered


async def take(
    call: WorkerCall, items: Sequence[Item], *, worker: str | None = None, small: bool = False
) -> list[Answer]:
    """Take what can be taken. `small`: the whole call is within the limit of one result."""
    registry, behind, caller = call.registry, call.behind, call.caller
    answers: list[Answer] = [None] * len(items)
    batch, now = Batch(), behind.now()
    for number, item in enumerate(items):
        try:
            held = _held(behind, caller, item, worker)
            flow = await _flow(behind.flows, held) if isinstance(item.complete, Completion) else None
            _sort(batch, number, item, held, now, None if small else registry.limit)
            if flow is not None:
                _validate_output(batch, number, flow.steps.get(held.step))
        except PenstockError as error:
            answers[number] = error
    if batch.heartbeats or batch.lines:
        renewals = await _renew(behind, batch, items, answers)
        registry.hold(caller, [(lease, each.expires) for lease, each in renewals.items()], now)
    if batch.reports:
        await _report(behind, batch, items, answers)
    if batch.releases:
        released = await behind.gate.release([held.lease for _, held in batch.releases])
        for (number, _), done in zip(batch.releases, released, strict=True):
            answers[number] = None if done else AttemptSuperseded(items[number].id)
    ended = [report.lease for _, report in batch.reports] + [held.lease for _, held in batch.releases]
    registry.let_go(caller.token_id, ended)
    return answers


def _held(behind: Behind, caller: Caller, item: Item, worker: str | None) -> Held:
    held = behind.seal.read(item.lease)
    if held is None or (worker is not None and held.worker != worker):
        raise AttemptSuperseded(item.id)
    if held.id != item.id:
        raise UnknownTask(item.id)
    if not caller.serves(held.task_list):
        raise OtherList(held.task_list)
    return held


def _sort(batch: Batch, number: int, item: Item, held: Held, now: datetime, limit: int | None) -> None:
    said = (item.complete, item.fail, item.release, item.heartbeat, item.log)
    if sum(each is not UNSET for each in said) != 1:
        raise NotFitting(
            f"/items/{number}", "say exactly one of `complete`, `fail`, `release`, `heartbeat` and `log`"
        )
    if isinstance(item.complete, Completion):
        # A typing mistake must not end the run: the worker may name another port.
        if held.ports and item.complete.port not in held.ports:
            raise InvalidPort(item.id, item.complete.port, held.ports)
        batch.reports.append((number, Report(held.lease, _done(item.complete, limit))))
    elif isinstance(item.fail, Fault):
        batch.reports.append((number, Report(held.lease, _failed(item.fail, limit))))
    elif item.heartbeat is not UNSET:
        told = item.heartbeat.progress
        progress = None if told is None else _sized(told, limit)
        batch.heartbeats.append((number, Heartbeat(held.lease, progress)))
    elif isinstance(item.log, Written):
        if sum(len(lines) for _, _, lines in batch.lines) + len(item.log.lines) > MAX_LINES:
            raise NotFitting(
                f"/items/{number}",
                f"has more than {MAX_LINES} lines with those before: say the rest in another call",
            )
        batch.lines.append((number, held, [_line(held, line, now) for line in item.log.lines]))
    else:
        batch.releases.append((number, held))


async def _renew(
    behind: Behind, batch: Batch, items: Sequence[Item], answers: list[Answer]
) -> dict[Lease, Renewal]:
    """Renew leases, also those of lines: a worker that lost its lease may no longer report."""
    heartbeats = {held.lease: Heartbeat(held.lease) for _, held, _ in batch.lines}
    heartbeats |= {heartbeat.lease: heartbeat for _, heartbeat in batch.heartbeats}
    renewals = dict(zip(heartbeats, await behind.gate.heartbeat(list(heartbeats.values())), strict=True))
    for number, heartbeat in batch.heartbeats:
        renewal = renewals[heartbeat.lease]
        answers[number] = AttemptSuperseded(items[number].id) if renewal.expires is None else renewal
    kept: list[LogLine] = []
    for number, held, lines in batch.lines:
        if renewals[held.lease].expires is None:
            answers[number] = AttemptSuperseded(items[number].id)
        else:
            kept += lines
    if kept:
        await behind.gate.log(kept)
    return renewals


async def _report(behind: Behind, batch: Batch, items: Sequence[Item], answers: list[Answer]) -> None:
    verdicts = await behind.gate.report([report for _, report in batch.reports])
    for (number, _), verdict in zip(batch.reports, verdicts, strict=True):
        answers[number] = _judged(verdict, items[number].id) or batch.broken.get(number)


def _judged(verdict: Verdict, id: str) -> PenstockError | None:
    if verdict == "superseded":
        return AttemptSuperseded(id)
    return AlreadyCompleted(id) if verdict == "conflict" else None


async def _flow(flows: FlowCache | None, held: Held) -> Flow | None:
    """What the run is decided by; None: the lease does not say it."""
    if flows is None or not held.workflow:
        return None
    return flows.known(held.workflow, held.version) or await flows.get(held.workflow, held.version)


def _validate_output(batch: Batch, number: int, step: FlowStep | None) -> None:
    """Turn the last report of the batch into a failure if it breaks the task's offer, and tell the worker why."""
    _, report = batch.reports[-1]
    assert isinstance(report.outcome, Done)
    if step is not None and (failed := broken_promise(step, report.outcome)) is not None:
        batch.reports[-1] = number, Report(report.lease, failed)
        batch.broken[number] = InvalidOutput(failed.error.message, failed.error.detail["errors"])


def _done(said: Completion, limit: int | None) -> Done:
    if limit is not None:
        for part in (said.output, said.tags, said.set, said.correlate):
            _sized(part, limit)
    return Done(port=said.port, output=said.output, tags=said.tags, set=said.set, correlate=said.correlate)


def _failed(said: Fault, limit: int | None) -> Failed | TimedOut:
    """A dead process is reported as a failure of kind `lost`, but counts as a time-out, which has its own budget."""
    error = said.error if isinstance(said.error, Error) else Error(said.error)
    if limit is not None:
        _sized(error.detail, limit)
    if error.kind == "lost":
        return TimedOut("lost", error.message[:MAX_MESSAGE_LENGTH])
    kind = error.kind or ("fatal" if said.retry is False else "error")
    return Failed(
        error=Failure(kind, error.message[:MAX_MESSAGE_LENGTH], error.detail),
        retry=kind != "fatal" if said.retry is None else said.retry,
        retry_after=None if said.retry_after is None else timedelta(seconds=said.retry_after),
    )


def _sized(value: Any, limit: int | None) -> bytes:
    """A value as JSON. Raises ResultTooLarge."""
    text = _encode(value)
    if limit is not None and len(text) > limit:
        raise ResultTooLarge(limit)
    return text


def _line(held: Held, line: Line | str, now: datetime) -> LogLine:
    line = Line(line) if isinstance(line, str) else line
    at = line.at or now
    body = {
        "at": at,
        "step": held.step,
        "index": None if held.index < 0 else held.index,
        "attempt": held.attempt,
        "level": line.level,
        "text": line.text[:MAX_LINE_LENGTH],
    }
    return LogLine(held.run, at, _encode(body))


_encode = msgspec.json.Encoder().encode
