"""C14: a call that changed something before the database failed does not say that nothing was changed."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest

from penstock import Engine
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import serving
from penstock.store.errors import OutcomeUnknown, StoreAway, StoreFailing, StoreRefused
from penstock.store.open import open_store
from penstock.store.protocol import Store
from tests.api.conftest import CHAIN, Answer, Client

ASK = """
penstock: 1
name: ask
external: [never]
steps:
  ok: {task: approval, with: {text: "Go?"}}
  end: {task: set, after: [ok.approved, never]}
"""
WRITES = ("commit", "set_paused", "start_source")
MANY = 150


class Breaking:
    """A store that fails, once it is `armed`, right after the next thing that it made durable."""

    def __init__(self, store: Store, error: Exception) -> None:
        self._store, self._error = store, error
        self.armed = self.broken = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return partial(self._ask, name, found) if inspect.iscoroutinefunction(found) else found

    async def _ask(self, name: str, verb: Callable[..., Awaitable[Any]], *args: Any, **more: Any) -> Any:
        if self.broken and name != "close":
            raise self._error
        answer = await verb(*args, **more)
        if self.armed and name in WRITES:
            self.armed, self.broken = False, True
        return answer


Talk = Callable[[Client, Breaking], Awaitable[Any]]


def talked(url: str, folder: Path, talk: Talk, error: Exception) -> Any:
    """What a conversation comes to with a server whose store can be made to fail."""

    async def main() -> Any:
        breaking = Breaking(await open_store(url), error)
        store = cast(Store, breaking)
        async with Engine(store=store, tasks={}, feed=False) as engine, asyncio.timeout(60):
            await engine.publish(ASK)
            access = Access(store, Vault(store, Keys(folder / "penstock.key")), "an-admin-token-of-tests")
            service = await Service.of(engine, access, open=True)
            async with (
                serving(App(service, CALLS), "127.0.0.1", 0) as base,
                aiohttp.ClientSession() as session,
            ):
                return await talk(Client(base, session, service), breaking)

    return asyncio.run(main())


async def cancel(here: Client, run: str, approval: str) -> tuple[Answer, str]:
    return await here.post(f"/api/runs/{run}/cancel"), "canceled"


async def decide(here: Client, run: str, approval: str) -> tuple[Answer, str]:
    return await here.post(f"/api/approvals/{approval}", {"decision": "approved"}), "waiting"


async def pause(here: Client, run: str, approval: str) -> tuple[Answer, str]:
    return await here.post("/api/workflows/ask/pause"), "paused"


async def skip(here: Client, run: str, approval: str) -> tuple[Answer, str]:
    return await here.post(f"/api/runs/{run}/steps/ok/skip", {"port": "approved"}), "waiting"


Act = Callable[[Client, str, str], Awaitable[tuple[Answer, str]]]


@pytest.mark.parametrize("act", [cancel, decide, pause, skip])
@pytest.mark.parametrize(
    "error", [StoreFailing("a sector"), StoreAway("it restarts"), StoreRefused("a table")]
)
def test_c14_what_was_done_before_the_store_failed_is_not_called_undone(
    url: str, tmp_path: Path, act: Act, error: Exception
) -> None:
    async def talk(here: Client, store: Breaking) -> None:
        run = (await here.post("/api/workflows/ask/runs", {})).json["id"]
        [approval] = (await here.get("/api/approvals")).json["items"]
        store.armed = True
        answer, wanted = await act(here, run, approval["id"])
        broke, store.broken = store.broken, False
        shown = (await here.get(f"/api/runs/{run}")).json
        workflow = (await here.get("/api/workflows/ask")).json

        assert broke, "the store did not fail after a change"
        assert (answer.status, answer.json["code"]) == (503, "outcome_unknown"), answer.text
        assert "nothing" not in answer.json["detail"] and "retry-after" not in answer.headers
        assert wanted in (
            shown["status"],
            shown.get("paused") and "paused",
            workflow.get("paused") and "paused",
        )

    talked(url, tmp_path, talk, error)


def test_c14_a_start_whose_run_cannot_be_shown_is_no_failed_start(url: str, tmp_path: Path) -> None:
    async def talk(here: Client, store: Breaking) -> None:
        store.armed = True
        first = await here.post("/api/workflows/ask/runs", {"idempotency_key": "one"})
        store.broken = False
        again = await here.post("/api/workflows/ask/runs", {"idempotency_key": "one"})
        runs = (await here.get("/api/runs")).json["items"]

        assert first.status == 201 or first.json["code"] == "outcome_unknown"
        assert again.status == 200
        assert len(runs) == 1

    talked(url, tmp_path, talk, StoreFailing("a sector"))


def test_c14_a_call_on_many_runs_tells_what_it_did(url: str, tmp_path: Path) -> None:
    async def talk(here: Client, store: Breaking) -> None:
        for n in range(MANY):
            await here.engine.start("ask", subject=str(n))
        listed = store._store.runs

        async def runs(filter: Any) -> Any:
            if filter.after is not None:
                raise StoreFailing("a sector")
            return await listed(filter)

        store._store.runs = runs  # type: ignore[method-assign]
        answer = await here.post("/api/runs/bulk", {"action": "cancel", "filter": {"workflow": "ask"}})
        store._store.runs = listed  # type: ignore[method-assign]
        canceled = (await here.engine.list_runs(statuses=("canceled",), limit=200))["items"]

        assert answer.status == 200, answer.text
        assert (answer.json["done"], answer.json["more"]) == (100, True)
        assert [each["code"] for each in answer.json["errors"]] == ["store_failing"]
        assert len(canceled) == 100

    talked(url, tmp_path, talk, StoreFailing("a sector"))


def test_c14_what_failed_before_any_change_says_so(url: str, tmp_path: Path) -> None:
    async def talk(here: Client, store: Breaking) -> None:
        run = (await here.post("/api/workflows/ask/runs", {})).json["id"]
        store.broken = True
        answer = await here.post("/api/workflows/ask/pause")
        with pytest.raises(StoreFailing):
            await here.engine.pause_workflow("ask")
        store.broken = False
        shown = (await here.get(f"/api/runs/{run}")).json

        assert (answer.status, answer.json["code"]) == (503, "store_failing")
        assert shown["status"] == "waiting"

    talked(url, tmp_path, talk, StoreFailing("a sector"))


def test_c14_an_engine_in_a_program_says_the_same(url: str, tmp_path: Path) -> None:
    async def talk(here: Client, store: Breaking) -> None:
        run = await here.engine.start("ask")
        store.armed = True
        with pytest.raises(OutcomeUnknown, match="changed something"):
            await here.engine.skip(run, "ok", "approved")

    talked(url, tmp_path, talk, StoreFailing("a sector"))


def test_c14_a_report_that_was_taken_beside_one_that_cannot_be_judged_is_told(
    url: str, tmp_path: Path
) -> None:
    """Two results at once: of the second, a repeat, it must be read how the first telling went."""

    async def talk(here: Client, store: Breaking) -> None:
        await here.engine.publish(CHAIN)
        for number in range(2):
            await here.engine.start("chain", subject=str(number))
        poll = {"worker": "w", "tasks": ["one"], "max": 2, "wait": 0}
        given = (await here.post("/api/tasks/poll", poll)).json["tasks"]
        items = [{"id": each["id"], "lease": each["lease"], "complete": {"output": 1}} for each in given]
        await here.post("/api/tasks/report", {"worker": "w", "items": items[:1]})
        store.armed = True
        answer = await here.post("/api/tasks/report", {"worker": "w", "items": items})

        assert store.broken, "the store did not fail after a change"
        assert (answer.status, answer.json["code"]) == (503, "outcome_unknown"), answer.text

    talked(url, tmp_path, talk, StoreFailing("a sector"))


def test_c14_a_call_that_wrote_nothing_says_so(url: str, tmp_path: Path) -> None:
    """A pause of a workflow that does not exist changes no row, and a poll for which there is nothing leases none."""

    async def talk(here: Client, store: Breaking) -> None:
        store.armed = True
        answer = await here.post("/api/workflows/nope/pause")

        assert store.broken
        assert (answer.status, answer.json["code"]) == (503, "store_failing"), answer.text
        assert int(answer.headers["retry-after"]) >= 1

    talked(url, tmp_path, talk, StoreFailing("a sector"))
