"""One call of the API as data, and what its handler receives.

The router, the guard, OpenAPI and the reference page are all made from the first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct
from starlette.requests import Request

from penstock.access.caller import Caller
from penstock.access.roles import Action
from penstock.api.service import Service
from penstock.engine.engine import Engine
from penstock.runtime.errors import NotFound, UnknownRun

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
Handler = Callable[[Any], Awaitable[Any]]
Body = Literal["json", "raw", "none"]


class Call(Struct, frozen=True, kw_only=True):
    """What is served at a path, to whom, what it takes and what it answers.

    `takes` and `query` are Structs, `gives` is any type that msgspec knows; `statuses` are the good answers besides
    `status`. A call with `media` answers that instead of JSON, one with `also` that too where it is asked for. With
    `reads="raw"` the handler reads the body itself; `headers` are those that it looks at.
    """

    method: Method
    path: str
    action: Action
    handler: Handler
    summary: str
    tag: str
    takes: Any = None
    query: type[Struct] | None = None
    gives: Any = None
    status: int = 200
    statuses: tuple[int, ...] = ()
    media: str = "application/json"
    also: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ("application/json",)
    reads: Body = "none"
    max_body: int | None = None  # bytes of a body that are enough for it; None: as many as any may have
    everywhere: bool = False  # it is about the whole installation: not for who is bound to workflows
    empty: bool = False  # the body may be left out
    others: bool = False  # the query may have anything: the handler reads it itself
    described: bool = True  # it is of the API, not of the pages
    # what it changes goes into the record with who did it; the history of runs tells the rest
    recorded: bool = True

    @property
    def name(self) -> str:
        """The operation id: unique, for clients that are generated."""
        return self.handler.__name__


class Calls:
    """The calls about one noun, collected by decorators."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.list: list[Call] = []

    def get(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("GET", path, action, **more)

    def post(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("POST", path, action, **more)

    def put(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("PUT", path, action, **more)

    def patch(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("PATCH", path, action, **more)

    def delete(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("DELETE", path, action, **more)

    def options(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("OPTIONS", path, action, **more)

    def _keep(self, method: Method, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        if "takes" in more:
            more.setdefault("reads", "json")
        if method == "GET" or action in ("public", "read", "work"):
            more["recorded"] = False
        call = partial(Call, method=method, path=path, action=action, tag=self.tag, **more)

        def keep(handler: Handler) -> Handler:
            summary = (handler.__doc__ or "").strip().split("\n")[0]
            self.list.append(call(handler=handler, summary=summary))
            return handler

        return keep


B = TypeVar("B")
Q = TypeVar("Q")


class RequestContext(Struct, Generic[B, Q]):
    """One request, read and admitted: who asks, for what, with which values."""

    request: Request
    service: Service
    caller: Caller
    path: dict[str, str]
    body: B
    query: Q
    engine: Engine

    def may(self, action: Action, workflow: str) -> None:
        """Raises UnknownWorkflow if the caller may not see it, Forbidden if it may not do this to it."""
        self.caller.require(action, workflow)

    def may_workflow(self, action: Action) -> str:
        """The name in the path. Raises as `may`."""
        self.may(action, self.path["name"])
        return self.path["name"]

    async def may_run(self, action: Action) -> str:
        """The id in the path. Raises UnknownRun if the caller may not see it, Forbidden."""
        run = self.path["id"]
        if self.caller.everywhere:
            self.caller.require(action)
            return run
        workflow: str = (await self.engine.show(run))["workflow"]
        if not self.caller.sees(workflow):
            raise UnknownRun(run)
        self.caller.require(action, workflow)
        return run

    def number(self, name: str) -> int:
        """A whole number in the path. Raises NotFound where it is none: nothing has such a number."""
        text = self.path[name]
        # The whole of it, and not too long for `int`: digits behind the first twenty count, too.
        if not (text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) < 2**63):
            raise NotFound(f"'{text[:80]}' is no number of anything here: numbers are 1, 2, 3 …")
        return int(text)


class Reply(Struct, frozen=True):
    """An answer with another status than the call's, or with headers."""

    value: Any = None
    status: int | None = None
    headers: dict[str, str] = {}
