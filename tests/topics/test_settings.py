"""Buses in settings, in what the doctor says, in definitions, and the lag among the metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.flow.model.problems import DefinitionError
from penstock.metrics.prometheus import Metrics
from penstock.server.doctor import Finding, examine
from penstock.server.settings import BadSettings, read_settings
from penstock.topics.errors import BadBus
from tests.topics.brokers import NatsServer
from tests.topics.engines import note
from tests.topics.test_buses import within
from tests.topics.test_topics_out import ENDS, run_one


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("main=nats://h:4222", {"main": "nats://h:4222"}),
        (["a=nats://h", "b=amqp://u:p@h/"], {"a": "nats://h", "b": "amqp://u:p@h/"}),
        ("k=kafka://a:1,b:2,n=nats://c", {"k": "kafka://a:1,b:2", "n": "nats://c"}),
    ],
)
def test_buses_are_pairs_of_names_and_addresses(said: Any, found: dict[str, str], tmp_path: Path) -> None:
    assert read_settings({"buses": said}, variables={}, folder=tmp_path)["buses"] == found


def test_a_bus_that_cannot_be_is_refused_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="must begin with nats://") as caught:
        read_settings({"buses": ["main=redis://me:hidden@h"]}, variables={}, folder=tmp_path)
    assert "hidden" not in str(caught.value) and str(caught.value).startswith("--bus ")
    with pytest.raises(BadBus):
        Engine(buses={"main": "redis://h"})


def test_the_doctor_says_whether_each_bus_answers(nats: NatsServer, tmp_path: Path) -> None:
    options = {"buses": [f"here={nats.url}", "gone=nats://127.0.0.1:1"], "db": str(tmp_path / "p.db")}
    settings = read_settings(options, variables={}, folder=tmp_path)

    found: list[Finding] = within(60, examine(settings, {}))

    here, gone = [each for each in found if each.about == "buses"]
    assert here.state == "fine" and here.text.startswith("here answers: NATS")
    assert gone.state == "wrong" and gone.text.startswith("gone: the bus 'nats://127.0.0.1:1'")


def test_the_lag_is_among_the_metrics(tmp_path: Path) -> None:
    async def main() -> str:
        async with Engine(str(tmp_path / "p.db"), tasks={"note": note}) as engine:
            await engine.publish(ENDS.replace("TOPIC", "t"))
            await run_one(engine, "ends")
            text, _ = await Metrics((await engine.running()).node).exposition()
            return text.decode()

    text = within(30, main())
    assert 'penstock_outbox_waiting{bus="main"} 1.0' in text
    assert 'penstock_outbox_oldest_seconds{bus="main"}' in text


@pytest.mark.parametrize(
    ("notify", "why"),
    [
        ("5", "`notify` must be a list of entries"),
        ("{topic: t}", "needs the key `bus`"),
        ("{bus: b, topic: t, on: failed}", "Unknown key 'on' in an entry of `notify`"),
        ("{bus: b, topic: t, statuses: done}", "must be `succeeded` or `failed`"),
        ("{bus: b, topic: t, events: []}", "is empty"),
        ("{bus: b, topic: t, events: donne}", "which nothing in the workflow fires"),
        ("{bus: b, topic: t, events: don}", "did you mean 'done'"),
        ("{bus: b, topic: t, data: 'body.x'}", "body"),
        ("{bus: b, topic: t, data: '1 +'}", "notify[0].data"),
    ],
)
def test_a_notify_that_cannot_be_is_told(notify: str, why: str) -> None:
    text = f"penstock: 1\nname: n\nnotify: {notify}\nsteps: {{s: {{task: note, emits: [done, OK]}}}}\n"

    async def main() -> None:
        async with Engine(tasks={"note": note}) as engine:
            await engine.publish(text)

    with pytest.raises(DefinitionError) as caught:
        within(30, main())
    assert why in str(caught.value)


def test_an_event_from_a_topic_needs_a_key(tmp_path: Path) -> None:
    external = "[{name: e, from: {kind: topic, bus: b, topic: t}}]"
    text = f"penstock: 1\nname: n\nexternal: {external}\nsteps: {{s: {{task: note, after: e}}}}\n"

    async def main() -> None:
        async with Engine(tasks={"note": note}) as engine:
            await engine.publish(text)

    with pytest.raises(DefinitionError, match="needs `key`"):
        within(30, main())


def test_an_event_that_only_notify_names_is_published_too(nats: NatsServer, topic: str) -> None:
    text = ENDS.replace("topic: TOPIC", f"topic: {topic}, events: [a.done, START]")

    async def main() -> list[Any]:
        from tests.topics.test_topics_out import events_of

        await nats.make(topic)
        async with Engine(tasks={"note": note}, buses={"main": nats.url}) as engine:
            await engine.publish(text)
            await run_one(engine, "ends")
            return [each["event"] for each in await events_of(nats, topic, 2)]

    assert within(30, main()) == ["START", "a.done"]
