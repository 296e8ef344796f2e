"""What the built-in tasks may reach: hosts, the mail server, secrets, and the address of callbacks."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from penstock.boxes.callback_tokens import CallbackTokens
from penstock.boxes.egress import Egress
from penstock.boxes.failures import Unready, wrong
from penstock.flow.errors import PenstockError
from penstock.flow.model.secret_references import Path, reference
from penstock.flow.values.payload import payload_limit as limit_in_force
from penstock.objects.stores import Stores
from penstock.objects.write_back import presign
from penstock.secrets.errors import SecretKeyError
from penstock.store.errors import StoreError
from penstock.store.rows.access import AuditRow

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from penstock.boxes.job_poll import Jobs
    from penstock.workers.context import Context

Resolve = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""The values of secrets. Raises PenstockError if one does not exist."""

T = TypeVar("T")

KEEP_ALIVE, SHORT_KEEP_ALIVE = 15.0, 1.0
"""Seconds that connections are kept, and those for what may not be sent twice: servers close theirs after two or more,
and what is sent at that moment is lost."""


class OtherCalls(Protocol):
    """The active calls of all nodes."""

    async def begin(self, key: str, span: timedelta, place: tuple[str, int, int | None, int]) -> bool:
        """Announce a call; False: the attempt was withdrawn, and must not call."""

    async def end(self, key: str) -> None:
        """All calls under a key are over."""

    async def others_over(self, key: str) -> None:
        """Wait until no other node can have an active call."""


Record = Callable[[AuditRow], Awaitable[None]]
Redaction = Callable[[], Awaitable[Callable[[Any], Any]]]


class EnvironmentParts(Struct, frozen=True, kw_only=True):
    """What an engine gives the environment of its tasks."""

    callback_tokens: CallbackTokens | None = None  # of the store; none where nobody could call back
    jobs: Jobs | None = None  # of the store; none where a job cannot outlive its attempt
    record: Record | None = None  # where what was denied is written down
    redaction: Redaction | None = None  # with every secret of the moment
    call_order: OtherCalls | None = None  # of the store; none where there is one process only
    rested: Callable[[], None] | None = None  # who is told that one more only waits


