"""What all calls of the coordinator have in common: bodies, pages, and answers that are not good."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from penstock.api.extension import Reply, RequestContext, Unreadable, part_of, raw_body, value_of
from penstock_release.coordinator import Coordinator
from penstock_release.errors import Refused
from penstock_release.ids import id_in

PART = "release"
PAGE, MAX_PAGE = 10, 1000

Handler = Callable[[RequestContext[None, None]], Awaitable[Any]]
View = Callable[[RequestContext[None, None], Any], Any]
"""How one item of a list is shown."""


def coordinator_of(context: RequestContext[None, None]) -> Coordinator:
    found: Coordinator = part_of(context, PART)
    return found


def answers(handler: Handler) -> Handler:
    """What is refused is answered in the shape that clients know."""

    @wraps(handler)
    async def answered(context: RequestContext[None, None]) -> Any:
        try:
            return await handler(context)
        except Refused as refused:
            return Reply(refused.body, refused.status)

    return answered


async def body_of(context: RequestContext[None, None], max_body: int | None = None) -> Any:
    """The body as JSON, of at most so many bytes. Raises Refused."""
    raw = await raw_body(context.request, max_body)
    try:
        return value_of(raw) if raw.strip() else {}
    except Unreadable as error:
        raise Refused(400, {"detail": f"JSON parse error - {error}"}) from None


def address(context: RequestContext[None, None], path: str) -> str:
    """The address of something that is served here."""
    return f"{str(context.request.base_url).rstrip('/')}{path}"


def page(
    context: RequestContext[None, None], items: Sequence[Any], view: View = lambda context, item: item
) -> dict[str, Any]:
    """Some of the items by `limit` and `offset` as `view` shows each, with the addresses of the pages around."""
    query = context.request.query_params
    limit = min(_number(query.get("limit"), PAGE) or PAGE, MAX_PAGE)
    offset = _number(query.get("offset"), 0)
    others = {name: value for name, value in query.items() if name not in ("limit", "offset")}

    def link(start: int) -> str:
        more = {**others, "limit": limit} | ({"offset": start} if start > 0 else {})
        return address(context, f"{context.request.url.path}?{urlencode(more)}")

    return {
        "count": len(items),
        "next": link(offset + limit) if offset + limit < len(items) else None,
        "previous": link(max(offset - limit, 0)) if offset > 0 else None,
        "results": [view(context, item) for item in items[offset : offset + limit]],
    }


def _number(text: str | None, default: int) -> int:
    return int(text[:9]) if text is not None and text.isascii() and text.isdigit() else default


def matching(
    context: RequestContext[None, None], items: Sequence[dict[str, Any]], *names: str
) -> list[dict[str, Any]]:
    """The items that have what the query says of these fields."""
    query = context.request.query_params
    wanted = {name: query[name] for name in names if query.get(name)}
    return [
        item for item in items if all(_text(item.get(name)) == _text(value) for name, value in wanted.items())
    ]


def _text(value: Any) -> str:
    return id_in(str(value)).lower()


def task_view(context: RequestContext[None, None], task: Mapping[str, Any]) -> dict[str, Any]:
    """A task as it is shown."""
    names = ("kf_id", "state", "progress", "release", "task_service", "created_at", "service_name")
    return {name: task[name] for name in names} | {
        "release": address(context, f"/releases/{task['release']}"),
        "task_service": address(context, f"/task-services/{task['task_service']}"),
        "states": task.get("states", []),
    }


def event_view(context: RequestContext[None, None], event: Mapping[str, Any]) -> dict[str, Any]:
    """An event as it is shown."""
    paths = {"release": "/releases/", "task_service": "/task-services/", "task": "/tasks/"}
    links = {
        name: address(context, path + event[name]) if event[name] else None for name, path in paths.items()
    }
    shown = {name: event[name] for name in ("kf_id", "event_type", "message", "created_at")}
    return {**shown, **links}
