"""Workflows with hooks, their senders, and the hooks of an engine."""

from __future__ import annotations

import json
from typing import Any

from penstock import Engine, Out
from penstock.sources.hooks.certificates import Certificates
from penstock.sources.hooks.envelope import Call
from penstock.sources.hooks.hooks import Hooks, Received
from tests.sources.amazon import AMAZON, NOW, TOPIC, Web
from tests.sources.signing import SECRET, signed_standard

BANZAI = f"""
penstock: 1
name: video
external:
- name: finished
  from:
    kind: webhook
    verify: {{method: sns, topics: ['{TOPIC}']}}
    where: '!has(body.state) || body.state != "PROGRESSING"'
    key: {{et_job: body.jobId}}
    data: 'body.outputs[0]'
    set: '{{"s3_output": body.outputs[0].key}}'
    id: body.messageId
steps:
  create: {{task: create}}
  use: {{task: use, after: [create, finished], emits: OK}}
"""
ORDERS = """
penstock: 1
name: orders
source:
  kind: webhook
  verify: {method: standard, secret: [NEW, OLD], origins: [events.example.com]}
  where: '!has(body.test)'
  subject: body.order
  input: '{"order": body.order, "from": headers["user-agent"], "shop": query.shop}'
steps:
  ship: {task: ship, emits: OK}
"""


async def create(ctx: Any) -> Out:
    return Out(correlate={"et_job": str((ctx.data or {}).get("job", 7))})


async def use(ctx: Any) -> Any:
    return [ctx.events["finished"], ctx.data["s3_output"]]


async def ship(ctx: Any) -> Any:
    return ctx.data


TASKS = {"create": create, "use": use, "ship": ship}


async def hooks_of(engine: Engine, web: Web | None = None, **secrets: str) -> Hooks:
    """The hooks of an engine at the time of the tests, before an Amazon of our own."""
    node, web = (await engine.running()).node, web or Web(AMAZON)

    async def secret(name: str) -> str | None:
        return {"NEW": SECRET, **secrets}.get(name)

    return Hooks(
        node.store,
        node.flows,
        node.commands,
        secret,
        fetch=web.fetch,
        certificates=Certificates(web.fetch, [AMAZON.root]),
        now=lambda: NOW,
    )


def letter(**changed: Any) -> Call:
    """A call of SNS."""
    return Call({"content-type": "text/plain; charset=UTF-8"}, json.dumps(AMAZON.letter(**changed)).encode())


def order(
    order: Any = "o-1", id: str = "msg_1", body: bytes | None = None, content_type: str = "application/json"
) -> Call:
    """A call of a shop that signs by Standard Webhooks."""
    body = json.dumps({"order": order}).encode() if body is None else body
    signed = {**signed_standard(body, NOW, id), "user-agent": "shop/1", "content-type": content_type}
    return Call(signed, body, {"shop": "west"})


def counted(received: Received) -> tuple[int, bool, bool]:
    return received.status, received.duplicate, received.ignored
