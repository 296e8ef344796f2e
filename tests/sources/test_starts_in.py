"""A verified call of a workflow's hook starts one run, however often it is sent."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Sequence
from typing import Any, cast

import pytest

from penstock import Engine
from penstock.runtime.json.strict_json import Unreadable, WrongType
from penstock.runtime.node import flow_cache
from penstock.sources.errors import CallRefused, SourceStopped, Stale, UnknownHook, Unverified
from penstock.sources.hooks.cloudevents import Handshake
from penstock.sources.hooks.envelope import Call
from penstock.store.errors import OutcomeUnknown, StoreAway
from penstock.store.open import open_store
from penstock.store.protocol import Store
from penstock.store.rows.change import Change, Committed
from tests.durable.conftest import FILE, Place
from tests.sources.amazon import NOW
from tests.sources.hooking import ORDERS, TASKS, counted, hooks_of, order
from tests.sources.signing import OTHER, SECRET, signed_github, signed_standard


async def begun(engine: Engine, text: str = ORDERS) -> None:
    await engine.publish(text, start=True)


def test_row_31_a_call_starts_a_run_and_its_replay_none(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await begun(engine)
        hooks = await hooks_of(engine)
        answers = await asyncio.gather(*(hooks.receive("orders", None, order()) for _ in range(8)))
        assert sorted(counted(each)[:2] for each in answers) == [(200, True)] * 7 + [(201, False)]
        [run] = {each.run for each in answers}
        assert run is not None
        view = await engine.wait(run, 30)
        assert (view["status"], view["subject"], view["input"]) == (
            "succeeded",
            "o-1",
            {"order": "o-1", "from": "shop/1", "shop": "west"},
        )
        again = await hooks.receive("orders", None, order())
        assert (again.status, again.run, again.duplicate) == (200, run, True)
        assert (await engine.counts())["succeeded"] == 1

    place.run(main, TASKS)


@FILE
def test_a_repeat_that_says_something_else_is_still_a_repeat(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await begun(engine)
        hooks = await hooks_of(engine)
        first = await hooks.receive("orders", None, order("o-1"))
        second = await hooks.receive("orders", None, order("o-2"))
        assert (second.run, second.duplicate, second.status) == (first.run, True, 200)
        third = await hooks.receive("orders", None, order("o-2", id="msg_2"))
        assert (third.run != first.run, third.status) == (True, 201)

    place.run(main, TASKS)


@FILE
def test_an_id_of_any_length_tells_a_repeat_from_another_call(place: Place) -> None:
    long = f"/{'a' * 600}/"

    async def main(engine: Engine) -> None:
        await begun(engine)
        hooks = await hooks_of(engine)
        calls = [order(id=long + end) for end in ("1", "1", "2")]
        assert [(await hooks.receive("orders", None, call)).status for call in calls] == [201, 200, 201]

    place.run(main, TASKS)


@FILE
def test_a_key_of_the_api_does_not_take_the_place_of_a_call(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await begun(engine)
        await engine.start("orders", input={"order": "x"}, idempotency_key="msg_1")
        assert (await (await hooks_of(engine)).receive("orders", None, order())).status == 201

    place.run(main, TASKS)


def test_forged_replayed_and_bad_calls_start_nothing() -> None:
    calls: list[tuple[Call, type[Exception]]] = [
        (Call({}, b'{"order": "o-1"}'), Unverified),
        (Call(order().headers, b'{"order":  "o-1"}'), Unverified),
        (Call({**order().headers, "webhook-id": "msg_2"}, order().body), Unverified),
        (order(body=b"{"), Unreadable),
        (order(body=b'{"order": "a", "order": "b"}'), Unreadable),
        (order(body=b'{"order": NaN}'), Unreadable),
        (order(content_type="application/x-www-form-urlencoded"), WrongType),
        (order(content_type="application/cloudevents+json"), Unreadable),
        (order(None), CallRefused),
        (order([1]), CallRefused),
        (order(body=b"5"), CallRefused),
    ]

    async def main(engine: Engine) -> None:
        await begun(engine)
        hooks = await hooks_of(engine)
        for call, error in calls:
            with pytest.raises(error):
                await hooks.receive("orders", None, call)
        late = signed_standard(b'{"order": 1}', NOW.replace(hour=11))
        with pytest.raises(Stale):
            await hooks.receive("orders", None, Call(late, b'{"order": 1}'))
        assert await engine.runs() == []
        assert sum(hooks.refused.values()) == len(calls) + 1

    Place("memory:").run(main, TASKS)


def test_row_28_a_secret_that_is_missing_or_empty_lets_nobody_pass() -> None:
    async def main(engine: Engine) -> None:
        await begun(engine)
        for new, old in (("", ""), ("", " "), ("whsec_", "")):
            hooks = await hooks_of(engine, NEW=new, OLD=old)
            empty = Call(signed_standard(b"{}", NOW, secret="whsec_"), b"{}")
            for call in (order(), empty, Call({}, b"{}")):
                with pytest.raises(Unverified):
                    await hooks.receive("orders", None, call)
        assert await engine.runs() == []

    Place("memory:").run(main, TASKS)


def test_the_old_secret_counts_while_both_are_named() -> None:
    body = b'{"order": "o-9"}'
    call = Call({**signed_standard(body, NOW, secret=OTHER), "user-agent": "s"}, body, {"shop": "w"})

    async def main(engine: Engine) -> None:
        await begun(engine)
        assert (await (await hooks_of(engine, OLD=OTHER)).receive("orders", None, call)).status == 201
        with pytest.raises(Unverified):
            await (await hooks_of(engine)).receive("orders", None, call)

    Place("memory:").run(main, TASKS)


class Outage:
    """A store that writes nothing while it is away; with `deaf` it writes, and nobody hears of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.away = self.deaf = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, changes: Sequence[Change]) -> Committed:
        if self.away:
            raise StoreAway("the connection is lost")
        done = await self._store.commit(changes)
        if self.deaf:
            self.deaf = False
            raise OutcomeUnknown("the connection is lost")
        return done


