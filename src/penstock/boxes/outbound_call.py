"""One HTTP call of a built-in task: on the allow-list, bounded in time and size, never redirected to another host."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import msgspec

from penstock.boxes.failures import Failing, Unusable, wrong
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.values.payload import NotJson, TooLarge, pure, storable_text

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

CONNECT_TIMEOUT = 5.0
"""Seconds for a connection to be made."""

MAX_REDIRECTS = 3
"""Redirects on one host that are followed."""

FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f]")
"""What an address cannot have in it: it would go out as another request."""

IDEMPOTENT_METHODS = ("GET", "HEAD", "PUT", "DELETE")
"""Methods that the client itself repeats if a pooled connection turns out to be closed."""

MAX_SHOWN = 500
"""Characters of a bad answer that are shown."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """The request to send."""

    method: str
    url: str
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    timeout: timedelta = timedelta(seconds=30)
    repeatable: bool = False  # sent twice, it does no more than sent once, though it is a POST

    @property
    def name(self) -> str:
        """The call for people: without what may be secret."""
        parts = urlsplit(self.url)
        port = "" if parts.port is None else f":{parts.port}"
        return f"{self.method} {parts.scheme}://{parts.hostname}{port}{parts.path}"


class Answer(msgspec.Struct, frozen=True):
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    call: Call

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json(self, typed: bool = True) -> Any:
        """Raises Failing where it is not JSON, too large, or nothing; without `typed` whatever its type says."""
        if not self.body:
            raise self.bad("nothing, where JSON was expected; a function without an answer says 204")
        if typed and self.kind != "application/json" and not self.kind.endswith("+json"):
            raise self.bad(f"{self.kind or 'something without a type'}, where JSON was expected")
        try:
            return pure(msgspec.json.decode(self.body))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self.bad(f"JSON that cannot be read ({error})") from None
        except RecursionError:
            raise self.bad("JSON that is nested too deeply") from None
        except TooLarge as error:
            raise Unusable(f"the answer of {self.call.name} {error}", "too_large", retry=False) from None
        except NotJson as error:
            raise self.bad(f"JSON that cannot be kept ({error})") from None

    def bad(self, what: str) -> Unusable:
        """A failure: it answered, but not so that it could be used."""
        detail = {"status": self.status, "body": self.shown()}
        return Unusable(f"{self.call.name} answered {self.status} with {what}", retry=False, detail=detail)

    def refused(self) -> Failing:
        """A failure by its status: 429 and 5xx are tried again, when the service wishes so."""
        again = self.status in (408, 425, 429) or self.status >= 500
        return Failing(
            f"{self.call.name} answered {self.status}",
            "error" if again else "fatal",
            retry=again,
            retry_after=self._retry_after() if again else None,
            detail={"status": self.status, "body": self.shown()},
        )

    def text(self, max_length: int | None = None) -> str:
        """Its first bytes, or all of them, as a text that can be kept."""
        return self.body[:max_length].decode("utf-8", "replace").replace("\0", "\ufffd")

    def shown(self) -> str:
        return storable_text(self.text(MAX_SHOWN * 4)[:MAX_SHOWN])

    def _retry_after(self) -> timedelta | None:
        said = self.headers.get("retry-after", "").strip()
        try:
            if said.isascii() and said.lstrip("-").isdigit():
                return timedelta(seconds=min(max(int(said[:12]), 0), 86_400))
            return max(parsedate_to_datetime(said) - datetime.now(UTC), timedelta(0)) if said else None
        except (ValueError, TypeError):
            return None


async def send(environment: TaskEnvironment, call: Call) -> Answer:
    """The whole answer. Raises Failing: denied, not reached, too slow, too large, or led elsewhere."""
    import aiohttp

    _validate_url(call.url)
    try:
        async with asyncio.timeout(call.timeout.total_seconds()):
            return await _sent(environment, call)
    except TimeoutError:
        seconds = f"{call.timeout.total_seconds():g}s"
        raise Failing(f"{call.name} did not answer within {seconds}", "timeout") from None
    except aiohttp.InvalidURL:
        raise wrong(f"'{call.url.partition('?')[0][:200]}' is no address of a service") from None
    except (aiohttp.ClientError, OSError) as error:
        raise Failing(f"{call.name} was not answered: {str(error) or type(error).__name__}") from None
    except ValueError as error:  # a header with a line end, for one
        raise wrong(f"{call.name} cannot be sent: {error}") from None


async def _sent(environment: TaskEnvironment, call: Call) -> Answer:
    """The answer; what was lost with a connection that had been kept is sent once more, where it may be."""
    from aiohttp import ClientConnectorError, ClientOSError, ServerDisconnectedError

    if call.repeatable:
        try:
            async with environment.http(repeatable=True) as session:
                return await _follow(environment, session, call)
        except (ClientOSError, ServerDisconnectedError) as error:
            if isinstance(error, ClientConnectorError):
                raise
    async with environment.http(repeatable=call.method in IDEMPOTENT_METHODS) as session:
        return await _follow(environment, session, call)


def _validate_url(url: str) -> None:
    """Raises Failing where a text is no address at all."""
    shown = url.partition("?")[0][:200]
    if FORBIDDEN_CHARACTERS.search(url):
        raise wrong(f"{shown!r} is no address: it has a blank or a line end in it")
    try:
        urlsplit(url).port  # noqa: B018 - only then it is looked at
    except ValueError as error:
        raise wrong(f"{shown!r} is no address: {error}") from None


async def _follow(environment: TaskEnvironment, session: ClientSession, call: Call) -> Answer:
    for _ in range(MAX_REDIRECTS + 1):
        environment.egress.validate_url(call.url)
        answer, location = await _once(environment, session, call)
        if location is None:
            return answer
        call = _redirected(call, answer.status, location)
    raise Unusable(f"{call.name} was redirected more than {MAX_REDIRECTS} times", "fatal", retry=False)


def _redirected(call: Call, status: int, location: str) -> Call:
    """The next hop on the same host; what goes with the call must not reach another. Raises Failing."""
    try:
        target = urljoin(call.url, location)
        here, there = urlsplit(call.url), urlsplit(target)
    except ValueError:
        raise Unusable(f"{call.name} redirects to what is no address", "fatal", retry=False) from None
    if (here.scheme, here.netloc) != (there.scheme, there.netloc):
        message = f"{call.name} redirects to {there.scheme}://{there.hostname}, which is not followed: call that one"
        raise Unusable(message, "egress", retry=False)
    if status not in (307, 308) and call.method not in ("GET", "HEAD"):
        raise Unusable(
            f"{call.name} redirects with {status}, which would lose what was sent", "fatal", retry=False
        )
    return msgspec.structs.replace(call, url=target)


async def _once(
    environment: TaskEnvironment, session: ClientSession, call: Call
) -> tuple[Answer, str | None]:
    from aiohttp import ClientTimeout
    from yarl import URL

    headers = {"Accept-Encoding": "identity", "User-Agent": "Penstock", **call.headers}
    timeout = ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT)
    async with session.request(
        call.method,
        URL(call.url, encoded=True) if call.url.isascii() else call.url,
        headers=headers,
        data=call.body,
        allow_redirects=False,
        timeout=timeout,
    ) as response:
        names = {name.lower(): value for name, value in response.headers.items()}
        if response.status in (301, 302, 303, 307, 308) and "location" in names:
            response.close()
            return Answer(response.status, names, b"", call), names["location"]
        body = await _body(response, call, names, environment.payload_limit)
        return Answer(response.status, names, body, call), None


async def _body(response: ClientResponse, call: Call, headers: Mapping[str, str], limit: int) -> bytes:
    """All of it, up to the limit; the connection is cut there."""
    coding = headers.get("content-encoding", "identity").lower()
    if coding not in ("", "identity"):
        response.close()
        raise Unusable(
            f"{call.name} answered in the coding '{coding[:40]}', which was not asked for", retry=False
        )
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > limit:
            response.close()
            raise Unusable(f"{call.name} answered with more than {limit} bytes", "too_large", retry=False)
        parts.append(part)
    return b"".join(parts)
