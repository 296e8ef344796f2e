"""One call of the API as data: the router, the guard, OpenAPI and the reference page are all made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from penstock.access.roles import Action

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
    most: int | None = None  # bytes of a body that are enough for it; None: as many as any may have
    everywhere: bool = False  # it is about the whole installation: not for who is bound to workflows
    empty: bool = False  # the body may be left out
    others: bool = False  # the query may have anything: the handler reads it itself
    described: bool = True  # it is of the API, not of the pages
    recorded: bool = True  # who changes something by it is written down; the history of runs tells the rest

    @property
    def notes_caller(self) -> bool:
        """Whether what it changes goes into the record with who did it."""
        return self.recorded and self.method != "GET" and self.action not in ("public", "read", "work")

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
        return self._keep("GET", path, action, more)

    def post(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("POST", path, action, more)

    def put(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("PUT", path, action, more)

    def patch(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("PATCH", path, action, more)

    def delete(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("DELETE", path, action, more)

    def options(self, path: str, action: Action, **more: Any) -> Callable[[Handler], Handler]:
        return self._keep("OPTIONS", path, action, more)

    def _keep(
        self, method: Method, path: str, action: Action, more: dict[str, Any]
    ) -> Callable[[Handler], Handler]:
        def keep(handler: Handler) -> Handler:
            summary = (handler.__doc__ or "").strip().split("\n")[0]
            if "takes" in more:
                more.setdefault("reads", "json")
            self.list.append(
                Call(
                    method=method,
                    path=path,
                    action=action,
                    handler=handler,
                    summary=summary,
                    tag=self.tag,
                    **more,
                )
            )
            return handler

        return keep