def test_row_32_while_the_database_is_away_the_sender_is_told_and_later_there_is_one_run(
    place: Place,
) -> None:
    async def main() -> None:
        store = Outage(await open_store(place.url))
        async with Engine(store=cast(Store, store), tasks=TASKS) as engine, asyncio.timeout(60):
            await begun(engine)
            hooks = await hooks_of(engine)
            store.away = True
            for _ in range(2):
                with pytest.raises(StoreAway):
                    await hooks.receive("orders", None, order())
            store.away = False
            assert await engine.runs() == []

            store.deaf = True
            answers = [await hooks.receive("orders", None, order()) for _ in range(2)]
            assert [each.duplicate for each in answers][1:] == [True]
            assert len({each.run for each in answers}) == len(await engine.runs()) == 1

    asyncio.run(main())


def test_a_source_that_is_stopped_takes_no_calls_and_tells_only_its_senders() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(ORDERS)
        hooks = await hooks_of(engine)
        with pytest.raises(Unverified):
            await hooks.receive("orders", None, Call({}, b"{}"))
        with pytest.raises(SourceStopped):
            await hooks.receive("orders", None, order())
        await engine.start_source("orders")
        assert (await hooks.receive("orders", None, order())).status == 201

    Place("memory:").run(main, TASKS)


def test_what_the_condition_leaves_out_starts_nothing() -> None:
    async def main(engine: Engine) -> None:
        await begun(engine)
        hooks = await hooks_of(engine)
        answer = await hooks.receive("orders", None, order(body=b'{"test": true}'))
        assert (counted(answer), await engine.runs()) == ((200, False, True), [])
        assert dict(hooks.taken) == {"ignored": 1}

    Place("memory:").run(main, TASKS)


# -- defaults and other senders ----------------------------------------------------------------------------

PUSHES = """
penstock: 1
name: pushes
source: {kind: webhook, verify: {method: github, secret: GH}}
steps: {ship: {task: ship, emits: OK}}
"""
KEYED = """
penstock: 1
name: keyed
source:
  kind: webhook
  verify: {method: token, secret: KEY, header: X-Key}
  input: '{"headers": headers, "query": query, "event": event}'
steps: {ship: {task: ship, emits: OK}}
"""


