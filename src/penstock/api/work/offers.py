"""The palette of tasks: those of local and remote workers, and the built-in ones."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from penstock.access.caller import Caller
from penstock.api.work.errors import OtherOffer
from penstock.api.work.poll import require_lists
from penstock.api.work.worker_registry import Behind, WorkerCall, noted_tasks, worker_key
from penstock.engine.authoring.offers import PREFIX, StoredOffers, offer_text, offers_by_task, stored_offers
from penstock.engine.engine import Engine
from penstock.flow.model.names import wrong_name
from penstock.flow.model.offer import Offer
from penstock.flow.values.schema_validation import validator_of
from penstock.runtime.errors import Invalid
from penstock.steps.kinds import KINDS, OFFERS
from penstock.store.rows.rows import Worker
from penstock.workers.wire import Offered, Offers

MAX_OFFERS_PER_TOKEN = 1000
"""Tasks that the workers of one token may offer."""
RENEWAL_INTERVAL = timedelta(days=1)
"""How often the store notes again that a task is still offered."""
OFFER_TIMEOUT = timedelta(days=30)
"""The offer of a remote worker that stays silent for this long is forgotten."""

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
    output: dict[str, Any] | None
    outputs: dict[str, dict[str, Any]]
    sets: dict[str, Any] | None
    workers: list[str]
    seen_at: datetime | None


async def take_offers(call: WorkerCall, body: Offers) -> None:
    """Register a worker and its offers. Raises OtherList, OtherOffer, Invalid, TooManyWorkers."""
    registry, behind, caller = call.registry, call.behind, call.caller
    registry.limit_workers(caller, body.worker)
    named = {offer.task_list or "default" for offer in body.offers} or {"default"}
    lists = sorted(name + behind.suffix for name in named)
    require_lists(caller, body.task_lists or lists)
    theirs = [offer.task_list for offer in body.offers if offer.task_list is not None]
    require_lists(caller, [name + behind.suffix for name in theirs])
    for offer in body.offers:
        _validate_offer(offer)
    now, id = behind.now(), worker_key(caller, body.worker)
    worker = Worker(
        id=id,
        name=body.name or body.worker,
        task_lists=tuple(body.task_lists or lists),
        tasks=noted_tasks(offer.name for offer in body.offers),
        concurrency=body.concurrency,
        started_at=registry.started_at(id, now),
    )
    news = await _news(call, body, worker.task_lists, now)
    registry.remember(worker)  # before it is written: a poll that comes meanwhile would write over its name
    await behind.gate.register(worker)
    for note in news:
        await behind.notes.put_note(PREFIX + note.name, offer_text(note))
    registry.note((note.offer, now + RENEWAL_INTERVAL) for note in news)


def _validate_offer(offer: Offered) -> None:
    for port in offer.ports:
        if (why := wrong_name(port)) is not None:
            raise Invalid(f"port '{port[:80]}' of task '{offer.name}' {why}: name it otherwise")
    for port in offer.outputs:
        if port == "failed" or port not in offer.ports:
            raise Invalid(
                f"`outputs` of task '{offer.name}' names '{port[:80]}', which is no port it ends well on"
            )
    outputs = {f"outputs.{port}": schema for port, schema in offer.outputs.items()}
    for name, schema in {"output": offer.output, "sets": offer.sets, **outputs}.items():
        try:
            validator_of({} if schema is None else schema)
        except ValueError as error:
            raise Invalid(f"`{name}` of task '{offer.name}' is no JSON Schema: {str(error)[:300]}") from None


async def _news(call: WorkerCall, body: Offers, lists: tuple[str, ...], now: datetime) -> list[StoredOffers]:
    """The offers to store: once for all workers with the same offer, and once a day. Raises OtherOffer, Invalid."""
    offers = [
        StoredOffers(**msgspec.structs.asdict(each), by=call.caller.token_id, lists=lists, at=now)
        for each in body.offers
    ]
    offers = [each for each in offers if not call.registry.is_noted(each.offer, now)]
    if not offers:
        return []
    known = await _living(call.behind, now)
    news: list[StoredOffers] = []
    for offer in offers:
        was = known.get(offer.name)
        if was is not None and was.offer == offer.offer:
            # Any worker with the same offer keeps it alive; its owner stays the same.
            news.append(offer if was.by == offer.by else replace(was, at=was.at and now))
            continue
        if was is not None:
            _validate_owner(call.behind, call.caller, was)
        news.append(offer)
    _validate_count(call.caller, known, news)
    return news


async def _living(behind: Behind, now: datetime) -> dict[str, StoredOffers]:
    """All offers; those of workers elsewhere that nobody repeated for long are dropped."""
    known = await stored_offers(behind.notes)
    for name in [name for name, was in known.items() if was.at is not None and was.at < now - OFFER_TIMEOUT]:
        await behind.notes.put_note(PREFIX + name, None)
        del known[name]
    return known


def _validate_owner(behind: Behind, caller: Caller, was: StoredOffers) -> None:
    """What a task offers is changed by who serves its lists, and by this node alone where it does the task itself."""
    lists = was.lists or ((was.task_list or "default") + behind.suffix,)
    if caller.role != "admin" and (was.name in behind.own or not all(map(caller.serves, lists))):
        raise OtherOffer(was.name)


def _validate_count(caller: Caller, known: dict[str, StoredOffers], news: list[StoredOffers]) -> None:
    mine = {was.name for was in (*known.values(), *news) if was.by == caller.token_id}
    if caller.role != "admin" and len(mine) > MAX_OFFERS_PER_TOKEN:
        raise Invalid(
            f"the workers of this token offer more than {MAX_OFFERS_PER_TOKEN} tasks: use another token for the rest"
        )


async def palette(engine: Engine) -> list[TaskOffer]:
    """Every task there is, by name."""
    running = await engine.running()
    workers = await running.store.workers()
    offers = {
        **await offers_by_task(running.store),
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
        output=offer.output,
        outputs=offer.outputs,
        sets=offer.sets,
        workers=sorted({worker.name for worker in there}),
        seen_at=max((worker.seen_at for worker in there if worker.seen_at is not None), default=None),
    )
