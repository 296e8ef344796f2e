"""Who may come in: tokens, sessions, secrets and the audit over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.access.roles import ACTIONS
from penstock.api import guard
from tests.api.conftest import OWN, Answer, Client, Serve

ADMIN = {"authorization": f"Bearer {OWN}"}


async def made(client: Client, role: str, **more: Any) -> dict[str, str]:
    """The headers of somebody with a new token."""
    body = {"name": f"a {role}", "role": role, **more}
    answer = await client.post("/api/access", body, headers=dict(ADMIN))
    assert answer.status == 201, answer.text
    return {"authorization": f"Bearer {answer.json['token']}"}


@pytest.mark.parametrize(
    "header", ["", "Bearer nothing", "Bearer", "Basic abc", "Bearer ps_admin_x_y", "bearer  "]
)
def test_without_a_token_that_counts_nobody_comes_in(serve: Serve, header: str) -> None:
    async def talk(client: Client) -> Answer:
        return await client.get("/api/runs/x", headers={"authorization": header} if header else {})

    answer = serve(talk, open=False)

    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_token_of_other_workflows_does_not_know_of_this_one(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        who = await made(client, "operator", workflows=["other-*"])
        run = await client.engine.start("chain")
        answers = [
            await client.post("/api/workflows/chain/runs", {}, headers=dict(who)),
            await client.post("/api/workflows/nothing/runs", {}, headers=dict(who)),
            await client.get(f"/api/runs/{run}", headers=dict(who)),
            await client.get("/api/runs/nothing", headers=dict(who)),
        ]
        return [(answer.status, answer.json["code"]) for answer in answers]

    assert serve(talk, open=False) == [
        (404, "unknown_workflow"),
        (404, "unknown_workflow"),
        (404, "unknown_run"),
        (404, "unknown_run"),
    ]


def test_a_revoked_token_does_not_count_from_its_next_call_on(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[int], Any]:
        who = await made(client, "viewer")
        before = await client.get("/api/queues", headers=dict(who))
        [token, *_] = (await client.get("/api/access", headers=dict(ADMIN))).json["items"]
        revoked = await client.ask("DELETE", f"/api/access/{token['id']}", headers=dict(ADMIN))
        after = await client.get("/api/queues", headers=dict(who))
        [token, *_] = (await client.get("/api/access", headers=dict(ADMIN))).json["items"]
        return [before.status, revoked.status, after.status], token["state"]

    assert serve(talk, open=False) == ([200, 204, 401], "revoked")


def test_tokens_are_listed_page_by_page(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        for _ in range(5):
            await made(client, "viewer")
        first = (await client.get("/api/access?limit=3", headers=dict(ADMIN))).json
        second = (await client.get(f"/api/access?limit=3&cursor={first['next']}", headers=dict(ADMIN))).json
        bad = await client.get("/api/access?cursor=abc", headers=dict(ADMIN))
        return [len(first["items"]), len(second["items"]), second["next"], (bad.status, bad.json["code"])]

    assert serve(talk, open=False) == [3, 2, None, (400, "bad_cursor")]


def test_a_browser_signs_in_with_a_token_and_out_again(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        entered = await client.post("/api/session", {"token": OWN})
        cookie = {"cookie": entered.headers["set-cookie"].split(";")[0]}
        own = {"origin": client.base, **cookie}
        runs = "/api/workflows/chain/runs"
        return [
            (entered.status, entered.json),
            (await client.get("/api/session", headers=dict(cookie))).json["name"],
            (await client.post(runs, {}, headers=dict(own))).status,
            (await client.post(runs, {}, headers={"x-penstock": "1", **cookie})).status,
            (await client.post(runs, {}, headers={"origin": "https://evil.example", **cookie})).json["code"],
            (await client.post(runs, {}, headers=dict(cookie))).json["code"],
            (await client.ask("DELETE", "/api/session", headers=dict(own))).status,
            (await client.get("/api/session", headers=dict(cookie))).status,
        ]

    who = {
        **{"name": "settings", "role": "admin", "may": list(ACTIONS)},
        **{"workflows": None, "signed_in": True, "sign_in": ["token"]},
    }
    assert serve(talk, open=False) == [(201, who), "settings", 201, 201, "csrf", "csrf", 204, 401]


@pytest.mark.parametrize(
    ("role", "workflows", "may"),
    [
        ("viewer", None, ["public", "read"]),
        ("operator", ["chain"], ["public", "read", "operate", "repair"]),
        ("author", None, ["public", "read", "operate", "repair", "author"]),
    ],
)
def test_a_session_says_what_its_caller_may_do(
    serve: Serve, role: str, workflows: list[str] | None, may: list[str]
) -> None:
    async def talk(client: Client) -> Any:
        who = await made(client, role, workflows=workflows)
        return (await client.get("/api/session", headers=dict(who))).json["may"]

    assert serve(talk, open=False) == may


@pytest.mark.parametrize(("workflows", "hint"), [(["*"], "; did you mean 'chain'?"), (["chian*"], "")])
def test_only_workflows_that_the_caller_sees_are_proposed(
    serve: Serve, workflows: list[str], hint: str
) -> None:
    async def talk(client: Client) -> list[str]:
        who = await made(client, "author", workflows=workflows)
        asked = (("GET", ""), ("POST", "/runs"), ("POST", "/pause"))
        paths = [(method, f"/api/workflows/chian{path}") for method, path in asked]
        return [(await client.ask(*each, headers=dict(who))).json["detail"] for each in paths]

    assert serve(talk, open=False) == [f"no workflow 'chian' is published{hint}"] * 3


@pytest.mark.parametrize("open", [False, True])
def test_signing_out_again_clears_the_cookie_again(serve: Serve, open: bool) -> None:
    async def talk(client: Client) -> list[Any]:
        entered = await client.post("/api/session", {"token": OWN})
        own = {"x-penstock": "1", "cookie": entered.headers["set-cookie"].split(";")[0]}
        answers = [await client.ask("DELETE", "/api/session", headers=dict(own)) for _ in range(2)]
        return [(each.status, each.headers["set-cookie"].partition(" HttpOnly")[0]) for each in answers]

    assert serve(talk, open=open) == [(204, "penstock=; Path=/; Max-Age=0;")] * 2


@pytest.mark.parametrize(("open", "status"), [(False, 401), (True, 200)])
def test_a_session_that_ended_counts_like_none(serve: Serve, open: bool, status: int) -> None:
    async def talk(client: Client) -> Answer:
        return await client.get("/api/workflows", headers={"cookie": "penstock=ended"})

    assert serve(talk, open=open).status == status


def test_signing_in_is_tried_five_times_a_minute_at_most(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        return [(await client.post("/api/session", {"token": "wrong" * 6})).status for _ in range(7)]

    assert serve(talk, open=False) == [401] * 5 + [429] * 2


def test_who_signs_in_sends_no_more_than_a_token(serve: Serve) -> None:
    """Anybody may: reading a large body would hold all others."""

    async def talk(client: Client) -> int:
        return (await client.post("/api/session", {"token": OWN, "more": "x" * 5000})).status

    assert serve(talk, open=False) == 413


def test_a_token_asks_two_hundred_times_a_second_at_most(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(guard, "monotonic", lambda: now[0])

    async def ask(client: Client, times: int) -> list[int]:
        answers = [await client.get("/api/queues", headers=dict(ADMIN)) for _ in range(times)]
        assert all(answer.headers["retry-after"] == "1" for answer in answers if answer.status == 429)
        return [answer.status for answer in answers]

    async def talk(client: Client) -> list[list[int]]:
        first = await ask(client, 203)
        now[0] += 1
        return [first, await ask(client, 203)]

    assert serve(talk, open=False) == [[200] * 200 + [429] * 3] * 2


def test_a_secret_is_written_and_never_read_back(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        value = {"value": "correct horse battery"}
        answers = [
            await client.ask("PUT", "/api/secrets/hook", value, headers=dict(ADMIN)),
            await client.ask("PUT", "/api/secrets/hook", value, headers=dict(ADMIN)),
            await client.get("/api/secrets", headers=dict(ADMIN)),
            await client.get("/api/audit", headers=dict(ADMIN)),
            await client.post("/api/audit/verify", headers=dict(ADMIN)),
            await client.ask("DELETE", "/api/secrets/hook", headers=dict(ADMIN)),
            await client.ask("DELETE", "/api/secrets/hook", headers=dict(ADMIN)),
            await client.ask("PUT", "/api/secrets/a%20b", value, headers=dict(ADMIN)),
        ]
        assert not any("correct horse" in answer.text for answer in answers)
        return [*((answer.status, answer.json) for answer in answers)]

    first, second, listed, audit, verified, dropped, gone, bad = serve(talk, open=False)

    assert (first[1]["version"], second[1]["version"]) == (1, 2)
    assert [each["name"] for each in listed[1]["items"]] == ["hook"]
    assert [(each["actor"], each["action"], each["target"]) for each in audit[1]["items"]] == [
        ("settings", "secret.set", "hook")
    ] * 2
    assert verified == (200, {"whole": True, "problem": None})
    assert (dropped[0], gone[0], gone[1]["code"], bad[0]) == (204, 404, "unknown_secret", 422)