class TaskEnvironment:
    """Made by whoever runs an engine; without an allow-list nothing is called."""

    def __init__(
        self,
        *,
        egress_allow: Iterable[str] = (),
        smtp_url: str | None = None,
        public_url: str | None = None,
        secrets: Resolve | None = None,
        payload_limit: int | None = None,
        only: Sequence[str] | None = None,
    ) -> None:
        self.egress = Egress(egress_allow)
        self.smtp_url, self.public_url = smtp_url, public_url
        self.payload_limit = payload_limit or limit_in_force()
        self.secrets = secrets
        self.only = only  # the built-in tasks that are done in it; None: all
        self.parts = EnvironmentParts()
        self.stores = Stores()
        self.own: dict[str, Callable[[], Awaitable[str]]] = {}  # secrets that the server itself makes
        self.renewals: dict[str, Callable[[str], None]] = {}  # who is told that such a secret is not accepted
        # Where registered services are now.
        self.addresses: Callable[[str], Awaitable[str | None]] | None = None
        self._callers: Counter[str] = Counter()  # attempts under way, by key
        self._ends: set[asyncio.Task[None]] = set()
        self.idle = 0  # attempts that only wait for the time to ask again
        self._hurry = asyncio.Event()
        self._calls: dict[str, asyncio.Future[Any]] = {}
        self._sessions: dict[float, ClientSession] = {}  # by how long they keep connections
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, parts: EnvironmentParts) -> None:
        """An engine serves tasks in it from now on."""
        self.parts = parts

    async def presign(self, access: str, data: Any) -> str:
        """A URL of the object that the data of a run is about, to `read` or `write`. Raises PenstockError."""
        return await presign(self.stores, access, data)

    async def secret(self, name: str) -> str:
        """The value of a secret. Raises Failing."""
        if name in self.own:
            try:
                return await self.own[name]()
            except PenstockError as error:
                raise Unready(f"the secret '{name}' is unavailable: {error}") from None
        if self.secrets is None:
            raise wrong(f"there are no secrets in this process, so none is named '{name}'")
        try:
            return (await self.secrets([name]))[name]
        except (StoreError, SecretKeyError) as error:  # another node may have the key
            raise Unready(f"the secret '{name}' is unavailable: {error}") from None
        except PenstockError as error:
            raise wrong(f"{error}") from None

    async def revealed(self, ctx: Context, path: Path, value: Any) -> Any:
        """A value in the parameters; the secret, where the definition has `{secret: NAME}` there. Raises Failing.

        What only looks so stays as it is: whoever gives a run its data could else have any secret sent.
        """
        name = reference(value)
        return await self.secret(name) if name is not None and ctx.secrets.get(path) == name else value

    async def revealed_in(self, ctx: Context, params: Mapping[str, Any], name: str) -> dict[str, Any]:
        """A parameter that is a map, each value `revealed`. Raises Failing."""
        found = params.get(name) or {}
        if not isinstance(found, Mapping):
            raise wrong(f"`{name}` must be a map from names to texts")
        return {key: await self.revealed(ctx, (name, key), each) for key, each in found.items()}

    def renew(self, ctx: Context, sent: Mapping[str, str]) -> bool:
        """Renew the secrets in sent headers; False if this process makes none of them."""
        named = {
            str(path[1]): name
            for path, name in ctx.secrets.items()
            if path[0] == "headers" and len(path) == 2 and path[1] in sent and name in self.renewals
        }
        for header, name in named.items():
            self.renewals[name](sent[header])
        return bool(named)

    @contextmanager
    def rest(self) -> Iterator[None]:
        """An attempt only waits in here: others may work in its place, or hundreds that wait would stop them all."""
        if self._loop is not asyncio.get_running_loop():  # it takes nobody's place
            yield
            return
        self.idle += 1
        if self.parts.rested is not None:
            self.parts.rested()
        try:
            yield
        finally:
            self.idle -= 1

    async def pause(self, span: timedelta) -> None:
        """Rest so long, or until somebody hurries."""
        with self.rest(), suppress(TimeoutError):
            async with asyncio.timeout(span.total_seconds()):
                await self._hurry.wait()

    def hurry(self) -> None:
        """End all pauses that there are now."""
        self._hurry.set()
        self._hurry = asyncio.Event()

    async def in_turn(self, key: Any, does: Callable[[], Awaitable[T]]) -> T:
        """Do something when all that began before under this key is over, though its step may be withdrawn meanwhile.

        A `cancel` that overtakes the `start` it cancels would leave the service at work for nobody.
        """
        if key is None:
            return await does()
        name = str(key)
        before = self._calls.get(name)

        async def doing() -> T:
            if before is not None:
                await asyncio.wait([before])
            return await does()

        def over(done: asyncio.Future[T]) -> None:
            if self._calls.get(name) is done:
                del self._calls[name]
            if not done.cancelled():
                done.exception()  # looked at, also where the step no longer waits for it

        turn = self._calls[name] = asyncio.ensure_future(doing())
        turn.add_done_callback(over)
        return await asyncio.shield(turn)

    @contextmanager
    def calling(self, key: Any) -> Iterator[None]:
        """An attempt that calls under a key; once its last call is over, other nodes need not wait for it."""
        name, call_order = str(key), self.parts.call_order
        self._callers[name] += 1
        try:
            yield
        finally:
            self._callers[name] -= 1
            if call_order is not None:
                end = asyncio.create_task(self._forget(call_order, name))
                self._ends.add(end)
                end.add_done_callback(self._ends.discard)

    async def _forget(self, call_order: OtherCalls, name: str) -> None:
        if (last := self._calls.get(name)) is not None:
            await asyncio.wait([last])
        if not self._callers[name]:
            del self._callers[name]
            await call_order.end(name)

    @asynccontextmanager
    async def http(self, repeatable: bool) -> AsyncIterator[ClientSession]:
        """A client that goes nowhere but where it may; shared by all that runs on the loop of the worker.

        Only what is `repeatable` may go over a connection whose other end may be gone by then.
        """
        keep_alive = KEEP_ALIVE if repeatable else SHORT_KEEP_ALIVE
        if self._loop is asyncio.get_running_loop():
            if keep_alive not in self._sessions:
                self._sessions[keep_alive] = self._new_session(keep_alive)
            yield self._sessions[keep_alive]
            return
        async with self._new_session(keep_alive) as own:
            yield own

    def _new_session(self, keep_alive: float) -> ClientSession:
        from aiohttp import ClientSession, DummyCookieJar

        return ClientSession(
            connector=self.egress.connector(keep_alive),
            cookie_jar=DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
        )

    def open(self) -> None:
        """Keep connections from now on, of what runs on this loop."""
        self._loop = asyncio.get_running_loop()

    async def close(self) -> None:
        sessions, self._sessions, self._loop = self._sessions, {}, None
        for session in sessions.values():
            await session.close()
        await asyncio.gather(*self._ends, return_exceptions=True)
