"""`HttpGate`: the task gate of a server, for the same worker that runs in an engine's process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from time import monotonic as machine_time
from typing import Any, TypeVar, get_args

import msgspec

from penstock.access.errors import TooManyRequests
from penstock.flow.errors import PenstockError
from penstock.flow.model.offer import Offer
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Done, Failed, Parked, TimedOut
from penstock.flow.values.payload import storable_text
from penstock.remote.assignments import assignment_of, offered, said_of
from penstock.remote.connection import Connection
from penstock.remote.errors import NoServer, RemoteError, ServerAway
from penstock.runtime.dispatch.gate import Assignment, Report, Verdict
from penstock.runtime.node.background_tasks import BackgroundTasks
from penstock.runtime.node.clock import StoreClock
from penstock.store.errors import StoreAway, StoreUnavailable
from penstock.store.rows.rows import ClaimRequest, Heartbeat, Lease, LogLine, Renewal, Worker
from penstock.workers import wire

BYTES = 900_000
"""About as much is said in one call."""
MARGIN = 15.0
"""Seconds that the answer to a poll may come late."""
HANG_UP = 1.0
"""Seconds in which the server ends a poll that is asked to end; then the line is cut."""
ANSWER = 30.0
REFUSED = (400, 413, 422)
"""Statuses of what cannot be taken as it is, now or later."""

LOG = logging.getLogger("penstock.worker")
T = TypeVar("T")


class GateAway(StoreAway):
    """The server, or the database behind it, does not answer now: what was to be said is kept."""

    code = "gate_away"

    def __init__(self, error: PenstockError) -> None:
        StoreUnavailable.__init__(self, str(error), str(error))
        self.unsure = True


_Writer = tuple[str, str, int | None, int]
"""Run, step, index and attempt: what a line says of its task."""


class _Wanted(msgspec.Struct, frozen=True):
    """What is said of a task goes under these."""

    id: str
    lease: str
    writer: _Writer


class HttpGate:
    """Claims, renews and reports over HTTP. `now` is the server's time as well as it is known here.

    `offers` are what the worker's tasks offer: the server shows them while the worker is there. `monotonic` counts
    the seconds of this machine.
    """

    def __init__(
        self,
        connection: Connection,
        offers: Sequence[Offer] = (),
        monotonic: Callable[[], float] = machine_time,
    ) -> None:
        self._line, self._offers = connection, [offered(offer) for offer in offers]
        self._monotonic = monotonic
        self._clock: StoreClock | None = None
        self._given: dict[Lease, _Wanted] = {}
        self._writers: dict[_Writer, Lease] = {}
        self._worker = ""
        self._background_tasks = BackgroundTasks(LOG, "tasks that came after the stop could not be returned")

    def now(self) -> datetime:
        """The server's time; this machine's until the server was heard."""
        return datetime.now().astimezone() if self._clock is None else self._clock.now()

    # -- claiming ------------------------------------------------------------------------------------------

    async def claim(self, request: ClaimRequest, wait: timedelta) -> list[Assignment]:
        """See `Gate`. One that is cancelled asks the server to end the poll, so that nothing is lost on the way."""
        self._worker = request.worker
        seconds = min(wait.total_seconds(), wire.MAX_POLL_SECONDS)
        poll = wire.Poll(
            worker=request.worker,
            task_lists=list(request.task_lists),
            tasks=None if request.tasks is None else list(request.tasks),
            max=min(request.limit, wire.MAX_BATCH),
            wait=seconds,
        )
        asking = asyncio.ensure_future(self._ask("POST", "poll", poll, wire.Polled, seconds + MARGIN))
        try:
            polled = await asyncio.shield(asking)
        except asyncio.CancelledError:
            self._background_tasks.begin(self._end_poll(asking, request.worker))
            raise
        return [self._assigned(given) for given in polled.tasks]

    def _assigned(self, given: wire.Given) -> Assignment:
        made = assignment_of(given)
        writer = (given.run.id, given.step, given.index, given.attempt)
        self._given[made.lease] = _Wanted(given.id, given.lease, writer)
        self._writers[writer] = made.lease
        return made

    async def _end_poll(self, asking: asyncio.Task[wire.Polled], worker: str) -> None:
        with suppress(PenstockError):
            await self._ask("POST", "hangup", wire.Leaving(worker=worker), None, HANG_UP)
        await asyncio.wait([asking], timeout=HANG_UP)
        if not asking.done():
            asking.cancel()
        elif not asking.cancelled() and asking.exception() is None:
            await self.release([self._assigned(given).lease for given in asking.result().tasks])

    # -- saying --------------------------------------------------------------------------------------------

    async def heartbeat(self, heartbeats: Sequence[Heartbeat]) -> list[Renewal]:
        """See `Gate`. Progress that the server does not take is left out: it must cost nobody's lease."""
        items = [
            self._item(heartbeat.lease, heartbeat=wire.Sign(progress=_plain(heartbeat.progress)))
            for heartbeat in heartbeats
        ]
        try:
            answers = await self._say(items)
        except PenstockError as error:
            if not _is_refusal(error):
                raise
            LOG.warning("progress is not shown: the server does not take it: %s", error)
            answers = await self._say(
                [self._item(heartbeat.lease, heartbeat=wire.Sign()) for heartbeat in heartbeats]
            )
        bad = [number for number, each in enumerate(answers) if each.status in REFUSED]
        plain = [self._item(heartbeats[number].lease, heartbeat=wire.Sign()) for number in bad]
        for number, second in zip(bad, await self._say(plain), strict=True):
            answers[number] = second
        renewals = [_renewal(each) for each in answers]
        for heartbeat, renewal in zip(heartbeats, renewals, strict=True):
            if renewal.expires is None:
                self._forget(heartbeat.lease)
        return renewals

    async def report(self, reports: Sequence[Report]) -> list[Verdict]:
        """See `Gate`. Whatever the server does not take of one report alone ends its attempt with a failure."""
        try:
            answers = await self._say([self._reported(report) for report in reports])
        except PenstockError as error:
            if len(reports) > 1 or not _is_refusal(error):
                raise
            answers = await self._say([self._reported(_not_taken(reports[0].lease, error))])
        ends = [(n, end) for n, each in enumerate(answers) if (end := _instead(reports[n].lease, each))]
        if ends:
            again = await self._say([self._reported(end) for _, end in ends])
            for (number, _), second in zip(ends, again, strict=True):
                answers[number] = second
        verdicts = [_verdict(each) for each in answers]
        for report in reports:
            self._forget(report.lease)
        return verdicts

    def _reported(self, report: Report) -> wire.Item:
        match report.outcome:
            case Done() as done:
                said = wire.Completion(
                    port=done.port, output=done.output, tags=done.tags, set=done.set, correlate=done.correlate
                )
                return self._item(report.lease, complete=said)
            case Failed() as failed:
                error = wire.Error(failed.error.message, _kind(failed.error.kind), failed.error.detail)
                after = None if failed.retry_after is None else failed.retry_after.total_seconds()
                fault = wire.Fault(error=error, retry=failed.retry, retry_after=after)
            case TimedOut() as lost:
                fault = wire.Fault(error=wire.Error(lost.message or "it is lost", "lost"))
            case Parked():
                why = "only a task of the server itself can leave its work to somebody outside"
                fault = wire.Fault(error=wire.Error(why, "fatal"), retry=False)
        return self._item(report.lease, fail=fault)

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        answers = await self._say([self._item(lease, release=wire.Nothing()) for lease in leases])
        for lease in leases:
            self._forget(lease)
        return [each.status == 200 for each in answers]

    async def log(self, lines: Sequence[LogLine]) -> None:
        """Lines of tasks that are over and told are dropped: nobody waits for them."""
        by_lease: dict[Lease, list[wire.Line | str]] = {}
        for line in lines:
            said, where = said_of(line)
            if (lease := self._writers.get(where)) is not None:
                by_lease.setdefault(lease, []).append(said)
        items = [
            self._item(lease, log=wire.Written(lines=some))
            for lease, each in by_lease.items()
            for some in _pieces(each)
        ]
        try:
            await self._say(items)
        except PenstockError as error:
            if not _is_refusal(error):
                raise
            # Kept, they would be refused again and again, and all later lines with them.
            LOG.warning("%d log lines are dropped: the server does not take them: %s", len(lines), error)

    async def register(self, worker: Worker) -> None:
        body = wire.Offers(
            worker=worker.id,
            offers=self._offers,
            name=worker.name,
            task_lists=list(worker.task_lists) or None,
            concurrency=worker.concurrency,
        )
        await self._ask("PUT", "offers", body, None, ANSWER)

    async def deregister(self, worker: str) -> None:
        await self._background_tasks.wait(2 * HANG_UP)
        await self._ask("POST", "leave", wire.Leaving(worker=worker), None, ANSWER)

    async def close(self) -> None:
        """Hang up."""
        await self._background_tasks.end()
        await self._line.close()

    # -- the line ------------------------------------------------------------------------------------------

    def _item(self, lease: Lease, **said: Any) -> wire.Item:
        wanted = self._given.get(lease)
        if wanted is None:
            return wire.Item(id=f"{lease.run}.{lease.firing}", lease="", **said)
        return wire.Item(id=wanted.id, lease=wanted.lease, **said)

    def _forget(self, lease: Lease) -> None:
        wanted = self._given.pop(lease, None)
        if wanted is not None and self._writers.get(wanted.writer) == lease:
            del self._writers[wanted.writer]

    async def _say(self, items: Sequence[wire.Item]) -> list[wire.Told]:
        answer: list[wire.Told] = []
        for piece in _calls(items):
            body = wire.Items(worker=self._worker, items=piece)
            answer += (await self._ask("POST", "report", body, wire.AllTold, ANSWER)).items
        return answer

    async def _ask(self, method: str, what: str, body: Any, kind: type[T] | None, timeout: float) -> Any:
        """Raises GateAway where it is nobody's fault and can be tried again."""
        asked = self._monotonic()
        try:
            raw = await self._line.ask(method, f"/api/tasks/{what}", body, timeout=timeout)
        except (NoServer, ServerAway, TooManyRequests, StoreUnavailable) as error:
            raise GateAway(error) from error
        if kind is None:
            return None
        try:
            answer: Any = msgspec.convert(raw, kind)
        except msgspec.ValidationError as error:
            raise RemoteError(f"the server's answer to {what} cannot be read: {error}") from error
        if self._clock is None:
            self._clock = StoreClock(answer.now, self._monotonic)
        else:
            # An answer to a poll may be old when it comes: the question was asked long before.
            self._clock.tell(answer.now, asked)
        return answer


