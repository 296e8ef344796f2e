"""`penstock up --bus`: the whole way through one process, in from a topic and out to another."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import write
from tests.cli.serving import serving
from tests.topics.brokers import NatsServer
from tests.topics.test_buses import within
from tests.topics.test_topics_out import events_of

THROUGH = """\
penstock: 1
name: through
source: {kind: topic, bus: main, topic: IN, subject: body.name}
notify: {bus: main, topic: OUT}
steps:
  a: {task: set, with: {seen: true}, emits: OK}
"""


def test_a_message_comes_in_and_the_end_of_its_run_goes_out(
    nats: NatsServer, tmp_path: Path, topic: str
) -> None:
    (tmp_path / "flows").mkdir()
    write(tmp_path, "flows/through.yaml", THROUGH.replace("IN", topic).replace("OUT", f"{topic}.out"))
    within(30, nats.make(topic))
    within(30, nats.make(f"{topic}.out"))

    with serving("up", "--workflows", "flows", "--port", "0", "--bus", f"main={nats.url}", cwd=tmp_path):
        within(30, nats.put(topic, json.dumps({"name": "ann"}).encode(), None, {}))
        (event,) = within(60, events_of(nats, f"{topic}.out", 1))

    assert event["subject"] == "ann" and event["type"] == "penstock.run.succeeded"
