"""Workers of several tokens at one node: none gets, ends or changes what is another's, or takes all there is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.api.work import offers
from penstock.api.work import worker_registry as limits
from penstock.api.work.worker_registry import WorkerRegistry
from penstock.engine.authoring.offers import PREFIX, StoredOffers, offer_text
from penstock.store.rows.rows import Worker
from tests.api.conftest import Answer
from tests.api.test_tasks import TAKEN, Talk
from tests.waiting import until

Play = Callable[..., Any]


@pytest.fixture
def play(serve: Callable[..., Any]) -> Play:
    """One conversation of workers with a fresh server."""

    def run(talk: Callable[[Talk], Awaitable[Any]], **more: Any) -> Any:
        return serve(lambda client: talk(Talk(client)), **more)

    return run


async def _waiting(registry: WorkerRegistry, polls: int) -> None:
    await until(lambda: registry.open == polls, f"{polls} polls to wait")


def test_a_token_that_takes_another_workers_name_gets_nothing_of_its_work(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        other = asyncio.create_task(worker.poll("gpu", task_list="gpu-1", wait=1))
        await _waiting(registry, 1)
        mine = asyncio.create_task(worker.poll("far", wait=10))
        await _waiting(registry, 2)
        await worker.start()
        return [[task["task_list"] for task in (await each).json["tasks"]] for each in (other, mine)]

    registry = WorkerRegistry()
    assert play(talk, worker_registry=registry) == [[], ["far"]]


def test_two_polls_of_one_worker_get_what_each_asks_for(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        stores = asyncio.create_task(worker.poll(tasks=["far.store"], wait=1))
        await _waiting(registry, 1)
        loads = asyncio.create_task(worker.poll(tasks=["far.load"], wait=10))
        await _waiting(registry, 2)
        await worker.start()
        return [[task["task"] for task in (await each).json["tasks"]] for each in (stores, loads)]

    registry = WorkerRegistry()
    assert play(talk, worker_registry=registry) == [[], ["far.load"]]


@pytest.mark.parametrize("what", ["hangup", "leave"])
def test_a_token_ends_no_poll_of_another(play: Play, what: str) -> None:
    async def talk(worker: Talk) -> Any:
        poll = asyncio.create_task(worker.poll("far", wait=10))
        await _waiting(registry, 1)
        said = await worker.post(what, "gpu", worker="w")
        listed = [each["name"] for each in await worker.client.engine.workers()]
        await worker.start()
        return said.status, "w" in listed, len((await poll).json["tasks"])

    registry = WorkerRegistry()
    assert play(talk, worker_registry=registry) == (200, True, 1)


def test_polls_that_wait_together_get_no_more_than_their_token_may_hold(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.shown("two")
        polls = [asyncio.create_task(worker.poll("two", worker=f"w{n}", max=5, wait=5)) for n in range(4)]
        await _waiting(registry, 4)
        await worker.start(6)
        held = sum([len((await poll).json["tasks"]) for poll in polls])
        left = await worker.poll(max=10)
        return held, {task["attempt"] for task in left.json["tasks"]}

    registry = WorkerRegistry()
    assert play(talk, worker_registry=registry) == (2, {1})


def test_a_token_takes_its_share_of_the_polls_and_leaves_the_rest(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_POLLS_PER_TOKEN", 2)

    async def talk(worker: Talk) -> Any:
        await worker.shown("far")
        polls = [asyncio.create_task(worker.poll(token, wait=10)) for token in ("far", "far", None, None)]
        await _waiting(registry, 4)
        full = await worker.poll("far", wait=0)
        others = [await worker.poll(None, wait=0), await worker.poll("gpu", task_list="gpu-1", wait=0)]
        await worker.start(4)
        done = [(await poll).status for poll in polls]
        again = await worker.poll("far", wait=0)
        return full.status, full.json["code"], [each.status for each in others], done, again.status

    registry = WorkerRegistry()
    assert play(talk, worker_registry=registry) == (429, "too_many_polls", [200, 200], [200] * 4, 200)


def test_a_token_has_so_many_workers_at_most_and_others_have_theirs(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_WORKERS_PER_TOKEN", 2)

    async def talk(worker: Talk) -> Any:
        polls = [await worker.poll("far", worker=name, wait=0) for name in ("a", "b", "c", "a")]
        offered = await worker.client.ask(
            "PUT", "/api/tasks/offers", LOADER | {"worker": "d"}, headers=await worker.shown("far")
        )
        other = await worker.poll("gpu", task_list="gpu-1", worker="c", wait=0)
        return [each.status for each in polls], polls[2].json["code"], offered.status, other.status

    assert play(talk) == ([200, 200, 429, 200], "too_many_workers", 429, 200)


def test_of_a_worker_with_very_many_tasks_it_is_noted_that_it_takes_any(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        await worker.poll(worker="few", tasks=["a", "b"], wait=0)
        await worker.poll(worker="many", tasks=[f"{number}{'n' * 240}" for number in range(4_000)], wait=0)
        await worker.client.service.worker_registry.background_tasks.wait(10)
        return {each["name"]: each["tasks"] for each in await worker.client.engine.workers()}

    found = play(talk)
    assert (found["few"], found["many"]) == (["a", "b"], [])


def test_a_worker_that_polls_for_other_lists_is_shown_with_them(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        for name in ("a", "b"):
            await worker.poll(task_list=name, wait=0)
        return [each["task_lists"] for each in await worker.client.engine.workers() if each["id"] == "w"]

    assert play(talk) == [["a", "b"]]


LOADER = {"worker": "w", "name": "loader", "offers": [], "task_lists": ["far"], "concurrency": 3}


async def _listed(worker: Talk) -> list[tuple[str, int]]:
    found = await worker.client.engine.workers()
    return [(each["name"], each["concurrency"]) for each in found if each["id"] == "w"]


def test_a_poll_beside_the_offers_of_its_worker_takes_no_name_from_it(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def talk(worker: Talk) -> Any:
        registry, written, polled = worker.client.service.worker_registry, asyncio.Event(), asyncio.Event()
        gate = (await registry.behind(worker.client.engine)).gate
        attend = gate.register

        async def slowly(each: Worker) -> None:
            await attend(each)
            if each.name == "loader":
                written.set()
                await polled.wait()

        monkeypatch.setattr(gate, "register", slowly)
        offers = asyncio.create_task(worker.client.ask("PUT", "/api/tasks/offers", LOADER))
        await written.wait()
        await worker.poll(wait=0, max=1)
        await registry.background_tasks.wait(10)
        polled.set()
        await offers
        return await _listed(worker)

    assert play(talk) == [("loader", 3)]


def test_a_poll_that_is_noted_after_the_offers_of_its_worker_takes_no_name_from_it(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def talk(worker: Talk) -> Any:
        registry, offered = worker.client.service.worker_registry, asyncio.Event()
        gate = (await registry.behind(worker.client.engine)).gate
        attend = gate.register

        async def slowly(each: Worker) -> None:
            if each.name == "w":
                await offered.wait()
            await attend(each)

        monkeypatch.setattr(gate, "register", slowly)
        await worker.poll(wait=0, max=1)
        await worker.client.ask("PUT", "/api/tasks/offers", LOADER)
        offered.set()
        await registry.background_tasks.wait(10)
        return await _listed(worker)

    assert play(talk) == [("loader", 3)]


# -- offers ------------------------------------------------------------------------------------------------


async def _offer(worker: Talk, token: str | None, *offers: dict[str, Any], lists: list[str]) -> Answer:
    body = {"worker": "w", "offers": list(offers), "task_lists": lists}
    headers = {} if token is None else await worker.shown(token)
    return await worker.client.ask("PUT", "/api/tasks/offers", body, headers=headers)


async def _palette(worker: Talk) -> dict[str, Any]:
    return {each["name"]: each for each in (await worker.client.get("/api/tasks")).json["items"]}


PAY = {"name": "pay", "ports": ["done", "failed"]}
FORGED = {"name": "pay", "ports": ["gotcha"]}


def test_an_offer_is_for_the_lists_of_its_token_alone(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        said = await _offer(worker, "gpu", {**PAY, "task_list": "far"}, lists=["gpu-1"])
        return said.status, "pay" in await _palette(worker)

    assert play(talk) == (403, False)


def test_who_serves_other_lists_changes_no_offer(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        said = [
            (await _offer(worker, token, offer, lists=[name])).status
            for token, offer, name in (
                ("far", PAY, "far"),
                ("gpu", FORGED, "gpu-1"),
                ("gpu", PAY, "gpu-1"),
                ("gpu", {"name": "one", "ports": ["gotcha"]}, "gpu-1"),
            )
        ]
        shown = await _palette(worker)
        changed = await _offer(worker, "far", {**PAY, "title": "Pay"}, lists=["far"])
        return said, shown["pay"]["ports"], changed.json, (await _palette(worker))["pay"]["title"]

    assert play(talk) == ([200, 403, 200, 403], ["done", "failed"], TAKEN[1], "Pay")


def test_a_token_offers_so_many_tasks_at_most(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offers, "MAX_OFFERS_PER_TOKEN", 2)

    async def talk(worker: Talk) -> Any:
        two = await _offer(worker, "far", {"name": "a"}, {"name": "b"}, lists=["far"])
        third = await _offer(worker, "far", {"name": "c"}, lists=["far"])
        others = await _offer(worker, "gpu", {"name": "c"}, lists=["gpu-1"])
        return two.status, third.status, others.status

    assert play(talk) == (200, 422, 200)


def test_an_offer_that_nobody_repeats_is_forgotten(play: Play) -> None:
    async def talk(worker: Talk) -> Any:
        store = (await worker.client.engine.running()).store
        for name, days in (("old", 31), ("young", 29)):
            kept = StoredOffers(
                name=name, by="t", lists=("far",), at=datetime.now(UTC) - timedelta(days=days)
            )
            await store.put_note(PREFIX + name, offer_text(kept))
        await _offer(worker, "far", PAY, lists=["far"])
        return [name in await _palette(worker) for name in ("old", "young", "pay")]

    assert play(talk) == [False, True, True]
