"""Hooks and metrics over HTTP: the way in, and what is counted of it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest

from tests.api.conftest import OWN, Answer, Client, Serve

SECRET = "the secret of the hook"
WORKFLOW = {
    "penstock": 1,
    "name": "hooked",
    "source": {"kind": "webhook", "verify": {"method": "github", "secret": "hub"}, "subject": "body.name"},
    "steps": {"first": {"task": "one"}},
}


async def prepare(client: Client) -> None:
    admin = {"authorization": f"Bearer {OWN}"}
    await client.ask("PUT", "/api/secrets/hub", {"value": SECRET}, headers=admin)
    await client.engine.publish(WORKFLOW, start=True)


async def call(client: Client, body: bytes, secret: str = SECRET, delivery: str = "1") -> Answer:
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/json",
        "x-hub-signature-256": f"sha256={signature}",
        "x-github-delivery": delivery,
    }
    return await client.post("/hooks/hooked", data=body, headers=headers)


def test_a_signed_call_starts_one_run_however_often_it_comes(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        await prepare(client)
        answers = [await call(client, b'{"name": "a"}') for _ in range(3)]
        runs = await client.engine.runs(workflow="hooked")
        return [[(each.status, each.json["duplicate"]) for each in answers], [run["subject"] for run in runs]]

    assert serve(talk, open=False) == [[(201, False), (200, True), (200, True)], ["a"]]


def test_the_hooks_that_there_are_can_be_listed(serve: Serve) -> None:
    told = {
        "name": "video ready",
        "from": {"kind": "webhook", "verify": {"method": "github", "secret": "hub"}},
    }
    waiting = {
        "penstock": 1,
        "name": "waiting",
        "external": [told, "by hand"],
        "steps": {"first": {"task": "one", "after": "video ready | by hand"}},
    }

    async def talk(client: Client) -> Any:
        await prepare(client)
        await client.engine.publish(waiting)
        admin = {"authorization": f"Bearer {OWN}"}
        return (await client.get("/api/hooks", headers=admin)).json["items"]

    assert [(each["path"], each["event"], each["started"]) for each in serve(talk, open=False)] == [
        ("/hooks/hooked", None, True),
        ("/hooks/waiting/video%20ready", "video ready", True),
    ]


def test_a_forged_or_unknown_call_leaves_nothing_but_a_count(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[Any], str, list[Any]]:
        await prepare(client)
        answers = [
            await call(client, b"{}", "another secret"),
            await client.post("/hooks/hooked", {}),
            await client.post("/hooks/chain", {}),
            await client.post("/hooks/nothing", {}),
            await client.post("/hooks/hooked", data=b"x" * 300_000),
        ]
        shown = await client.get("/metrics", headers={"authorization": f"Bearer {OWN}"})
        return [(each.status, each.json["code"]) for each in answers], shown.text, await client.engine.runs()

    answers, metrics, runs = serve(talk, open=False)

    assert answers == [
        (401, "unverified"),
        (401, "unverified"),
        (404, "unknown_hook"),
        (404, "unknown_hook"),
        (413, "body_too_large"),
    ]
    assert runs == []
    assert "penstock_hooks_refused_total" in metrics
    assert 'penstock_http_requests_total{method="POST",route="/hooks/{workflow}",status="401"} 2.0' in metrics


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_strangers_do_not_learn_which_workflows_there_are(serve: Serve, method: str) -> None:
    async def talk(client: Client) -> list[Any]:
        answers = [await client.ask(method, f"/hooks/{name}") for name in ("chain", "chian")]
        return [(each.status, each.json["detail"].replace("chian", "chain")) for each in answers]

    there, away = serve(talk)

    assert there == away and there[0] == 404


def test_metrics_are_for_those_who_may_read(serve: Serve) -> None:
    assert serve(lambda client: client.get("/metrics"), open=False).status == 401
