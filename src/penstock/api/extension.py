"""For applications served next to the API: their calls go into the same table, with the same guard.

An application collects its calls with `Calls` (a path, an `Action` that says who may, the types it takes and gives),
has handlers that take an `RequestContext`, and finds itself again by `part_of` under its name. The server that it
belongs to gives both to `App`: `App(service, (*CALLS, *its.calls))`. Errors that Penstock knows become problems by
themselves.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

from penstock.access.roles import Action as Action
from penstock.api.call import Call as Call
from penstock.api.call import Calls as Calls
from penstock.api.call import Reply as Reply
from penstock.api.call import RequestContext as RequestContext
from penstock.api.request_body import Unreadable as Unreadable
from penstock.api.request_body import raw_body as raw_body
from penstock.api.request_body import value_of as value_of


def part_of(context: RequestContext[Any, Any], name: str) -> Any:
    """The application that is served under a name."""
    return context.service.parts[name]


def limit_rate(context: RequestContext[Any, Any], name: str) -> None:
    """What anybody may ask is not answered without limit; `name` tells one such thing from another.

    Raises TooManyRequests.
    """
    context.service.limiters.hooks.check(name, monotonic())