def test_without_expressions_the_body_is_the_input_and_the_delivery_the_id() -> None:
    body = b'{"ref": "main"}'

    async def main(engine: Engine) -> None:
        await begun(engine, PUSHES)
        hooks = await hooks_of(engine, GH="s3cret")
        calls = [Call(signed_github(body, id), body) for id in ("d-1", "d-1", "d-2")]
        answers = [await hooks.receive("pushes", None, call) for call in calls]
        assert [each.status for each in answers] == [201, 200, 201]
        assert (await engine.show(answers[0].run or ""))["input"] == {"ref": "main"}

    Place("memory:").run(main, TASKS)


def test_a_secret_in_a_header_is_not_seen_by_expressions() -> None:
    headers = {"x-key": "t0p", "authorization": "Bearer t0p", "cookie": "a=t0p", "x-other": "seen"}

    async def main(engine: Engine) -> None:
        await begun(engine, KEYED)
        hooks = await hooks_of(engine, KEY="t0p")
        answers = [await hooks.receive("keyed", None, Call(headers, b"", {"a": "1"})) for _ in range(2)]
        assert [each.status for each in answers] == [201, 201]
        assert (await engine.show(answers[0].run or ""))["input"] == {
            "headers": {"x-other": "seen"},
            "query": {"a": "1"},
            "event": {"id": None},
        }

    Place("memory:").run(main, TASKS)


EVENTS = ORDERS.replace('headers["user-agent"]', "event.type").replace("query.shop", "event.source")


def event(id: str, order: str = "o-1") -> dict[str, Any]:
    return {"specversion": "1.0", "id": id, "source": "/shop", "type": "sold", "data": {"order": order}}


def signed_events(kind: str, body: Any, id: str = "msg_1") -> Call:
    text = json.dumps(body).encode()
    return Call({**signed_standard(text, NOW, id), "content-type": kind}, text)


@FILE
def test_cloud_events_start_a_run_each_and_are_known_by_source_and_id(place: Place) -> None:
    one, many = "application/cloudevents+json", "application/cloudevents-batch+json"

    async def main(engine: Engine) -> None:
        await begun(engine, EVENTS)
        hooks = await hooks_of(engine)
        first = await hooks.receive("orders", None, signed_events(one, event("1")))
        assert (await engine.show(first.run or ""))["input"] == {
            "order": "o-1",
            "from": "sold",
            "shop": "/shop",
        }
        batch = [event("1"), event("2", "o-2"), event("2", "o-2")]
        answer = await hooks.receive("orders", None, signed_events(many, batch, "msg_2"))
        assert (answer.status, answer.duplicate, [each.status for each in answer.items]) == (
            201,
            False,
            [200, 201, 200],
        )
        bad = [event("3"), {**event("4"), "specversion": "9"}]
        with pytest.raises(Unreadable):
            await hooks.receive("orders", None, signed_events(many, bad, "msg_3"))
        assert len(await engine.runs()) == 2

    place.run(main, TASKS)


@FILE
def test_of_a_batch_one_that_is_refused_does_not_hold_those_after_it(place: Place) -> None:
    refused = {**event("2"), "data": {"color": "red"}}
    call = signed_events("application/cloudevents-batch+json", [event("1"), refused, event("3", "o-3")])

    async def main(engine: Engine) -> None:
        await begun(engine, EVENTS)
        hooks = await hooks_of(engine)
        answer = await hooks.receive("orders", None, call)
        assert (answer.status, [each.status for each in answer.items]) == (422, [201, 422, 201])
        assert "`subject`" in (answer.items[1].refused or "")
        assert sum(hooks.refused.values()) == 1
        again = await hooks.receive("orders", None, call)
        assert [each.status for each in again.items] == [200, 422, 200]
        assert sorted(run["subject"] for run in await engine.runs()) == ["o-1", "o-3"]

    place.run(main, TASKS)


FORGED = {"ce-specversion": "1.0", "ce-source": "/evil", "ce-type": "sold", "ce-subject": "s"}
SIGNED = """
penstock: 1
name: signed
source: {{kind: webhook, verify: {{method: {method}, secret: KEY}}, input: '{{"event": event}}'}}
steps: {{ship: {{task: ship, emits: OK}}}}
"""