def _calls(items: Sequence[wire.Item]) -> Iterator[list[wire.Item]]:
    """The items in calls of a size that is taken."""
    piece: list[wire.Item] = []
    size = 0
    for item in items:
        large = len(_encode(item))
        if piece and (len(piece) == wire.MAX_BATCH or size + large > BYTES):
            yield piece
            piece, size = [], 0
        piece.append(item)
        size += large
    if piece:
        yield piece


def _pieces(lines: list[wire.Line | str], max_lines: int = 100) -> Iterator[list[wire.Line | str]]:
    for at in range(0, len(lines), max_lines):
        yield lines[at : at + max_lines]


def _plain(progress: bytes | None) -> Any:
    return None if progress is None else msgspec.json.decode(progress)


def _renewal(answer: wire.Told) -> Renewal:
    if answer.status == 200:
        return Renewal(answer.expires, answer.deadline)
    if answer.status in (403, 404, 409):
        return Renewal(None)
    raise RemoteError(f"the server does not renew task '{answer.id}': {answer.detail}")


def _verdict(answer: wire.Told) -> Verdict:
    if answer.status == 200 or answer.code == "invalid_output":  # with which the attempt has failed
        return "accepted"
    if answer.status == 409:
        return "conflict" if answer.code == "already_completed" else "superseded"
    raise RemoteError(f"the server does not take the report of task '{answer.id}': {answer.detail}")


def _instead(lease: Lease, answer: wire.Told) -> Report | None:
    """What to report where the server refuses what a task gave: the attempt must end all the same."""
    if answer.status == 413:
        why = "the output is larger than the server takes: keep it elsewhere and hand on a reference"
        return Report(lease, Failed(error=Failure("too_large", why), retry=False))
    if answer.code == "invalid_port":
        why = answer.detail or "the server does not take what the task gave"
        why = why.partition("; the lease is kept")[0]
        return Report(lease, Failed(error=Failure("error", why), retry=False))
    return None


def _not_taken(lease: Lease, error: PenstockError) -> Report:
    """The server never takes this: the attempt must end all the same."""
    why = f"the server does not take what the task gave: {error}"
    return Report(lease, Failed(error=Failure("error", storable_text(why)), retry=False))


def _is_refusal(error: PenstockError) -> bool:
    """Whether the server says that the call itself is wrong: it will not be taken later either."""
    return getattr(error, "problem", {}).get("status") in REFUSED


def _kind(kind: str) -> wire.ErrorKind:
    return kind if kind in get_args(wire.ErrorKind) else "error"  # type: ignore[return-value]


_encode = msgspec.json.Encoder().encode
