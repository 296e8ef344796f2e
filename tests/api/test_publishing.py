"""Checking and publishing over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import CHAIN, OWN, Answer, Client, Serve

STUCK = {
    "penstock": 1,
    "name": "stuck",
    "steps": {
        "a": {"task": "switch", "with": {"cases": {"x": "true"}}},
        "b": {"task": "one", "after": ["a.x", "a.else"]},
    },
}
GOOD = {"penstock": 1, "name": "good", "steps": {"a": {"task": "one"}}}


def test_a_definition_is_checked_as_itself_or_with_a_budget(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        text = b"penstock: 1\nname: good\nsteps:\n  a: {task: one}\n  b: {task: one, after: nothing}\n"
        return [
            await client.post("/api/check", GOOD),
            await client.post("/api/check", {"definition": STUCK, "budget": 1}),
            await client.post("/api/check", data=text, headers={"content-type": "text/yaml"}),
            await client.post("/api/check", {"definition": GOOD, "budget": 11}),
            await client.post("/api/check", {"definition": text.decode()}),
        ]

    good, stuck, text, long, inner = serve(talk)

    assert (good.status, good.json["verdict"], good.json["findings"]) == (200, "proved", [])
    assert good.json["file"] == GOOD["name"]
    assert set(good.json) == {
        "file",
        "verdict",
        "findings",
        "states",
        "seconds",
        "covered",
        "assumes",
        "data",
    }
    assert (stuck.status, stuck.json["verdict"]) == (200, "refuted")
    [missing] = [each for each in text.json["findings"] if each["code"] == "missing-event"]
    assert (missing["step"], missing["line"], missing["severity"]) == ("b", 5, "error")
    assert missing["args"] == {"variant": "waits", "remedy": "fire", "step": "b", "event": "nothing"}
    assert (long.status, inner.json["findings"]) == (422, text.json["findings"])


def test_a_draft_is_checked(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        await client.ask("PUT", "/api/workflows/stuck", STUCK)
        return [await client.post(f"/api/workflows/{name}/check") for name in ("stuck", "chain", "x")]

    stuck, chain, none = serve(talk)

    assert (stuck.json["verdict"], chain.json["verdict"], none.status) == ("refuted", "proved", 404)


def test_a_draft_is_published_and_is_a_draft_no_more(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        before = (await client.ask("PUT", "/api/workflows/good", GOOD)).json
        published = await client.post("/api/workflows/good/publish", {"note": "first"})
        return [
            before,
            published,
            (await client.get("/api/workflows/good")).json,
            await client.engine.workflows(),
        ]

    before, published, after, workflows = serve(talk)

    assert (published.status, published.json) == (201, {"version": 1, "verdict": "proved", "findings": []})
    assert after["etag"] == before["etag"]
    assert (after["published_version"], after["changed"], after["updated_by"]) == (1, False, None)
    assert {"name": "good", "published_version": 1, "started": True, "paused": False} in workflows


def test_what_the_checks_refute_is_published_only_by_an_admin_with_a_reason(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        await client.ask("PUT", "/api/workflows/stuck", STUCK)
        path = "/api/workflows/stuck/publish"
        return [
            await client.post(path),
            await client.post(path, {"override": ""}),
            await client.post(path, {"override": "known"}),
        ]

    refused, empty, published = serve(talk)

    assert (refused.status, refused.json["code"]) == (422, "check_failed")
    assert {each["severity"] for each in refused.json["findings"]} >= {"error"}
    assert all(each["args"] for each in refused.json["findings"])
    assert (empty.status, published.status, published.json["verdict"]) == (422, 201, "refuted")


def test_an_author_cannot_override_the_checks(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        admin = {"authorization": f"Bearer {OWN}"}
        made = await client.post("/api/access", {"name": "ann", "role": "author"}, headers=admin)
        headers = {"authorization": f"Bearer {made.json['token']}"}
        path = "/api/workflows/stuck"
        saved = await client.ask("PUT", path, STUCK, headers=dict(headers))
        return [saved, await client.post(f"{path}/publish", {"override": "known"}, headers=dict(headers))]

    saved, refused = serve(talk)

    assert (saved.status, saved.json["updated_by"]) == (201, "ann")
    assert (refused.status, refused.json["code"]) == (403, "forbidden")


def test_a_definition_in_the_body_is_published_and_the_draft_stays(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        await client.ask("PUT", "/api/workflows/chain", {**CHAIN, "title": "Draft"})
        path = "/api/workflows/chain/publish"
        text = "penstock: 1\nname: chain\ntitle: Text\nsteps:\n  first: {task: one}\n"
        answers = [
            await client.post(path, {"definition": text}),
            await client.post(path, {"definition": text, "again": False}),
            await client.post(path, {"definition": {**CHAIN, "name": "other"}}),
            await client.post(path, {"definition": "/etc/hostname.yaml"}),
        ]
        return [
            answers,
            (await client.get("/api/workflows/chain")).json,
            (await client.post(path)).json["version"],
        ]

    answers, draft, last = serve(talk)

    assert [(each.status, each.json.get("version", each.json.get("code"))) for each in answers] == [
        (201, 2),
        (200, 2),
        (422, "name_mismatch"),
        (422, "invalid_definition"),
    ]
    assert (draft["title"], draft["published_version"], last) == ("Draft", 2, 3)


def test_publishing_can_start_the_source(serve: Serve) -> None:
    ticking = {**GOOD, "source": {"kind": "schedule", "every": "1h"}}

    async def talk(client: Client) -> list[bool]:
        started = []
        for start in (None, None, True, False):
            await client.post("/api/workflows/good/publish", {"definition": ticking, "start": start})
            started.append((await client.get("/api/workflows/good")).json["started"])
        return started

    assert serve(talk) == [False, False, True, True]


def test_nothing_cannot_be_published(serve: Serve) -> None:
    answer = serve(lambda client: client.post("/api/workflows/nothing/publish"))

    assert (answer.status, answer.json["code"]) == (404, "unknown_workflow")


def test_a_workflow_and_the_installation_are_started_stopped_and_held(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        paths = [f"/api/workflows/chain/{what}" for what in ("stop", "start", "pause", "resume")]
        answers = [await client.post(path) for path in (*paths, "/api/pause", "/api/resume")]
        return [answers, await client.post("/api/workflows/nothing/pause")]

    answers, unknown = serve(talk)

    states = [answer.json for answer in answers]
    assert [answer.status for answer in answers] == [200] * 6
    assert [(state["started"], state["paused"]) for state in states[:4]] == [
        (False, False),
        (True, False),
        (True, True),
        (True, False),
    ]
    assert states[4:] == [{"paused": True}, {"paused": False}]
    assert (unknown.status, unknown.json["code"]) == (404, "unknown_workflow")


@pytest.mark.parametrize(
    ("child", "status", "code"),
    [
        ("mine-too", 201, None),
        ("chain", 403, "foreign_workflow"),
        ("nothing", 403, "foreign_workflow"),
        ("${ 'ch' + 'ain' }", 403, "foreign_workflow"),
    ],
)
@pytest.mark.parametrize("drafted", [False, True])
def test_a_bound_author_lets_steps_start_its_own_workflows_alone(
    serve: Serve, child: str, status: int, code: str | None, drafted: bool
) -> None:
    async def talk(client: Client) -> list[Any]:
        body = {"name": "bound", "role": "author", "workflows": ["mine*"]}
        made = await client.post("/api/access", body, headers={"authorization": f"Bearer {OWN}"})
        who = {"authorization": f"Bearer {made.json['token']}"}
        flow = {"penstock": 1, "name": "mine", "steps": {"a": {"task": "workflow", "with": {"name": child}}}}
        if drafted:
            await client.ask("PUT", "/api/workflows/mine", flow, headers=dict(who))
        sent = {} if drafted else {"definition": flow}
        answer = await client.post("/api/workflows/mine/publish", sent, headers=dict(who))
        return [answer.status, answer.json.get("code"), await client.engine.drafts.latest("mine")]

    assert serve(talk, open=False) == [status, code, 1 if code is None else None]