@pytest.mark.parametrize("method", ["standard", "github", "hmac"])
def test_a_replay_under_the_id_of_an_event_in_headers_that_nobody_signed_is_a_replay(method: str) -> None:
    body = b'{"order": "o-1"}'
    digest = hmac.new(SECRET.encode(), body, "sha256").hexdigest()
    signed = {
        "standard": signed_standard(body, NOW, secret=SECRET),
        "github": signed_github(body, secret=SECRET),
        "hmac": {"x-signature": digest, "content-type": "application/json"},
    }[method]

    async def main(engine: Engine) -> None:
        await begun(engine, SIGNED.format(method=method))
        hooks = await hooks_of(engine, KEY=SECRET)
        first = await hooks.receive("signed", None, Call({**signed, **FORGED, "ce-id": "evil0"}, body))
        assert list((await engine.show(first.run or ""))["input"]["event"]) == ["id"]
        for id in ("evil1", "evil2"):
            again = await hooks.receive("signed", None, Call({**signed, **FORGED, "ce-id": id}, body))
            assert (again.run, again.duplicate) == (first.run, True)
        assert (await hooks.receive("signed", None, Call(signed, body))).duplicate

    Place("memory:").run(main, TASKS)


def test_an_event_is_one_under_whatever_type_a_replay_sends_it() -> None:
    async def main(engine: Engine) -> None:
        await begun(engine, SIGNED.format(method="standard"))
        hooks = await hooks_of(engine, KEY=SECRET)
        kinds = ("application/json", "application/cloudevents+json")
        answers = [await hooks.receive("signed", None, signed_events(kind, event("1"))) for kind in kinds]
        assert [each.duplicate for each in answers] == [False, True]

    Place("memory:").run(main, TASKS)


def test_who_has_the_token_may_send_an_event_in_headers() -> None:
    async def main(engine: Engine) -> None:
        await begun(engine, KEYED)
        hooks = await hooks_of(engine, KEY="t0p")
        calls = [Call({"x-key": "t0p", **FORGED, "ce-id": id}, b"{}") for id in ("1", "1", "2")]
        assert [(await hooks.receive("keyed", None, call)).status for call in calls] == [201, 200, 201]

    Place("memory:").run(main, TASKS)


def test_a_run_belongs_to_the_trace_of_its_caller() -> None:
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    body = b"{}"
    said = [({"traceparent": parent}, {"traceparent": parent}), ({"traceparent": "00-x"}, {}), ({}, {})]

    async def main(engine: Engine) -> None:
        await begun(engine, PUSHES)
        hooks = await hooks_of(engine, GH="s3cret")
        for number, (headers, labels) in enumerate(said):
            call = Call({**signed_github(body, f"d-{number}"), **headers}, body)
            run = (await hooks.receive("pushes", None, call)).run
            assert (await engine.show(run or ""))["labels"] == labels

    Place("memory:").run(main, TASKS)


def test_the_nearest_name_is_not_looked_for_where_there_is_no_such_hook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes its time among thousands of workflows, and anybody may call."""

    async def main(engine: Engine) -> None:
        await begun(engine)
        hooks = await hooks_of(engine)
        monkeypatch.setattr(flow_cache, "UnknownWorkflow", None)
        for event in (None, "sold"):
            with pytest.raises(UnknownHook):
                await hooks.receive("order", event, order())
        assert (await hooks.receive("orders", None, order())).status == 201

    Place("memory:").run(main, TASKS)


def test_consent_is_given_to_the_origins_of_the_hook() -> None:
    async def main(engine: Engine) -> None:
        await begun(engine)
        hooks = await hooks_of(engine)
        for origin, status in (("events.example.com", 200), ("evil.example.com", 403)):
            assert (await hooks.consent("orders", None, {"webhook-request-origin": origin})).status == status
        assert await hooks.consent("orders", None, {}) == Handshake(403, {})
        with pytest.raises(UnknownHook):
            await hooks.consent("orders", "sold", {})

    Place("memory:").run(main, TASKS)
