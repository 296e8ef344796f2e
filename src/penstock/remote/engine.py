"""`RemoteEngine`: what `Engine` does, done by a server. Same names, same answers."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from penstock.engine.operations import Operations
from penstock.engine.runs import Runs
from penstock.flow.views.run_view import time_text
from penstock.remote.connection import DEFAULT, Connection, StreamEvent, given, path_of
from penstock.remote.paging import PAGE, up_to
from penstock.remote.schedules import RemoteSchedules
from penstock.runtime.commands.verbs import VERBS
from penstock.runtime.errors import Conflict

HISTORY_PAGE = 1000
SOONEST, LATEST = 0.05, 1.0
"""Seconds between two looks at a run that is waited for: few at first, then more."""
OVER = ("succeeded", "failed", "canceled", "timed_out", "stalled")


P = ParamSpec("P")
Result = TypeVar("Result")


def asks(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[RemoteEngine, P], Coroutine[Any, Any, Result]]:
    """A method of an engine that is one of the verbs, as a call of the API."""
    verb, signature = VERBS[method.__name__], inspect.signature(method)
    takes = () if verb.takes is None else msgspec.structs.fields(verb.takes)

    @functools.wraps(method)
    async def asking(self: RemoteEngine, /, *args: P.args, **how: P.kwargs) -> Result:
        said = signature.bind(self, *args, **how)
        said.apply_defaults()
        named = {**said.arguments, "id": said.arguments["run"]}
        path = path_of(*(each.format_map(named) for each in verb.path[1:].split("/")))
        body = given(**{each.encode_name: named[each.name] for each in takes})
        view: Any = await self.connection.post(path, body)
        return view["id"] if verb.makes_run else view  # type: ignore[no-any-return]

    return asking


class RemoteEngine:
    """Asks a server. Use it with `async with`."""

    def __init__(self, url: str = DEFAULT, token: str | None = None) -> None:
        self.connection = Connection(url, token)
        self.schedules = RemoteSchedules(self.connection, self.listed)

    # -- workflows -----------------------------------------------------------------------------------------

    async def publish(
        self, name: str, text: str, *, note: str | None = None, start: bool | None = None, again: bool = True
    ) -> dict[str, Any]:
        """Publish a definition, YAML or JSON as it was written: `version`, `verdict`, `findings`."""
        body = given(definition=text, note=note, start=start, again=again)
        return await self.connection.post(path_of("api", "workflows", name, "publish"), body)

    async def workflows(self) -> list[dict[str, Any]]:
        """Every workflow: name, newest version, whether it is started and whether it is paused."""
        return await self.listed("/api/workflows")

    async def start_source(self, workflow: str) -> None:
        """Let the source of a workflow make runs."""
        await self.connection.post(path_of("api", "workflows", workflow, "start"))

    async def stop_source(self, workflow: str) -> None:
        """Stop a workflow's source. Active runs finish."""
        await self.connection.post(path_of("api", "workflows", workflow, "stop"))

    async def pause_workflow(self, workflow: str | None = None) -> None:
        """Dispatch nothing new of a workflow, or (None) of the installation, until it is resumed."""
        await self.connection.post(_workflow_path(workflow, "pause"))

    async def resume_workflow(self, workflow: str | None = None) -> None:
        """Go on where the pause of a workflow or of the installation held runs."""
        await self.connection.post(_workflow_path(workflow, "resume"))

    async def redeliver(self, id: int) -> bool:
        """Give an undelivered event to the run that has its key now; False: there is none."""
        try:
            await self.connection.post(path_of("api", "events", "undelivered", str(id), "redeliver"))
        except Conflict:
            return False
        return True

    # -- runs ----------------------------------------------------------------------------------------------

    async def start(
        self,
        workflow: str,
        *,
        subject: str | None = None,
        input: Any = None,
        labels: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        version: int | None = None,
    ) -> str:
        """Start a run; its id. A key seen before gives the first run."""
        body = given(
            subject=subject, input=input, labels=labels, idempotency_key=idempotency_key, version=version
        )
        return str((await self.connection.post(path_of("api", "workflows", workflow, "runs"), body))["id"])

    async def emit(
        self,
        event: str,
        data: Any = None,
        *,
        run: str | None = None,
        key: Mapping[str, str] | None = None,
        id: str | None = None,
    ) -> str:
        """Fire an outside event into a run, named by `run` or found by `key`: `accepted`, `duplicate` or `recorded`."""
        path = "/api/events" if run is None else path_of("api", "runs", run, "events")
        answer = await self.connection.post(path, given(event=event, data=data, key=key, id=id))
        return "duplicate" if answer.get("duplicate") else str(answer.get("status", "accepted"))

    async def wait(self, run: str, timeout: float | None = None) -> dict[str, Any]:
        """Wait until the run has ended or is stalled; the run. Raises TimeoutError."""
        pause = SOONEST
        async with asyncio.timeout(timeout):
            while (view := await self.show(run))["status"] not in OVER:
                await asyncio.sleep(pause)
                pause = min(LATEST, pause * 1.5)
        return view

    cancel = asks(Runs.cancel)
    pause = asks(Runs.pause)
    resume = asks(Runs.resume)
    retry = asks(Runs.retry)
    rerun = asks(Runs.rerun)
    skip = asks(Operations.skip)

    async def bulk(self, action: str, filter: Mapping[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        """Act on every run that a filter of `runs` finds; with `dry_run` only count them."""
        body = {"filter": run_query(filter), "action": action, "dry_run": dry_run}
        answer: dict[str, Any] = await self.connection.ask("POST", "/api/runs/bulk", body, timeout=600)
        return answer

    async def approvals(
        self, *, status: str | None = "open", workflow: str | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        """What people are, or were, asked to decide, the newest first; `status` None: all."""
        query = {"status": status or "all", "workflow": workflow}
        return await self.listed("/api/approvals", query, limit=limit)

    async def decide(
        self, id: str, decision: str, *, fields: Any = None, comment: str | None = None
    ) -> dict[str, Any]:
        """Approve or reject, once."""
        body = given(decision=decision, fields=fields, comment=comment)
        return await self.connection.post(path_of("api", "approvals", id), body)

    async def edit_tokens(self, **changes: Any) -> dict[str, Any]:
        """Insert, update and delete tokens, all or none."""
        return await self.connection.post("/api/tokens", given(**changes))

    # -- reading -------------------------------------------------------------------------------------------

    async def show(self, run: str) -> dict[str, Any]:
        """The run as it is now."""
        return await self.connection.get(path_of("api", "runs", run))

    async def history(self, run: str, *, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """All that happened to a run, in order."""
        return await self.listed(
            path_of("api", "runs", run, "history"), {"after": after or None}, limit=limit, page=HISTORY_PAGE
        )

    async def logs(self, run: str, *, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """What the tasks of a run wrote with `ctx.log`, in order."""
        path = path_of("api", "runs", run, "logs")
        return await self.listed(path, {"after": after or None}, limit=limit, page=HISTORY_PAGE)

    async def runs(self, *, limit: int = 50, **filters: Any) -> list[dict[str, Any]]:
        """Runs, newest first, by the filters of the API; `statuses` are several."""
        return await self.listed("/api/runs", run_query(filters), limit=limit)

    async def why(self, run: str, step: str | None = None) -> dict[str, Any]:
        """Why a run does not go on."""
        return await self.connection.get(path_of("api", "runs", run, "why"), {"step": step})

    async def incidents(
        self,
        *,
        since: datetime | None = None,
        workflow: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """What waits for a person, page by page."""
        query = {"since": time_text(since), "workflow": workflow, "limit": limit, "cursor": cursor}
        return await self.connection.get("/api/incidents", query)

    async def tokens(self, prefix: str, *, limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
        """Tokens whose names begin so, page by page."""
        query = {"prefix": prefix, "limit": limit, "cursor": cursor}
        return await self.connection.get("/api/tokens", query)

    async def queues(self) -> list[dict[str, Any]]:
        """The task lists: what waits, is held, is under way, and how long the oldest has waited."""
        return await self.listed("/api/queues")

    async def workers(self) -> list[dict[str, Any]]:
        """The workers that are there."""
        return await self.listed("/api/workers")

    def stream(self, run: str, after: int = 0) -> AsyncIterator[StreamEvent]:
        """The history of a run as it grows, after an entry; it ends with the run."""
        return self.connection.stream(path_of("api", "runs", run, "stream"), query={"after": after})

    async def listed(
        self,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        page: int = PAGE,
    ) -> list[dict[str, Any]]:
        """The items of a list, page by page, up to a limit."""

        def fetch(size: int, cursor: str | None) -> Awaitable[dict[str, Any]]:
            return self.connection.get(path, {**(query or {}), "limit": size, "cursor": cursor})

        return await up_to(limit, fetch, page)

    async def close(self) -> None:
        await self.connection.close()

    async def __aenter__(self) -> RemoteEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _workflow_path(workflow: str | None, action: str) -> str:
    return path_of("api", action) if workflow is None else path_of("api", "workflows", workflow, action)


def run_query(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of `Engine.runs` under the names of the API."""
    query = {"status" if name == "statuses" else name: value for name, value in filters.items()}
    for name in ("label", "key"):
        if query.get(name) is not None:
            query[name] = "=".join(query[name])
    return {name: time_text(value) if isinstance(value, datetime) else value for name, value in query.items()}
