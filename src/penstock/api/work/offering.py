"""What workers can do: the palette of tasks, from workers far and near and from what is built in."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from penstock.access.caller import Caller
from penstock.api.work.desk import Behind, Desk
from penstock.api.work.polling import require_lists
from penstock.engine.engine import Engine
from penstock.engine.offering import PREFIX, kept_offers, offer_text
from penstock.flow.names import wrong_name
from penstock.flow.task import Offer
from penstock.remote.wire import Offered, Offers
from penstock.runtime.errors import Invalid
from penstock.steps.kinds import KINDS, OFFERS
from penstock.store.rows import Worker

Kind = Literal["built-in", "task"]


class TaskOffer(Struct, kw_only=True):
    """One task of the palette; `seen_at` is when a worker that does it was last there, `workers` are those now."""

    name: str
    kind: Kind
    title: str
    doc: str
    parameters: dict[str, Any]
    ports: list[str]
    task_list: str | None
    workers: list[str]
    seen_at: datetime | None


async def take_offers(desk: Desk, behind: Behind, caller: Caller, body: Offers) -> None:
    """A worker is there, and says what it can do. Raises OtherList, Invalid."""
    lists = sorted({offer.task_list or "default" for offer in body.offers}) or ["default"]
    require_lists(caller, body.task_lists or lists)
    for offer in body.offers:
        _refuse_ports(offer)
    now = behind.now()
    worker = Worker(
        id=body.worker,
        name=body.name or body.worker,
        task_lists=tuple(body.task_lists or lists),
        tasks=tuple(offer.name for offer in body.offers),
        concurrency=body.concurrency,
        started_at=desk.started_at(body.worker, now),
    )
    await behind.gate.attend(worker)
    desk.remember(worker)
    for offer in body.offers:
        await _note(desk, behind, offer, now)


def _refuse_ports(offer: Offered) -> None:
    for port in offer.ports:
        if (why := wrong_name(port)) is not None:
            raise Invalid(f"port '{port[:80]}' of task '{offer.name}' {why}: name it otherwise")


async def _note(desk: Desk, behind: Behind, offer: Offered, now: datetime) -> None:
    """Once for all workers that offer the same."""
    text = offer_text(
        Offer(
            name=offer.name,
            ports=offer.ports,
            title=offer.title,
            doc=offer.doc,
            parameters=offer.parameters,
            task_list=offer.task_list,
        )
    )
    if desk.offered.get(offer.name) != text:
        await behind.notes.put_note(PREFIX + offer.name, text)
        desk.offered[offer.name] = text


async def palette(engine: Engine) -> list[TaskOffer]:
    """Every task there is, by name."""
    running = await engine.running()
    workers = await running.store.workers()
    offers = {
        **await kept_offers(running.store),
        **{name: task.offer for name, task in running.tasks.items()},
    }
    built_in = [_entry("built-in", offer, ()) for name, offer in OFFERS.items() if name not in offers]
    tasks = [
        _entry("task", offer, [worker for worker in workers if name in worker.tasks])
        for name, offer in offers.items()
        if name not in KINDS
    ]
    return sorted([*built_in, *tasks], key=lambda each: each.name)


def _entry(kind: Kind, offer: Offer, workers: Iterable[Worker]) -> TaskOffer:
    there = list(workers)
    return TaskOffer(
        name=offer.name,
        kind=kind,
        title=offer.title,
        doc=offer.doc,
        parameters=msgspec.to_builtins(offer.parameters),
        ports=list(offer.ports),
        task_list=offer.task_list,
        workers=sorted({worker.name for worker in there}),
        seen_at=max((worker.seen_at for worker in there if worker.seen_at is not None), default=None),
    )
